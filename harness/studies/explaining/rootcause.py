"""The words that keep an answer (S²LCT, Section 4, RQ4, Equation 5).

All words are masked, then unmasked one by one, the largest contribution first, until the answer is kept:
labels with the probability wanted, a score on its own side of the middle. Of these words some may no longer
be needed: delta debugging takes them away, so that no word of what is left could go alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.answering.reading import Reading
from harness.studies.explaining.answers import Answer, Ask
from harness.studies.explaining.masking import Masking
from harness.studies.explaining.shrinking import ddmin

MOST_TESTS = 200


@dataclass(frozen=True, slots=True)
class RootCause:
    """The units ``kept``, in text order; none where the answer holds with every word masked.

    ``probability`` and ``score`` are those of the answer to them, None where there are none; ``minimal``: the
    answer does not hold without any one of them.
    """

    kept: Sequence[int]
    probability: float | None
    minimal: bool
    score: float | None = None


async def root_cause(
    ask: Ask, masking: Masking, order: Sequence[int], answer: Answer, threshold: float
) -> RootCause | None:
    """Return the smallest set found; None where the answer does not even hold on the whole text.

    ``order`` has all units; ``threshold`` is a probability (see the answer's ``keeper``). At most a request a
    unit to unmask, ``MOST_TESTS`` to take away, and two more.
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
    kept = sorted(enough[place] for place in reduced.kept)
    (reading,) = await ask([masking.only(kept)])
    return RootCause(kept, answer.probability(reading), reduced.minimal, reading.outcome.score)


async def _unmasked(
    ask: Ask, masking: Masking, order: Sequence[int], holds: Callable[[Reading], bool]
) -> Sequence[int]:
    """Return the first units of ``order`` that are enough, all others masked."""
    for size in range(len(order)):
        (reading,) = await ask([masking.only(order[:size])])
        if holds(reading):
            return order[:size]
    return order
