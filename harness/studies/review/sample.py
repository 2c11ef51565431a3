"""Which cases annotators see."""

from __future__ import annotations

from collections.abc import Iterable

from harness.core import Case
from harness.studies.sampling import draw, place


def pairs(cases: Iterable[Case], most: int, seed: int) -> list[Case]:
    """At most ``most`` seeds that have a valid expansion, each with one of these (S²LCT, section 4).

    The choice depends on the cases' ids and the seed alone.
    """
    seeds: dict[str, Case] = {}
    expansions: dict[str, Case] = {}
    for case in cases:
        if case.role == "seed":
            seeds[case.group] = case
        elif case.role == "expansion" and case.valid:
            first = expansions.setdefault(case.group, case)
            expansions[case.group] = min(first, case, key=lambda one: place(one.id, seed))
    chosen = sorted(seeds.keys() & expansions.keys(), key=lambda group: place(group, seed))[:most]
    return [case for group in chosen for case in (seeds[group], expansions[group])]


def by_kind(cases: Iterable[Case], most: int, seed: int) -> list[Case]:
    """At most ``most`` of each kind (originals, valid and discarded mutants, …), drawn evenly."""
    drawn, _ = draw(cases, most, seed)
    return [case for some in drawn.values() for case in some]
