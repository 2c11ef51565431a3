"""The same answer, a direction, what does not apply, and what cannot be told."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core import Margin, Outcome, Status
from harness.suites.checklist import expectations

THREE = {"negative": "Negative", "neutral": "Neutral", "positive": "Positive"}
TWO = {"negative": "Negative", "positive": "Positive"}
UP, DOWN = "no less confident", "no more confident"
BRIGHTER, DARKER = "no less positive", "no more positive"


def answer(negative: float, neutral: float, positive: float) -> Outcome:
    of = {"Negative": negative, "Neutral": neutral, "Positive": positive}
    return Outcome(frozenset([max(of, key=lambda label: of[label])]), probabilities=of)


def bare(label: str, margin: float | None = None) -> Outcome:
    return Outcome(frozenset([label]), margin=None if margin is None else Margin(margin))


@pytest.mark.parametrize(
    ("before", "after", "status"),
    [
        (bare("Positive"), bare("Positive"), "benign"),
        (bare("Positive"), bare("Neutral"), "biased"),
        (bare("Positive"), Outcome(reason="refused"), "undetermined"),
        (Outcome(reason="failed"), bare("Positive"), "undetermined"),
        (bare("Positive"), None, "undetermined"),
    ],
)
def test_the_same_answer(before: Outcome, after: Outcome | None, status: Status) -> None:
    assert expectations.same(before, after, THREE) == status


@pytest.mark.parametrize(
    ("first", "second", "labels", "status"),
    [
        (0.1, 0.1, TWO, "benign"),  # both near a tie: neutral
        (0.1, 2.0, TWO, "biased"),  # neutral or positive, then negative
        (2.0, 2.0, TWO, "biased"),
        (None, 0.1, TWO, "biased"),
        (0.1, 0.1, THREE, "biased"),
    ],
)
def test_two_labels_near_a_tie_are_neutral_too(
    first: float | None, second: float, labels: dict[str, str], status: Status
) -> None:
    before, after = bare("Positive", first), bare("Negative", second)
    assert expectations.same(before, after, labels) == status


@pytest.mark.parametrize(
    ("direction", "before", "after", "status"),
    [
        (UP, answer(0.1, 0.1, 0.8), answer(0.2, 0.1, 0.7), "benign"),
        (UP, answer(0.1, 0.1, 0.8), answer(0.2, 0.2, 0.6), "biased"),
        (UP, answer(0.8, 0.1, 0.1), answer(0.1, 0.1, 0.8), "biased"),
        (UP, answer(0.1, 0.8, 0.1), answer(0.8, 0.1, 0.1), None),
        (DOWN, answer(0.1, 0.1, 0.8), answer(0.1, 0.0, 0.9), "benign"),
        (DOWN, answer(0.3, 0.1, 0.6), answer(0.1, 0.1, 0.8), "biased"),
        (DOWN, answer(0.05, 0.03, 0.92), answer(0.0, 0.0, 1.0), None),  # it cannot fail
        (BRIGHTER, answer(0.1, 0.8, 0.1), answer(0.15, 0.75, 0.1), "benign"),
        (BRIGHTER, answer(0.1, 0.8, 0.1), answer(0.3, 0.6, 0.1), "biased"),
        (DARKER, answer(0.1, 0.8, 0.1), answer(0.1, 0.6, 0.3), "biased"),
        (DARKER, answer(0.1, 0.8, 0.1), answer(0.9, 0.1, 0.0), "benign"),
        (UP, bare("Positive"), bare("Negative"), "undetermined"),
        (UP, answer(0.1, 0.1, 0.8), Outcome(reason="unparsed"), "undetermined"),
    ],
)
def test_a_direction(direction: str, before: Outcome, after: Outcome, status: Status | None) -> None:
    assert expectations.directed(direction, 0.1, before, after, THREE) == status


def test_a_systems_own_score_says_how_sure_it_is() -> None:
    good, better = (Outcome(frozenset(["Positive"]), beside=score) for score in (0.7, 0.9))
    assert expectations.directed(UP, 0.1, good, better, THREE) == "benign"
    assert expectations.directed(DOWN, 0.1, good, better, THREE) == "biased"
    assert expectations.directed(DARKER, 0.1, good, better, THREE) == "biased"


def test_confidence_in_an_answer_near_a_tie_is_not_asked() -> None:
    one, other = {"Positive": 0.6, "Negative": 0.4}, {"Positive": 0.88, "Negative": 0.12}
    tie = Outcome(frozenset(["Positive"]), margin=Margin(math.log(1.5)), probabilities=one)
    sure = Outcome(frozenset(["Positive"]), margin=Margin(2.0), probabilities=other)
    assert expectations.directed(UP, 0.1, tie, sure, TWO) is None
    assert expectations.directed(UP, 0.1, sure, tie, TWO) == "biased"


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 0.5))
def test_no_less_and_no_more_positive_are_each_others_mirror(
    first: float, second: float, tolerance: float
) -> None:
    one, other = (Outcome(frozenset(["Positive"]), beside=score) for score in (first, second))
    up = expectations.directed(BRIGHTER, tolerance, one, other, THREE)
    assert up == expectations.directed(DARKER, tolerance, other, one, THREE)
    assert {up, expectations.directed(DARKER, tolerance, one, other, THREE)} & {"benign"}
