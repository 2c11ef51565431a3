"""Draw from one side of a run, its mutants or its controls, in stages with known probabilities.

Each stage estimates the sum over the side without bias, given all that was known before it; its weight is
set before it is asked. A stage draws in proportion to the standard deviation that each case may add (Neyman
1934), of which a share is uniform, so that no probability is zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from harness.audit.adaptive.design import drawn, probabilities
from harness.audit.adaptive.sample import TINY, Stage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from harness.audit.adaptive.design import Flags, Floats

UNIFORM = 0.25
"""The share of each probability that no belief changes."""

SOFTNESS = 0.1
"""How much of the mean chance is in each chance, for the probabilities."""

LEAST = 1e-3
"""The least mean chance that is assumed for the probabilities."""


@dataclass(frozen=True, slots=True)
class Draw:
    """The cases drawn in a stage, with their probabilities, and the weight of the stage."""

    cases: NDArray[np.intp]
    chances: Floats
    weight: float


class Stages:
    """The stages of one side: ``among`` are its cases, ``importance`` is by how much each counts.

    ``columns`` is the number of figures that are estimated of each case.
    """

    def __init__(self, among: Flags, importance: Floats, columns: int) -> None:
        self.among = among
        self._importance = importance
        self._values = np.zeros((len(among), columns))
        self._weight = 0.0
        self._stages: list[Stage] = []

    @property
    def seen(self) -> bool:
        """Whether anything was drawn."""
        return self._weight > 0

    def draw(
        self,
        unknown: NDArray[np.intp],
        chance: Floats,
        number: int,
        later: Sequence[int],
        draw: np.random.Generator,
    ) -> Draw:
        """Draw ``number`` of the ``unknown`` cases of the side, each of which has a ``chance`` to flip.

        ``later`` are the numbers that the stages to come will draw.
        """
        chances, share = self._planned(unknown, chance[unknown], number, later)
        chosen = drawn(chances, draw)
        return Draw(unknown[chosen], chances[chosen], (1 - self._weight) * share)

    def learn(self, draw: Draw, values: Floats, missed: Floats, believed: Floats) -> None:
        """Take in a stage.

        ``values`` has what is known or believed of each case, ``missed`` by how much the belief was wrong
        about those drawn, which flipped with the chances ``believed``.
        """
        values = np.where(self.among[:, None], values, 0.0)
        values[draw.cases] += missed / draw.chances[:, None]
        self._values += draw.weight * values
        self._weight += draw.weight
        self._stages.append(Stage(draw.weight, draw.cases, draw.chances, missed, believed))

    def result(self, observed: Floats, unknown: NDArray[np.intp]) -> tuple[Floats, list[Stage]]:
        """Return the value of each case, and the stages with weights that sum to one.

        Where nothing of the side is ``unknown``, these are the values ``observed``, and no stage.
        """
        if not len(unknown):
            return np.where(self.among[:, None], observed, 0.0), []
        total = max(self._weight, TINY)
        return self._values / total, [stage.of_weight(stage.weight / total) for stage in self._stages]

    def _planned(
        self, unknown: NDArray[np.intp], chance: Floats, number: int, later: Sequence[int]
    ) -> tuple[Floats, float]:
        """Return the probabilities of a stage, and its share of the weight of all stages left.

        Stages weigh by their precision as the belief expects it; those to come have fewer unknown cases.
        """
        if not len(unknown):
            return np.zeros(0), 1.0
        soft = (1 - SOFTNESS) * chance + SOFTNESS * max(float(chance.mean()), LEAST)
        spread = np.sqrt(soft * (1 - soft)) * self._importance[unknown]
        chances = probabilities(spread, number, UNIFORM)
        variance = _variance(spread, chances, np.ones(len(unknown)))
        left, ratios = 1 - chances, 1.0
        for size in later:
            of_later = probabilities(spread, min(size, len(unknown)), UNIFORM)
            ratios += variance / max(_variance(spread, of_later, left), TINY * spread.max() ** 2)
            left = left * (1 - of_later)
        return chances, 1 / ratios


def _variance(spread: Floats, chances: Floats, unknown: Floats) -> float:
    return float(unknown @ ((1 / chances - 1) * spread**2))
