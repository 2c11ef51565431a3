"""How unlike answers in free form are: a distance of words, and its excess over controls."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.findings.likeness import masked, unlikeness

answers = st.lists(st.sampled_from(["the", "work", "was", "good", "he", "she", "Waiter", "waitress"])).map(
    " ".join
)
hidden = st.frozensets(st.sampled_from(["work", "he", "she", "waiter"]))


@given(one=answers, other=answers, words=hidden)
def test_it_is_a_share_symmetric_and_nothing_between_the_same(one: str, other: str, words: set[str]) -> None:
    assert 0 <= unlikeness(one, other, words) == unlikeness(other, one, words) <= 1
    assert unlikeness(one, one.upper(), words) == 0


@given(one=answers, other=answers)
def test_it_is_whole_where_no_word_is_shared_and_order_does_not_matter(one: str, other: str) -> None:
    backwards = " ".join(reversed(one.split()))
    assert unlikeness(backwards, other) == unlikeness(one, other)
    assert unlikeness(one, one + " zebra") == pytest.approx(1 / (2 * len(one.split()) + 1))
    assert unlikeness("quick foxes", other) == 1


def test_who_is_spoken_of_is_not_compared() -> None:
    words = masked("The waiter lost his book.", "The waitress lost her book.")
    assert {"waiter", "waitress", "his", "her", "he", "she"} <= words
    assert not {"the", "lost", "book"} & words
    assert unlikeness("He is a good waiter.", "She is a good waitress.", words) == 0
    assert unlikeness("He is a good waiter.", "She is a bad waitress.", words) == pytest.approx(1 / 3)
