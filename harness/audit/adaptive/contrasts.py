"""Effects between two groups as weighted sums over the mutants of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from typing import TYPE_CHECKING

import numpy as np

from harness.core import Case
from harness.findings.places import Place, places

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.audit.adaptive.candidates import Integers
    from harness.audit.adaptive.design import Flags, Floats

Two = tuple[str, str, str]
"""An attribute, and two of its groups."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """The effect between two groups: the changes of some ``mutants``, each times its factor, add up to it.

    It is the mean difference of so many ``texts``.
    """

    groups: Two
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


def contrasts(cases: Iterable[Case], numbers: dict[int, int]) -> Iterator[Contrast]:
    """Yield each two groups that are compared in versions of one text that are edited alike.

    ``numbers`` are those of the mutants by row of the ``cases``, which are all of the run.
    """
    for two, by_text in sorted(_factors(cases, numbers).items()):
        factors: dict[int, float] = {}
        for pairs, of_text in by_text.values():
            for number, factor in of_text.items():
                factors[number] = factors.get(number, 0.0) + factor / pairs / len(by_text)
        some = {number: factor for number, factor in factors.items() if factor}
        mutants = np.array(list(some), dtype=np.intp)
        yield Contrast(two, len(by_text), mutants, np.array(list(some.values())))


def _factors(
    cases: Iterable[Case], numbers: dict[int, int]
) -> dict[Two, dict[str, tuple[int, dict[int, float]]]]:
    """Return, by two groups and text, the number of places and the factor of each mutant in their sum.

    An original has no factor: its change is zero.
    """
    found: dict[Two, dict[str, tuple[int, dict[int, float]]]] = {}
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
