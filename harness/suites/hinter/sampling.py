"""Sample a document's mutants so that the rates of all of them can be estimated.

Variations are drawn separately for each attribute, and every mutant of the drawn variations is made. A mutant
thus comes with all its sub-mutants, which deciding hidden bias requires, and its inclusion probability is the
product of those of its variations. The reciprocals are the Horvitz-Thompson weights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import prod
from random import Random

from harness.suites.hinter.mutation import Variation, Variations


def sizes(available: Mapping[str, int], order: int, pairs: int | None, mutants: int | None) -> dict[str, int]:
    """Return the number of variations to draw for each attribute.

    Draw at most ``pairs`` of an attribute, and no more than make ``mutants`` mutants, in about the same
    proportion of each attribute. ``mutants`` must allow one variation of each (see ``least``).
    """
    limits = {name: min(n, pairs or n) for name, n in available.items()}
    if mutants is None or mutants_of(limits, order) <= mutants:
        return limits
    counts = dict.fromkeys(limits, 1)
    growing = set(limits)
    while growing:
        name = min(growing, key=lambda attribute: (counts[attribute] / limits[attribute], attribute))
        larger = {**counts, name: counts[name] + 1}
        if larger[name] > limits[name] or mutants_of(larger, order) > mutants:
            growing.remove(name)
        else:
            counts = larger
    return counts


def least(attributes: int, order: int) -> int:
    """Return the smallest number of mutants that tests each set of attributes once."""
    return mutants_of({str(i): 1 for i in range(attributes)}, order)


def draw(candidates: Variations, size: Mapping[str, int], seed: str) -> dict[str, Sequence[Variation]]:
    """Draw ``size`` variations of each attribute, in their order, with weights; all if there are no more.

    Sampling is stratified by source term: each term contributes about equally, whatever its position in the
    dictionary and however many replacements it has.
    """
    return {
        name: variations
        if size[name] >= len(variations)
        else _stratified(variations, size[name], Random(f"{seed}/{name}"))
        for name, variations in candidates.items()
    }


def _stratified(variations: Sequence[Variation], size: int, random: Random) -> list[Variation]:
    strata: dict[str, list[int]] = {}
    for place, variation in enumerate(variations):
        strata.setdefault(variation.substitution.source, []).append(place)
    level = max(n for n in range(size + 1) if _level(strata, n) <= size)
    deeper = [term for term, places in strata.items() if len(places) > level]
    left = size - _level(strata, level)
    extra = set(random.sample(deeper, left))
    chosen: dict[int, float] = {}
    for term, places in strata.items():
        base = min(level, len(places))
        expected = base + (left / len(deeper) if term in deeper else 0.0)
        sample = random.sample(places, base + (term in extra))
        chosen |= dict.fromkeys(sample, len(places) / expected if expected else 1.0)
    return [replace(variations[place], weight=chosen[place]) for place in sorted(chosen)]


def _level(strata: Mapping[str, Sequence[int]], level: int) -> int:
    """Return the number of variations drawn if each term gives ``level`` of them, or all it has."""
    return sum(min(level, len(places)) for places in strata.values())


def mutants_of(counts: Mapping[str, int], order: int) -> int:
    """Return the number of mutants that ``counts`` variations per attribute make if none overlap."""
    subsets = (subset for size in range(1, order + 1) for subset in combinations(counts.values(), size))
    return sum(map(prod, subsets))
