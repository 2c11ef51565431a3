"""Estimate whether a bias holds for other persons and templates, which the paper's t-test leaves open.

The pairs of the EEC share eleven templates and a few dozen persons. A template or name that a system happens
to score oddly moves many pairs at once, and a t-test over pairs counts each of them as an observation.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.statistics import (
    PERMUTATIONS,
    Interval,
    detectable_in_errors,
    extreme,
    flip_test,
    minimum_detectable_effect,
)
from harness.suites.eec.analysis import ALPHA, Difference, Scores
from harness.suites.eec.pairing import Member

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class ClusteredMean:
    """The mean Δ with a standard error clustered by templates and persons, and Student's t on ``df``."""

    mean: float
    standard_error: float
    df: float
    interval: Interval
    p: float


@dataclass(frozen=True, slots=True)
class TemplateBias:
    """The Δ of the pairs within one template."""

    template: str
    pairs: int
    mean: float
    minimum: float
    maximum: float


@dataclass(frozen=True, slots=True)
class Robustness:
    """Figures that complement an ``Assessment``; None if there are too few templates, persons or pairs.

    ``p_templates`` flips whole templates; ``p_persons`` exchanges persons between the classes. ``effect`` is
    Cohen's d of the pairs (mean over standard deviation of Δ), with the interval of ``clustered``.
    ``detectable`` is the mean Δ that is found with a probability of 80 % if pairs are independent;
    ``detectable_clustered`` is the same for the clustered error. Templates are sorted by mean, lowest first;
    ``sign_changes`` counts those whose mean has the opposite sign to the overall mean.
    """

    clustered: ClusteredMean | None
    p_templates: float | None
    p_persons: float | None
    effect: float | None
    effect_interval: Interval | None
    detectable: float | None
    detectable_clustered: float | None
    templates: tuple[TemplateBias, ...]
    sign_changes: int


def robustness(
    compared: Sequence[Difference], scores: Scores, assessments: int = 1, alpha: float = ALPHA, seed: int = 0
) -> Robustness | None:
    """Return the figures for the Δ that ``differences`` returned, None if there are none.

    Detectable effects are at ``alpha`` divided by ``assessments``; intervals are at 1 - ``alpha``.
    """
    if not compared:
        return None
    deltas = [d.delta for d in compared]
    mean = sum(deltas) / len(deltas)
    deviation = _deviation(deltas)
    clustered = clustered_mean(compared, scores, alpha)
    effect, interval = None, None
    if deviation:
        effect = mean / deviation
        if clustered is not None:
            interval = (clustered.interval[0] / deviation, clustered.interval[1] / deviation)
    standardized = minimum_detectable_effect(len(deltas), alpha / assessments)
    templates = by_template(compared)
    return Robustness(
        clustered=clustered,
        p_templates=_flip_templates(compared, seed),
        p_persons=exchange_persons(compared, scores, seed),
        effect=effect,
        effect_interval=interval,
        detectable=None if standardized is None else standardized * deviation,
        detectable_clustered=None
        if clustered is None
        else clustered.standard_error * detectable_in_errors(clustered.df, alpha / assessments),
        templates=templates,
        sign_changes=sum(t.mean * mean < 0 for t in templates),
    )


def by_template(compared: Sequence[Difference]) -> tuple[TemplateBias, ...]:
    """Return the bias of every template, lowest mean first."""
    groups: dict[str, list[float]] = defaultdict(list)
    for difference in compared:
        groups[difference.pair.template].append(difference.delta)
    biases = [TemplateBias(name, len(d), sum(d) / len(d), min(d), max(d)) for name, d in groups.items()]
    return tuple(sorted(biases, key=lambda bias: bias.mean))


def clustered_mean(
    compared: Sequence[Difference], scores: Scores, alpha: float = ALPHA
) -> ClusteredMean | None:
    """Return the mean Δ with an error robust to clusters (Cameron, Gelbach, Miller 2011), or None.

    Scores are regressed on the class with a constant per pair; each side has a total weight of one. The error
    is the largest of the two-way error and both one-way errors, since with few clusters the two-way error may
    be too small or negative. Cluster sizes range from 220 pairs per template to 11, so their effective number
    (Kish's, as in Carter, Schnepel and Steigerwald 2017) replaces their number in the correction for few
    clusters and in the degrees of freedom of t. If templates, or persons, amount to fewer than two clusters,
    only the other dimension is used; None if both do.
    """
    from scipy.stats import t

    classes, values, templates, persons = _within_pairs(compared, scores)
    sizes = classes**2
    clusters = [codes for codes in (templates, persons) if _effective(codes, sizes) > 2 - 1e-9]
    if not clusters:
        return None
    mean = float(classes @ values / sizes.sum())
    shares = classes * (values - mean * classes) / sizes.sum()
    variances = [_clustered_variance(codes, shares) for codes in clusters]
    if len(clusters) == 2:
        both = templates * (persons.max() + 1) + persons
        variances.append(sum(variances) - _clustered_variance(both, shares))
    number = min(_effective(codes, sizes) for codes in clusters)
    df = number - 1
    error = math.sqrt(max(variances) * number / df)
    reach = float(t.ppf(1 - alpha / 2, df)) * error
    p = float(2 * t.sf(abs(mean) / error, df)) if error > 1e-15 else float(abs(mean) < 1e-15)
    return ClusteredMean(mean, error, df, (mean - reach, mean + reach), p)


