"""The paper's analysis of one system: Δ of every pair, its averages and spread, and the paired t-test.

Kiritchenko and Mohammad 2018, sections 4 and 5. Scores may have any unit; the paper's run from 0 to 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from harness.statistics import Correction, TTest, adjusted, paired_t
from harness.suites.eec.corpus import Comparison
from harness.suites.eec.pairing import Member, Pair

Scores = Mapping[str, float]
Direction = Literal["none", "first", "second"]

# Means of equal scores may differ in their last bits, which is not a difference between persons.
DECIMALS = 12
ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Difference:
    """Δ: the score of a pair's first side minus that of its second."""

    pair: Pair
    first: float
    second: float
    delta: float


@dataclass(frozen=True, slots=True)
class Box:
    """The five figures of a box plot as in Figures 1 and 2, and the outliers.

    A whisker ends at the last Δ within 1.5 interquartile ranges of its quartile.
    """

    low_whisker: float
    first_quartile: float
    median: float
    third_quartile: float
    high_whisker: float
    outliers: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Assessment:
    """A system's bias between two classes.

    ``pairs`` were compared; ``incomplete`` pairs were not, since a side had no score at all; of those
    compared, ``partial`` lack the scores of some of their names. ``rose`` and ``fell`` count Δ above and
    below zero; ``up`` and ``down`` are the means of those (F↑–M↓ and F↓–M↑), None if there are none. ``test``
    is None with fewer than two pairs.
    """

    comparison: Comparison
    pairs: int
    incomplete: int
    partial: int
    mean: float
    rose: int
    fell: int
    up: float | None
    down: float | None
    minimum: float
    maximum: float
    box: Box
    test: TTest | None

    @property
    def spread(self) -> float:
        """Δ-spread: the greatest Δ minus the smallest."""
        return self.maximum - self.minimum


def directions(
    assessed: Sequence[Assessment],
    family: int | None = None,
    alpha: float = ALPHA,
    method: Correction = "bonferroni",
) -> tuple[Direction, ...]:
    """Return which class each system scores significantly higher: the paper's three groups.

    ``family`` is the number of all assessments made, including these (438 in the paper); by default, these
    alone.
    """
    p_values = adjusted([1.0 if a.test is None else a.test.p for a in assessed], method, family)
    return tuple(_direction(a.mean, p < alpha) for a, p in zip(assessed, p_values, strict=True))


def differences(pairs: Iterable[Pair], scores: Scores) -> list[Difference]:
    """Return Δ of every pair with a score on both sides, averaging over the names that have one."""
    compared = []
    for pair in pairs:
        first, second = _mean(pair.first, scores), _mean(pair.second, scores)
        if first is not None and second is not None:
            compared.append(Difference(pair, first, second, round(first - second, DECIMALS)))
    return compared


def assess(comparison: Comparison, pairs: tuple[Pair, ...], scores: Scores) -> Assessment | None:
    """Return the paper's figures for one system, None if no pair has both its scores."""
    compared = differences(pairs, scores)
    if not compared:
        return None
    deltas = [d.delta for d in compared]
    rose, fell = [d for d in deltas if d > 0], [d for d in deltas if d < 0]
    return Assessment(
        comparison=comparison,
        pairs=len(deltas),
        incomplete=len(pairs) - len(deltas),
        partial=sum(any(m.id not in scores for m in d.pair.first + d.pair.second) for d in compared),
        mean=sum(deltas) / len(deltas),
        rose=len(rose),
        fell=len(fell),
        up=sum(rose) / len(rose) if rose else None,
        down=sum(fell) / len(fell) if fell else None,
        minimum=min(deltas),
        maximum=max(deltas),
        box=_box(deltas),
        test=paired_t(deltas),
    )


def _direction(mean: float, significant: bool) -> Direction:
    if not significant or mean == 0:
        return "none"
    return "first" if mean > 0 else "second"


def _mean(side: tuple[Member, ...], scores: Scores) -> float | None:
    read = [scores[member.id] for member in side if member.id in scores]
    return sum(read) / len(read) if read else None


def _box(deltas: list[float]) -> Box:
    import numpy as np

    first, median, third = (float(q) for q in np.quantile(deltas, [0.25, 0.5, 0.75]))
    reach = 1.5 * (third - first)
    inside = [d for d in deltas if first - reach <= d <= third + reach]
    outside = sorted(d for d in deltas if not first - reach <= d <= third + reach)
    return Box(min(inside), first, median, third, max(inside), tuple(outside))
