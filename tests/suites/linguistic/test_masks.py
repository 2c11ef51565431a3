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
        ("The Sweetest Thing leaves a sour taste.", "clearly"),
    ],
)
def test_what_does_not_open_a_text(text: str, word: str, parser: CachedParser) -> None:
    assert opened(text, word, parser) == []


def beginnings(text: str, found: str, parser: CachedParser) -> set[str]:
    """Which words may open the text of a template before the sentence ``found``."""
    at_start = [m for m in masks(text, parser, text.index(found)) if m.opens]
    words = modifiers.load()
    return {word for m in at_start for word in words.neutral if m.place.fits(word, m.symbol, words)}


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("I was told that", "frank"),
        ("I wouldn't say, given that it's a Tuesday, that", "frank"),
        ("Many people agree that", "distant"),
        ("You think that", "distant"),
        ("Do I think that", "asking"),
    ],
)
def test_an_adverb_opens_a_template(template: str, words: str, parser: CachedParser) -> None:
    found = "the movie is dull"
    assert beginnings(f"{template} {found}.", found, parser) == getattr(modifiers.load(), words)


def test_what_is_set_off_before_a_template_stays_first(parser: CachedParser) -> None:
    assert beginnings("Last time, I thought that the movie is dull.", "the movie", parser) == set()


def test_a_template_has_no_gaps_of_its_own(parser: CachedParser) -> None:
    text = "I was really told that the movie is dull."
    found = text.index("the movie")
    assert {m.gap for m in masks(text, parser, found)} - {0}
    assert all(m.opens or m.gap > found for m in masks(text, parser, found))


def test_masks_keep_the_text(parser: CachedParser) -> None:
    text = "The film is a dull story of a town."
    for masked in masks(text, parser):
        assert masked.filled("x").lower().replace("x ", "", 1).replace("x, ", "", 1) == text.lower()
