"""Compare a mutant's grammar with its original's, as published (HINTER, Algorithms 3 and 4)."""

from __future__ import annotations

from collections.abc import Sequence

from harness.language.parsers import Parse, Parser

SENTENCES, POS, DEPENDENCY = "sentences", "pos", "dependency"
MOVED = "moved"
"""Not a reason to discard: a sentence boundary may have moved, so the whole text has to be compared."""


def tolerant_table_comp(first: Sequence[str], second: Sequence[str]) -> bool:
    """Return whether two tag sequences match within the difference of their lengths (Algorithm 4).

    Each mismatch is an error. As many mismatches as the lengths differ by may shift the longer sequence by
    one tag. Tags left over at the end of either sequence are errors too.
    """
    size1, size2 = len(first), len(second)
    limit = abs(size1 - size2)
    if not limit:
        return first == second
    at1 = at2 = errors = shift = 0
    while at1 < size1 and at2 < size2:
        if first[at1] != second[at2]:
            errors += 1
            if shift < limit:
                shift += 1
                if size1 > size2:
                    at1 += 1
                else:
                    at2 += 1
        at1 += 1
        at2 += 1
    errors += (size1 - at1) + (size2 - at2)
    return errors <= limit


def compare(original: Parse, mutant: Parse) -> str | None:
    """Return None if one sentence conforms to the other, else the first property that differs."""
    if not tolerant_table_comp(original.pos, mutant.pos):
        return POS
    if not tolerant_table_comp(original.dep, mutant.dep):
        return DEPENDENCY
    return None


def check(
    parser: Parser, original: str, mutant: str, properties: Sequence[str] = (POS, DEPENDENCY)
) -> str | None:
    """Return None if ``mutant`` conforms to ``original`` in ``properties``, else the reason (Algorithm 3)."""
    before = [original[a:b] for a, b in parser.split(original).spans]
    after = [mutant[a:b] for a, b in parser.split(mutant).spans]
    if len(before) != len(after):
        return SENTENCES
    changed = [(a, b) for a, b in zip(before, after, strict=True) if a != b]
    parses = parser.parse([s for pair in changed for s in pair])
    return next((r for r in map(compare, parses[::2], parses[1::2]) if r in properties), None)
