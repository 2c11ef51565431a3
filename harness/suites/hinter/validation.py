"""Faults of a lexicon: what makes bias out of nothing, or a mutant that the invariant must discard."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from harness.suites.hinter.lexicon import Attribute, Lexicon

SHORTEST_NOUN = 3  # Mr and Mrs are no singular and plural
SINGULAR, PLURAL = "singular", "plural"
# Nouns of persons whose plural is not made with an s, also as the end of a longer word ("policemen").
IRREGULAR = {
    "men": "man",
    "women": "woman",
    "children": "child",
    "people": "person",
    "wives": "wife",
    "folks": "folk",
    "selves": "self",
}
AFTER_THE_HEAD = ("with", "of", "in", "from", "without", "who")


def faults(lexicon: Lexicon) -> Iterator[str]:
    """A line for each fault: unmirrored pairs, pairs that change number by their form, words that differ
    by case alone, case-sensitive words that are no terms."""
    for attribute in lexicon.attributes.values():
        yield from _unmirrored(attribute)
        yield from _number(attribute)
        yield from _cases(attribute)
        for word in sorted(attribute.case_sensitive - set(attribute.words)):
            yield f"{attribute.name}: case_sensitive {word!r} is no term"


def notes(lexicon: Lexicon) -> Iterator[str]:
    """What may be meant so: terms of two attributes, of which no mutant changes both at one place."""
    for first, second in combinations(lexicon.attributes.values(), 2):
        both = {w.lower() for w in first.targets} & {w.lower() for w in second.targets}
        for word in sorted(both):
            yield f"{first.name} and {second.name}: {word!r} is a term of both"


def head(phrase: str) -> str:
    """``phrase`` up to its head: "blind women" of "blind women with a dog", "sons" of "sons-in-law"."""
    words = phrase.removesuffix("-in-law").split()
    end = next((i for i, word in enumerate(words) if i and word.lower() in AFTER_THE_HEAD), len(words))
    return " ".join(words[:end])


def changes_number(source: str, target: str) -> bool:
    """Whether one term is a plural and the other none, by their forms alone."""
    one, other = (head(term).lower().split()[-1] for term in (source, target))
    numbers = {_form(one), _form(other)}
    return numbers == {SINGULAR, PLURAL} or other in _plurals(one) or one in _plurals(other)


def _form(noun: str) -> str | None:
    if noun.endswith(tuple(IRREGULAR)):
        return PLURAL
    return SINGULAR if noun.endswith(tuple(IRREGULAR.values())) else None


def _plurals(noun: str) -> tuple[str, ...]:
    if len(noun) < SHORTEST_NOUN:
        return ()
    return (noun + "s", noun + "es", *([noun[:-1] + "ies"] if noun.endswith("y") else []))


def _unmirrored(attribute: Attribute) -> Iterator[str]:
    pairs = set(attribute.pairs)
    for source, target in attribute.pairs:
        if (target, source) not in pairs:
            yield f"{attribute.name}: {source} -> {target} has no mirror {target} -> {source}"


def _number(attribute: Attribute) -> Iterator[str]:
    for source, target in attribute.pairs:
        if changes_number(source, target):
            yield f"{attribute.name}: {source} -> {target} changes number"


def _cases(attribute: Attribute) -> Iterator[str]:
    written: dict[str, str] = {}
    for word in attribute.words:
        first = written.setdefault(word.lower(), word)
        if first != word and word not in attribute.case_sensitive and first not in attribute.case_sensitive:
            yield f"{attribute.name}: {first!r} and {word!r} differ by case alone"
