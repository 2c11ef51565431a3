"""The cases that annotators see."""

from __future__ import annotations

from collections.abc import Iterable

from harness.core import Case
from harness.studies.sampling import STAR_ROLES, draw, place


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


def mutants(cases: Iterable[Case], most: int, seed: int) -> list[tuple[Case, str]]:
    """Draw at most ``most`` valid mutants of each order, each with the text of its original.

    One of each original is drawn before a second one of any.
    """
    originals: dict[str, str] = {}
    by_role: dict[str, dict[str, list[Case]]] = {role: {} for role in STAR_ROLES}
    for case in cases:
        if case.role == "original":
            originals[case.group] = case.text
        elif case.valid and case.role in by_role:
            by_role[case.role].setdefault(case.group, []).append(case)
    drawn: list[Case] = []
    for of_role in by_role.values():
        groups = [sorted(of, key=lambda case: place(case.id, seed)) for of in of_role.values()]
        turns = [(turn, place(case.id, seed), case) for of in groups for turn, case in enumerate(of)]
        drawn += [case for *_, case in sorted(turns, key=lambda row: row[:2])[:most]]
    return [(case, originals[case.group]) for case in drawn if case.group in originals]


def by_kind(cases: Iterable[Case], most: int, seed: int) -> list[Case]:
    """Draw at most ``most`` cases of each kind: originals, valid and discarded mutants, and so on."""
    kinds, _ = draw(cases, most, seed)
    return [case for sampled in kinds.values() for case in sampled]
