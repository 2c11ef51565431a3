"""The answer that is explained: labels or a score, how strongly a reading speaks for it, what keeps it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from math import copysign, exp
from statistics import fmean
from typing import Literal, Protocol

from harness.answering.reading import Reading
from harness.core import Outcome
from harness.report.explained import Answer as Plain

Measure = Literal["log-odds", "score", "answer", "rating"]

Ask = Callable[[Sequence[str]], Awaitable[Sequence[Reading]]]
"""Return the reading of each text. Raises ``BudgetSpent`` where nothing more may be asked."""


class Answer(Protocol):
    """The answer to one text, as the algorithms need it."""

    @property
    def direction(self) -> float:
        """1, or -1 where a word that speaks for the answer lowers the score that is shown."""

    def strengths(self, readings: Sequence[Reading]) -> tuple[Measure, list[float]]:
        """Return how strongly each of ``readings`` speaks for the answer, by the best measure they all have.

        What was not read counts as the first of ``readings``, which must have been read.
        """

    def scale(self, whole: Reading) -> tuple[Measure, Callable[[Reading], float]]:
        """Return the best measure that ``whole``, the reading of all words, has, and the strength by it.

        A reading that has no such strength counts as ``whole``.
        """

    def probability(self, reading: Reading) -> float | None:
        """Return how likely the answer was; None where that is not known."""

    def keeper(self, whole: Reading, probability: float) -> Callable[[Reading], bool]:
        """Return the test whether a reading keeps the answer that ``whole`` has."""


@dataclass(frozen=True, slots=True)
class Labels:
    """An answer that is a set of labels.

    A reading keeps it if it has the same labels with at least the probability required, or with that of the
    whole text where this is lower; where probabilities are not known, if it has the same labels.
    """

    labels: frozenset[str]

    @property
    def direction(self) -> float:
        """1: contributions are shown as they are."""
        return 1.0

    def strengths(self, readings: Sequence[Reading]) -> tuple[Measure, list[float]]:
        """Return log-odds, else the score that a system gives beside its label, else 1 for the answer itself.

        A score speaks for the answer in the direction in which it differs, on average, from the scores of
        other answers; without any other answer the direction is not known.
        """
        read = [reading for reading in readings if reading.outcome.labels is not None]
        if None not in map(self.strength, read):
            return "log-odds", _filled(readings, self.strength)
        sign = self._sign(read)
        if sign:
            return "score", _filled(readings, lambda r: _times(sign, r.outcome.beside))
        return "answer", _filled(readings, lambda r: float(r.outcome.labels == self.labels))

    def _sign(self, read: Sequence[Reading]) -> float:
        """Return 1 where readings of the answer have the higher scores, -1 where the lower; else 0."""
        scores = [(r.outcome.labels == self.labels, r.outcome.beside) for r in read]
        same = [score for is_same, score in scores if is_same and score is not None]
        other = [score for is_same, score in scores if not is_same and score is not None]
        if not same or not other or len(same) + len(other) < len(read):
            return 0.0
        gap = fmean(same) - fmean(other)
        return copysign(1.0, gap) if gap else 0.0

    def strength(self, reading: Reading) -> float | None:
        """Return the log-odds of the answer; None where they are not known, as for several labels."""
        if reading.log_odds is None or len(self.labels) != 1:
            return None
        return reading.log_odds.get(next(iter(self.labels)))

    def scale(self, whole: Reading) -> tuple[Measure, Callable[[Reading], float]]:
        """Return log-odds where ``whole`` has them, else 1 for the answer itself."""
        if self.strength(whole) is None:
            return "answer", lambda r: float(not r.outcome.read or r.outcome.labels == self.labels)
        return "log-odds", _or_as(whole, self.strength)

    def probability(self, reading: Reading) -> float | None:
        """Return how likely the answer was; None where that is not known."""
        odds = self.strength(reading)
        if odds is None:
            return None
        return 1 / (1 + exp(-odds)) if odds >= 0 else exp(odds) / (1 + exp(odds))

    def keeper(self, whole: Reading, probability: float) -> Callable[[Reading], bool]:
        """Return the test: the same labels, and ``probability`` or that of ``whole``, whichever is lower."""
        sure = self.probability(whole)
        needed = probability if sure is None else min(probability, sure)

        def keeps(reading: Reading) -> bool:
            likely = self.probability(reading)
            return reading.outcome.labels == self.labels and (likely is None or likely >= needed)

        return keeps


@dataclass(frozen=True, slots=True)
class Score:
    """An answer that is a score, told apart from ``rival``, the score that it is compared with.

    A reading keeps it if its score is on the same side of the middle between the two, nearer to the answer
    than to ``rival``. Without a rival, or with an equal one, only the same score keeps it.
    """

    score: float
    rival: float | None = None

    @property
    def direction(self) -> float:
        """-1 where the answer is below its rival, else 1."""
        return -1.0 if self.rival is not None and self.score < self.rival else 1.0

    def strengths(self, readings: Sequence[Reading]) -> tuple[Measure, list[float]]:
        """Return the scores, negated where the answer is below its rival."""
        return "rating", _filled(readings, self.strength)

    def strength(self, reading: Reading) -> float | None:
        """Return the score, negated where the answer is below its rival; None where it was not read."""
        return _times(self.direction, reading.outcome.score)

    def scale(self, whole: Reading) -> tuple[Measure, Callable[[Reading], float]]:
        """Return the score as the measure."""
        return "rating", _or_as(whole, self.strength)

    def probability(self, reading: Reading) -> float | None:
        """Return None: a score has no probability."""
        return None

    def keeper(self, whole: Reading, probability: float) -> Callable[[Reading], bool]:
        """Return the test; it ignores ``probability``, which scores do not have."""
        if self.rival is None or self.rival == self.score:
            return lambda reading: reading.outcome.score == self.score
        middle = self.direction * (self.score + self.rival) / 2

        def keeps(reading: Reading) -> bool:
            strength = self.strength(reading)
            return strength is not None and (strength > middle or reading.outcome.score == self.score)

        return keeps


@dataclass(frozen=True, slots=True)
class Change:
    """The change of the answer from one text to another."""

    before: Outcome
    after: Outcome

    def shown_by(self, before: Outcome, after: Outcome) -> bool:
        """Return whether two other answers show the change as well.

        Labels show it if they differ in any way; scores, if they differ in the same direction and by at least
        half as much, since almost any two scores differ a little.
        """
        if self.before.labels != self.after.labels:
            return before.labels is not None and after.labels is not None and before.labels != after.labels
        gap, part = _gap(self.before, self.after), _gap(before, after)
        return gap is not None and part is not None and part * gap > 0 and abs(part) >= abs(gap) / 2


def answer(outcome: Outcome, compared: Outcome) -> Answer | None:
    """Return the answer of ``outcome``, told apart from ``compared``; None where it was not read."""
    if outcome.labels is not None and (outcome.score is None or outcome.labels != compared.labels):
        return Labels(outcome.labels)
    return None if outcome.score is None else Score(outcome.score, compared.score)


def plain(outcome: Outcome) -> Plain:
    """Return the labels, sorted, else the score. Raises ``ValueError`` where ``outcome`` was not read."""
    if outcome.labels is not None:
        return tuple(sorted(outcome.labels))
    if outcome.score is None:
        raise ValueError("an answer that was not read has no labels and no score")
    return outcome.score


def _gap(before: Outcome, after: Outcome) -> float | None:
    return None if before.score is None or after.score is None else after.score - before.score


def _times(sign: float, score: float | None) -> float | None:
    return None if score is None else sign * score


def _filled(readings: Sequence[Reading], strength: Callable[[Reading], float | None]) -> list[float]:
    """Return the strength of each reading, that of the first one where a reading was not read."""
    strong = _or_as(readings[0], strength)
    return [strong(reading if reading.outcome.read else readings[0]) for reading in readings]


def _or_as(whole: Reading, strength: Callable[[Reading], float | None]) -> Callable[[Reading], float]:
    """Return ``strength``; where it is not known, that of ``whole``, which must have one."""
    strongest = strength(whole)
    if strongest is None:
        raise ValueError("the whole text must have been read")

    def strength_or_strongest(reading: Reading) -> float:
        value = strength(reading)
        return strongest if value is None else value

    return strength_or_strongest
