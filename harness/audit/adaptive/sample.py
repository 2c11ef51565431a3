"""Estimates of all cases of a run from those that were asked about, with known probabilities.

The sample has two phases: originals, then stages of mutants of these. Each stage estimates the sum over the
mutants of the chosen originals without bias, given all that was known before it: what is known counts as it
is, the rest by the belief, corrected by what the stage's sample shows, divided by its probabilities (a
difference estimator; active testing, Kossen and others 2021; active inference, Zrnic and Candès 2024). A
stage's weight is set before it is asked. So the weighted mean of the stages is unbiased, and the variances of
the stages, as each is drawn given those before it, add up (a martingale).

The target is the finite set of the run's own cases: the figure that asking about all of them would give.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.audit.adaptive.candidates import Integers
    from harness.audit.adaptive.design import Flags, Floats
    from harness.blocks import Interval

FLIPPED, DECIDED, UP, DOWN = range(4)
COLUMNS = 4
"""The columns of what is estimated: whether a mutant flips, is decided, raises or lowers the outcome."""

CONFIDENCE = 0.95
TINY = 1e-12
LEAST_TEXTS = 2
"""The texts of an effect from which on it can be estimated."""
ANYWHERE = 0.25
"""By how much the weight of one flip more, in a rate, is that of a flip where none is expected."""

RARE = 1e-6
"""The least variance of a flip in the mean weight of one, however sure the belief."""


SURELY = 1.645
"""The standard errors below a correlation at which its lower limit is."""

FISHER = 3
"""The pairs of numbers without which a transformed correlation has no standard error."""


@dataclass(frozen=True, slots=True)
class Stage:
    """The mutants drawn in a stage, with their probabilities and what the belief had missed of them.

    Mutants and controls have stages of their own; the weights of those of each sum to one.
    """

    weight: float
    mutants: NDArray[np.intp]
    chances: Floats
    missed: Floats
    believed: Floats

    def of_weight(self, weight: float) -> Stage:
        """Return the same stage with another weight."""
        return Stage(weight, self.mutants, self.chances, self.missed, self.believed)


@dataclass(frozen=True, slots=True)
class Sample:
    """What was asked about: by document whether it was chosen and with which probability, and the stages.

    ``values`` has a row per mutant: for those of chosen documents the unbiased value of each column.
    ``compared``: control mutants are among them, and something is known of these.
    """

    document: Integers
    chosen: Flags
    opening: Floats
    values: Floats
    stages: Sequence[Stage]
    compared: bool = False


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimate with its interval.

    ``effective`` is the number of independent cases, drawn with equal chances, that would be as precise; None
    where the estimate has no variance.
    """

    value: float
    interval: Interval
    effective: float | None


@dataclass(frozen=True, slots=True)
class _Part:
    """A sum of flips that are rare: its value, its variance, and the weight of one flip more."""

    value: float
    variance: float
    jump: float

    def limits(self, confidence: float) -> Interval:
        """Return the interval of a weighted sum of Poisson counts by the gamma distribution.

        After Fay and Feuer (1997). One flip more than was seen, of the mean weight, may be in what was not
        asked about.
        """
        from scipy.stats import chi2

        tail = (1 - confidence) / 2
        value, more = max(self.value, 0.0), self.jump
        low = 0.0
        if value > TINY:
            low = value
            if self.variance > TINY**2:
                scale = self.variance / (2 * value)
                low = scale * float(chi2.ppf(tail, value / scale))
        if self.variance + more * more <= TINY**2:
            return value, value
        scale = (self.variance + more * more) / (2 * (value + more))
        return low, max(value, scale * float(chi2.ppf(1 - tail, (value + more) / scale)))


@dataclass(frozen=True, slots=True)
class _Rate:
    """A share of flips, and what each mutant adds to it, linearly: its factor, times these ``columns``."""

    part: _Part
    factors: Floats
    columns: dict[int, float]

    @classmethod
    def of(cls, sample: Sample, factors: Floats, *, unseen: bool = False) -> _Rate | None:
        """Return the share of flips in the decided cases, each of which counts by its factor.

        ``unseen``: one flip more may be in a document that was not drawn.
        """
        decided = _sum(sample, factors, DECIDED)
        if decided <= TINY:
            return None
        each = factors / decided
        value = min(max(_sum(sample, each, FLIPPED), 0.0), 1.0)
        columns = {FLIPPED: 1.0, DECIDED: -value}
        part = _part(sample, each, columns)
        jump = max(part.jump, _elsewhere(sample, each)) if unseen else part.jump
        return cls(replace(part, value=value, jump=jump), each, columns)

    def estimate(self, confidence: float) -> Estimate:
        """Return the share with its interval."""
        value, variance = self.part.value, self.part.variance
        low, high = self.part.limits(confidence)
        spread = value * (1 - value)
        effective = spread / variance if spread * variance else None
        return Estimate(value, (min(low, value), min(high, 1.0)), effective)


