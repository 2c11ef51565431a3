"""Why answers failed: said where the figures are, in few words and without secrets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.report.failures import CHARACTERS, SHOWN, grouped
from tests.commands import called

MODEL = """
def answer(text):
    if "woman" in text:
        raise ValueError("boom")
    if "man" in text:
        raise KeyError(text)
    return "Positive"
"""
TEXTS = "text,label\n" + "\n".join(f"The man number {n} was a delight.,Positive" for n in range(3))


def reasons(counts: dict[str, int]) -> list[tuple[str, int]]:
    return [(one.reason, one.count) for one in grouped(counts)]


def test_the_exception_of_a_function_is_said_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "exploding_model.py").write_text(MODEL, encoding="utf-8")
    (tmp_path / "texts.csv").write_text(TEXTS, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    options = ["--model", "python:exploding_model:answer", "--data", "texts.csv"]
    done = called(tmp_path, "run", *options, "--suite", "mtnlp", "--out", "out")
    assert done.returncode == 3, done.stderr
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    failed = {one["reason"]: one["count"] for one in summary["failures"]}
    assert sum(failed.values()) == summary["answers"]["failed"]
    assert failed["ValueError: boom"] >= 3
    assert "KeyError: '…'" in failed
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    for shown in (" ".join(done.stdout.split()), page):
        assert f"{failed['ValueError: boom']} × ValueError: boom" in shown


def test_numbers_and_quoted_parts_do_not_split_a_reason() -> None:
    assert reasons(
        {
            "no row 17 of 'a'": 2,
            "no row 3 of 'b c'": 1,
            "HTTP 500: overloaded": 2,
            "HTTP 503: overloaded": 1,
            "it can't be": 1,
        }
    ) == [
        ("no row # of '…'", 3),
        ("HTTP 500: overloaded", 2),
        ("HTTP 503: overloaded", 1),
        ("it can't be", 1),
    ]
    assert reasons({"only 'this' and 7": 2}) == [("only 'this' and 7", 2)]


@pytest.mark.parametrize(
    "message",
    [
        "Incorrect API key provided: hunter2secret",
        "Authorization: Bearer hunter2secret",
        "https://me:hunter2secret@host/v1 refused",
        "no such key sk-hunter2secret",
        "password=hunter2secret",
        "bad credentials 0a1b2c3d4e5f0a1b2c3dhunter2secret",
    ],
)
def test_what_may_be_a_secret_is_left_out(message: str) -> None:
    ((reason, _),) = reasons({message: 1})
    assert "hunter2secret" not in reason
    assert "…" in reason


@given(st.dictionaries(st.text(), st.integers(1, 9)))
def test_reasons_are_few_and_short_and_on_one_line(counts: dict[str, int]) -> None:
    found = reasons(counts)
    assert len(found) <= SHOWN
    assert all(len(reason) <= CHARACTERS and reason.isprintable() for reason, _ in found)
    assert sum(number for _, number in found) <= sum(counts.values())
    assert [number for _, number in found] == sorted((n for _, n in found), reverse=True)
