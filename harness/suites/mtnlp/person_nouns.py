"""The nouns that name a person, and what MT-NLP replaces them with."""

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
    """Return the mutations of each person noun.

    These are the noun of the other gender, if there is one, then the noun itself after each of
    ``IDENTITIES``.
    """
    analogies = dict(_analogies())
    targets = {
        noun: (
            *([analogies[noun]] if noun in analogies else []),
            *(f"{identity} {noun}" for identity in IDENTITIES),
        )
        for noun in dict.fromkeys([*analogies, *_neutral()])
    }
    return Attribute(GENDER, targets, groups={})


def _analogies() -> Iterator[tuple[str, str]]:
    analogies = read_toml(DATA / "person_nouns.toml", LexiconError)["analogies"]
    pairs = list(zip(analogies["male"], analogies["female"], strict=True))
    for nouns in gender_nouns():
        pairs += [(nouns.male.singular, nouns.female.singular), (nouns.male.plural, nouns.female.plural)]
    for male, female in pairs:
        yield (male, female)
        yield (female, male)


def _neutral() -> Iterator[str]:
    yield from read_toml(DATA / "person_nouns.toml", LexiconError)["neutral"]["nouns"]
    for occupation in occupations():
        yield from (occupation.singular, occupation.plural)
