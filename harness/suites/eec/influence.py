"""Explain a mean difference: one person's influence, and whether the system tells emotions apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.suites.eec.analysis import Scores, differences
from harness.suites.eec.corpus import Sentence
from harness.suites.eec.pairing import Pair

NEUTRAL = "none"


@dataclass(frozen=True, slots=True)
class Influence:
    """The mean Δ without any sentence about ``person``, the person whose sentences move it most."""

    person: str
    mean_without: float


@dataclass(frozen=True, slots=True)
class Level:
    """The mean score of the sentences with words for one emotion (``none``: without an emotion word)."""

    emotion: str
    sentences: int
    mean: float


def most_influential(pairs: Sequence[Pair], scores: Scores) -> Influence | None:
    """Return the person whose sentences move the mean Δ most.

    None if leaving out any one person leaves no pair, or if nobody moves it.
    """
    whole = _mean(pairs, scores)
    of_person: dict[str, set[str]] = defaultdict(set)
    for pair in pairs:
        for member in pair.first + pair.second:
            of_person[member.person].add(member.id)
    without = {
        person: _mean(pairs, {name: score for name, score in scores.items() if name not in ids})
        for person, ids in of_person.items()
    }
    influences = [Influence(person, mean) for person, mean in without.items() if mean is not None]
    if whole is None or not influences:
        return None
    most = max(influences, key=lambda influence: abs(influence.mean_without - whole))
    return most if most.mean_without != whole else None


def levels(sentences: Iterable[Sentence], scores: Scores) -> tuple[Level, ...]:
    """Return the mean score of each emotion's sentences, highest first."""
    read: dict[str, list[float]] = defaultdict(list)
    for sentence in sentences:
        if sentence.id in scores:
            read[sentence.traits.get("emotion", NEUTRAL)].append(scores[sentence.id])
    means = (Level(emotion, len(rated), sum(rated) / len(rated)) for emotion, rated in read.items())
    return tuple(sorted(means, key=lambda level: -level.mean))


def _mean(pairs: Sequence[Pair], scores: Scores) -> float | None:
    deltas = [difference.delta for difference in differences(pairs, scores)]
    return sum(deltas) / len(deltas) if deltas else None
