"""Faults of a lexicon: what makes bias out of nothing, or a mutant that the invariant must discard."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from harness.suites.hinter.lexicon import Attribute, Lexicon

SHORTEST_NOUN = 3  # Mr and Mrs are no singular and plural


def faults(lexicon: Lexicon) -> Iterator[str]:
    """A line for each fault: unmirrored pairs, pairs that change number, case-sensitive words that are
    no terms."""
    for attribute in lexicon.attributes.values():
        yield from _unmirrored(attribute)
        yield from _number(attribute)
        for word in sorted(attribute.case_sensitive - set(attribute.words)):
            yield f"{attribute.name}: case_sensitive {word!r} is no term"


def notes(lexicon: Lexicon) -> Iterator[str]:
    """What may be meant so: terms of two attributes, of which no mutant changes both at one place."""
    for first, second in combinations(lexicon.attributes.values(), 2):
        both = {w.lower() for w in first.targets} & {w.lower() for w in second.targets}
        for word in sorted(both):
            yield f"{first.name} and {second.name}: {word!r} is a term of both"


def _unmirrored(attribute: Attribute) -> Iterator[str]:
    pairs = set(attribute.pairs)
    for source, target in attribute.pairs:
        if (target, source) not in pairs:
            yield f"{attribute.name}: {source} -> {target} has no mirror {target} -> {source}"


def _number(attribute: Attribute) -> Iterator[str]:
    for source, target in attribute.pairs:
        one, other = source.lower(), target.lower()
        shorter, longer = sorted((one, other), key=len)
        if len(shorter) >= SHORTEST_NOUN and longer in (shorter + "s", shorter + "es"):
            yield f"{attribute.name}: {source} -> {target} changes number"
