"""What lies behind a mean difference: one person's scores, and whether the system tells emotions apart."""

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
    """The mean Δ without any sentence about ``person``, whose sentences move it most."""

    person: str
    mean_without: float


@dataclass(frozen=True, slots=True)
class Level:
    """The mean score of the sentences with words of one emotion (``none``: without any)."""

    emotion: str
    sentences: int
    mean: float


def most_influential(pairs: Sequence[Pair], scores: Scores) -> Influence | None:
    """The person whose sentences move the mean Δ most; None where no pair is left without one, or none moves
    it."""
    whole = _mean(pairs, scores)
    of_person: dict[str, set[str]] = defaultdict(set)
    for pair in pairs:
        for member in pair.first + pair.second:
            of_person[member.person].add(member.id)
    left = {
        person: _mean(pairs, {name: score for name, score in scores.items() if name not in own})
        for person, own in of_person.items()
    }
    found = [Influence(person, mean) for person, mean in left.items() if mean is not None]
    if whole is None or not found:
        return None
    most = max(found, key=lambda one: abs(one.mean_without - whole))
    return most if most.mean_without != whole else None


def levels(sentences: Iterable[Sentence], scores: Scores) -> tuple[Level, ...]:
    """The mean score of each emotion's sentences, highest first."""
    read: dict[str, list[float]] = defaultdict(list)
    for sentence in sentences:
        if sentence.id in scores:
            read[sentence.traits.get("emotion", NEUTRAL)].append(scores[sentence.id])
    found = (Level(emotion, len(some), sum(some) / len(some)) for emotion, some in read.items())
    return tuple(sorted(found, key=lambda level: -level.mean))


def _mean(pairs: Sequence[Pair], scores: Scores) -> float | None:
    deltas = [difference.delta for difference in differences(pairs, scores)]
    return sum(deltas) / len(deltas) if deltas else None
