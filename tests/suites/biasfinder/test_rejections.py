"""Texts that may speak of another person, or of none: refused. Beside each, one like it that is not."""

from __future__ import annotations

from functools import cache

import pytest

from harness.core import Document
from harness.language import coreference
from harness.language.entities import Resolver
from harness.suites.biasfinder import gender
from harness.suites.biasfinder.gender_nouns import GenderNouns
from harness.suites.biasfinder.templates import Refusal
from harness.suites.nouns import gender_nouns

NOUNS = GenderNouns(gender_nouns())


@cache
def resolver() -> Resolver:
    return coreference.load("rules")


def found(text: str) -> str:
    template = gender.template(Document("d", text), next(resolver().resolve([text])), NOUNS)
    return template.reason if isinstance(template, Refusal) else "template"


@pytest.mark.parametrize(
    ("refused", "kept"),
    [
        (
            "Jake tries hard. Everyone should see this once in his life.",
            "Jake tries hard. You should see this once in his theatre.",
        ),
        (
            "Emily is fine. One of the characters sings, and then she dies.",
            "Emily is fine. One of the songs is long, and then she dies.",
        ),
        (
            "A poor version of Emily Green. She deserves better.",
            "A poor picture of Emily Green. She is better.",
        ),
        ("It reminds me of SHIRLEY VALENTINE.", "It reminds me of Shirley Valentine."),
        ("I thank Jesus for this film.", "I thank Jake for this film."),
        ("I saw 'Jake' last week.", "I saw Jake last week."),
    ],
    ids=["one by one", "a character", "a work", "in capitals", "called upon", "quoted"],
)
def test_what_may_be_somebody_else_is_refused(refused: str, kept: str) -> None:
    assert found(refused) != "template"
    assert found(kept) == "template"


def test_nobody_visits_her_is_about_her() -> None:
    assert found("Emily is old, and nobody visits her.") == "template"
