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
    assert set(before_adjective[0]) == {"really", "also"}
    assert before_noun[0][0] == "new"
    assert suggester.suggest([("The film is ", " full.")], 1) == [[before_adjective[0][:1]]]


def test_every_gap_has_its_words_with_the_others_closed(model: Embedded) -> None:
    suggester = model.suggester(WORDS)
    ((first, second),) = suggester.suggest([("The ", " film is ", " full.")], 5)
    assert "new" in first
    assert [second] == suggester.suggest([("The film is ", " full.")], 5)[0]


def test_a_word_that_fits_costs_less(model: Embedded) -> None:
    judge = model.judge()
    parts = ("This film is ", " full of rabbits.")
    also, own, noun = (judge.gain(parts, [word]) for word in ("also", "own", "xylophone"))
    assert also > own
    assert also > noun
    assert judge.gain(parts, ["also"]) == also


def test_several_words_are_judged_together(model: Embedded) -> None:
    judge = model.judge()
    both = judge.gain(("The ", " film is ", " full of rabbits."), ["new", "also"])
    assert both > judge.gain(("The ", " film is ", " full of rabbits."), ["also", "new"])
