"""Contributions by a linear model of the answer around one text, after LEMNA (Guo et al. 2018).

LEMNA fits a mixture of regressions with a fused lasso. This is the small case of it: one regression, squared
penalties on the coefficients and on the difference of neighbours (words that stand together tend to act
together), which has a closed solution.
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
    """By a model fitted on random maskings of one word to half of them: two requests a unit, at least 64."""
    if not len(masking):
        return Contributions("answer", [])
    kept = _samples(len(masking), seed)
    readings = await ask([masking.text, *(masking.only(units) for units in kept)])
    measure, values = answer.strengths(readings)
    return Contributions(measure, _fitted([set(range(len(masking))), *kept], values, len(masking)))


def _samples(units: int, seed: int) -> list[set[int]]:
    """The units kept in each masking."""
    draw = random.Random(f"{seed}:{units}")
    most = max(1, units // 2)
    number = max(LEAST_SAMPLES, SAMPLES_A_UNIT * units)
    return [set(range(units)) - set(draw.sample(range(units), draw.randint(1, most))) for _ in range(number)]


def _fitted(kept: list[set[int]], values: list[float], units: int) -> list[float]:
    """The coefficient of each unit being there, with an intercept that no penalty holds down."""
    import numpy as np

    there = np.zeros((len(kept), units))
    for row, some in enumerate(kept):
        there[row, sorted(some)] = 1.0
    target = np.asarray(values)
    centred, target = there - there.mean(axis=0), target - target.mean()
    steps = np.diff(np.eye(units), axis=0)
    penalty = RIDGE * np.eye(units) + FUSED * steps.T @ steps
    found: list[float] = np.linalg.solve(centred.T @ centred + penalty, centred.T @ target).tolist()
    return found
