"""Distributional fairness of one answer: for each two groups, mean outcomes within ``alpha``.

Yang, Asyrofi and Lo (BiasRV, 2021), for any number of groups and outcomes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from harness.findings.outcomes import Outcomes
from harness.guard.records import Difference, Heard, Place

Values = tuple[float, ...]
"""The value of each outcome in an answer, from 0 to 1."""
ROUNDED = 1e-9
"""A mean of floating-point numbers is no more exact than this."""


def values(heard: Heard, outcomes: Outcomes) -> Values | None:
    """Return the value of each of ``outcomes`` in an answer; None if it was not read."""
    said = heard.outcome
    if not said.read:
        return None
    labels = None if said.labels is None else sorted(said.labels)
    return outcomes.values(labels, said.score, said.measures)


def agree(answers: Iterable[Values], alpha: float) -> bool:
    """Return whether no outcome differs by more than ``alpha`` between any two of ``answers``."""
    return all(max(of_one) - min(of_one) <= alpha + ROUNDED for of_one in zip(*answers, strict=True))


def by_group(
    place: Place, heard: Mapping[str, Heard], outcomes: Outcomes, most: int | None = None
) -> dict[str, list[Values]]:
    """Return the values of the answers that were read, by group; of the first ``most`` versions of each."""
    read: dict[str, list[Values]] = {}
    for group, texts in place.groups.items():
        for text in texts[:most]:
            if text in heard and (told := values(heard[text], outcomes)) is not None:
                read.setdefault(group, []).append(told)
    return read


def mean(answers: Sequence[Values]) -> Values:
    """Return the mean of each outcome; ``answers`` must not be empty."""
    return tuple(sum(of_one) / len(answers) for of_one in zip(*answers, strict=True))


def widest(
    place: Place, read: Mapping[str, Sequence[Values]], names: Sequence[str], good: Collection[str] = ()
) -> Difference | None:
    """Return the widest difference between the means of two groups; None if fewer than two were read.

    ``names`` are those of the outcomes, of which the first counts where they differ equally; those that are
    ``good`` for the person tell who fares worse.
    """
    means = {group: mean(answers) for group, answers in read.items()}
    if len(means) < 2:
        return None
    differences = []
    for number, name in enumerate(names):
        low = min(means, key=lambda group: means[group][number])
        high = max(means, key=lambda group: means[group][number])
        differences.append(
            Difference(
                place.attribute,
                (low, high),
                name,
                (means[low][number], means[high][number]),
                (len(read[low]), len(read[high])),
                name in good,
            )
        )
    return max(differences, key=lambda difference: difference.value)
