"""Models made of words: what they answer is known beforehand."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from math import log

from harness.studies.explaining.answers import Said

YES, NO = frozenset({"Positive"}), frozenset({"Negative"})


class Scripted:
    """Answers by ``say`` and keeps what it was asked."""

    def __init__(self, say: Callable[[str], Said]) -> None:
        self.asked: list[str] = []
        self._say = say

    async def __call__(self, texts: Sequence[str]) -> list[Said]:
        self.asked += texts
        return [self._say(text) for text in texts]


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def linear(weights: Mapping[str, float], bias: float = 0.0) -> Scripted:
    """The log-odds of "Positive" are the sum of the words' weights."""

    def say(text: str) -> Said:
        odds = bias + sum(weights.get(word, 0.0) for word in words(text))
        return Said(YES if odds >= 0 else NO, {"Positive": odds, "Negative": -odds})

    return Scripted(say)


def labels_only(positive: Callable[[set[str]], bool]) -> Scripted:
    """No more than the answer is known."""
    return Scripted(lambda text: Said(YES if positive(set(words(text))) else NO))


def odds_of(probability: float) -> float:
    return log(probability / (1 - probability))
