"""The words that keep an answer (S²LCT, Section 4, RQ4, Equation 5).

All words are masked, then unmasked one by one, the largest contribution first, until the answer holds with
the probability wanted. Of these words some may no longer be needed: delta debugging takes them away, so that
no word of what is left could go alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.studies.explaining.answers import Answer, Ask, Said
from harness.studies.explaining.masking import Masking
from harness.studies.explaining.shrinking import ddmin

MOST_TESTS = 200


@dataclass(frozen=True, slots=True)
class RootCause:
    """The units ``kept``, in text order; none where the answer holds with every word masked.

    ``probability`` of the answer to them, None where only the answer is known; ``minimal``: the answer does
    not hold without any one of them.
    """

    kept: Sequence[int]
    probability: float | None
    minimal: bool


async def root_cause(
    ask: Ask, masking: Masking, order: Sequence[int], answer: Answer, threshold: float
) -> RootCause | None:
    """The smallest set found; None where the answer does not even hold on the whole text.

    ``threshold`` is a probability; where the whole text's is lower, that one has to be reached. At most a
    request a unit to unmask, ``MOST_TESTS`` to take away, and two more.
    """
    (whole,) = await ask([masking.text])
    sure = whole.probability(answer)
    needed = threshold if sure is None else min(threshold, sure)

    def holds(said: Said) -> bool:
        probability = said.probability(answer)
        return said.labels == answer and (probability is None or probability >= needed)

    if not holds(whole):
        return None
    kept: list[int] = []
    for unit in (None, *order):
        kept = [*kept, unit] if unit is not None else kept
        (said,) = await ask([masking.only(kept)])
        if holds(said):
            break
    if not kept:
        return RootCause((), said.probability(answer), True)

    async def still(some: Sequence[int]) -> bool:
        (said,) = await ask([masking.only([kept[index] for index in some])])
        return holds(said)

    # in the order of contribution, so that of several small sets that of the stronger words is found first
    reduced = await ddmin(len(kept), still, MOST_TESTS)
    left = sorted(kept[index] for index in reduced.kept)
    (said,) = await ask([masking.only(left)])
    return RootCause(left, said.probability(answer), reduced.minimal)
