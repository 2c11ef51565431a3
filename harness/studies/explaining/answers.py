"""What a model says to a text, as explanations need it: its answer, and how sure it was of that."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp
from statistics import fmean
from typing import Literal

Answer = frozenset[str]
Measure = Literal["log-odds", "score", "answer"]


@dataclass(frozen=True, slots=True)
class Said:
    """``labels`` None: not read. ``log_odds`` of each label (natural log) and ``score`` where known."""

    labels: Answer | None
    log_odds: Mapping[str, float] = field(default_factory=dict)
    score: float | None = None

    def differs(self, other: Said) -> bool:
        """Whether both were read and are not the same."""
        return self.labels is not None and other.labels is not None and self.labels != other.labels

    def strength(self, answer: Answer) -> float | None:
        """The log-odds of ``answer``; None where they are not known."""
        return self.log_odds.get(next(iter(answer))) if len(answer) == 1 else None

    def probability(self, answer: Answer) -> float | None:
        """How likely ``answer`` was; None where that is not known."""
        odds = self.strength(answer)
        if odds is None:
            return None
        return 1 / (1 + exp(-odds)) if odds >= 0 else exp(odds) / (1 + exp(odds))


Ask = Callable[[Sequence[str]], Awaitable[Sequence[Said]]]
"""What the model says to each text. Raises ``BudgetSpent`` where it may not be asked any more."""


def strengths(answer: Answer, said: Sequence[Said]) -> tuple[Measure, list[float]]:
    """How strongly each of ``said`` speaks for ``answer``, by the best measure that all of them have.

    A score speaks for an answer in the direction in which it differs, on average, from the scores of the
    other answers; without any other answer the direction is not known. What was not read counts as the first
    of ``said``, which must have been read.
    """
    read = [one for one in said if one.labels is not None]
    odds = [one.strength(answer) for one in read]
    if None not in odds:
        return "log-odds", _filled(said, lambda one: one.strength(answer))
    own = [one.score for one in read if one.labels == answer and one.score is not None]
    others = [one.score for one in read if one.labels != answer and one.score is not None]
    if own and others and len(own) + len(others) == len(read) and fmean(own) != fmean(others):
        sign = 1.0 if fmean(own) > fmean(others) else -1.0
        return "score", _filled(said, lambda one: None if one.score is None else sign * one.score)
    return "answer", _filled(said, lambda one: float(one.labels == answer))


def _filled(said: Sequence[Said], value: Callable[[Said], float | None]) -> list[float]:
    first = value(said[0])
    if first is None:
        raise ValueError("the first reply must have been read")
    found = [value(one) if one.labels is not None else None for one in said]
    return [first if one is None else one for one in found]
