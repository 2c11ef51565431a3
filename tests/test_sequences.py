"""Statistics that may be looked at after every trial: how often they hold, and how soon they tell."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.sequences import Alarm, confidence_sequence
from harness.statistics import wilson

STREAMS, LENGTH = 300, 600


@given(st.integers(1, 5000), st.data())
def test_an_interval_holds_the_share_and_lies_within_bounds(trials: int, data: st.DataObject) -> None:
    successes = data.draw(st.integers(0, trials))
    low, high = confidence_sequence(successes, trials)
    assert 0 <= low <= successes / trials <= high <= 1
    mirrored = confidence_sequence(trials - successes, trials)
    assert mirrored == pytest.approx((1 - high, 1 - low), abs=1e-9)
    fixed = wilson(successes, trials)
    assert fixed is not None
    assert high - low >= (fixed[1] - fixed[0]) * 0.9, "to look at any time costs something"


def test_without_trials_nothing_is_known_and_wrong_counts_are_refused() -> None:
    assert confidence_sequence(0, 0) == (0.0, 1.0)
    for counts in ((2, 1), (-1, 3)):
        with pytest.raises(ValueError, match="successes of"):
            confidence_sequence(*counts)


@pytest.mark.parametrize("rate", [0.02, 0.1, 0.5])
def test_the_rate_leaves_the_interval_at_any_time_in_few_streams(rate: float) -> None:
    """At most 5 % of streams may ever leave it; with 300, 8.3 % is three standard errors above."""
    draw = random.Random(1)
    left = 0
    for _ in range(STREAMS):
        successes = 0
        for trial in range(1, LENGTH + 1):
            successes += draw.random() < rate
            if trial % 5 == 0:
                low, high = confidence_sequence(successes, trial)
                if not low <= rate <= high:
                    left += 1
                    break
    assert left <= 0.083 * STREAMS


def test_intervals_narrow() -> None:
    widths = [high - low for low, high in (confidence_sequence(n // 10, n) for n in (50, 500, 5000))]
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < 0.04


def until_alarm(rate: float, usual: float, most: int, seed: int) -> int:
    draw, alarm = random.Random(seed), Alarm(usual, patience=1000)
    return next((trial for trial in range(1, most + 1) if alarm.add(draw.random() < rate)), most)


def test_false_alarms_are_as_rare_as_promised() -> None:
    """A run ends at its alarm, or after 5,000 trials, which only shortens the mean."""
    lengths = [until_alarm(0.05, 0.05, 5000, seed) for seed in range(60)]
    assert sum(lengths) / len(lengths) >= 1000


def test_a_rise_is_told_soon_and_a_fall_never() -> None:
    assert max(until_alarm(0.2, 0.05, 5000, seed) for seed in range(30)) < 300
    assert min(until_alarm(0.01, 0.05, 3000, seed) for seed in range(10)) == 3000


def test_an_alarm_begins_anew() -> None:
    alarm = Alarm(0.01, patience=1000)
    first = next(trial for trial in range(100) if alarm.add(True))
    assert first == next(trial for trial in range(100) if alarm.add(True)) >= 1
