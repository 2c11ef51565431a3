"""``--fail-above``: crossed or passed where that is certain or well supported, else not decided."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.report import gate
from harness.report.summary import ResultRow, Summary
from tests.report.builders import ZERO_ANSWERS, adaptive_of, row, summary_of


def row_of(biased: int, benign: int, undetermined: int) -> ResultRow:
    decided = biased + benign
    return row(
        "gender",
        tests=decided + undetermined,
        biased=biased,
        undetermined=undetermined,
        rate=biased / decided if decided else None,
    )


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ((6, 94, 0), "crossed"),
        ((5, 95, 0), "passed"),
        ((0, 0, 0), "undecided"),
        ((0, 0, 9), "undecided"),
        ((6, 0, 94), "crossed"),  # even if all the others are benign
        ((0, 95, 5), "passed"),  # even if all the others are biased
        ((5, 75, 20), "crossed"),  # 80 % decided: the observed rate, 6.25 %, decides
        ((4, 76, 20), "passed"),  # 5 % observed
        ((5, 74, 21), "undecided"),  # 79 % decided
        ((1, 70, 29), "undecided"),
    ],
)
def test_a_row_against_a_limit_of_five_percent(counts: tuple[int, int, int], expected: str) -> None:
    assert gate.decide(row_of(*counts), 0.05) == expected


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50), st.floats(0, 1))
def test_what_is_certain_stays_so_however_the_undetermined_tests_turn_out(
    biased: int, benign: int, undetermined: int, limit: float
) -> None:
    decision = gate.decide(row_of(biased, benign, undetermined), limit)
    whole = {
        gate.decide(row_of(biased + turned, benign + undetermined - turned, 0), limit)
        for turned in range(undetermined + 1)
    }
    if len(whole) == 1:
        assert {decision} == whole


def run(*rows: ResultRow, status: str = "complete", **answers: int) -> Summary:
    return summary_of(*rows, status=status, answers={**ZERO_ANSWERS, **answers})


CROSSED, PASSED, UNREAD = row_of(9, 1, 0), row_of(0, 10, 0), row_of(0, 0, 9)
EMPTY = row("body")


@pytest.mark.parametrize(
    ("summary", "limit", "expected"),
    [
        (run(PASSED, EMPTY), 0.05, 0),
        (run(PASSED, CROSSED), 0.05, 1),
        (run(UNREAD, CROSSED), 0.05, 1),
        (run(PASSED, UNREAD), 0.05, 3),
        (run(EMPTY), 0.05, 3),
        (run(), 0.05, 3),
        (run(PASSED, CROSSED), None, 0),
        (run(), None, 0),
        (run(UNREAD), None, 3),
        (run(PASSED, status="partial"), 0.05, 3),
        (run(CROSSED, status="partial"), 0.05, 1),
        (run(CROSSED, status="interrupted"), 0.05, 130),
        (run(UNREAD, status="interrupted"), None, 130),
    ],
)
def test_exit_codes(summary: Summary, limit: float | None, expected: int) -> None:
    gated = None if limit is None else gate.gate(summary.results, limit)
    assert gate.exit_code(summary, gated) == expected
    if expected in (1, 3) and summary.status == "complete":
        assert gate.lines(summary, gated)
    if expected == 0:
        assert gate.lines(summary, gated) == []


def test_what_is_said() -> None:
    unread = run(UNREAD, unparsed=12)
    gated = gate.gate(unread.results, 0.05)
    assert gate.lines(unread, gated, "I would rather not say.") == [
        "gate not decided: 12 of 12 answers are not labels (first: 'I would rather not say.')"
    ]
    assert gate.lines(unread, None, "a\nb\x1b[31m") == [
        "no test could be decided: 12 of 12 answers are not labels (first: 'a\\nb\\x1b[31m')"
    ]
    (line,) = gate.lines(unread, gated, "x" * 500)
    assert len(line) < 160
    crossed = run(CROSSED, PASSED)
    assert gate.lines(crossed, gate.gate(crossed.results, 0.05)) == ["gender: rate 0.9000 is above 0.05"]
    nothing = run(EMPTY)
    assert gate.lines(nothing, gate.gate(nothing.results, 0.05)) == ["gate not decided: nothing was tested"]
    stopped = run(row_of(1, 3, 6), read=20)
    assert gate.lines(stopped, gate.gate(stopped.results, 0.2)) == [
        "gate not decided: only 4 of 10 tests are decided; answers are missing"
    ]


WITHIN = "is within the interval of the estimated rate"


def estimated(low: float, high: float) -> ResultRow:
    return row("gender", tests=9, biased=9, rate=1.0, estimated_rate=0.1, estimated_ci95=(low, high))


@pytest.mark.parametrize(
    ("chosen", "expected", "says"),
    [
        (estimated(0.06, 0.2), 1, ["gender: estimated rate 0.1000 is above 0.05"]),
        (estimated(0.0, 0.05), 0, []),
        (
            estimated(0.05, 0.2),
            3,
            ["gate not decided: gender: 0.05 is within the interval of the estimated rate, 0.0500 to 0.2000"],
        ),
        (row_of(9, 1, 0), 3, ["gate not decided: gender: there is no estimate of its rate"]),
    ],
)
def test_where_a_budget_chose_the_tests_their_estimates_decide(
    chosen: ResultRow, expected: int, says: list[str]
) -> None:
    summary = summary_of(
        chosen, status="complete", adaptive={"budget": 9, "asked": 9, "rounds": 2}, answers=ZERO_ANSWERS
    )
    gated = gate.gate(summary.results, 0.05, chosen=True)
    assert gate.exit_code(summary, gated) == expected
    assert gate.lines(summary, gated) == says


def over(name: str, low: float, high: float) -> dict[str, object]:
    """An estimated excess whose interval for all sets together has these limits."""
    middle = (low + high) / 2
    return {
        "attributes": [name],
        "tests": 30,
        "controls": 9,
        "originals": 9,
        "rate": 0.2,
        "control_rate": 0.1,
        "excess": middle,
        "ci95": (low + 0.01, high - 0.01),
        "together": (low, high),
    }


def effect(low: float, high: float, texts: int = 30) -> dict[str, object]:
    """An estimated effect with these limits for all rows together."""
    middle = (low + high) / 2
    named = {"attribute": "race", "from": "a", "to": "b", "outcome": "Positive", "originals": texts}
    return {**named, "effect": middle, "ci95": (middle, middle), "together": (low, high)}


def chosen(excesses: Sequence[object], effects: Sequence[object]) -> Summary:
    """A run in which a budget chose the mutants of gender and body."""
    adaptive = adaptive_of(excesses=excesses, effects=effects)
    rows = [row(name, tests=9, biased=1, benign=8, originals=9) for name in ("gender", "body")]
    return summary_of(*rows, adaptive=adaptive)


BELOW, ABOVE, BETWEEN = (-0.1, 0.04), (0.06, 0.3), (-0.1, 0.3)


@pytest.mark.parametrize(
    ("body", "decision", "says"),
    [
        (BELOW, "passed", []),
        (ABOVE, "crossed", ["body: estimated excess over control 0.1800 (0.0600 to 0.3000) is above 0.05"]),
        (
            BETWEEN,
            "undecided",
            ["gate not decided: body: estimated excess over control 0.1000 (-0.1000 to 0.3000)"],
        ),
        (None, "undecided", ["gate not decided: body: there are no control mutants to compare with"]),
    ],
)
def test_estimated_excesses_decide_by_intervals_that_hold_together(
    body: tuple[float, float] | None, decision: str, says: list[str]
) -> None:
    excesses = [over("gender", *BELOW), *([] if body is None else [over("body", *body)])]
    summary = chosen(excesses, [])
    found = gate.claims(summary, "excess", 0.05)
    assert (found.decision, found.claims) == (decision, says)
    assert gate.lines(summary, None, None, [found]) == says


@pytest.mark.parametrize(
    ("effects", "decision", "says"),
    [
        ([effect(-0.04, 0.05)], "passed", 0),
        ([effect(-0.04, 0.05), effect(-1.0, 1.0, texts=2)], "passed", 0),
        ([effect(-0.04, 0.05), effect(-0.3, -0.06, texts=2)], "crossed", 1),
        ([effect(-0.3, 0.01)], "undecided", 1),
        ([effect(-0.3, 0.01)] * 9, "undecided", gate.TOLD + 1),
        ([], "undecided", 0),
    ],
)
def test_estimated_effects_decide_by_intervals_that_hold_together(
    effects: list[object], decision: str, says: int
) -> None:
    found = gate.claims(chosen([], effects), "effect", 0.05)
    assert (found.decision, len(found.claims)) == (decision, says)
