"""Pure functions from counts to intervals. Every rate has its numerator, denominator and interval."""

from __future__ import annotations

from collections.abc import Sequence

Interval = tuple[float, float]

RESAMPLES = 2000
RESAMPLES_AT_ONCE = 100


def wilson(successes: int, trials: int, confidence: float = 0.95) -> Interval | None:
    """Wilson's score interval for a proportion (Wilson 1927), trials independent; None without trials."""
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} successes of {trials} trials")
    if trials == 0:
        return None
    from scipy.stats import binomtest

    interval = binomtest(successes, trials).proportion_ci(confidence, method="wilson")
    return (float(interval.low), float(interval.high))


def cluster_bootstrap(
    successes: Sequence[int], trials: Sequence[int], seed: int = 0, confidence: float = 0.95
) -> Interval | None:
    """Percentile interval of a ratio of sums, whole clusters drawn with replacement.

    ``successes`` and ``trials`` hold one count a cluster (all mutants of one original): mutants of one
    text are not independent, which Wilson's interval does not know. None with fewer than two clusters.
    """
    import numpy as np

    hits, sizes = np.asarray(successes, dtype=float), np.asarray(trials, dtype=float)
    if hits.shape != sizes.shape:
        raise ValueError("successes and trials must have one entry a cluster")
    hits, sizes = hits[sizes > 0], sizes[sizes > 0]
    if len(sizes) < 2:
        return None
    draw = np.random.default_rng(seed)
    rates: list[float] = []
    for _ in range(RESAMPLES // RESAMPLES_AT_ONCE):
        weights = draw.multinomial(len(sizes), np.full(len(sizes), 1 / len(sizes)), size=RESAMPLES_AT_ONCE)
        rates += (weights @ hits / (weights @ sizes)).tolist()
    tail = (1 - confidence) / 2
    low, high = np.quantile(rates, [tail, 1 - tail])
    return (float(low), float(high))


def rate(part: int, whole: int) -> float | None:
    """``part / whole``, None where there is nothing to divide by."""
    return part / whole if whole else None


def f1(hit: int, missed: int, wrong: int) -> float:
    """The harmonic mean of precision and recall, from counts; at least one of them must be above zero."""
    return 2 * hit / (2 * hit + missed + wrong)