def share(sample: Sample, among: Flags, confidence: float = CONFIDENCE) -> Estimate | None:
    """Return the share of flips in the decided cases ``among`` the mutants; None if none is decided."""
    rate = _Rate.of(sample, among.astype(float))
    return None if rate is None else rate.estimate(confidence)


@dataclass(frozen=True, slots=True)
class Excess:
    """The rate of tests, that of controls, and by how much the former is above the latter."""

    rate: Estimate
    control: Estimate
    difference: Estimate


def excess(sample: Sample, tests: Floats, controls: Floats, confidence: float = CONFIDENCE) -> Excess | None:
    """Return by how much more often tests flip than controls, each of which counts by its factor.

    Both have factors in the same documents. The intervals of both rates are joined (Zou and Donner 2008);
    what varies in both alike, between documents, makes the interval of the difference smaller. None where
    nothing is known of either. Of fewer than two of the documents concerned, unless these are all, nothing
    can be said.
    """
    one, other = (_Rate.of(sample, factors, unseen=True) for factors in (tests, controls))
    if not sample.compared or one is None or other is None:
        return None
    rate, control = one.estimate(confidence), other.estimate(confidence)
    value = rate.value - control.value
    if not _enough(sample, tests):
        return Excess(rate, control, Estimate(value, (-1.0, 1.0), None))
    alike = _alike(sample, one, other)
    low = value - _joined(rate.value - rate.interval[0], control.interval[1] - control.value, alike)
    high = value + _joined(rate.interval[1] - rate.value, control.value - control.interval[0], alike)
    return Excess(rate, control, Estimate(value, (max(low, -1.0), min(high, 1.0)), None))


def _enough(sample: Sample, factors: Floats) -> bool:
    """Return whether enough of the documents concerned were drawn, or all of them."""
    concerned = np.bincount(sample.document, factors != 0, minlength=len(sample.chosen)) > 0
    drawn = int((concerned & sample.chosen).sum())
    return drawn >= LEAST_TEXTS or bool((sample.opening[concerned] > 1 - TINY).all())


def _joined(one: float, other: float, alike: float) -> float:
    """Return the distance of a limit of a difference, from those of its sides, which correlate."""
    return math.sqrt(max(one * one + other * other - 2 * alike * one * other, 0.0))


def _alike(sample: Sample, one: _Rate, other: _Rate) -> float:
    """Return how two rates correlate at least, by the choice of documents; their cases are drawn apart.

    What a few documents show of it may be chance: the lower limit after Fisher's transformation counts.
    """
    scale = math.sqrt(one.part.variance * other.part.variance)
    if scale <= TINY**2:
        return 0.0
    sums = [_by_document(sample, each.factors, each.columns) for each in (one, other)]
    used = sample.chosen & (np.bincount(sample.document, one.factors, minlength=len(sample.chosen)) > 0)
    left = 1 - sample.opening[used]
    if left.sum() <= TINY:
        return 0.0
    parts = [of_side[used] / sample.opening[used] for of_side in sums]
    around = [part - float(left @ part / left.sum()) for part in parts]
    number = int((left > TINY).sum())
    together = float(left @ (around[0] * around[1])) * (number / (number - 1) if number > 1 else 1.0)
    found = min(max(together / scale, -1.0), 1.0)
    return found if found < 0 else _surely(found, number)


def _surely(correlation: float, number: int) -> float:
    """Return the correlation that as many pairs of numbers surely have, at least 0."""
    if number <= FISHER:
        return 0.0
    least = math.atanh(min(correlation, 1 - TINY)) - SURELY / math.sqrt(number - FISHER)
    return math.tanh(max(least, 0.0))


def effect(sample: Sample, factors: Floats, confidence: float = CONFIDENCE, most: float = 1.0) -> Estimate:
    """Return the sum of the changes of the outcome, each times its factor, of a size of at most ``most``.

    Changes up and down are estimated apart and their intervals joined (Zou and Donner 2008). Of fewer than
    two of the texts concerned, unless these are all, nothing can be said.
    """
    if not _enough(sample, factors):
        return Estimate(0.0, (-most, most), None)
    up, down = np.maximum(factors, 0.0), np.maximum(-factors, 0.0)
    text = _text(sample, factors)
    more, less = _two(sample, up, down, text), _two(sample, down, up, text)
    value = more.value - less.value
    (low_more, high_more), (low_less, high_less) = more.limits(confidence), less.limits(confidence)
    low = value - math.hypot(max(more.value, 0.0) - low_more, high_less - max(less.value, 0.0))
    high = value + math.hypot(high_more - max(more.value, 0.0), max(less.value, 0.0) - low_less)
    return Estimate(value, (max(low, -most), min(high, most)), None)


