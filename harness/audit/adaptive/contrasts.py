"""Effects between two groups, and interactions of two, as weighted sums over the mutants of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from typing import TYPE_CHECKING

import numpy as np

from harness.core import Case
from harness.findings.places import Place, meetings, places

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.audit.adaptive.candidates import Integers
    from harness.audit.adaptive.design import Flags, Floats

Two = tuple[str, str, str]
"""An attribute, and two of its groups."""
ByText = dict[str, tuple[int, dict[int, float]]]
"""By text, the number of places and the factor of each mutant in their sum."""


@dataclass(frozen=True, slots=True)
class Combination:
    """A mean of so many ``texts``, to which the changes of ``mutants`` add up, each times its factor."""

    texts: int
    mutants: NDArray[np.intp]
    factors: Floats

    def dense(self, mutants: int) -> Floats:
        """Return the factor of each of all ``mutants``."""
        factors = np.zeros(mutants)
        factors[self.mutants] = self.factors
        return factors

    def seen(self, document: Integers, opened: Flags, changes: Floats) -> tuple[int, int, Floats]:
        """Return how many texts were seen and how many there are, and the differences of those seen.

        ``document`` and ``changes`` are by mutant, ``opened`` by document.
        """
        places = document[self.mutants]
        concerned = np.unique(places)
        seen = concerned[opened[concerned]]
        sums = np.bincount(places, self.factors * changes[self.mutants], minlength=len(opened))
        differences: Floats = float(self.texts) * sums[seen].astype(np.float64)
        return len(seen), len(concerned), differences

    @classmethod
    def of(cls, by_text: ByText) -> tuple[int, NDArray[np.intp], Floats]:
        """Return the fields of the mean of texts, each of which has so many places and a sum of factors."""
        factors: dict[int, float] = {}
        for places_, of_text in by_text.values():
            for number, factor in of_text.items():
                factors[number] = factors.get(number, 0.0) + factor / places_ / len(by_text)
        some = {number: factor for number, factor in factors.items() if factor}
        return len(by_text), np.array(list(some), dtype=np.intp), np.array(list(some.values()))


@dataclass(frozen=True, slots=True)
class Contrast(Combination):
    """The effect between two groups."""

    groups: Two


@dataclass(frozen=True, slots=True)
class Interaction(Combination):
    """The interaction of two groups, by attribute: the change by both, less that by each alone."""

    groups: tuple[tuple[str, str], ...]


def contrasts(cases: Iterable[Case], numbers: dict[int, int]) -> Iterator[Contrast]:
    """Yield each two groups that are compared in versions of one text that are edited alike.

    ``numbers`` are those of the mutants by row of the ``cases``, which are all of the run.
    """
    for two, by_text in sorted(_factors(cases, numbers).items()):
        yield Contrast(*Combination.of(by_text), two)


def interactions(cases: Iterable[Case], numbers: dict[int, int]) -> Iterator[Interaction]:
    """Yield each two groups that meet, as ``contrasts`` does; editing twice may be a part of it."""
    found: dict[tuple[tuple[str, str], ...], ByText] = {}
    for _, group in groupby(enumerate(cases), key=lambda item: item[1].group):
        rows = list(group)
        own = {case.id: numbers.get(row) for row, case in rows}
        for met in meetings(case for _, case in rows):
            by_text = found.setdefault(met.groups, {})
            places_, factors = by_text.get(met.document, (0, {}))
            for case, sign in ((met.both, 1.0), (met.first, -1.0), (met.second, -1.0)):
                if (number := own[case]) is not None:
                    factors[number] = factors.get(number, 0.0) + sign
            by_text[met.document] = (places_ + 1, factors)
    for groups, by_text in sorted(found.items()):
        yield Interaction(*Combination.of(by_text), groups)


def _factors(cases: Iterable[Case], numbers: dict[int, int]) -> dict[Two, ByText]:
    """Return the factors of each two groups. An original has none: its change is zero."""
    found: dict[Two, ByText] = {}
    for _, group in groupby(enumerate(cases), key=lambda item: item[1].group):
        rows = list(group)
        own = {case.id: numbers.get(row) for row, case in rows}
        for place in places(case for _, case in rows):
            for first, second in combinations(sorted({version.group for version in place.versions}), 2):
                if not _alike(place, (first, second)):
                    continue
                by_text = found.setdefault((place.attribute, first, second), {})
                pairs, factors = by_text.get(place.document, (0, {}))
                for name, sign in ((first, -1.0), (second, 1.0)):
                    of_group = [version for version in place.versions if version.group == name]
                    for version in of_group:
                        number = own[version.case]
                        if number is not None:
                            factors[number] = factors.get(number, 0.0) + sign / len(of_group)
                by_text[place.document] = (pairs + 1, factors)
    return found


def _alike(place: Place, groups: Sequence[str]) -> bool:
    """Return whether all versions of ``groups`` are edited alike; else editing is a part of the effect."""
    return len({version.edits for version in place.versions if version.group in groups}) == 1
