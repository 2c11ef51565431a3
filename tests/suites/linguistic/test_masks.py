"""Where a text may take a word: within its sentences, and at its beginning."""

from __future__ import annotations

import pytest

from harness.language import constituency
from harness.language.parsers import CachedParser
from harness.suites.linguistic import capabilities, grammar, modifiers
from harness.suites.linguistic.masks import Masked, masked_sentences
from harness.suites.linguistic.seeds import Seed

LC9 = capabilities.load().by_name["LC9"].variants[0]


def masks(text: str, parser: CachedParser, start: int = 0) -> list[Masked]:
    (trees,) = constituency.load("flat").trees([text])
    seed = Seed("LC", LC9, text, ("d",), ((start, len(text)),))
    (parse,) = parser.parse([text])
    return masked_sentences(seed, trees, parse, grammar.load())


def opened(text: str, word: str, parser: CachedParser) -> list[str]:
    words = modifiers.load()
    return [
        m.filled(word) for m in masks(text, parser) if not m.before and m.place.fits(word, m.symbol, words)
    ]


@pytest.mark.parametrize(
    ("text", "word", "expansion"),
    [
        ("The movie isn't a dud.", "clearly", "Clearly, the movie isn't a dud."),
        ("Norton is magnetic.", "indeed", "Indeed, Norton is magnetic."),
        ("A dull, dishonest picture.", "truly", "Truly a dull, dishonest picture."),
    ],
)
def test_an_adverb_opens_a_text(text: str, word: str, expansion: str, parser: CachedParser) -> None:
    assert opened(text, word, parser) == [expansion]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("The movie isn't a dud.", "definitely"),  # "Definitely, the movie …"
        ("A dull, dishonest picture.", "ultimately"),
        ("Worth the effort to watch.", "clearly"),  # neither a statement nor a phrase with an article
        ("Is the movie a dud?", "clearly"),
        ("Storytelling feels slight.", "clearly"),  # the capital may be a title's
    ],
)
def test_what_does_not_open_a_text(text: str, word: str, parser: CachedParser) -> None:
    assert opened(text, word, parser) == []


def test_what_stands_in_a_template_has_no_beginning(parser: CachedParser) -> None:
    text = "I was told that the movie is dull."
    assert masks(text, parser, text.index("the"))
    assert all(m.before for m in masks(text, parser, text.index("the")))


def test_masks_keep_the_text(parser: CachedParser) -> None:
    text = "The film is a dull story of a town."
    for masked in masks(text, parser):
        assert masked.filled("x").lower().replace("x ", "", 1).replace("x, ", "", 1) == text.lower()
