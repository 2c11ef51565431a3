"""The words that keep an answer (S²LCT, Section 4, RQ4, Equation 5).

All words are masked, then unmasked one by one, the largest contribution first, until the answer is kept:
labels with the probability required, a score on its own side of the middle. Delta debugging then removes the
words that are no longer needed, so that no single one of those left could be removed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.answering.reading import Reading
from harness.report.explained import Kept
from harness.studies.explaining.answers import Answer, Ask
from harness.studies.explaining.masking import Masking
from harness.studies.explaining.shrinking import ddmin

MOST_TESTS = 200


async def root_cause(
    ask: Ask, masking: Masking, order: Sequence[int], answer: Answer, threshold: float
) -> Kept | None:
    """Return the smallest set of units found; None where the answer does not hold even on the whole text.

    ``order`` lists all units; ``threshold`` is a probability (see the answer's ``keeper``). At most a request
    a unit to unmask, ``MOST_TESTS`` to remove units, and two more.
    """
    (whole,) = await ask([masking.text])
    holds = answer.keeper(whole, threshold)
    if not holds(whole):
        return None
    enough = await _unmasked(ask, masking, order, holds)

    async def still(places: Sequence[int]) -> bool:
        (reading,) = await ask([masking.only([enough[place] for place in places])])
        return holds(reading)

    # in the order of contribution, so that of several small sets that of the stronger words is found first
    reduced = await ddmin(len(enough), still, MOST_TESTS)
    units = sorted(enough[place] for place in reduced.units)
    (reading,) = await ask([masking.only(units)])
    return Kept(
        units=tuple(units),
        probability=answer.probability(reading),
        score=reading.outcome.score,
        minimal=reduced.minimal,
    )


async def _unmasked(
    ask: Ask, masking: Masking, order: Sequence[int], holds: Callable[[Reading], bool]
) -> Sequence[int]:
    """Return the shortest head of ``order`` that is enough with all other units masked."""
    for size in range(len(order)):
        (reading,) = await ask([masking.only(order[:size])])
        if holds(reading):
            return order[:size]
    return order
