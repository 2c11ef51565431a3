"""Which of two planted systems changes its answer more often: by hand, by chance, and beyond controls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from scipy.stats import binom

from harness.core import CONTROL, Case
from harness.findings import frequency
from harness.findings.frequency import Frequency
from harness.findings.gaps import Side
from tests.findings.runs import POSITIVE, Run, case, run
from tests.findings.test_gaps import brittle, even, many, rejects_women


def side(name: str, of: Run) -> Side:
    return Side(name, "hinter", of, POSITIVE, ())


def between(cases: Sequence[Case], *answers: Callable[[Case], str | None]) -> Frequency:
    [row] = frequency.find([side(f"s{n}", run(cases, answer)) for n, answer in enumerate(answers)])
    return row


def negative(*names: str) -> Callable[[Case], str]:
    return lambda asked: "Negative" if asked.id in names else "Positive"


BY_HAND = [
    case("a", "original"),
    case("a", "atomic", "body:blind"),
    case("a", "atomic", "body:deaf"),
    case("a", "control", f"{CONTROL}:x"),
    case("b", "original"),
    case("b", "atomic", "body:blind"),
    case("b", "control", f"{CONTROL}:x"),
    case("b", "control", f"{CONTROL}:y"),
]


def test_the_difference_on_the_same_tests_and_beyond_controls_by_hand() -> None:
    """Of 3 tests the first changes 1, the second 2; only the second changes one of b's two controls."""
    row = between(
        BY_HAND, negative("b#body:blind"), negative("a#body:blind", "a#body:deaf", f"b#{CONTROL}:x")
    )
    assert (row.texts, row.tests, row.biased_first, row.biased_second, row.controls) == (2, 3, 1, 2, 3)
    assert row.difference == pytest.approx(2 / 3 - 1 / 3)
    assert row.beyond == pytest.approx(1 / 3 - (2 / 3 * 0 + 1 / 3 * 1 / 2))
    assert row.ci95 is not None
    assert row.ci95[0] < row.difference < row.ci95[1]
    assert row.p == 1.0  # +2 and -1: no flip of the two signs is nearer to zero


def test_the_order_of_the_runs_turns_the_signs() -> None:
    answers = [negative("b#body:blind"), negative("a#body:blind", "a#body:deaf", f"b#{CONTROL}:x")]
    row, back = between(BY_HAND, *answers), between(BY_HAND, *reversed(answers))
    assert (row.difference, row.beyond) == pytest.approx((-back.difference, -(back.beyond or 0)))
    assert (row.p, row.beyond_p) == (back.p, back.beyond_p)


def test_a_test_that_one_of_them_did_not_decide_is_left_out() -> None:
    def silent(asked: Case) -> str | None:
        return None if asked.id == "a#body:deaf" else "Positive"

    row = between(BY_HAND, even, silent)
    assert (row.tests, row.biased_first, row.biased_second) == (2, 0, 0)


def test_a_system_that_rejects_women_is_worse_than_one_that_does_not_beyond_controls() -> None:
    row = between(many(16), even, rejects_women)
    assert row.difference == pytest.approx(2 / 3)  # of the tests gender, body, and both
    assert row.beyond == pytest.approx(row.difference)
    assert row.p_holm is not None
    assert row.beyond_p_holm is not None
    assert max(row.p_holm, row.beyond_p_holm) < 0.01


def test_a_brittle_system_is_worse_but_not_beyond_controls() -> None:
    row = between(many(200), even, brittle("b", 0.15))
    assert row.p_holm is not None
    assert row.p_holm < 0.01
    assert row.beyond is not None
    assert row.beyond_ci95 is not None
    assert row.beyond_ci95[0] < 0 < row.beyond_ci95[1]


def test_two_systems_that_are_equally_brittle_are_seldom_told_apart() -> None:
    cases = many(40)
    rows = [between(cases, brittle(seed, 0.1), brittle(f"other {seed}", 0.1)) for seed in range(60)]
    alarms = sum(row.p_holm is not None and row.p_holm <= 0.05 for row in rows)
    assert alarms <= binom.ppf(0.999, len(rows), 0.05)
    covered = sum(row.ci95 is not None and row.ci95[0] <= 0 <= row.ci95[1] for row in rows)
    assert covered >= binom.ppf(0.001, len(rows), 0.95)


def test_more_runs_are_more_claims_and_without_controls_there_is_nothing_beyond() -> None:
    cases = [each for each in many(12) if each.role != "control"]
    rows = frequency.find(
        [side(name, run(cases, answer)) for name, answer in (("a", even), ("b", even), ("c", rejects_women))]
    )
    assert [(row.first, row.second) for row in rows] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [row.difference for row in rows] == pytest.approx([0, 2 / 3, 2 / 3])
    assert {(row.controls, row.beyond, row.beyond_p_holm) for row in rows} == {(0, None, None)}


def test_other_suites_and_texts_and_cases_chosen_by_their_answers_are_not_compared() -> None:
    cases = many(4)
    one = side("a", run(cases, even))
    other = [replace(each, text=f"{each.text}!") for each in cases]
    assert frequency.find([one, replace(one, name="b", suite="eec")]) == []
    assert frequency.find([one, replace(one, name="b", chosen=True)]) == []
    assert frequency.find([one, side("b", run(other, even))]) == []
