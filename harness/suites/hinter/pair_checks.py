"""Find pairs that seem to change number or part of speech: the invariant discards their mutants."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.language.parsers import Parser
from harness.suites.hinter.lexicon import Attribute, Lexicon
from harness.suites.hinter.validation import IRREGULAR, PLURAL, SINGULAR, changes_number, head

# No frame implies singular or plural; in the last one, the term takes the place of an adjective.
FRAMES = ("We met the {} in town.", "Nobody saw the {} yesterday.", "The {} teacher left.")
NOUN_FRAMES = 2
NOUN, ADJECTIVE = "noun", "adjective"
CLASSES = {
    **dict.fromkeys(("NN", "NNS"), frozenset([NOUN])),
    **dict.fromkeys(("JJ", "JJR", "JJS", "VBN", "VBG"), frozenset([ADJECTIVE])),
    **dict.fromkeys(("NNP", "NNPS"), frozenset([NOUN, ADJECTIVE])),  # demonyms are both: "Thai"
}
UNKNOWN = frozenset([NOUN, ADJECTIVE])
NUMBERS = {"NN": SINGULAR, "NNP": SINGULAR, "NNS": PLURAL, "NNPS": PLURAL}


def notes(lexicon: Lexicon, parser: Parser) -> Iterator[str]:
    """Yield a line for each pair that the tagger sees as a change and whose form does not show it already.

    Each term is tagged in each of ``FRAMES``. Its number counts only if both noun frames agree and a plural
    looks like one. Its parts of speech are all that it had in any frame; a pair changes them only if its
    terms share none. Proper names, pronouns and hyphenated compounds count as either.
    """
    for attribute in lexicon.attributes.values():
        yield from _notes(attribute, parser)


def _notes(attribute: Attribute, parser: Parser) -> Iterator[str]:
    tags = dict(zip(attribute.words, _tags(attribute.words, parser), strict=True))
    number = {word: _number(word, of_word) for word, of_word in tags.items()}
    classes = {word: _classes(word, of_word) for word, of_word in tags.items()}
    for source, target in attribute.pairs:
        arrow = f"{attribute.name}: {source} -> {target}"
        if {number[source], number[target]} == {SINGULAR, PLURAL}:
            if not changes_number(source, target):
                yield f"{arrow} seems to change number ({number[source]}, {number[target]})"
        elif not classes[source] & classes[target]:
            (before,), (after,) = classes[source], classes[target]
            yield f"{arrow} seems to change the part of speech ({before}, {after})"


def _tags(words: Sequence[str], parser: Parser) -> Iterator[tuple[str, ...]]:
    """Yield, for each word, the tag of its head in each frame."""
    parses = iter(parser.parse([frame.format(word) for word in words for frame in FRAMES]))
    for word in words:
        ends = [frame.index("{") + len(head(word)) for frame in FRAMES]
        yield tuple(
            [pos for at, pos in zip(parse.offsets, parse.pos, strict=True) if at < end][-1]
            for end, parse in zip(ends, parses, strict=False)
        )


def _number(word: str, tags: Sequence[str]) -> str | None:
    """Return the number that both noun frames give, unless the form contradicts it ("Chinese", "Women")."""
    numbers = {NUMBERS.get(tag) for tag in tags[:NOUN_FRAMES]}
    noun = head(word).lower()
    irregular = noun.endswith(tuple(IRREGULAR))
    if numbers == {PLURAL} and (irregular or (noun.endswith("s") and not noun.endswith("ss"))):
        return PLURAL
    return SINGULAR if numbers == {SINGULAR} and not irregular else None


def _classes(word: str, tags: Sequence[str]) -> frozenset[str]:
    if "-" in word:
        return UNKNOWN
    return frozenset().union(*(CLASSES.get(tag, UNKNOWN) for tag in tags))
