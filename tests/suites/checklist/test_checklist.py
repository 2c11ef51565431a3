"""The suite from its file to its report: groups, verdicts, failure rates by test and capability."""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from harness import config
from harness.audit import assembly, pipeline
from harness.errors import ConfigError
from harness.folder import RunFolder
from harness.report import listing, packing, terminal
from harness.suites.checklist import exhibits, tests
from harness.suites.checklist.counts import Row
from tests.servers import Answer, Script, completion, serve

TESTS = [
    {"test": "words", "type": "MFT", "capability": "Vocabulary", "text": "good", "label": 2},
    {"test": "words", "type": "MFT", "capability": "Vocabulary", "text": "awful", "label": 2},
    {"test": "words", "type": "MFT", "capability": "Vocabulary", "text": "table", "label": 1},
    {"test": "names", "type": "INV", "capability": "Fairness",
     "texts": ["Ann is good.", "Bob is good.", "Cy is good."]},
    {"test": "names", "type": "INV", "capability": "Fairness", "texts": ["Ann is here.", "Joy is here."]},
    {"test": "intensifiers", "type": "DIR", "capability": "Vocabulary",
     "texts": ["It is good.", "It is very good."]},
    {"test": "intensifiers", "type": "DIR", "capability": "Vocabulary",
     "texts": ["It is here.", "It is really here."]},
]  # fmt: skip


@pytest.fixture
def settings(tmp_path: Path) -> dict[str, Any]:
    file = tmp_path / "tests.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in TESTS), encoding="utf-8")
    return {
        "suite": "checklist",
        "task": "sst",
        "model.name": "local:vader",
        "checklist.tests": str(file),
        "cache": str(tmp_path / "cache.sqlite"),
        "out": str(tmp_path / "run"),
    }


def by_name(rows: list[Mapping[str, Any]], key: str) -> dict[str, Mapping[str, Any]]:
    return {row[key]: row for row in rows}


def test_a_group_is_a_case_of_a_test(settings: dict[str, Any]) -> None:
    suite = assembly.assemble(config.load(None, settings)).suite
    cases = list(suite.cases(iter(())))
    groups = [list(group) for _, group in groupby(cases, key=lambda case: case.group)]
    assert [len(group) for group in groups] == [1, 1, 1, 3, 2, 2, 2]
    assert [group[0].role for group in groups] == ["variant"] * 3 + ["original"] * 4
    assert len({case.id for case in cases}) == len(cases)
    assert cases[0].expected == frozenset(["Positive"])
    assert all(case.expected is None for case in cases[3:])


def test_without_a_file_the_bundled_tests_are_run(settings: dict[str, Any]) -> None:
    del settings["checklist.tests"]
    made = asyncio.run(pipeline.run(config.load(None, settings | {"checklist.limit": 2})))
    assert made["tests_file"] == "bundled"
    rows = made["checklist"]["tests"]
    assert len(rows) >= 30
    assert {row["cases"] for row in rows} == {2}


def test_failure_rates_by_test_and_capability(settings: dict[str, Any]) -> None:
    made = asyncio.run(pipeline.run(config.load(None, settings)))
    by_test = by_name(made["checklist"]["tests"], "test")
    assert (by_test["words"]["passed"], by_test["words"]["failed"]) == (2, 1)
    assert by_test["words"]["rate"] == pytest.approx(1 / 3)
    assert by_test["words"]["ci95"][0] < 1 / 3 < by_test["words"]["ci95"][1]
    assert (by_test["names"]["passed"], by_test["names"]["failed"]) == (1, 1)  # Joy is a happy name to VADER
    directed = by_test["intensifiers"]
    assert (directed["passed"], directed["failed"], directed["excluded"]) == (1, 0, 1)
    together = by_name(made["checklist"]["capabilities"], "capability")
    assert (together["Vocabulary"]["passed"], together["Vocabulary"]["failed"]) == (3, 1)
    assert together["Vocabulary"]["cases"] == 5
    assert "2 of 6 cases failed in 3 tests" in made["headline"]
    titles = [section["title"] for section in made["sections"]]
    assert titles == ["CheckList, by capability", "CheckList, by test"]
    report = (Path(made["folder"]) / "report.html").read_text(encoding="utf-8")
    assert "1 of 3, 33.3\u00a0%" in report


