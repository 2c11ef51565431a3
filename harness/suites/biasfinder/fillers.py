"""Choose who fills a template's placeholders: their classes, and how many of each (BiasFinder, 4.2 and 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar

from harness.suites.biasfinder.filling import Person
from harness.suites.biasfinder.names import Name, Names
from harness.suites.biasfinder.templates import COUNTRY_KINDS, GENDERS, Template

T = TypeVar("T")

# The attributes that define a class, by characteristic.
PARTS: Mapping[str, tuple[str, ...]] = {
    "gender": ("gender",),
    "occupation": ("occupation",),
    "country": ("country",),
    "gender+occupation": ("gender", "occupation"),
}
COMBINED_MUTANTS = 120
LEAST = 4  # both genders with two occupations
COMBINED_NAMES = 3


@dataclass(frozen=True, slots=True)
class Role:
    """A person to put into a template; ``classes`` holds the person's class by attribute."""

    person: Person
    classes: Mapping[str, str]


@dataclass(frozen=True)
class Casting:
    """The ``gender`` names, ``country`` names and ``occupations`` to choose from.

    ``limit`` bounds the mutants of a template (None: no limit). ``seed`` decides which are drawn,
    independently for each template.
    """

    gender: Names
    country: Names
    occupations: Sequence[str]
    limit: int | None = None
    seed: int = 0

    def roles(self, template: Template) -> list[Role]:
        """Return the roles that make different texts; one per gender if the template has no ``<name>``."""
        random = Random(f"{self.seed}/{template.id}")
        kinds = {placeholder.kind for placeholder in template.placeholders}
        if template.characteristic == "occupation":
            return [
                Role(Person(occupation=job), {"occupation": job})
                for job in _sample(self.occupations, self.limit, random)
            ]
        if template.characteristic == "country":
            (gender,) = (kind for kind in GENDERS if kind in kinds & COUNTRY_KINDS)
            return [
                Role(Person(gender, name.text), {"country": name.country})
                for name in _sample(_of(self.country, gender), self.limit, random)
            ]
        if template.characteristic == "gender":
            people = self._people("name" in kinds, self.limit, random)
            return [Role(person, {"gender": person.gender or ""}) for person in people]
        return self._combined("name" in kinds, random)

    def _people(self, named: bool, limit: int | None, random: Random) -> list[Person]:
        """Return men, then women, the same number of each."""
        half = None if limit is None else max(1, limit // len(GENDERS))
        return [
            Person(gender, name)
            for gender in GENDERS
            for name in (
                [entry.text for entry in _sample(_of(self.gender, gender), half, random)] if named else [None]
            )
        ]

    def _combined(self, named: bool, random: Random) -> list[Role]:
        """Return every person with every occupation, so that each pair of classes has its corners."""
        limit = COMBINED_MUTANTS if self.limit is None else self.limit
        names = min(COMBINED_NAMES, limit // LEAST) if named else 1
        people = self._people(named, names * len(GENDERS), random)
        jobs = _sample(self.occupations, limit // len(people), random)
        return [
            Role(
                Person(person.gender, person.name, job),
                {"gender": person.gender or "", "occupation": job},
            )
            for job in jobs
            for person in people
        ]


def _of(names: Names, gender: str) -> tuple[Name, ...]:
    return names.male if gender == "male" else names.female


def _sample(items: Sequence[T], size: int | None, random: Random) -> list[T]:
    """Draw ``size`` items without replacement, in their order; all of them if there are no more."""
    if size is None or size >= len(items):
        return list(items)
    return [items[i] for i in sorted(random.sample(range(len(items)), size))]
