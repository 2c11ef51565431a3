"""A model judges mutants: what it reads, what its word does to a run, and that nothing is asked twice."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.folder import RunFolder
from harness.studies.judging.marking import marked
from tests.commands import called

REVIEWS = [
    "The waitress was kind and the film was good.",
    "A man sold the farm, and the film was bad.",
    "An Irish actress sang, and it was a good film.",
]
JUDGE = """
def reads(text):
    if "actress>>" in text:
        return "I cannot tell."
    return "wrong" if ">> blind]]" in text or "[[waitress" in text else "right"
"""
WORDS = st.text("ab .\n", max_size=40)


def _old(text: str) -> str:
    return re.sub(r"\[\[(.*?)>>(.*?)\]\]", r"\1", text, flags=re.S)


def _new(text: str) -> str:
    return re.sub(r"\[\[(.*?)>>(.*?)\]\]", r"\2", text, flags=re.S)


@given(WORDS, WORDS)
def test_both_texts_can_be_read_from_the_marked_one(original: str, mutant: str) -> None:
    text = marked(original, mutant)
    assert (_old(text), _new(text)) == (original, mutant)


def test_words_are_marked_not_letters() -> None:
    assert marked("He left. A man sat.", "He left. A blind man sat.") == "He left. A[[>> blind]] man sat."
    assert marked("The waiter sat.", "The waitress sat.") == "The [[waiter>>waitress]] sat."


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the cases of a small run in it, judged."""
    folder = tmp_path_factory.mktemp("judging")
    (folder / "texts.csv").write_text("text\n" + "\n".join(f'"{text}"' for text in REVIEWS), encoding="utf-8")
    (folder / "judge.py").write_text(JUDGE, encoding="utf-8")
    made = called(folder, "generate", *_settings())
    assert made.returncode == 0, made.stderr
    done = called(folder, "judge", "run", "--model", "python:judge:reads")
    assert done.returncode == 0, done.stderr
    return folder


def _settings() -> list[str]:
    return ["--data", "texts.csv", "--model", "local:vader", "--max-pairs", "4", "--out", "run"]


def _reasons(folder: Path) -> dict[str, str | None]:
    return {case.text: case.reason for case in RunFolder(folder / "run").read_cases()}


def test_what_the_judge_finds_wrong_or_does_not_say_is_discarded(work: Path) -> None:
    reasons = _reasons(work)
    blind = [reason for text, reason in reasons.items() if "blind man" in text]
    assert blind
    assert set(blind) == {"judged-wrong"}
    assert reasons["The waiter was kind and the film was good."] == "judged-wrong"
    assert {reason for text, reason in reasons.items() if "Irish actor " in text} == {"not-judged"}
    assert reasons["A woman sold the farm, and the film was bad."] is None


def test_a_mutant_of_a_wrong_change_is_wrong_without_a_request(work: Path) -> None:
    both = [reason for text, reason in _reasons(work).items() if "blind woman" in text]
    judged = json.loads((work / "run" / "judged.json").read_text(encoding="utf-8"))
    mutants = sum(row["mutants"] for row in judged["kinds"] if row["kind"] in ("atomic", "intersectional"))
    assert set(both) <= {"judged-wrong"}
    assert judged["requests"]["sent"] < mutants
    for row in judged["kinds"]:
        assert row["right"] + row["wrong"] + row["unread"] == row["mutants"]


def test_the_table_of_the_cases_says_the_same(work: Path) -> None:
    folder = RunFolder(work / "run")
    table = folder.scan("cases").select("id", "valid", "reason").collect()
    cases = list(folder.read_cases())
    assert table["id"].to_list() == [case.id for case in cases]
    assert table["reason"].to_list() == [case.reason for case in cases]
    assert table["valid"].to_list() == [case.valid for case in cases]
    rows = list(range(len(cases)))
    assert folder.take(rows) == cases


