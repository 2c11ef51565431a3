"""What the answers so far say about the mutants not yet asked about: how likely each is to flip.

An additive model over a mutant's features (its attributes, document, word pairs, targets, and each pair
within the document), in one of two scales. Where the model under test gives log-probabilities, the *shift*
of the original's label in log-odds is predicted, and a mutant flips if it is below minus the original's
margin; an answer that did not change teaches as much as one that did. Elsewhere the log-odds of a flip.

Weights are the posterior mode under independent normal priors, their variances a diagonal Laplace
approximation (MacKay 1992; for choosing by such a model, Chapelle and Li 2011).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.audit.adaptive.candidates import Families

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.audit.adaptive.candidates import Integers

    Floats = NDArray[np.float64]

FLIPS = (4.0, 0.5, 1.0, 2.0, 1.0)
"""Prior variance of each family's weights in log-odds of a flip: kind, document, pair, target, local."""

SHARED = (1, 0, 1, 1, 0)
"""Families whose weights serve many documents: what is learnt by a bold choice pays only for these."""

RARE = -3.0
"""Log-odds of a flip before anything is known: about 5 %."""

SHIFTS = (0.1, 0.2, 0.25, 0.15, 0.2)
"""The share of the shifts' variance that each family explains; the rest, ``REST``, is noise."""

REST = 0.2
FIRST_VARIANCE = 1.0
"""Of shifts, in squared nats, until there are enough of them."""

ENOUGH = 10

TYPICAL = 2.0
"""Nats: an original's margin where it is not known."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Mean and variance of some mutants' shift, or of their log-odds of a flip."""

    mean: Floats
    variance: Floats

    def of(self, mutants: NDArray[np.integer[Any]]) -> Estimate:
        return Estimate(self.mean[mutants], self.variance[mutants])


class Belief:
    """Weights of all features and their variances; before ``learn``, the prior."""

    def __init__(self, families: Families, shifts: bool) -> None:
        self._families = families
        self.shifts = shifts
        self._noise = REST * FIRST_VARIANCE
        self._prior = self._priors(FIRST_VARIANCE)
        self._weights = np.zeros(len(self._prior))
        self._variance = self._prior.copy()
        self._shared = np.append(np.repeat(SHARED, families.sizes), 0)

    def _priors(self, variance: float) -> Floats:
        """Prior variances by feature; that of the padding is nothing, so that it weighs nothing."""
        own = [share * variance for share in SHIFTS] if self.shifts else FLIPS
        return np.append(np.repeat(own, self._families.sizes), 0.0)

    def learn(self, features: Integers, seen: Floats) -> None:
        """From all that was ``seen``: shifts in nats, or 1 for a flip and 0 for none, by mutant."""
        if not len(seen):
            return
        if self.shifts:
            variance = float(np.mean(seen**2)) if len(seen) >= ENOUGH else FIRST_VARIANCE
            variance = max(variance, 1e-6)
            self._prior, self._noise = self._priors(variance), REST * variance
        active, numbers = np.unique(features, return_inverse=True)
        numbers = numbers.reshape(features.shape)
        prior = self._prior[active]
        weights, curvature = _mode(numbers, seen, np.sqrt(prior), self._noise if self.shifts else None)
        self._weights = np.zeros(len(self._prior))
        self._weights[active] = weights
        self._variance = self._prior.copy()
        self._variance[active] = prior / (1 + prior * curvature)

    def estimate(self, features: Integers, draw: np.random.Generator, boldness: float) -> Estimate:
        """Of every mutant, by weights drawn ``boldness`` posterior standard deviations about the mode."""
        spread = np.sqrt(self._variance * self._shared)
        drawn = self._weights + boldness * spread * draw.standard_normal(len(spread))
        return Estimate(drawn[features].sum(axis=1), self._variance[features].sum(axis=1))

    def chance(self, estimate: Estimate, margin: Floats) -> Floats:
        """That mutants flip whose originals had ``margin`` nats; NaN where that is not known."""
        if not self.shifts:
            return logistic(estimate.mean + RARE)
        # A logistic tail: shifts have heavier ones than the normal.
        scale = np.sqrt(estimate.variance + self._noise) * np.sqrt(3) / np.pi
        return logistic(-(np.nan_to_num(margin, nan=TYPICAL) + estimate.mean) / scale)

    def unlikelihood(self, estimate: Estimate) -> Floats:
        """What orders mutants of one document, the likeliest to flip first."""
        return estimate.mean if self.shifts else -estimate.mean


def _mode(
    numbers: NDArray[np.intp], seen: Floats, deviation: Floats, noise: float | None
) -> tuple[Floats, Floats]:
    """The likeliest weights, and how sharply the answers alone curve the likelihood at each of them.

    Found in units of the prior's ``deviation``, in which the problem is well conditioned.
    """
    from scipy.optimize import minimize

    width = numbers.shape[1]

    def spread(values: Floats) -> Floats:
        sums = np.bincount(numbers.ravel(), np.repeat(values, width), len(deviation)).astype(np.float64)
        return sums

    def loss(units: Floats) -> tuple[float, Floats]:
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
    return 0.5 * (1 + np.tanh(x / 2))
