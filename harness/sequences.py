"""Statistics of a stream that may be looked at after every trial, as often as one likes."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from harness.statistics import Interval, edge

PRIOR = 0.5
"""Of the mixture over rates, a beta distribution: that of Jeffreys, which weighs small rates well."""
RISES = (1.5, 2.0, 4.0, 8.0)
"""The rises of a rate that are looked for, as multiples of what is usual."""
LEAST, MOST = 1e-4, 0.99
"""The rates between which an alarm is sought."""
ENOUGH = 1e300


def confidence_sequence(successes: int, trials: int, confidence: float = 0.95) -> Interval:
    """Return the interval of a proportion that holds it at all times at once with this ``confidence``.

    Robbins' beta-binomial mixture (1970; Howard et al. 2021): the rates that no wealth of bets against them,
    made before each trial, has multiplied by more than 1 / (1 - confidence). Assumes a rate that stays, or
    else holds for no more than a mean of it. Raises ValueError for impossible counts.
    """
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} successes of {trials} trials")
    if trials == 0:
        return (0.0, 1.0)
    allowed = -math.log(1 - confidence)
    share = successes / trials
    mixture = _beta(PRIOR + successes, PRIOR + trials - successes) - _beta(PRIOR, PRIOR)

    def excluded(rate: float) -> bool:
        """Return whether the bets against ``rate`` have won enough."""
        return mixture - _likelihood(successes, trials, rate) > allowed

    low = edge(share, 0.0, excluded) if successes else 0.0
    high = edge(share, 1.0, excluded) if successes < trials else 1.0
    return (low, high)


def _beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def _likelihood(successes: int, trials: int, rate: float) -> float:
    """Return the log-likelihood of the trials; ``rate`` is neither 0 nor 1."""
    return successes * math.log(rate) + (trials - successes) * math.log1p(-rate)


@dataclass
class Alarm:
    """Tells when a rate has risen above ``usual``, with a false alarm once in ``patience`` trials at most.

    A Shiryaev-Roberts e-detector (Shin, Ramdas and Rinaldo 2023): bets that begin anew at every trial, on
    several rises. While the rate is at most ``usual``, the mean number of trials until an alarm is
    ``patience`` or more. ``add`` returns whether there is one, after which it begins anew.
    """

    usual: float
    patience: float = 10_000
    _wealth: list[float] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.usual = min(max(self.usual, LEAST), MOST / 2)
        self._rises = [min(rise * self.usual, MOST) for rise in RISES]
        self._wealth = [0.0] * len(RISES)

    def add(self, success: bool) -> bool:
        """Add a trial."""
        for number, rise in enumerate(self._rises):
            odds = rise / self.usual if success else (1 - rise) / (1 - self.usual)
            self._wealth[number] = min(ENOUGH, (1 + self._wealth[number]) * odds)
        if sum(self._wealth) / len(self._wealth) < self.patience:
            return False
        self._wealth = [0.0] * len(RISES)
        return True
