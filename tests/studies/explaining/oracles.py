"""Models made of words: what they answer is known beforehand."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from math import log

from harness.answering.reading import Reading
from harness.core import Outcome
from harness.studies.explaining.answers import Labels

YES, NO = Labels(frozenset({"Positive"})), Labels(frozenset({"Negative"}))
UNREAD = Reading(Outcome(reason="unparsed"))


def said(answer: Labels, odds: Mapping[str, float] | None = None, beside: float | None = None) -> Reading:
    """A reading of one label, with what a system may tell beside it."""
    return Reading(Outcome(answer.labels, beside=beside), odds)


def rated(score: float) -> Reading:
    return Reading(Outcome(score=score))


class Scripted:
    """Answers by ``say`` and keeps what it was asked."""

    def __init__(self, say: Callable[[str], Reading]) -> None:
        self.asked: list[str] = []
        self._say = say

    async def __call__(self, texts: Sequence[str]) -> list[Reading]:
        self.asked += texts
        return [self._say(text) for text in texts]


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def linear(weights: Mapping[str, float], bias: float = 0.0) -> Scripted:
    """The log-odds of "Positive" are the sum of the words' weights."""

    def say(text: str) -> Reading:
        odds = bias + sum(weights.get(word, 0.0) for word in words(text))
        return said(YES if odds >= 0 else NO, {"Positive": odds, "Negative": -odds})

    return Scripted(say)


def labels_only(positive: Callable[[set[str]], bool]) -> Scripted:
    """No more than the answer is known."""
    return Scripted(lambda text: said(YES if positive(set(words(text))) else NO))


def rating(weights: Mapping[str, float], neutral: float = 0.5) -> Scripted:
    """A score is the sum of the words' weights, from ``neutral``."""
    return Scripted(lambda text: rated(neutral + sum(weights.get(word, 0.0) for word in words(text))))


def odds_of(probability: float) -> float:
    return log(probability / (1 - probability))
