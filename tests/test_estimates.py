"""Estimates of tokens: what is likely, and the bound that it stays within."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness import estimates
from harness.core import Message

LABELS = st.lists(st.text("ab ", min_size=1).filter(str.strip), min_size=1)


@given(st.lists(st.builds(Message, st.just("user"), st.text())))
def test_a_prompt_is_likely_within_its_bound(messages: list[Message]) -> None:
    assert estimates.likely_prompt(messages) <= estimates.prompt_bound(messages)


@given(LABELS, st.booleans())
def test_a_likely_answer_may_be_given(labels: list[str], several: bool) -> None:
    if several:
        labels = [label.split()[0] for label in labels]
    assert estimates.likely_answer(labels) <= estimates.answer_bound(labels, several)


@given(st.integers(0, 1000))
def test_what_is_within_a_number_of_tokens_is_not_more(tokens: int) -> None:
    assert estimates.text_bound("x" * estimates.characters_within(tokens)) <= tokens


def test_a_request_asks_for_the_same_as_ever() -> None:
    """``max_tokens`` is part of a request's key: another number would buy all replies again."""
    assert estimates.answer_bound(["Negative", "Positive"], False) == 63
    assert estimates.answer_bound(["not at all", "very"], False) == 69
    assert estimates.answer_bound(["a b", "c"] * 20, True) == 60 + 3 * 2 * 15


def test_a_request_with_its_answer_is_never_estimated_below_what_it_is_likely_to_be() -> None:
    """A prompt of 420 characters of English is some 100 tokens, with a bound that no text exceeds: 140."""
    prompt = [Message("system", "x" * 42), Message("user", "x" * 378)]
    assert estimates.likely_prompt(prompt) == 10 + 90 + 2 * 4
    assert estimates.prompt_bound(prompt) == 14 + 126 + 2 * 8
    assert estimates.likely_prompt([]) == estimates.prompt_bound([]) == 0


def test_a_bound_takes_three_characters_or_bytes_for_a_token_and_a_part_for_a_whole_one() -> None:
    assert [estimates.text_bound("x" * size) for size in (0, 1, 3, 4)] == [0, 1, 1, 2]
    assert [estimates.bytes_bound(size) for size in (0, 1, 3, 4, 900)] == [0, 1, 1, 2, 300]
    assert estimates.characters_within(100) == 300


def test_a_bare_answer_is_the_longest_label_and_the_end() -> None:
    assert estimates.likely_answer(["Negative", "Positive"]) == 3
    assert estimates.likely_answer(["yes", "not at all", "no"]) == 7
