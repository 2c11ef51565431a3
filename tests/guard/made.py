"""Answers and places as a check meets them, and systems with a bias that is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from harness.core import Outcome, Reply
from harness.findings.outcomes import Outcomes
from harness.guard.records import Heard, Place
from harness.guard.steps import Steps
from harness.settings import GuardSettings

SENTIMENT = Outcomes({"Positive": ("Positive",), "Negative": ("Negative",)}, directed=False)
VALENCE = Outcomes({"valence": ()}, directed=False)


def said(label: str, **more: float) -> Heard:
    """The answer ``label``, with the probabilities ``more`` of all labels where they are given."""
    return Heard(Reply(label), Outcome(frozenset([label]), probabilities=more or None))


def scored(score: float) -> Heard:
    return Heard(Reply(f"{score}", score=score), Outcome(score=score))


def unread() -> Heard:
    return Heard(Reply("well"), Outcome(reason="unparsed"))


def steps(outcomes: Outcomes = SENTIMENT, favourable: Sequence[str] = (), **settings: object) -> Steps:
    return Steps(GuardSettings.model_validate(settings), outcomes, favourable=favourable)


class System:
    """A system under test: ``answers`` by text, and every text that it was asked about."""

    def __init__(self, answers: Callable[[str], Heard]) -> None:
        self._answers = answers
        self.asked: list[str] = []

    async def __call__(self, texts: Sequence[str]) -> Mapping[str, Heard]:
        self.asked += texts
        return {text: self._answers(text) for text in texts}


def place(attribute: str = "gender", **groups: Sequence[str]) -> Place:
    return Place(attribute, groups)
