"""Which nouns name a person, and what MT-NLP puts in their place."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from harness.errors import LexiconError
from harness.files import DATA, read_toml
from harness.suites.biasfinder.names import gender_nouns, occupations
from harness.suites.hinter.lexicon import Attribute

GENDER = "gender"
IDENTITIES = ("male", "female")


@cache
def person_nouns() -> Attribute:
    """Person noun -> its mutations: the noun of the other gender where there is one, then the noun itself
    after each of ``IDENTITIES``."""
    analogies = dict(_analogies())
    targets = {
        noun: (*([analogies[noun]] if noun in analogies else []), *(f"{one} {noun}" for one in IDENTITIES))
        for noun in dict.fromkeys([*analogies, *_neutral()])
    }
    return Attribute(GENDER, targets, groups={})


def _analogies() -> Iterator[tuple[str, str]]:
    more = read_toml(DATA / "person_nouns.toml", LexiconError)["analogies"]
    pairs = list(zip(more["male"], more["female"], strict=True))
    for one in gender_nouns():
        pairs += [(one.male.singular, one.female.singular), (one.male.plural, one.female.plural)]
    for male, female in pairs:
        yield (male, female)
        yield (female, male)


def _neutral() -> Iterator[str]:
    yield from read_toml(DATA / "person_nouns.toml", LexiconError)["neutral"]["nouns"]
    for occupation in occupations():
        yield from (occupation.singular, occupation.plural)
