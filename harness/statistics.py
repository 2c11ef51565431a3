"""Pure functions from counts and differences to intervals and tests, for every suite.

Every rate comes with its numerator, denominator and interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Interval = tuple[float, float]
Correction = Literal["bonferroni", "holm", "fdr_bh"]

RESAMPLES = 2000
RESAMPLES_AT_ONCE = 100
PERMUTATIONS = 10_000
EXACT_CLUSTERS = 12
FEW_CLUSTERS = 10
MANY_CLUSTERS = 1000
BISECTIONS = 60


def wilson(successes: float, trials: int, confidence: float = 0.95) -> Interval | None:
    """Return Wilson's score interval of a proportion (Wilson 1927), or None without trials.

    Trials are taken as independent. ``successes`` may be a sum of shares. Raises ValueError for impossible
    counts.
    """
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} successes of {trials} trials")
    if trials == 0:
        return None
    z = NormalDist().inv_cdf((1 + confidence) / 2)  # SciPy's, but its import takes a second of every run
    share = successes / trials
    centre = share + z * z / (2 * trials)
    half = z * math.sqrt((share * (1 - share) + z * z / (4 * trials)) / trials)
    low, high = ((centre + side) / (1 + z * z / trials) for side in (-half, half))
    return (low if successes else 0.0, high if successes < trials else 1.0)


def share_of_all(successes: int, drawn: int, population: int, confidence: float = 0.95) -> Interval:
    """Return the interval of the share of successes in a finite population, of which ``drawn`` are a sample.

    The sample is drawn with equal chances and without replacement. Exact: both sides of the hypergeometric
    test are inverted (Buonaccorsi 1987), so it never holds the share less often than ``confidence``, and it
    is a point once all are drawn. Raises ValueError for impossible counts.
    """
    if not 0 <= successes <= drawn <= population:
        raise ValueError(f"{successes} successes of {drawn} drawn from {population}")
    if not population:
        return (0.0, 1.0)
    tail = (1 - confidence) / 2
    most = _most_in_all(successes, drawn, population, tail)
    least = population - _most_in_all(drawn - successes, drawn, population, tail)
    return (least / population, most / population)


@lru_cache(maxsize=1 << 16)
def _most_in_all(successes: int, drawn: int, population: int, tail: float) -> int:
    """Return the most successes among all with which so few of those drawn have a chance above ``tail``."""
    from scipy.stats import hypergeom

    low, high = successes, population - (drawn - successes)
    while low < high:
        middle = (low + high + 1) // 2
        if hypergeom.cdf(successes, population, middle, drawn) > tail:
            low = middle
        else:
            high = middle - 1
    return low


def mean_of_shares(total: float, number: int, confidence: float = 0.95) -> Interval:
    """Return the interval of a mean of values from 0 to 1, from the ``total`` of ``number`` of them.

    They are a sample, with or without replacement; nothing else is known of them (Hoeffding 1963, theorems 1
    and 4). It never holds the mean less often than ``confidence``. Raises ValueError for an impossible total.
    """
    if not 0 <= total <= number:
        raise ValueError(f"{total} is no total of {number} values from 0 to 1")
    if not number:
        return (0.0, 1.0)
    mean, most = total / number, math.log(2 / (1 - confidence)) / number

    def excluded(share: float) -> bool:
        """Return whether the mean diverges too far from ``share``, in nats."""
        return _divergence(mean, share) > most

    return (edge(mean, 0.0, excluded), edge(mean, 1.0, excluded))


def edge(inside: float, outside: float, excluded: Callable[[float], bool]) -> float:
    """Return the value between ``inside`` and ``outside`` from which values are ``excluded``, or the last."""
    for _ in range(BISECTIONS):
        middle = (inside + outside) / 2
        inside, outside = (inside, middle) if excluded(middle) else (middle, outside)
    return outside


def _divergence(one: float, other: float) -> float:
    """Return the divergence of Kullback and Leibler of two chances of an event."""
    parts = ((one, other), (1 - one, 1 - other))
    return sum(p * math.log(p / q) if q else math.inf for p, q in parts if p)


def cluster_bootstrap(
    successes: Sequence[float], trials: Sequence[int], seed: int = 0, confidence: float = 0.95
) -> Interval | None:
    """Return the percentile interval of a ratio of sums, resampling whole clusters with replacement.

    ``successes`` and ``trials`` hold one count per cluster (all mutants of one original), or a cluster's sum
    of values and their number: mutants of one text are not independent, although Wilson's interval assumes
    it. None with fewer than two clusters.
    """
    import numpy as np

    hits, sizes = np.asarray(successes, dtype=float), np.asarray(trials, dtype=float)
    if hits.shape != sizes.shape:
        raise ValueError("successes and trials must have one entry a cluster")
    hits, sizes = hits[sizes > 0], sizes[sizes > 0]
    if len(sizes) < 2:
        return None
    if not hits.any():
        return (0.0, 0.0)  # as in every resample
    sums = resampled(np.column_stack([hits, sizes]), seed)
    return percentiles(sums[:, 0] / sums[:, 1], confidence)


def rate_by_cluster(successes: Sequence[int], trials: Sequence[int], seed: int = 0) -> Interval | None:
    """Return the 95 % interval of a rate whose trials come in clusters, never a point; None without trials.

    That of ``cluster_bootstrap``, except where it claims too much: with fewer than 10 clusters it is too
    narrow (with five it holds the true rate 50 to 80 times in a hundred), and if all clusters have one rate
    it is a point. Then it is Wilson's with a trial per cluster, as if a cluster told no more than one trial.
    """
    clusters = sum(size > 0 for size in trials)
    between = cluster_bootstrap(successes, trials, seed) if clusters >= FEW_CLUSTERS else None
    if between is not None and between[0] < between[1]:
        return between
    return wilson(clusters * sum(successes) / sum(trials), clusters) if clusters else None


def rate(part: int, whole: int) -> float | None:
    """Return ``part / whole``, or None where ``whole`` is zero."""
    return part / whole if whole else None


def f1(hit: int, missed: int, wrong: int) -> float:
    """Return the harmonic mean of precision and recall from counts, of which at least one is above zero."""
    return 2 * hit / (2 * hit + missed + wrong)


@dataclass(frozen=True, slots=True)
class Excess:
    """The difference between two rates, with its interval."""

    difference: float
    interval: Interval


def rate_difference(
    first: tuple[float, int], second: tuple[float, int], confidence: float = 0.95
) -> Excess | None:
    """Compare two independent rates, each (successes, trials), with Newcombe's interval (1998, method 10).

    None where a rate has no trials.
    """
    first_interval, second_interval = wilson(*first, confidence), wilson(*second, confidence)
    if first_interval is None or second_interval is None:
        return None
    p, q = first[0] / first[1], second[0] / second[1]
    low = p - q - math.hypot(p - first_interval[0], second_interval[1] - q)
    return Excess(p - q, (low, p - q + math.hypot(first_interval[1] - p, q - second_interval[0])))


def clustered_rate_difference(
    first: Sequence[tuple[float, int]],
    second: Sequence[tuple[float, int]],
    seed: int = 0,
    confidence: float = 0.95,
) -> Excess | None:
    """Compare two rates over the same clusters, such as flips of mutants and of repeats of their originals.

    Each rate has one (successes, trials), or (sum of values, number of values), per cluster, in the same
    order; whole clusters are resampled with both their counts. None with fewer than two clusters, or where a
    rate has no trials; resamples that leave a rate without trials are skipped.
    """
    import numpy as np

    if len(first) != len(second):
        raise ValueError("both rates must have one entry a cluster")
    counts = np.asarray([(*a, *b) for a, b in zip(first, second, strict=True)], dtype=float).reshape(-1, 4)
    counts = counts[(counts[:, 1] > 0) | (counts[:, 3] > 0)]
    total = counts.sum(axis=0)
    if len(counts) < 2 or not (total[1] and total[3]):
        return None
    sums = resampled(counts, seed)
    sums = sums[(sums[:, 1] > 0) & (sums[:, 3] > 0)]
    between = percentiles(sums[:, 0] / sums[:, 1] - sums[:, 2] / sums[:, 3], confidence)
    return Excess(float(total[0] / total[1] - total[2] / total[3]), between)


def rate_difference_by_cluster(
    first: Sequence[tuple[int, int]], second: Sequence[tuple[int, int]], seed: int = 0
) -> Excess | None:
    """Compare two rates over the same clusters as ``clustered_rate_difference`` does, never with a point.

    With fewer than 10 clusters, or where that gives a point, the interval is Newcombe's with a trial per
    cluster, as in ``rate_by_cluster``. None where a rate has no trials.
    """
    clusters = sum(bool(a[1] or b[1]) for a, b in zip(first, second, strict=True))
    between = clustered_rate_difference(first, second, seed) if clusters >= FEW_CLUSTERS else None
    if between is not None and between.interval[0] < between.interval[1]:
        return between
    shares = [rate(sum(part for part, _ in counts), sum(n for _, n in counts)) for counts in (first, second)]
    if shares[0] is None or shares[1] is None:
        return None
    return rate_difference((clusters * shares[0], clusters), (clusters * shares[1], clusters))


def equal_rates(
    first: Sequence[tuple[int, int]], second: Sequence[tuple[int, int]], seed: int = 0
) -> float | None:
    """Return the two-sided p that two rates over the same clusters are equal.

    Takes the counts of ``clustered_rate_difference``. Flips the sign of each cluster's contribution to the
    difference, less the contribution expected from the pooled rate (Hemerik, Goeman and Finos 2020); with
    more than 1,000 clusters uses the normal limit. A single cluster is tested by Fisher's exact test, which
    assumes independent trials. None where a rate has no trials.
    """
    import numpy as np

    if len(first) != len(second):
        raise ValueError("both rates must have one entry a cluster")
    counts = np.asarray([(*a, *b) for a, b in zip(first, second, strict=True)], dtype=int).reshape(-1, 4)
    counts = counts[(counts[:, 1] > 0) | (counts[:, 3] > 0)]
    hits, trials, other_hits, other_trials = (int(n) for n in counts.sum(axis=0))
    if not (trials and other_trials):
        return None
    if len(counts) == 1:
        from scipy.stats import fisher_exact

        table = [[hits, trials - hits], [other_hits, other_trials - other_hits]]
        return float(fisher_exact(table).pvalue)
    pooled = (hits + other_hits) / (trials + other_trials)
    added = (counts[:, 0] - pooled * counts[:, 1]) / trials
    added -= (counts[:, 2] - pooled * counts[:, 3]) / other_trials
    if len(added) <= MANY_CLUSTERS or not added.any():
        return flip_test(added.tolist(), seed)
    return 2 * NormalDist().cdf(-float(abs(added.sum()) / np.linalg.norm(added)))


def mcnemar(only_first: int, only_second: int) -> float:
    """Return the exact two-sided p that two paired yes/no answers differ (McNemar 1947).

    Counts the discordant pairs: ``only_first`` where only the first says yes. Answers of two models to the
    same cases are such pairs.
    """
    return sign_test(only_first, only_second)


def sign_test(above: int, below: int) -> float:
    """Return the exact two-sided p that differences are as often above as below zero; ties are left out."""
    from scipy.stats import binomtest

    return float(binomtest(above, above + below).pvalue) if above + below else 1.0


def adjusted(
    p_values: Sequence[float], method: Correction = "holm", family: int | None = None
) -> tuple[float, ...]:
    """Return p-values corrected for multiple testing: Bonferroni, Holm or Benjamini-Hochberg (``fdr_bh``).

    ``family`` is the number of tests made if larger than ``p_values``; the others count as p = 1. Raises
    ValueError if it is smaller.
    """
    size = len(p_values) if family is None else family
    if size < len(p_values):
        raise ValueError(f"a family of {size} cannot hold {len(p_values)} p-values")
    if not p_values:
        return ()
    import numpy as np

    padded = np.array([*p_values, *[1.0] * (size - len(p_values))])
    if method == "fdr_bh":
        from scipy.stats import false_discovery_control

        corrected = false_discovery_control(padded)
    elif method == "bonferroni":
        corrected = padded * size
    else:  # statsmodels' Holm runs a full garbage collection at every call
        corrected, order = np.empty(size), np.argsort(padded)
        corrected[order] = np.maximum.accumulate(padded[order] * np.arange(size, 0, -1))
    return tuple(float(p) for p in np.minimum(corrected, 1.0)[: len(p_values)])


@dataclass(frozen=True, slots=True)
class TTest:
    """The result of a t-test with ``df`` degrees of freedom.

    ``statistic`` is infinite where all differences are equal and not zero.
    """

    statistic: float
    df: float
    p: float


def paired_t(differences: Sequence[float]) -> TTest | None:
    """Return Student's paired t-test on differences; None with fewer than two.

    The test assumes independent differences, which those that share a text, a template or a name are not.
    """
    if len(differences) < 2:
        return None
    if min(differences) == max(differences):
        same = differences[0]
        statistic = math.copysign(math.inf, same) if same else 0.0
        return TTest(statistic, len(differences) - 1, 0.0 if same else 1.0)
    from scipy.stats import ttest_1samp

    result = ttest_1samp(differences, 0.0)
    return TTest(float(result.statistic), float(result.df), float(result.pvalue))


def minimum_detectable_effect(pairs: int, alpha: float = 0.05, power: float = 0.8) -> float | None:
    """Return the mean difference that ``pairs`` detect with probability ``power``, in standard deviations.

    For a two-sided paired t-test at ``alpha``; None with fewer than two pairs.
    """
    if pairs < 2:
        return None
    return detectable_in_errors(pairs - 1, alpha, power) / math.sqrt(pairs)


def detectable_in_errors(df: float, alpha: float = 0.05, power: float = 0.8) -> float:
    """Return the effect that a two-sided t-test detects with probability ``power``, in standard errors.

    ``df`` is at least 1.
    """
    from scipy.optimize import brentq
    from scipy.stats import nct, t

    # statsmodels' solver silently stops at an effect of 10 for small alpha.
    critical = float(t.isf(alpha / 2, df))
    highest = critical + 5
    while nct.sf(critical, df, highest) < power:
        highest *= 2
    return float(brentq(lambda effect: nct.sf(critical, df, effect) - power, 0, highest))


def flip_test(cluster_sums: Sequence[float], seed: int = 0) -> float:
    """Return the two-sided permutation p that differences centre on zero, flipping signs of whole clusters.

    Exact over all flips for up to 12 clusters, else by random draws; with k clusters no p is below 2 / 2^k.
    """
    import numpy as np

    sums = np.asarray(cluster_sums, dtype=float)
    if len(sums) <= EXACT_CLUSTERS:
        bits = np.arange(2 ** len(sums))[:, None] >> np.arange(len(sums)) & 1
        return extreme(np.abs((1 - 2 * bits) @ sums), abs(sums.sum()), sampled=False)
    draw = np.random.default_rng(seed)
    parts = [
        draw.choice([-1.0, 1.0], size=(RESAMPLES_AT_ONCE, len(sums))) @ sums
        for _ in range(PERMUTATIONS // RESAMPLES_AT_ONCE)
    ]
    return extreme(np.abs(np.concatenate(parts)), abs(sums.sum()))


def exchange_test(
    hits: NDArray[np.float64],
    sizes: NDArray[np.float64],
    other_hits: NDArray[np.float64],
    other_sizes: NDArray[np.float64],
    seed: int = 0,
) -> float:
    """Return the two-sided p that two rates are the same within each stratum, by exchanging within strata.

    Given its hits, a stratum's hits among its ``sizes`` are hypergeometric if both sides are alike. The
    statistic is the difference of the rates, strata weighed by ``sizes``. By random draws; with more than
    1,000 strata that have a hit, by the normal limit.
    """
    import numpy as np

    total, whole = hits + other_hits, sizes + other_sizes
    used = total > 0
    good, bad, size, other = total[used], (whole - total)[used], sizes[used], other_sizes[used]
    step = (1 / size + 1 / other) * size / sizes.sum()  # what one hit more moves
    observed = abs(step @ (hits[used] - good * size / whole[used]))
    if used.sum() > MANY_CLUSTERS:
        n = whole[used]
        variance = size * other * good * bad / (n**2 * (n - 1))
        return float(2 * NormalDist().cdf(-observed / math.sqrt(step**2 @ variance)))
    draw = np.random.default_rng(seed)
    drawn = draw.hypergeometric(
        good.astype(np.int64),
        bad.astype(np.int64),
        size.astype(np.int64),
        size=(PERMUTATIONS, int(used.sum())),
    )
    return extreme(np.abs((drawn - good * size / whole[used]) @ step), float(observed))


def extreme(permuted: NDArray[np.float64], observed: float, sampled: bool = True) -> float:
    """Return the share of ``permuted`` statistics at or above ``observed``.

    With ``sampled``, the statistics are random draws and ``observed`` counts as one of them.
    """
    at_least = int((permuted >= observed - 1e-12 * max(1.0, abs(observed))).sum())
    return (at_least + sampled) / (len(permuted) + sampled)


def resampled(
    rows: NDArray[np.float64], seed: int, times: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return column sums over ``rows`` (clusters) resampled with replacement, a row per resample (2,000).

    ``times`` is the multiplicity of each row, one by default; a resample has as many rows as the sum of them.
    """
    import numpy as np

    draw = np.random.default_rng(seed)
    stands = np.ones(len(rows)) if times is None else times
    total = int(stands.sum())
    parts = [
        draw.multinomial(total, stands / total, size=RESAMPLES_AT_ONCE) @ rows
        for _ in range(RESAMPLES // RESAMPLES_AT_ONCE)
    ]
    return np.concatenate(parts)


def percentiles(values: NDArray[np.float64], confidence: float = 0.95) -> Interval:
    """Return the interval that has ``confidence`` of ``values``, as many of the others on each side."""
    import numpy as np

    tail = (1 - confidence) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    return (float(low), float(high))
