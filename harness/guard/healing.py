"""The answer that the groups together give, after the idea of BiasHeal (Yang et al. 2021).

Every group has the same weight, however many versions it has, and so has every place. Where answers are
labels, it is the answer of the majority; a tie goes to the answer that is likelier on average, where all
probabilities are known, else to the one that is good for the person if so wanted, and else to the answer
about the text itself. Where answers are scores, it is the mean.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from harness.core import Outcome, Reply
from harness.guard.records import Heard, Place

Weighed = Sequence[tuple[Heard, float]]
"""Answers with their weights, which sum to 1."""
ROUNDED = 1e-9


def healed(
    answer: Heard,
    places: Sequence[Place],
    heard: Mapping[str, Heard],
    top: float = 1.0,
    good: Collection[str] = (),
) -> Heard:
    """Return what is given in place of ``answer``, the same object where the groups give that.

    ``places`` are those where groups are treated differently. A score is written on a scale from 0 to
    ``top``. A tie goes to the answer with ``good`` labels, if there is one.
    """
    weighed = list(_weighed(places, heard))
    if not weighed:
        return answer
    if answer.outcome.score is not None:
        return _mean(weighed, top)
    shares: dict[frozenset[str], float] = {}
    for each, weight in weighed:
        if each.outcome.labels is not None:
            shares[each.outcome.labels] = shares.get(each.outcome.labels, 0.0) + weight
    best = [labels for labels, share in shares.items() if share >= max(shares.values()) - ROUNDED]
    if len(best) > 1:
        best = _likeliest(weighed, best) or best
    if len(best) > 1:
        best = [labels for labels in best if not labels.isdisjoint(good)]
    if len(best) != 1 or best[0] == answer.outcome.labels:
        return answer
    return next(each for each, _ in weighed if each.outcome.labels == best[0])


def _weighed(places: Sequence[Place], heard: Mapping[str, Heard]) -> Iterator[tuple[Heard, float]]:
    """Yield the answers that were read: first of equal weight by place, then by group, then by version."""
    for place in places:
        read = {
            group: answers
            for group, texts in place.groups.items()
            if (answers := [heard[text] for text in texts if text in heard and heard[text].outcome.read])
        }
        for answers in read.values():
            for each in answers:
                yield each, 1 / len(places) / len(read) / len(answers)


def _likeliest(weighed: Weighed, tied: Sequence[frozenset[str]]) -> list[frozenset[str]]:
    """Return those of the ``tied`` answers that are likeliest on average; none where that is not known."""
    likely: dict[frozenset[str], float] = dict.fromkeys(tied, 0.0)
    for each, weight in weighed:
        if each.outcome.probabilities is None:
            return []
        for labels in tied:
            likely[labels] += weight * sum(each.outcome.probabilities.get(label, 0.0) for label in labels)
    return [labels for labels in tied if likely[labels] >= max(likely.values()) - ROUNDED]


def _mean(weighed: Weighed, top: float) -> Heard:
    """Return the mean score as an answer of its own."""
    score = sum(weight * (each.outcome.score or 0.0) for each, weight in weighed)
    first = next(each.answer for each, _ in weighed)
    assert isinstance(first, Reply)
    said = replace(first, text=f"{score * top:.4g}", score=score, logprobs=None)
    return Heard(said, Outcome(score=score))
