"""The embedded model suggests words of a vocabulary and tells which fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.language.embedded import Embedded

WORDS = ("really", "also", "new", "own", "xylophone")


@pytest.fixture(scope="module")
def model(smollm2_file: Path) -> Embedded:
    return Embedded()


def test_likely_words_of_the_vocabulary_come_first(model: Embedded) -> None:
    suggester = model.suggester(WORDS)
    before_adjective, before_noun = suggester.suggest(
        [("The film is ", " full of rabbits."), ("This is a ", " movie.")], 2
    )
    assert set(before_adjective) == {"really", "also"}
    assert before_noun[0] == "new"
    assert suggester.suggest([("The film is ", " full.")], 1) == [before_adjective[:1]]


def test_at_the_beginning_of_a_text_all_words_are_equal(model: Embedded) -> None:
    assert model.suggester(WORDS).suggest([("", ", the film works.")], 5) == [sorted(WORDS)]


def test_a_word_that_fits_costs_less(model: Embedded) -> None:
    judge = model.judge()
    also, own, noun = (
        judge.gain("This film is ", word, " full of rabbits.") for word in ("also", "own", "xylophone")
    )
    assert also > own
    assert also > noun
    assert judge.gain("This film is ", "also", " full of rabbits.") == also
