"""The contribution of each word to an answer: how much the answer weakens when the word alone is masked."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from harness.studies.explaining.answers import Answer, Ask, Measure
from harness.studies.explaining.masking import Masking


@dataclass(frozen=True, slots=True)
class Contributions:
    """A value for each unit, in text order; above zero, the unit speaks for the answer.

    In log-odds (natural log); in units of the model's score or rating; or, where only the answer is known, 1
    for a unit without which the answer changes.
    """

    measure: Measure
    values: Sequence[float]

    def order(self, first: Collection[int] = ()) -> list[int]:
        """Return the units by falling contribution; among equals, those in ``first``, then in text order."""
        units = range(len(self.values))
        return sorted(units, key=lambda unit: (-self.values[unit], unit not in first, unit))


async def occlusion(ask: Ask, masking: Masking, answer: Answer) -> Contributions:
    """Return the contributions found by masking one unit after another.

    One request a unit, one for the whole text and one with every unit masked.
    """
    units = range(len(masking))
    texts = [masking.text, *(masking.without(unit) for unit in units), masking.only(())]
    measure, (whole, *without) = answer.strengths(await ask(texts))
    return Contributions(measure, [whole - value for value in without[: len(masking)]])
