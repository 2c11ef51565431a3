"""Predict how likely each mutant is to flip from the answers so far.

The model is additive over the features of a mutant (its attributes, document, word pairs, targets, and each
pair within the document), on one of two scales. If the system under test gives log-probabilities, the model
predicts the *shift* of the original's label in log-odds, and a mutant flips if the shift is below minus the
original's margin; an unchanged answer is then as informative as a changed one. Otherwise the model predicts
the log-odds of a flip.

The weights are the posterior mode under independent normal priors, their variances a diagonal Laplace
approximation (MacKay 1992; for choosing by such a model, Chapelle and Li 2011).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from harness.audit.adaptive.candidates import Families

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.audit.adaptive.candidates import Integers

    Floats = NDArray[np.float64]

FLIPS = (4.0, 0.5, 1.0, 2.0, 1.0)
"""Prior variance of each family's weights in log-odds of a flip: kind, document, pair, target, local."""

SHARED = (1, 0, 1, 1, 0)
"""Families whose weights serve many documents: only for these is exploring worth while."""

RARE = -3.0
"""Prior log-odds of a flip: a probability of about 5 %."""

SHIFTS = (0.1, 0.2, 0.25, 0.15, 0.2)
"""The share of the variance of shifts that each family explains; the remainder, ``NOISE``, is noise."""

NOISE = 0.2
FIRST_VARIANCE = 1.0
"""The variance of shifts in squared nats that is assumed until ``ENOUGH`` have been measured."""

ENOUGH = 10

TYPICAL = 2.0
"""The margin of an original in nats, if it is not known."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """The mean and variance of the shift of mutants, or of their log-odds of a flip; arrays by mutant."""

    mean: Floats
    variance: Floats

    def of(self, mutants: NDArray[np.intp] | Integers) -> Estimate:
        """Return the estimate of ``mutants`` alone."""
        return Estimate(self.mean[mutants], self.variance[mutants])


class Belief:
    """The weights of all features and their variances: the prior until ``learn`` is called."""

    def __init__(self, families: Families, shifts: bool) -> None:
        self._families = families
        self.shifts = shifts
        self._noise = NOISE * FIRST_VARIANCE
        self._prior = self._priors(FIRST_VARIANCE)
        self._weights = np.zeros(len(self._prior))
        self._variance = self._prior.copy()
        self._shared = np.append(np.repeat(SHARED, families.sizes), 0)

    def _priors(self, variance: float) -> Floats:
        """Return the prior variances by feature; zero for the padding, so that its weight is zero."""
        by_family = [share * variance for share in SHIFTS] if self.shifts else FLIPS
        return np.append(np.repeat(by_family, self._families.sizes), 0.0)

    def learn(self, features: Integers, seen: Floats) -> None:
        """Fit the weights to all of ``seen``: by mutant, the shift in nats, or 1 for a flip and 0 for none.

        ``features`` has the feature numbers of one mutant per row.
        """
        if not len(seen):
            return
        if self.shifts:
            variance = float(np.mean(seen**2)) if len(seen) >= ENOUGH else FIRST_VARIANCE
            variance = max(variance, 1e-6)
            self._prior, self._noise = self._priors(variance), NOISE * variance
        active, numbers = np.unique(features, return_inverse=True)
        numbers = numbers.reshape(features.shape)
        prior = self._prior[active]
        weights, curvature = _mode(numbers, seen, np.sqrt(prior), self._noise if self.shifts else None)
        self._weights = np.zeros(len(self._prior))
        self._weights[active] = weights
        self._variance = self._prior.copy()
        self._variance[active] = prior / (1 + prior * curvature)

    def estimate(self, features: Integers, draw: np.random.Generator, boldness: float) -> Estimate:
        """Return the estimate of every mutant under weights drawn around the posterior mode.

        The draw has a spread of ``boldness`` posterior standard deviations.
        """
        spread = np.sqrt(self._variance * self._shared)
        weights = self._weights + boldness * spread * draw.standard_normal(len(spread))
        return Estimate(weights[features].sum(axis=1), self._variance[features].sum(axis=1))

    def chance(self, estimate: Estimate, margin: Floats) -> Floats:
        """Return the probability that mutants flip, if their originals had a margin of ``margin`` nats.

        NaN stands for an unknown margin.
        """
        if not self.shifts:
            return logistic(estimate.mean + RARE)
        # Logistic, as the tails of shifts are heavier than normal ones.
        scale = np.sqrt(estimate.variance + self._noise) * np.sqrt(3) / np.pi
        return logistic(-(np.nan_to_num(margin, nan=TYPICAL) + estimate.mean) / scale)

    def unlikelihood(self, estimate: Estimate) -> Floats:
        """Return sort keys that order the mutants of one document, the likeliest to flip first."""
        return estimate.mean if self.shifts else -estimate.mean


def _mode(
    numbers: NDArray[np.intp], seen: Floats, deviation: Floats, noise: float | None
) -> tuple[Floats, Floats]:
    """Return the weights of the posterior mode, and the curvature of the log-likelihood at each of them.

    The search is in units of the prior's standard ``deviation``, in which it is well conditioned.
    """
    from scipy.optimize import minimize

    width = numbers.shape[1]

    def spread(values: Floats) -> Floats:
        """Sum the ``values`` of mutants over the features they have."""
        sums = np.bincount(numbers.ravel(), np.repeat(values, width), len(deviation)).astype(np.float64)
        return sums

    def loss(units: Floats) -> tuple[float, Floats]:
        """Return the negative log-posterior and its gradient."""
        total = (units * deviation)[numbers].sum(axis=1)
        if noise is not None:
            value, slope = float(np.sum((total - seen) ** 2)) / (2 * noise), (total - seen) / noise
        else:
            total = total + RARE
            value = float(np.sum(np.logaddexp(0, total) - seen * total))
            slope = logistic(total) - seen
        return value + float(np.sum(units**2)) / 2, spread(slope) * deviation + units

    start = np.zeros(len(deviation))
    weights: Floats = minimize(loss, start, jac=True, method="L-BFGS-B").x * deviation
    if noise is not None:
        return weights, spread(np.full(len(seen), 1 / noise))
    chance = logistic(weights[numbers].sum(axis=1) + RARE)
    return weights, spread(chance * (1 - chance))


def logistic(x: Floats) -> Floats:
    """Return 1 / (1 + exp(-x)), without overflow."""
    return 0.5 * (1 + np.tanh(x / 2))