def _two(sample: Sample, up: Floats, down: Floats, text: float) -> _Part:
    """Return the sum of what is raised, times ``up``, and of what is lowered, times ``down``.

    ``text`` is the least weight of one flip more.
    """
    one, other = _part(sample, up, {UP: 1.0}, 0.0), _part(sample, down, {DOWN: 1.0}, 0.0)
    value = _sum(sample, up, UP) + _sum(sample, down, DOWN)
    # Of one document, in which flips go together, mutants are in one of the two alone.
    return _Part(value, one.variance + other.variance, max(one.jump, other.jump, text))


def _elsewhere(sample: Sample, factors: Floats) -> float:
    """Return the weight of a case that flips in a document that was not drawn: zero if all were."""
    number = np.bincount(sample.document, factors != 0, minlength=len(sample.chosen))
    used = sample.chosen & (number > 0)
    if not used.any():
        return 0.0
    mean = np.bincount(sample.document, factors, minlength=len(number))[used] / number[used]
    opening = sample.opening[used]
    return math.sqrt(float(np.mean((1 - opening) * (mean / opening) ** 2)))


def _text(sample: Sample, factors: Floats) -> float:
    """Return the weight of a text that was not asked about and differs wholly: zero if all were."""
    whole = np.bincount(sample.document, np.abs(factors), minlength=len(sample.chosen)) / 2
    used = sample.chosen & (whole > 0)
    if not used.any():
        return 0.0
    opening = sample.opening[used]
    return math.sqrt(float(np.mean((1 - opening) * (whole[used] / opening) ** 2)))


def _sum(sample: Sample, factors: Floats, column: int) -> float:
    documents = np.bincount(sample.document, factors * sample.values[:, column], minlength=len(sample.chosen))
    return float((documents[sample.chosen] / sample.opening[sample.chosen]).sum())


def _part(sample: Sample, factors: Floats, columns: dict[int, float], anywhere: float = ANYWHERE) -> _Part:
    """Return the variance of a sum of ``columns``, and the weight of one flip more."""
    combined = _combined(sample, columns)
    between, jump = _between(sample, factors, sample.values @ combined)
    within = believed = 0.0
    weights = []
    for stage in sample.stages:
        each, chance = factors[stage.mutants], stage.chances
        opening = sample.opening[sample.document[stage.mutants]]
        scaled = (stage.weight * each / chance) ** 2 * (1 - chance) / opening
        within += float(scaled @ (stage.missed @ combined) ** 2)
        spread = stage.believed * (1 - stage.believed)
        believed += float(scaled @ spread)
        left = (1 - chance) / (chance * opening) * (each != 0)
        weight = stage.weight * np.abs(each) / (chance * opening)
        weights.append((left, np.maximum(spread, RARE), weight))
    jump = max(jump, _mean_weight(weights, anywhere))
    # What is believed smooths what a few surprises show, but never makes it smaller.
    return _Part(0.0, between + max(within, (within + believed) / 2), jump)


def _combined(sample: Sample, columns: dict[int, float]) -> Floats:
    combined = np.zeros(sample.values.shape[1])
    for column, factor in columns.items():
        combined[column] = factor
    return combined


def _by_document(sample: Sample, factors: Floats, columns: dict[int, float]) -> Floats:
    """Return the sum of ``columns`` in each document."""
    values = factors * (sample.values @ _combined(sample, columns))
    return np.bincount(sample.document, values, minlength=len(sample.chosen)).astype(float)


def _between(sample: Sample, factors: Floats, values: Floats) -> tuple[float, float]:
    """Return the variance that the choice of originals adds, and the mean weight of a document that flips.

    The variance of a sample of fixed size with unequal probabilities, after Deville (1999).
    """
    documents = len(sample.chosen)
    concerned = np.bincount(sample.document, factors != 0, minlength=documents) > 0
    sums = np.bincount(sample.document, factors * values, minlength=documents)
    used = sample.chosen & concerned
    left = 1 - sample.opening[used]
    if left.sum() <= TINY:
        return 0.0, 0.0
    parts = sums[used] / sample.opening[used]
    centre = float(left @ parts / left.sum())
    number = int((left > TINY).sum())
    variance = float(left @ (parts - centre) ** 2) * (number / (number - 1) if number > 1 else 1.0)
    above = np.maximum(parts, 0.0)
    return variance, float(left @ above**2 / max(left @ above, TINY))


def _mean_weight(weights: Sequence[tuple[Floats, Floats, Floats]], anywhere: float) -> float:
    """Return the weight of one flip more: of one where it is expected, and by ``anywhere`` of any."""
    if not weights:
        return 0.0
    left, spread, weight = (np.concatenate(columns) for columns in zip(*weights, strict=True))
    expected = left * spread
    likely = float(expected @ weight / max(expected.sum(), TINY**2)) if expected.any() else 0.0
    of_any = float(left @ weight / left.sum()) if left.any() else 0.0
    return (1 - anywhere) * likely + anywhere * of_any
