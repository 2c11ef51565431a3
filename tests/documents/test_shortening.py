"""A long document is cut before it is mutated: at a sentence end, as late as it fits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core import Document
from harness.documents.shortening import SPECIAL_TOKENS, Shortener


def words(text: str) -> int:
    return len(text.split())


def cut(text: str, limit: int) -> str:
    return next(Shortener(limit, words).shortened(iter([Document("1", text)]))).text


def test_the_cut_is_at_a_sentence_end() -> None:
    text = 'One two three. Four five! "Six seven?" Eight nine ten.'
    assert cut(text, 10) == text
    assert cut(text, 9) == 'One two three. Four five! "Six seven?"'
    assert cut(text, 6) == "One two three. Four five!"
    assert cut(text, 3) == "One two three."


def test_without_a_sentence_end_it_is_at_a_word() -> None:
    assert cut("one two three four", 3) == "one two three"


def test_without_a_limit_nothing_changes() -> None:
    document = Document("1", "word " * 100_000, frozenset(["x"]))
    assert list(Shortener(None).shortened(iter([document]))) == [document]


def test_a_text_that_fits_for_sure_is_not_counted() -> None:
    def loads_a_model(text: str) -> int:
        raise AssertionError(text)

    short = Document("1", "Seven\nwörds, " * 4)
    shortener = Shortener(len(short.text.encode()) + SPECIAL_TOKENS, loads_a_model)
    assert list(shortener.shortened(iter([short]))) == [short]
    with pytest.raises(AssertionError):
        shortener.fits(Document("2", short.text + "x"))


@given(
    st.lists(st.sampled_from(["a", "bb", "ccc.", "d!", "e?", "“f.”", "g\n"]), min_size=1), st.integers(1, 30)
)
def test_what_is_left_is_a_beginning_that_fits_and_no_longer_one_does(tokens: list[str], limit: int) -> None:
    text = " ".join(tokens)
    left = cut(text, limit)
    assert text.startswith(left)
    assert words(left) <= limit
    if words(text) <= limit:
        assert left == text
