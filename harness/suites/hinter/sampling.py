"""A sample of a document's mutants from which the rates of all of them can be estimated.

Drawn are variations, for each attribute by itself. Every mutant of those drawn is made, so a mutant comes
with all its sub-mutants, which the question of hidden bias needs, and its chance to be made is the product
of its variations' chances: the reciprocals are the weights of Horvitz and Thompson.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import prod
from random import Random

from harness.suites.hinter.mutation import Variation, Variations


def sizes(available: Mapping[str, int], order: int, pairs: int | None, mutants: int | None) -> dict[str, int]:
    """How many variations to draw of each attribute: at most ``pairs``, and so many that at most
    ``mutants`` mutants come out, in about the same share of each attribute.

    ``mutants`` must allow one variation of each attribute (``least``).
    """
    limits = {name: min(n, pairs or n) for name, n in available.items()}
    if mutants is None or _mutants(limits, order) <= mutants:
        return limits
    drawn = dict.fromkeys(limits, 1)
    growing = set(limits)
    while growing:
        name = min(growing, key=lambda one: (drawn[one] / limits[one], one))
        more = {**drawn, name: drawn[name] + 1}
        if more[name] > limits[name] or _mutants(more, order) > mutants:
            growing.remove(name)
        else:
            drawn = more
    return drawn


def least(attributes: int, order: int) -> int:
    """The smallest number of mutants that lets each set of attributes be tested once."""
    return _mutants({str(i): 1 for i in range(attributes)}, order)


def draw(found: Variations, size: Mapping[str, int], seed: str) -> dict[str, Sequence[Variation]]:
    """``size`` variations of each attribute, in their order, with their weights; all of them where it allows.

    Stratified by term: each term gives about as many variations as the others, whatever its place in the
    dictionary and however many replacements it has.
    """
    return {
        name: some if size[name] >= len(some) else _stratified(some, size[name], Random(f"{seed}/{name}"))
        for name, some in found.items()
    }


def _stratified(some: Sequence[Variation], size: int, random: Random) -> list[Variation]:
    strata: dict[str, list[int]] = {}
    for place, variation in enumerate(some):
        strata.setdefault(variation.substitution.source, []).append(place)
    level = max(n for n in range(size + 1) if _level(strata, n) <= size)
    deeper = [term for term, places in strata.items() if len(places) > level]
    left = size - _level(strata, level)
    one_more = set(random.sample(deeper, left))
    chosen: dict[int, float] = {}
    for term, places in strata.items():
        base = min(level, len(places))
        expected = base + (left / len(deeper) if term in deeper else 0.0)
        drawn = random.sample(places, base + (term in one_more))
        chosen |= dict.fromkeys(drawn, len(places) / expected if expected else 1.0)
    return [replace(some[place], weight=chosen[place]) for place in sorted(chosen)]


def _level(strata: Mapping[str, Sequence[int]], level: int) -> int:
    """How many variations are drawn if each term gives ``level`` of them, or all it has."""
    return sum(min(level, len(places)) for places in strata.values())


def _mutants(drawn: Mapping[str, int], order: int) -> int:
    """How many mutants so many variations make, none of them overlapping."""
    counts = drawn.values()
    return sum(prod(some) for size in range(1, order + 1) for some in combinations(counts, size))
