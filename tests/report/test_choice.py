"""What a run that asked about some of its cases says of all."""

from __future__ import annotations

from typing import Any

import pytest

from harness.report import choice, markdown, terminal
from harness.report.summary import Summary
from tests.report.builders import adaptive_of, row, summary_of

EFFECT = {
    "attribute": "race",
    "from": "a",
    "to": "b",
    "outcome": "Positive",
    "originals": 30,
    "effect": -0.2,
    "ci95": (-0.3, -0.1),
}
KNOWN: dict[str, Any] = {
    "precision": None,
    "decisions": [],
    "reached": True,
    "rate": 0.02,
    "ci95": (0.015, 0.031),
    "effects": [],
    "looks": 3,
    "of_looks": 9,
    "asked": 250,
    "of": 1000,
}


def stopped(**values: object) -> Summary:
    return summary_of(row(tests=200, biased=4), stopping={**KNOWN, **values})


def decided(figure: str, decision: str) -> dict[str, object]:
    return {"decisions": [{"figure": figure, "limit": 0.05, "decision": decision}]}


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"precision": 0.01}, "The rate is known to within 1.0 points. Of all mutants of this run 2.0 %"),
        (
            {"precision": 0.005, "reached": False},
            "The rate is not known to within 0.5 points.",
        ),
        (decided("rate", "below"), "The rate is below 5.0 %."),
        (
            decided("rate", "undecided") | {"reached": False},
            "It is not known whether the rate is above 5.0 %.",
        ),
        (
            decided("effect", "above") | {"effects": [EFFECT], "ci95": None},
            "A group effect is above 5.0 points: race: a → b, -20.0 (-30.0 to -10.0).",
        ),
        (
            decided("effect", "below") | {"effects": [EFFECT] * 3, "ci95": None},
            "None of 3 group effects is above 5.0 points.",
        ),
        (
            decided("effect", "undecided") | {"reached": False, "ci95": None, "of_looks": 0},
            "It is not known whether an effect is above 5.0 points.",
        ),
    ],
)
def test_the_answer_comes_first_and_says_what_was_asked_for_it(values: dict[str, Any], says: str) -> None:
    summary = stopped(**values)
    (line,) = choice.lines(summary)
    assert line.startswith(says)
    assert "250 of 1,000 texts (mutants and originals) were asked about, 75.0 % less than all." in line
    assert ("No more could be asked" in line or "too few texts" in line) is not summary.stopping.reached  # type: ignore[union-attr]
    assert says.split(".")[0] in markdown.render(summary).replace("\\", "")


def test_nothing_is_said_of_a_run_that_asked_everything() -> None:
    assert choice.lines(summary_of(row(tests=1))) == []
    assert choice.sections(summary_of(row(tests=1))) == []


def test_the_terminal_shows_estimated_effects_as_estimates(
    capsys: pytest.CaptureFixture[str], tmp_path: Any
) -> None:
    terminal.show(summary_of(row(tests=200), adaptive=adaptive_of(effects=[EFFECT])), tmp_path)
    shown = capsys.readouterr().out
    assert "Contrasts of two groups, estimated: Positive" in shown
    assert "-20.0 (-30.0 to -10.0)" in shown


def test_of_many_estimated_effects_the_surest_are_shown() -> None:
    unsure = [{**EFFECT, "to": f"g{n}", "ci95": (-0.3, 0.1)} for n in range(50)]
    few = {**EFFECT, "to": "few", "originals": 2, "ci95": (-0.9, 0.9)}
    (section,) = choice.sections(stopped(effects=[few, *unsure, EFFECT]), 10)
    assert section.table is not None
    assert section.table.rows[0][0] == "race: a → b"
    assert len(section.table.rows) == 10
    assert section.text == "10 of 52 rows; all are in summary.json."


def over(low: float) -> dict[str, object]:
    """An estimated excess whose interval for all sets together begins at ``low``."""
    return {
        "attributes": ["gender", "race"],
        "tests": 30,
        "controls": 9,
        "originals": 12,
        "rate": 0.25,
        "control_rate": 0.1,
        "excess": 0.15,
        "ci95": (0.05, 0.3),
        "together": (low, 0.4),
    }


@pytest.mark.parametrize(
    ("low", "says"),
    [
        (0.01, "Shown to change the answer more often than edits that name nobody do: race + gender"),
        (-0.01, "No set is shown to change the answer more often than edits that name nobody do"),
    ],
)
def test_estimated_excesses_say_what_they_show(
    low: float, says: str, capsys: pytest.CaptureFixture[str], tmp_path: Any
) -> None:
    adaptive = adaptive_of(excesses=[over(low)])
    summary = summary_of(row(tests=200, biased=50, benign=150, originals=30), adaptive=adaptive)
    (section,) = choice.sections(summary)
    assert section.text.startswith(says)
    assert section.table is not None
    assert section.table.rows == [["race + gender", 12, "25.0 %", "10.0 %", "+15.0 (+5.0 to +30.0)"]]
    terminal.show(summary, tmp_path)
    assert "Changes in excess of control mutants, estimated" in capsys.readouterr().out
    assert says in markdown.render(summary).replace("\\", "")
