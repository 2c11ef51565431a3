"""Whether the names of both sides are cut into as many tokens."""

from __future__ import annotations

import pytest

from harness.suites.eec.balance import balance
from harness.suites.eec.corpus import Spec


def in_fours(word: str) -> float:
    """How many pieces of four characters a word has, with the space before it."""
    return float(-(-len(f" {word}") // 4))


def test_lengths_in_tokens_are_reported_by_class(eec: Spec) -> None:
    gender, race = balance(eec, in_fours)
    # " Tia" is one token, " Alphonse" three.
    assert race.first == ((1.0, 1), (2.0, 14), (3.0, 5))
    assert race.second == ((2.0, 18), (3.0, 2))
    assert race.first_mean == pytest.approx(44 / 20)
    assert race.second_mean == pytest.approx(42 / 20)
    assert not race.even
    assert sum(n for _, n in gender.first) == sum(n for _, n in gender.second) == 30


def test_sides_of_one_length_are_even(eec: Spec) -> None:
    assert all(comparison.even for comparison in balance(eec, lambda _: 1.0))
