"""The places of a text where versions differ in one attribute alone, and the quadruples where two meet.

A *place* holds the versions of a text that differ in nothing but what one term was exchanged for: the text
without that change, which has the group that the term speaks of, and each text with it. All other changes
are the same in all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from harness.core import SAME_PERSON, Case, Substitution

Key = frozenset[tuple[str, str, str]]
UNEDITED = ""
INSERTED = "+"


@dataclass(frozen=True, slots=True)
class Version:
    """A version at a place: the ``group`` that it speaks of, and its ``edits``, as in ``edits_of``."""

    case: str
    group: str
    edits: str


@dataclass(frozen=True, slots=True)
class Place:
    """The versions of a text that differ in ``attribute`` alone; ``spoken`` is the group of the original."""

    document: str
    attribute: str
    versions: tuple[Version, ...]
    spoken: str | None = None


@dataclass(frozen=True, slots=True)
class Meeting:
    """The four versions of a text in which two groups meet, by case id, and their edits.

    ``groups`` are those that both changes enter, by attribute. ``edits`` are those of ``both`` and of each
    change alone, which have as many.
    """

    document: str
    groups: tuple[tuple[str, str], ...]
    both: str
    first: str
    second: str
    original: str
    edits: tuple[str, str, str]


def edits_of(substitutions: Sequence[Substitution]) -> str:
    """Return the kind of edits of a version: their number, marked where words were inserted; "" for none."""
    if not substitutions:
        return UNEDITED
    inserted = any(s.operation == "insertion" for s in substitutions)
    return f"{len(substitutions)}{INSERTED if inserted else ''}"


def places(cases: Iterable[Case], traits: Sequence[str] = ()) -> Iterator[Place]:
    """Yield the places of the valid ``cases`` of one group that have versions of two groups or more.

    Cases without substitutions (those of a template) are told apart by their ``traits``, each an attribute.
    """
    asked = [case for case in cases if case.valid and case.role != "control"]
    found = _of_traits(asked, traits) if traits else _of_substitutions(asked)
    for place in found:
        if len({version.group for version in place.versions}) > 1:
            yield place


def _of_substitutions(cases: Sequence[Case]) -> Iterator[Place]:
    by_key = {_key(case.substitutions): case for case in cases}
    versions: dict[tuple[Key, str, str, str], list[Version]] = {}
    for case in cases:
        for changed in case.substitutions:
            others = tuple(s for s in case.substitutions if s is not changed)
            place = (_key(others), changed.attribute, changed.source, entered(changed, left=True))
            known = changed.source_group or not changed.target_group
            if known and place not in versions and (base := by_key.get(place[0])) is not None:
                versions[place] = [Version(base.id, place[3], edits_of(others))]
            edits = edits_of(case.substitutions)
            versions.setdefault(place, []).append(Version(case.id, entered(changed), edits))
    for (_, attribute, _, spoken), at_place in versions.items():
        yield Place(cases[0].document, attribute, tuple(at_place), spoken)


def _of_traits(cases: Sequence[Case], traits: Sequence[str]) -> Iterator[Place]:
    marked = [case for case in cases if all(trait in case.traits for trait in traits)]
    for attribute in traits:
        others = [trait for trait in traits if trait != attribute]
        kept = sorted(marked, key=lambda case: [case.traits[trait] for trait in others])
        for _, same in groupby(kept, key=lambda case: [case.traits[trait] for trait in others]):
            versions = tuple(Version(case.id, case.traits[attribute], UNEDITED) for case in same)
            yield Place(cases[0].document, attribute, versions)


def entered(substitution: Substitution, left: bool = False) -> str:
    """Return the group that a substitution enters, or with ``left`` leaves; the word where it has none."""
    if left:
        return substitution.source_group or substitution.source
    return substitution.target_group or substitution.target


def meetings(cases: Iterable[Case]) -> Iterator[Meeting]:
    """Yield the meetings in the valid ``cases`` of one original, apart from those on two persons."""
    asked = [case for case in cases if case.valid and case.role != "control"]
    by_key = {_key(case.substitutions): case for case in asked}
    original = by_key.get(frozenset())
    for case in asked:
        if original is None or len(case.substitutions) != 2 or case.traits.get(SAME_PERSON) == "no":
            continue
        first, second = case.substitutions
        alone = [by_key.get(_key([change])) for change in (first, second)]
        if alone[0] is None or alone[1] is None:
            continue
        yield Meeting(
            case.document,
            tuple((change.attribute, entered(change)) for change in (first, second)),
            case.id,
            alone[0].id,
            alone[1].id,
            original.id,
            (edits_of(case.substitutions), edits_of([first]), edits_of([second])),
        )


def _key(substitutions: Iterable[Substitution]) -> Key:
    return frozenset(s.pair for s in substitutions)
