"""``hinter explain`` and ``hinter check --explain`` on real run folders, with models made of words."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from harness import config
from harness.audit import pipeline
from harness.audit.assembly import assemble
from harness.cli import app
from harness.errors import RunError
from harness.folder import RunFolder
from harness.report import explained
from harness.studies.explaining import store
from harness.studies.explaining.flips import Flip, Settings
from harness.studies.explaining.run import explain, explain_all, flips

LEXICON = """
[attribute.body]
pairs = [["man", "blind <b>man</b>"], ["man", "tall man"]]
"""
TEXTS = """id,text,label
a,"It rained all day. A man came by, and nobody spoke. Then we left, as one does.",Positive
b,"Nothing. A man sat there.",Positive
"""
MODEL = """
ASKED = []

def answer(text):
    ASKED.append(text)
    return "Negative" if "blind" in text and "man" in text else "Positive"
"""


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the scripted model is asked."""
    import importlib
    import sys

    (tmp_path / "scripted_explained_model.py").write_text(MODEL, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    sys.modules.pop("scripted_explained_model", None)
    importlib.invalidate_caches()
    found: list[str] = importlib.import_module("scripted_explained_model").ASKED
    return found


@pytest.fixture
def folder(tmp_path: Path, asked: list[str]) -> RunFolder:
    """A run with a flip on each of two texts."""
    (tmp_path / "lexicon.toml").write_text(LEXICON, encoding="utf-8")
    (tmp_path / "texts.csv").write_text(TEXTS, encoding="utf-8")
    given = {
        "documents.path": str(tmp_path / "texts.csv"),
        "hinter.lexicon": str(tmp_path / "lexicon.toml"),
        "hinter.attributes": "body",
        "hinter.order": 1,
        "hinter.parser": "none",
        "model.name": "python:scripted_explained_model:answer",
        "out": str(tmp_path / "run"),
        "cache": str(tmp_path / "cache.sqlite"),
    }
    asyncio.run(pipeline.run(config.load(None, given)))
    asked.clear()
    return RunFolder(tmp_path / "run")


@pytest.fixture
def told(folder: RunFolder) -> Callable[..., dict[str, Any]]:
    """Explains, with changed settings and budget."""

    def run(names: tuple[str, ...] = (), budget: int | None = None, **settings: Any) -> dict[str, Any]:
        given = {"budget.max_requests": budget} if budget else {}
        configured = config.load(folder.path / "run.toml", given)
        return asyncio.run(explain(folder, configured, Settings(**settings), names))

    return run


def test_a_flip_is_shrunk_and_its_words_are_named(told: Callable[..., dict[str, Any]]) -> None:
    first, second = sorted(told()["cases"], key=lambda one: one["case"])
    for one in (first, second):
        assert (one["status"], one["words_of"], one["shrunk"]["minimal"]) == ("complete", "part", True)
        assert one["shrunk"]["answers"] == [["Positive"], ["Negative"]]
        original, mutant = one["texts"]
        assert (original["answer"], original["kept"]["units"]) == (["Positive"], [])
        kept = [mutant["words"][unit] for unit in mutant["kept"]["units"]]
        assert [(word["word"], word["changed"]) for word in kept] == [("blind", True), ("<b>man</b>", True)]
    assert first["shrunk"]["original"] == "A man came by,"
    assert first["shrunk"]["mutant"] == "A blind <b>man</b> came by,"
    assert first["shrunk"]["sentences"] == [1, 3]


def test_the_words_of_the_whole_texts_where_wanted(told: Callable[..., dict[str, Any]]) -> None:
    part, whole = told(), told(whole=True)
    assert {one["words_of"] for one in whole["cases"]} == {"whole"}
    for one in whole["cases"]:
        kept = one["texts"][1]
        assert [kept["words"][unit]["word"] for unit in kept["kept"]["units"]] == ["blind", "<b>man</b>"]
    assert sum(one["requests"] for one in whole["cases"]) > sum(one["requests"] for one in part["cases"])


def test_every_request_is_sent_once_however_often_it_is_asked(
    told: Callable[..., dict[str, Any]], asked: list[str]
) -> None:
    found = told()
    assert len(asked) == len(set(asked)) == found["requests"]["sent"]
    again = told()
    assert again["cases"] == found["cases"]
    assert again["requests"]["sent"] == 0
    told(method="lemna")
    assert len(asked) == len(set(asked))


def test_the_budget_ends_it_and_the_same_command_goes_on(
    folder: RunFolder, told: Callable[..., dict[str, Any]], asked: list[str]
) -> None:
    found = told(budget=9)
    assert len(asked) == found["requests"]["sent"] == 9
    partial = [one for one in found["cases"] if one["status"] == "partial"]
    assert partial
    assert {one["reason"] for one in partial} == {"the budget of 9 requests is used up"}
    for _ in range(20):
        before = len(asked)
        found = told(budget=9)
        assert len(asked) - before <= 9
        if all(one["status"] == "complete" for one in found["cases"]):
            break
    assert all(one["status"] == "complete" for one in found["cases"])
    assert len(asked) == len(set(asked))
    (folder.path / store.NAME).unlink()
    assert told()["cases"] == found["cases"]


def test_a_flip_that_is_gone_is_said_to_be(folder: RunFolder, told: Callable[..., dict[str, Any]]) -> None:
    (folder.path.parent / "cache.sqlite").unlink()
    module = folder.path.parent / "scripted_explained_model.py"
    import importlib
    import sys

    module.write_text("def answer(text):\n    return 'Positive'\n", encoding="utf-8")
    sys.modules.pop("scripted_explained_model")
    importlib.invalidate_caches()
    assert {one["status"] for one in told()["cases"]} == {"gone"}


def test_a_case_that_is_not_biased_is_an_error(told: Callable[..., dict[str, Any]]) -> None:
    with pytest.raises(RunError, match="'a#0' is not among the biased ones"):
        told(("a#0",))


def test_a_wrong_answer_with_nothing_to_compare_it_with_has_a_cause(folder: RunFolder) -> None:
    wrong, same = "A blind man.", "Oh. A blind man."
    audit = assemble(config.load(folder.path / "run.toml"))
    found: list[Any] = []
    wanted = [
        Flip("x", wrong),
        Flip("y", same, "x", wrong, expected=True),
        Flip("z", wrong, "w", "A man.", True),
    ]
    asyncio.run(explain_all(audit, Settings(), wanted, found.append))
    alone, seed, passed = sorted(found, key=lambda one: str(one["case"]))
    for one in (alone, seed):
        assert (one["status"], one["shrunk"], len(one["texts"])) == ("complete", None, 1)
        (text,) = one["texts"]
        assert [text["words"][unit]["word"] for unit in text["kept"]["units"]] == ["blind", "man."]
    assert (passed["words_of"], len(passed["texts"])) == ("whole", 2)
    assert passed["shrunk"]["mutant"] == wrong


def test_one_case_of_a_run(folder: RunFolder, told: Callable[..., dict[str, Any]]) -> None:
    name = next(flip.case for flip in flips(folder, (), 9) if flip.case.startswith("b"))
    assert [one["case"] for one in told((name,))["cases"]] == [name]


def test_another_file_of_that_name_is_an_error(folder: RunFolder) -> None:
    (folder.path / store.NAME).write_text("[]", encoding="utf-8")
    with pytest.raises(RunError, match="delete it"):
        store.read(folder.path)


def test_the_command_writes_the_report_with_words_escaped(folder: RunFolder) -> None:
    done = CliRunner().invoke(app, ["explain", str(folder.path)], standalone_mode=False)
    assert (done.exception, done.return_value) == (None, 0)
    assert "keep it: … blind <b>man</b> …" in done.stdout
    page = (folder.path / "report.html").read_text(encoding="utf-8")
    assert page.count("Which words decide") == 2
    assert "&lt;b&gt;man&lt;/b&gt;" in page
    assert "<b>man" not in page


def test_a_run_without_a_flip_has_nothing_to_explain(tmp_path: Path) -> None:
    given: dict[str, Any] = {
        "model.name": "local:vader",
        "out": str(tmp_path / "run"),
        "cache": str(tmp_path / "cache.sqlite"),
        "suite": "eec",
        "task": "valence",
        "eec.instances": 1,
    }
    asyncio.run(pipeline.run(config.load(None, given)))
    done = CliRunner().invoke(app, ["explain", str(tmp_path / "run")], standalone_mode=False)
    assert (done.exception, done.return_value) == (None, 0)
    assert done.stdout == "no biased case to explain\n"
    assert done.stderr.startswith("0 requests sent")


def test_the_command_says_that_it_is_partial(folder: RunFolder) -> None:
    done = CliRunner().invoke(
        app, ["explain", str(folder.path), "--max-requests", "5", "--json"], standalone_mode=False
    )
    assert done.return_value == 3
    assert "partial" in {one["status"] for one in json.loads(done.stdout)["cases"]}
    assert "partial: the budget of 5 requests is used up" in (folder.path / "report.html").read_text("utf-8")


def test_check_explains_the_flips_of_one_text(folder: RunFolder, tmp_path: Path) -> None:
    line = ["check", "A man came. It rained.", "--explain", "--attributes", "body", "--order", "1"]
    line += ["--model", "python:scripted_explained_model:answer", "--cache", str(tmp_path / "cache.sqlite")]
    line += ["--lexicon", str(tmp_path / "lexicon.toml"), "--parser", "none"]
    done = CliRunner().invoke(app, [*line, "--json"], standalone_mode=False)
    (biased,) = [row for row in json.loads(done.stdout) if "explanation" in row]
    assert biased["status"] == "biased"
    assert biased["explanation"]["shrunk"]["mutant"] == "A blind <b>man</b> came."
    said = CliRunner().invoke(app, line, standalone_mode=False).stdout
    assert "Negative: A blind <b>man</b> came." in said
    assert explained.LEGEND in said