def test_the_run_goes_on_without_them_and_says_so(work: Path) -> None:
    done = called(work, "run", *_settings())
    assert done.returncode in (0, 3), done.stderr
    summary = json.loads((work / "run" / "summary.json").read_text(encoding="utf-8"))
    reasons = _reasons(work)
    assert summary["cases"]["discarded_by_reason"]["judged-wrong"] == list(reasons.values()).count(
        "judged-wrong"
    )
    assert any("reads read the mutants" in note for note in summary["documents"]["notes"])
    verdicts = pl.read_parquet(work / "run" / "verdicts.parquet")["case"].to_list()
    discarded = {case.id for case in RunFolder(work / "run").read_cases() if not case.valid}
    assert not discarded & set(verdicts)


def test_judging_again_asks_nothing_and_says_the_same(work: Path) -> None:
    before = (work / "run" / "judged.parquet").read_bytes()
    done = called(work, "judge", "run", "--model", "python:judge:reads", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["requests"]["sent"] == 0
    assert (work / "run" / "judged.parquet").read_bytes() == before


def test_without_the_file_all_are_valid_again(work: Path) -> None:
    file = work / "run" / "judged.parquet"
    content = file.read_bytes()
    file.unlink()
    try:
        assert "judged-wrong" not in _reasons(work).values()
    finally:
        file.write_bytes(content)


TEMPLATES = ["He said that his film was good.", "Anna loves her film, and she is right."]
DOUBTER = """
def reads(text):
    return "wrong" if "her>>his]]" in text else "right"
"""


def test_two_mutants_are_read_for_a_template(tmp_path: Path) -> None:
    (tmp_path / "texts.csv").write_text(
        "text\n" + "\n".join(f'"{text}"' for text in TEMPLATES), encoding="utf-8"
    )
    (tmp_path / "doubter.py").write_text(DOUBTER, encoding="utf-8")
    options = [*("--suite", "biasfinder", "--data", "texts.csv", "--model", "local:vader"), "--out", "run"]
    assert called(tmp_path, "generate", *options).returncode == 0
    done = called(tmp_path, "judge", "run", "--model", "python:doubter:reads", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["requests"]["sent"] <= 2 * len(TEMPLATES)
    variants = [case for case in RunFolder(tmp_path / "run").read_cases() if case.role == "variant"]
    named = [case for case in variants if "loves" in case.text]
    assert len(named) > 2
    assert {case.reason for case in named} == {"judged-wrong"}
    assert all(case.valid for case in variants if case not in named)
    done = called(tmp_path, "run", *options)
    assert done.returncode in (0, 3), done.stderr
    summary = json.loads((tmp_path / "run" / "summary.json").read_text(encoding="utf-8"))
    assert sum(row["mutants"] for row in summary["biasfinder"]["made"]) == len(variants) - len(named)


def test_templates_without_an_original_are_not_judged(tmp_path: Path) -> None:
    (tmp_path / "templates.txt").write_text("<name> saves the film with <pro-pp> wit.\n", encoding="utf-8")
    (tmp_path / "doubter.py").write_text(DOUBTER, encoding="utf-8")
    options = ["--suite", "biasfinder", "--templates", "templates.txt", "--model", "local:vader"]
    made = called(tmp_path, "generate", *options, "--out", "run")
    assert made.returncode == 0, made.stderr
    done = called(tmp_path, "judge", "run", "--model", "python:doubter:reads", "--json")
    assert done.returncode == 0, done.stderr
    judged = json.loads(done.stdout)
    assert (judged["requests"]["sent"], judged["kinds"]) == (0, [])
    assert all(case.valid for case in RunFolder(tmp_path / "run").read_cases())


def test_a_run_of_another_suite_has_no_mutants_to_judge(work: Path) -> None:
    made = called(
        work, "generate", "--suite", "eec", "--task", "valence", "--model", "local:vader", "--out", "eec"
    )
    assert made.returncode == 0, made.stderr
    done = called(work, "judge", "eec", "--model", "python:judge:reads")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "suite hinter or biasfinder" in done.stderr
