"""Texts read by the coreference rules, which are loaded once, and the bundled words that templates need."""

from __future__ import annotations

from functools import cache

from harness.core import Document
from harness.language import coreference
from harness.language.entities import Resolution, Resolver
from harness.suites.biasfinder.gender_nouns import GenderNouns
from harness.suites.biasfinder.occupation import Occupations
from harness.suites.nouns import gender_nouns, occupations

NOUNS = GenderNouns(gender_nouns())
JOBS = Occupations(noun.singular for noun in occupations())


@cache
def resolver() -> Resolver:
    return coreference.load("rules")


def resolved(text: str) -> tuple[Document, Resolution]:
    return Document("d", text), next(resolver().resolve([text]))
