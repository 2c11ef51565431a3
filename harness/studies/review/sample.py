"""The cases that annotators see."""

from __future__ import annotations

from collections.abc import Iterable

from harness.core import Case
from harness.studies.sampling import draw, place


def pairs(cases: Iterable[Case], most: int, seed: int) -> list[Case]:
    """Draw at most ``most`` seeds that have a valid expansion, each with one expansion (S²LCT, Section 4).

    The choice depends only on the ids of the cases and on ``seed``.
    """
    seeds: dict[str, Case] = {}
    expansions: dict[str, Case] = {}
    for case in cases:
        if case.role == "seed":
            seeds[case.group] = case
        elif case.role == "expansion" and case.valid:
            first = expansions.setdefault(case.group, case)
            expansions[case.group] = min(first, case, key=lambda expansion: place(expansion.id, seed))
    chosen = sorted(seeds.keys() & expansions.keys(), key=lambda group: place(group, seed))[:most]
    return [case for group in chosen for case in (seeds[group], expansions[group])]


def by_kind(cases: Iterable[Case], most: int, seed: int) -> list[Case]:
    """Draw at most ``most`` cases of each kind: originals, valid and discarded mutants, and so on."""
    kinds, _ = draw(cases, most, seed)
    return [case for sampled in kinds.values() for case in sampled]
