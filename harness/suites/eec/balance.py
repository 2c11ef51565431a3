"""Check whether compared persons differ for a tokenizer: a name in four tokens is not like a name in one.

Names of one group are often rarer in a model's training data and are therefore cut into more tokens, so a
difference in scores may be due to spelling. The imbalance is reported, and can be removed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from harness.errors import ConfigError
from harness.suites.eec.corpus import Comparison, Persons, Spec

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


def token_length(tokenize: Callable[[str], Sequence[object]]) -> Measure:
    """The number of tokens of a word in the middle of a sentence, where a space stands before it."""
    return lambda word: float(len(tokenize(f" {word}")))


def balance(spec: Spec, measure: Measure) -> tuple[Balance, ...]:
    """Return the balance of every comparison of the corpus.

    ``measure`` maps a person's word to a number: its tokens, or its frequency in some corpus.
    """
    return tuple(_balance(spec, comparison, measure) for comparison in spec.comparisons)


def matched(spec: Spec, measure: Measure) -> Spec:
    """The corpus with as many persons of every value in each list of averaged names, the first ones written.

    Aligned counterparts stay as they are. Raises ``ConfigError`` where no value occurs in all lists.
    """
    named = [group for group in spec.persons if group.compared == "averages"]
    counts = [Counter(map(measure, group.words)) for group in named]
    if not counts:
        return spec
    room = {value: min(count[value] for count in counts) for value in counts[0]}
    if not any(room.values()):
        raise ConfigError(f"{spec.name}: no names can be matched: no value occurs in all lists")
    persons = tuple(
        _reduced(group, measure, room) if group.compared == "averages" else group for group in spec.persons
    )
    return spec.model_copy(update={"persons": persons})


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


def _reduced(group: Persons, measure: Measure, room: dict[float, int]) -> Persons:
    left = Counter(room)
    kept = []
    for word in group.words:
        value = measure(word)
        if left[value] > 0:
            left[value] -= 1
            kept.append(word)
    return group.model_copy(update={"words": tuple(kept)})
