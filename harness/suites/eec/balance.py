"""Check whether compared persons differ for a tokenizer: a name in four tokens is not like a name in one.

Names of one group are often rarer in a model's training data and are therefore cut into more tokens, so a
difference in scores may be due to spelling. The imbalance is reported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from harness.suites.eec.corpus import Comparison, Spec

Measure = Callable[[str], float]


@dataclass(frozen=True, slots=True)
class Balance:
    """A measure of the persons on both sides of a comparison.

    ``first`` and ``second`` are the distributions: each value with the number of persons that have it.
    """

    comparison: Comparison
    first_mean: float
    second_mean: float
    first: tuple[tuple[float, int], ...]
    second: tuple[tuple[float, int], ...]

    @property
    def even(self) -> bool:
        """Whether both sides have the same values equally often."""
        return self.first == self.second


def balance(spec: Spec, measure: Measure) -> tuple[Balance, ...]:
    """Return the balance of every comparison of the corpus.

    ``measure`` maps a person's word to a number: its tokens, or its frequency in some corpus.
    """
    return tuple(_balance(spec, comparison, measure) for comparison in spec.comparisons)


def _balance(spec: Spec, comparison: Comparison, measure: Measure) -> Balance:
    first, second = (
        [
            measure(word)
            for group in spec.persons
            if group.traits.get(comparison.attribute) == side
            for word in group.words
        ]
        for side in (comparison.first, comparison.second)
    )
    return Balance(
        comparison, sum(first) / len(first), sum(second) / len(second), _counted(first), _counted(second)
    )


def _counted(values: Iterable[float]) -> tuple[tuple[float, int], ...]:
    return tuple(sorted(Counter(values).items()))