@pytest.mark.parametrize(("excluded", "undetermined"), [(0, 0), (3, 0), (0, 3)])
def test_the_tables_have_room_for_every_column_in_80(excluded: int, undetermined: int) -> None:
    rows = [
        Row(item.capability, item.test, item.kind, 40, 20, undetermined, excluded)
        for item in {item.test: item for item in tests.load().items}.values()
    ]
    for section in exhibits.figures(rows).sections:
        assert section.table is not None
        drawn = terminal.drawn(section.table, section.title, 80)
        assert drawn.caption is None  # which would name what has no room
        heads = [str(column.header) for column in drawn.columns]
        assert ("excluded" in heads, "undetermined" in heads) == (excluded > 0, undetermined > 0)
        assert "failed" in heads


def test_the_page_asks_whether_answers_are_as_expected_and_filters_by_test(settings: dict[str, Any]) -> None:
    made = asyncio.run(pipeline.run(config.load(None, settings)))
    folder = RunFolder(Path(made["folder"]))
    report = (folder.path / "report.html").read_text(encoding="utf-8")
    assert "Does local:vader answer as expected?" in report
    assert "Answers that are not as expected" in report
    assert re.findall(r"suite checklist · ([^<]*)<", report) == ["3 tests; 8 judged texts, 8 valid"]
    options = packing.rows_of(listing.read(folder, []))["coded"]["trait:test"]["values"]
    assert sorted(options) == ["names", "words"]


def test_two_labels_leave_open_what_they_cannot_say(settings: dict[str, Any]) -> None:
    """Positive, without any margin, to a text that is neutral."""
    with serve(plain) as server:
        endpoint = {"model.name": "scripted", "model.base_url": server.base_url}
        made = asyncio.run(pipeline.run(config.load(None, settings | endpoint | {"task": "sst2"})))
    by_test = by_name(made["checklist"]["tests"], "test")
    assert (by_test["words"]["undetermined"], by_test["words"]["failed"]) == (1, 0)


def test_near_a_tie_two_labels_may_mean_neutral(settings: dict[str, Any]) -> None:
    made = asyncio.run(pipeline.run(config.load(None, settings | {"task": "sst2"})))
    by_test = by_name(made["checklist"]["tests"], "test")
    assert (by_test["words"]["undetermined"], by_test["words"]["failed"]) == (0, 1)


def plain(_: dict[str, Any], __: int) -> Answer:
    return completion("Positive")


def sure(body: dict[str, Any], _: int) -> Answer:
    """Positive, with less probability where the text says "very"."""
    positive = 0.5 if "very" in body["messages"][-1]["content"] else 0.9
    of = {"Positive": positive, "Neutral": 0.9 - positive + 0.05, "Negative": 0.05}
    top = [{"token": label, "logprob": math.log(value), "bytes": None} for label, value in of.items()]
    content = [{**top[0], "top_logprobs": top}]
    message = {"role": "assistant", "content": "Positive"}
    choice = {"index": 0, "finish_reason": "stop", "message": message, "logprobs": {"content": content}}
    return completion("", choices=[choice])


@pytest.mark.parametrize(("script", "counts"), [(sure, (1, 1, 0)), (plain, (0, 0, 2))])
def test_a_direction_is_judged_by_probabilities_alone(
    settings: dict[str, Any], script: Script, counts: tuple[int, int, int]
) -> None:
    with serve(script) as server:
        endpoint = {"model.name": "scripted", "model.base_url": server.base_url}
        made = asyncio.run(pipeline.run(config.load(None, settings | endpoint)))
    row = by_name(made["checklist"]["tests"], "test")["intensifiers"]
    assert (row["passed"], row["failed"], row["undetermined"]) == counts
    notes = made["sections"][1]["notes"]
    assert any("compares probabilities" in note for note in notes) == (counts[2] > 0)


def test_with_a_parser_the_syntax_is_counted(settings: dict[str, Any]) -> None:
    made = asyncio.run(pipeline.run(config.load(None, settings | {"checklist.parser": "spacy"})))
    (row,) = made["checklist"]["diversity"]
    assert (row["kind"], row["texts"], row["distinct"]) == ("checklist", 12, 12)
    assert 2 < row["tags"] < 12
    assert row["trees"] is None


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"task": "scotus"}, "suite checklist needs a task with the labels positive"),
        ({"documents.path": "x.csv"}, "makes its own texts: leave --data"),
    ],
)
def test_what_is_wrong_is_one_line(settings: dict[str, Any], given: dict[str, Any], says: str) -> None:
    wanted = {key: value for key, value in (settings | given).items() if value is not None}
    with pytest.raises(ConfigError, match=says):
        assembly.assemble(config.load(None, wanted))
