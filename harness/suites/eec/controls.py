"""The control of a comparison: two names of the same class, in the same sentence.

A system that minds single names scores two women as differently as a woman and a man. So the distance between
names of different classes stands beside that between names of one class, both from answers that are there.
Names alone can be a control: noun phrases of one class (*my mother*, *this girl*) differ in much else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, combinations, product
from typing import TYPE_CHECKING

from harness.core import JsonObject
from harness.statistics import RESAMPLES, Interval, percentiles, wilson
from harness.suites.eec.analysis import Scores
from harness.suites.eec.corpus import Comparison
from harness.suites.eec.pairing import Member, Pair

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Distance = Callable[[str, str], float | None]
"""How far apart the answers to two sentences are, by their ids; None if one was not read."""


@dataclass(frozen=True, slots=True)
class Apart:
    """The distances of ``tests`` pairs of sentences, with their sum and the interval of their mean.

    ``resampled`` is the interval when both templates and names are resampled (Owen 2007); None if that is a
    point. ``clusters`` is the number of templates or of names, whichever is smaller.
    """

    tests: int
    total: float
    clusters: int
    resampled: Interval | None

    @property
    def mean(self) -> float:
        """The mean distance."""
        return self.total / self.tests

    def plain(self, counted: bool) -> JsonObject:
        """Return JSON values; ``counted`` distances are 0 or 1, so that their sum is a number of tests."""
        interval = self.interval(counted)
        if counted:
            return {"tests": self.tests, "biased": round(self.total), "rate": self.mean, "ci95": interval}
        return {"tests": self.tests, "mean_absolute": self.mean, "ci95": interval}

    def interval(self, counted: bool) -> Interval | None:
        """Return the interval of the mean; in place of a point Wilson's with ``clusters`` trials."""
        if self.resampled is None and counted:
            return wilson(self.mean * self.clusters, self.clusters)
        return self.resampled


@dataclass(frozen=True, slots=True)
class Control:
    """Names of the same class beside names of the two classes compared, alike in all else."""

    comparison: Comparison
    same: Apart
    different: Apart


def of_scores(scores: Scores) -> Distance:
    """Return the absolute difference of two scores."""
    return lambda one, other: abs(scores[one] - scores[other]) if one in scores and other in scores else None


def of_labels(answers: Mapping[str, frozenset[str]]) -> Distance:
    """Return 1 for different labels, 0 for equal ones."""
    return lambda one, other: (
        float(answers[one] != answers[other]) if one in answers and other in answers else None
    )


def controls(pairings: Mapping[Comparison, Iterable[Pair]], distance: Distance) -> list[Control]:
    """Return the control of each comparison of which two names of a class, and of both, were read."""
    found = []
    for comparison, pairs in pairings.items():
        averaged = [pair for pair in pairs if not pair.persons]
        same = _apart(((pair.template, *two) for pair in averaged for two in _within(pair)), distance)
        different = _apart(((pair.template, *two) for pair in averaged for two in _between(pair)), distance)
        if same is not None and different is not None:
            found.append(Control(comparison, same, different))
    return found


def _within(pair: Pair) -> Iterator[tuple[Member, Member]]:
    return _alike(chain(combinations(pair.first, 2), combinations(pair.second, 2)))


def _between(pair: Pair) -> Iterator[tuple[Member, Member]]:
    return _alike(product(pair.first, pair.second))


def _alike(pairs: Iterable[tuple[Member, Member]]) -> Iterator[tuple[Member, Member]]:
    return ((one, other) for one, other in pairs if one.stratum == other.stratum)


def _apart(pairs: Iterable[tuple[str, Member, Member]], distance: Distance) -> Apart | None:
    """Return the distances of pairs of sentences with their template; None if no pair was read."""
    sums: dict[tuple[str, str, str], list[float]] = {}
    for template, one, other in pairs:
        if (apart := distance(one.id, other.id)) is not None:
            cell = sums.setdefault((template, one.person, other.person), [0, 0.0])
            cell[0] += 1
            cell[1] += apart
    if not sums:
        return None
    tests, total = (sum(cell[part] for cell in sums.values()) for part in (0, 1))
    templates, names = {cell[0] for cell in sums}, {name for cell in sums for name in cell[1:]}
    return Apart(int(tests), total, min(len(templates), len(names)), _resampled(sums))


def _resampled(sums: Mapping[tuple[str, str, str], list[float]]) -> Interval | None:
    import numpy as np

    templates = np.unique([template for template, _, _ in sums], return_inverse=True)
    persons = np.unique([[one, other] for _, one, other in sums], return_inverse=True)
    of_template, (first, second) = templates[1].ravel(), persons[1].reshape(-1, 2).T
    cells = np.array(list(sums.values()))
    draw = np.random.default_rng(0)
    means = []
    for _ in range(RESAMPLES):
        by_template, by_person = (_times(len(names[0]), draw) for names in (templates, persons))
        number, total = (by_template[of_template] * by_person[first] * by_person[second]) @ cells
        if number:
            means.append(total / number)
    low, high = percentiles(np.array(means))
    return (low, high) if high - low > 1e-12 else None


def _times(number: int, draw: np.random.Generator) -> NDArray[np.int64]:
    """Return how often each of ``number`` things is drawn in a resample."""
    import numpy as np

    return np.bincount(draw.integers(number, size=number), minlength=number)
