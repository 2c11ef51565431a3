"""Plan, run, batch and export ask about the same cases, whatever is included."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import config
from harness.audit import asking, checking, pipeline, planning
from harness.audit.batching import files as batching
from harness.core import DUPLICATE, Case
from tests.batch_server import BatchServer, Line, reply, serve_batches

LEXICON = """
[attribute.race]
pairs = [["black", "white"], ["black", "sings beautifully"]]
[attribute.gender.groups]
male = ["man", "actor"]
female = ["woman", "actress"]
"""
TEXTS = """id,text,label
a,The black man was kind.,Positive
b,A black actor bored us.,Negative
"""
MODEL = "def answer(text):\n    return 'Negative' if 'sings' in text else 'Positive'\n"
CORPUS = """
name = "tiny"
compare = { gender = ["female", "male"] }
[emotions.state]
joy = ["happy", "glad"]
[[persons]]
traits = { gender = "female" }
compared = "aligned"
pronoun = "she"
words = ["my mother", "this woman"]
[[persons]]
traits = { gender = "male" }
compared = "aligned"
pronoun = "he"
words = ["my father", "this man"]
[[templates]]
id = "feels"
text = "{person} feels {emotion}."
emotions = "state"
"""

Settings = Callable[..., config.RunConfig]


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A configuration with mutants that are discarded, and with changes."""
    (tmp_path / "lexicon.toml").write_text(LEXICON, encoding="utf-8")
    (tmp_path / "texts.csv").write_text(TEXTS, encoding="utf-8")
    (tmp_path / "corpus.toml").write_text(CORPUS, encoding="utf-8")
    (tmp_path / "scripted_asking_model.py").write_text(MODEL, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)

    def make(**changes: Any) -> config.RunConfig:
        given = {"out": str(tmp_path / "run"), "cache": str(tmp_path / "cache.sqlite")}
        return config.load(None, given | {key.replace("__", "."): value for key, value in changes.items()})

    return make


@pytest.fixture
def star(settings: Settings, tmp_path: Path) -> Settings:
    """HINTER over two small texts."""
    return lambda **changes: settings(
        **{
            "documents.path": str(tmp_path / "texts.csv"),
            "hinter.lexicon": str(tmp_path / "lexicon.toml"),
            "hinter.attributes": "race,gender",
            "model.name": "python:scripted_asking_model:answer",
        }
        | changes
    )


CASES = st.lists(
    st.tuples(
        st.sampled_from("ab"),
        st.sampled_from(["original", "atomic", "variant"]),
        st.sampled_from([None, "dep", DUPLICATE]),
    )
)


@given(CASES)
def test_a_case_is_asked_about_once_and_in_its_place(drawn: list[tuple[str, Any, str | None]]) -> None:
    cases = [
        Case(f"{number}", group, "d", role, "t", reason=reason)
        for number, (group, role, reason) in enumerate(drawn)
    ]
    valid = [case for group in asking.groups(cases) for case in group]
    every = [case for group in asking.groups(cases, include_discarded=True) for case in group]
    assert valid == [case for case in cases if case.valid]
    assert every == [case for case in cases if case.reason != DUPLICATE]
    for group in asking.groups(cases):
        assert len({case.group for case in group}) <= 1
        assert bool(asking.probes(group)) is bool(group)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"repeats": 2},
        {"hinter.include_discarded": True},
        {"hinter.include_discarded": True, "repeats": 2},
    ],
)
def test_plan_counts_what_a_run_sends(star: Settings, changes: dict[str, Any]) -> None:
    counted = asyncio.run(planning.plan(star(**changes)))
    figures = asyncio.run(pipeline.run(star(**changes)))
    assert counted.unique == counted.to_send == figures["requests"]["unique"] == figures["requests"]["sent"]
    assert (counted.generated, counted.valid) == (
        figures["cases"]["generated"],
        figures["cases"]["valid"],
    )


def test_discarded_cases_are_more_requests(star: Settings) -> None:
    plain = asyncio.run(planning.plan(star()))
    more = asyncio.run(planning.plan(star(**{"hinter.include_discarded": True})))
    assert more.unique > plain.unique
    assert more.valid == plain.valid


def test_the_noise_of_a_suite_without_originals_is_counted_too(settings: Settings, tmp_path: Path) -> None:
    changes = {
        "suite": "eec",
        "task": "valence",
        "eec.corpus": str(tmp_path / "corpus.toml"),
        "model.name": "local:vader",
        "repeats": 3,
    }
    counted = asyncio.run(planning.plan(settings(**changes)))
    figures = asyncio.run(pipeline.run(settings(**changes)))
    assert counted.unique == figures["requests"]["unique"] == 8 + 2 * 3


def positive(line: Line) -> list[tuple[str, Line | str]]:
    return [reply(line)]


@pytest.mark.parametrize("discarded", [False, True])
def test_a_batch_file_holds_what_a_run_sends_and_a_batch_run_completes(
    star: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, discarded: bool
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    with serve_batches(BatchServer(positive)) as server:

        def configured(cache: str, **changes: Any) -> config.RunConfig:
            model: dict[str, Any] = {"model.name": "m", "model.base_url": server.base_url}
            model |= {"model.api_key_env": "OPENAI_API_KEY", "hinter.include_discarded": discarded}
            return star(**model, cache=str(tmp_path / cache), **changes)

        counted = asyncio.run(planning.plan(configured("a")))
        written = asyncio.run(batching.export(configured("b"), tmp_path / "batch.jsonl"))
        lines = (tmp_path / "batch.jsonl").read_text(encoding="utf-8").splitlines()
        figures = asyncio.run(pipeline.run(configured("c", batch=True)))
        assert figures["status"] == "complete"
        assert figures["requests"]["failed"] == 0
        assert len(lines) == written.requests == counted.unique == figures["requests"]["unique"]
        (uploaded,) = server.uploads
        assert {line["custom_id"] for line in uploaded} == {json.loads(line)["custom_id"] for line in lines}
        assert (figures["discarded"] is not None) is discarded


def test_a_text_that_is_checked_shows_what_was_discarded_too(star: Settings) -> None:
    text = "A black actor bored us."
    plain = asyncio.run(checking.check(star(), text))
    every = asyncio.run(checking.check(star(**{"hinter.include_discarded": True}), text))
    discarded = {case.id for case in plain.cases if case.reason not in (None, DUPLICATE)}
    assert discarded
    assert every.outcomes.keys() - plain.outcomes.keys() == discarded
    assert {name: every.verdicts[name] for name in plain.verdicts} == plain.verdicts
    assert {every.verdicts[name].status for name in discarded} <= {"biased", "benign"}
