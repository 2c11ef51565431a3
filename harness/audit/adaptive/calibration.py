"""Correct the belief's chances of a flip by the answers so far.

A logistic regression on the log-odds of the belief and on how much more often than believed a mutant's
document and target have flipped (each mutant left out of its own), with normal priors around no correction.
What is returned is the mean of corrected and uncorrected chances: the correction may rest on a few flips.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from harness.audit.adaptive.flip_model import logistic

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.audit.adaptive.design import Flags, Floats

LEAST = 1e-5
"""Chances are corrected between this and one minus this."""

ENOUGH = 10
"""The answers from which on chances are corrected."""

PRIOR = np.array([0.0, 1.0, 0.5, 0.5])
PRECISION = np.array([0.25, 2.0, 4.0, 4.0])
"""Of the constant, the belief's log-odds, the document and the target."""

STEPS = 15


def corrected(
    chance: Floats, seen: Flags, flipped: Flags, groupings: tuple[NDArray[np.integer], NDArray[np.integer]]
) -> Floats:
    """Return the corrected chance of each mutant; ``groupings`` number the documents and targets."""
    if int(seen.sum()) < ENOUGH:
        return chance
    bounded = np.clip(chance, LEAST, 1 - LEAST)
    columns = [np.ones(len(chance)), np.log(bounded / (1 - bounded))]
    columns += [_surplus(numbers, chance, seen, flipped) for numbers in groupings]
    design = np.column_stack(columns)
    weights = PRIOR.copy()
    known, flips = design[seen], flipped[seen].astype(float)
    for _ in range(STEPS):
        expected = logistic(known @ weights)
        slope = known.T @ (flips - expected) - PRECISION * (weights - PRIOR)
        curvature = (known * (expected * (1 - expected))[:, None]).T @ known + np.diag(PRECISION)
        weights = weights + np.linalg.solve(curvature, slope)
    return (chance + logistic(design @ weights)) / 2


def _surplus(numbers: NDArray[np.integer], chance: Floats, seen: Flags, flipped: Flags) -> Floats:
    """Return the log of flips over flips expected, one added to both, among the others of each grouping."""
    flips, expected = seen * flipped.astype(float), seen * chance
    found = np.bincount(numbers, flips)[numbers] - flips
    believed = np.bincount(numbers, expected)[numbers] - expected
    surplus: Floats = np.log((found + 1) / (np.maximum(believed, 0.0) + 1))
    return surplus
