"""What people see in the terminal: the results, and of a suite's sections those that are for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.report import terminal
from harness.sections import Section, Table, plain

FIGURES: dict[str, Any] = {
    "suite": "hinter",
    "nouns": {"case": "mutant", "source": "text", "eligible": "a term"},
    "task": "imdb",
    "model": "m",
    "status": "complete",
    "documents": {"read": 3, "eligible": 2},
    "cases": {"generated": 9, "valid": 7},
    "requests": {"sent": 4, "cached": 5},
    "results": [],
    "noise": {"repeats": 0},
    "headline": "Found.",
}


def test_what_is_for_the_page_alone_is_not_printed(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table(["what", "number"], [["cell", 1]])
    sections = plain(
        [Section("Shown here", table=table), Section("Shown there", table=table, page_only=True)]
    )
    terminal.show({**FIGURES, "sections": sections}, Path("run"))
    printed = capsys.readouterr().err
    assert "3 texts, 2 with a term; 9 mutants, 7 valid; 4 requests sent" in " ".join(printed.split())
    assert "Shown here" in printed
    assert "Shown there" not in printed


def test_sections_of_an_earlier_version_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    (section,) = plain([Section("Shown here", table=Table(["what was there"], [["cell"]]))])
    del section["page_only"]
    terminal.show({**FIGURES, "sections": [section]}, Path("run"))
    assert "Shown here" in capsys.readouterr().err