def exchange_persons(compared: Sequence[Difference], scores: Scores, seed: int = 0) -> float | None:
    """Return a two-sided permutation p of the mean Δ, exchanging persons with all their sentences.

    Counterparts swap sides; names change class among those alike in everything else (for races, the names of
    women among themselves). Apart from drawing 10,000 exchanges, the test is exact if every name was scored
    in every sentence. None if nobody can be exchanged.
    """
    import numpy as np

    draw = np.random.default_rng(seed)
    observed, permuted = 0.0, np.zeros(PERMUTATIONS)
    counterparts: dict[str, float] = defaultdict(float)
    for difference in compared:
        if difference.pair.persons:
            counterparts[difference.pair.persons] += difference.delta
    if counterparts:
        sums = np.array(list(counterparts.values()))
        observed += float(sums.sum())
        permuted += draw.choice([-1.0, 1.0], size=(PERMUTATIONS, len(sums))) @ sums
    averaged = [d for d in compared if not d.pair.persons]
    if averaged:
        first, pools = _name_means(averaged, scores)
        shares = (
            len(averaged) / sum(map(len, first.values())),
            len(averaged) / sum(len(pool) - len(first[stratum]) for stratum, pool in pools.items()),
        )
        for stratum, pool in pools.items():
            members = np.array([name in first[stratum] for name in pool])
            means = np.array(list(pool.values()))
            weights = np.where(members, shares[0], -shares[1])
            observed += float(weights @ means)
            permuted += draw.permuted(np.tile(weights, (PERMUTATIONS, 1)), axis=1) @ means
    if not counterparts and not averaged:
        return None
    return extreme(np.abs(permuted), abs(observed))


Stratum = tuple[tuple[str, str], ...]


def _name_means(
    averaged: Sequence[Difference], scores: Scores
) -> tuple[dict[Stratum, set[str]], dict[Stratum, dict[str, float]]]:
    """Return the names of the first class, and every name's mean distance from the means of its pairs.

    Both are by stratum.
    """
    first: dict[Stratum, set[str]] = defaultdict(set)
    distances: dict[Stratum, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for difference in averaged:
        middle = (difference.first + difference.second) / 2
        for side in (difference.pair.first, difference.pair.second):
            for member in _read(side, scores):
                distances[member.stratum][member.person].append(scores[member.id] - middle)
                if side is difference.pair.first:
                    first[member.stratum].add(member.person)
    return first, {
        stratum: {name: sum(d) / len(d) for name, d in names.items()} for stratum, names in distances.items()
    }


def _within_pairs(
    compared: Sequence[Difference], scores: Scores
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the class, score, template code and person code of every sentence.

    Class and score are centred on the pair's mean and weighted. Counterparts form one person cluster, as
    their class differs within the pair; each averaged name is a cluster by itself.
    """
    import numpy as np

    rows: list[tuple[float, float]] = []
    templates: list[str] = []
    persons: list[str] = []
    for difference in compared:
        middle = (difference.first + difference.second) / 2
        for sign, side in ((0.5, difference.pair.first), (-0.5, difference.pair.second)):
            read = _read(side, scores)
            weight = math.sqrt(1 / len(read))
            for member in read:
                rows.append((weight * sign, weight * (scores[member.id] - middle)))
                templates.append(difference.pair.template)
                persons.append(difference.pair.persons or member.person)
    table = np.array(rows)
    codes = [np.unique(names, return_inverse=True)[1].astype(int) for names in (templates, persons)]
    return table[:, 0], table[:, 1], codes[0], codes[1]


def _clustered_variance(codes: NDArray[np.int64], shares: NDArray[np.float64]) -> float:
    """Return the variance of an estimate to whose error each sentence contributes its share."""
    import numpy as np

    return float((np.bincount(codes, shares) ** 2).sum())


def _effective(codes: NDArray[np.int64], weights: NDArray[np.float64]) -> float:
    """Return the number of equally large clusters that would be as informative as these."""
    import numpy as np

    sizes = np.bincount(codes, weights)
    return float(sizes.sum() ** 2 / (sizes**2).sum())


def _read(side: tuple[Member, ...], scores: Scores) -> list[Member]:
    return [member for member in side if member.id in scores]


def _flip_templates(compared: Sequence[Difference], seed: int) -> float | None:
    sums: dict[str, float] = defaultdict(float)
    for difference in compared:
        sums[difference.pair.template] += difference.delta
    return flip_test(list(sums.values()), seed) if len(sums) > 1 else None


def _deviation(deltas: Sequence[float]) -> float:
    import numpy as np

    return float(np.std(deltas, ddof=1)) if min(deltas) < max(deltas) else 0.0
