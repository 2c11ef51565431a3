"""Contributions by a linear model of the answer around one text, after LEMNA (Guo et al. 2018).

LEMNA fits a mixture of regressions with a fused lasso. This is a small case of it with a closed solution: one
regression with squared penalties on the coefficients and on the differences of neighbours (adjacent words
tend to act together).
"""

from __future__ import annotations

import random

from harness.studies.explaining.answers import Answer, Ask
from harness.studies.explaining.masking import Masking
from harness.studies.explaining.occlusion import Contributions

SAMPLES_A_UNIT = 2
LEAST_SAMPLES = 64
RIDGE = 0.05
FUSED = 0.05


async def surrogate(ask: Ask, masking: Masking, answer: Answer, seed: int = 0) -> Contributions:
    """Return the coefficients of a model fitted on random maskings of up to half the units.

    Two requests a unit, at least 64.
    """
    if not len(masking):
        return Contributions("answer", [])
    samples = _samples(len(masking), seed)
    readings = await ask([masking.text, *(masking.only(visible) for visible in samples)])
    measure, values = answer.strengths(readings)
    return Contributions(measure, _fitted([set(range(len(masking))), *samples], values, len(masking)))


def _samples(units: int, seed: int) -> list[set[int]]:
    """Draw the units that stay visible in each masking."""
    draw = random.Random(f"{seed}:{units}")
    most = max(1, units // 2)
    number = max(LEAST_SAMPLES, SAMPLES_A_UNIT * units)
    return [set(range(units)) - set(draw.sample(range(units), draw.randint(1, most))) for _ in range(number)]


def _fitted(samples: list[set[int]], values: list[float], units: int) -> list[float]:
    """Return the coefficient of the presence of each unit, fitted with an intercept that is not penalised."""
    import numpy as np

    presence = np.zeros((len(samples), units))
    for row, visible in enumerate(samples):
        presence[row, sorted(visible)] = 1.0
    target = np.asarray(values)
    centred, target = presence - presence.mean(axis=0), target - target.mean()
    steps = np.diff(np.eye(units), axis=0)
    penalty = RIDGE * np.eye(units) + FUSED * steps.T @ steps
    coefficients: list[float] = np.linalg.solve(centred.T @ centred + penalty, centred.T @ target).tolist()
    return coefficients
