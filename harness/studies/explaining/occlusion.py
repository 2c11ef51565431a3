"""How much each word contributes to an answer: by how much masking it alone weakens the answer."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from harness.studies.explaining.answers import Answer, Ask, Measure
from harness.studies.explaining.masking import Masking


@dataclass(frozen=True, slots=True)
class Contributions:
    """A value for each unit, in text order; above zero, the unit speaks for the answer.

    In log-odds (natural log); in units of the model's score or rating; or, where the answer alone is known, 1
    for a unit without which the answer is another one.
    """

    measure: Measure
    values: Sequence[float]

    def order(self, first: Collection[int] = ()) -> list[int]:
        """The units, the largest contribution first; of equals those in ``first``, then in text order."""
        units = range(len(self.values))
        return sorted(units, key=lambda unit: (-self.values[unit], unit not in first, unit))


async def occlusion(ask: Ask, masking: Masking, answer: Answer) -> Contributions:
    """By leaving out one unit after another: a request a unit, one for the text, one for nothing of it."""
    units = range(len(masking))
    texts = [masking.text, *(masking.without(unit) for unit in units), masking.only(())]
    measure, (whole, *without) = answer.strengths(await ask(texts))
    return Contributions(measure, [whole - value for value in without[: len(masking)]])
