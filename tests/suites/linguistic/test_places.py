"""Where an adjective or an adverb may stand, and which of the listed words."""

from __future__ import annotations

import pytest

from harness.language.parsers import CachedParser
from harness.suites.linguistic import modifiers
from harness.suites.linguistic.places import place

WORDS = modifiers.load()


def fits(text: str, word: str, symbol: str, parser: CachedParser) -> bool:
    """Whether ``word`` may stand at the ``_`` of the text."""
    gap = text.index("_ ")
    text = text.replace("_ ", "")
    (parse,) = parser.parse([text])
    here = place(text, parse, gap)
    return here is not None and here.takes(symbol) and here.fits(word, symbol, WORDS)


@pytest.mark.parametrize(
    ("text", "word", "symbol"),
    [
        ("Her _ wallet is here.", "unlisted", "JJ"),
        ("The film is _ flat.", "really", "RB"),
        ("The film is a _ flat affair.", "truly", "RB"),
        ("The film _ finds its feet.", "ultimately", "RB"),
        ("The film is _ awful.", "utterly", "RB"),
        ("The film is _ awful.", "really", "RB"),
        ("This is _ a mess.", "clearly", "RB"),
        ("The _ film is flat.", "unlisted", "JJ"),
    ],
)
def test_places(text: str, word: str, symbol: str, parser: CachedParser) -> None:
    assert fits(text, word, symbol, parser)


@pytest.mark.parametrize(
    ("text", "word", "symbol"),
    [
        ("She went to her _ Washington.", "unlisted", "JJ"),  # a name
        ("It is full of _ angst.", "unlisted", "JJ"),  # no determiner
        ("The film is _ flat.", "unlisted", "JJ"),
        ("It lifts itself, _ droning on.", "ultimately", "RB"),  # before a participle
        ("The film _ has found its feet.", "really", "RB"),  # before an auxiliary
        ("The film is very _ flat.", "really", "RB"),  # behind another adverb
        ("The film _ finds its feet.", "utterly", "RB"),  # a degree before a verb
        ("Beckett _ applied to the process.", "ultimately", "RB"),  # or was applied
        ("It drags when it _ finds its feet.", "ultimately", "RB"),  # the verb of another clause
        ("The movie _ isn't a mess.", "certainly", "RB"),  # before a form of be
        ("The film is _ awful.", "very", "RB"),  # an adjective of the utmost
        ("The film is _ flat.", "utterly", "RB"),  # one that has degrees
        ("He saw the _ Iranian film.", "very", "RB"),  # one that has none
        ("It is _ amusing enough.", "truly", "RB"),
        ("They are two such _ funny actors.", "very", "RB"),
        ("It is the _ first film.", "very", "RB"),
        ("He read the _ prophetic book.", "very", "RB"),  # "that same"
        ("The picture's _ dull byways are long.", "clearly", "RB"),  # an owner's 's
        ("It is a _ 21st century play.", "really", "RB"),
        ("It is a _ low-rent film.", "very", "RB"),
        ("The film was not _ vile enough.", "very", "RB"),
        ("It is most amusing and _ funny.", "very", "RB"),  # graded before
        ("The film is _ flat.", "ultimately", "NN"),
    ],
)
def test_no_places(text: str, word: str, symbol: str, parser: CachedParser) -> None:
    assert not fits(text, word, symbol, parser)


def test_the_lists_do_not_contradict_each_other() -> None:
    assert not WORDS.neutral & WORDS.weakening
    assert WORDS.negatable <= WORDS.neutral
    assert not WORDS.absolute & WORDS.gradable
    assert all(word == word.lower() for word in WORDS.weakening)
