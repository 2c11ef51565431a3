"""The nouns that name a person, and what MT-NLP replaces them with."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from harness.suites.lexicon import Attribute, Exchange, by_source
from harness.suites.nouns import gender_nouns, occupations, table

GENDER = "gender"
IDENTITIES = ("male", "female")


@cache
def person_nouns() -> Attribute:
    """Return the mutations of each person noun.

    These are the noun of the other gender, if there is one, then the noun itself after each of
    ``IDENTITIES``.
    """
    analogies = dict(_analogies())
    pairs = (
        (noun, target)
        for noun in dict.fromkeys([*analogies, *_neutral()])
        for target in (
            *([analogies[noun]] if noun in analogies else []),
            *(f"{identity} {noun}" for identity in IDENTITIES),
        )
    )
    return Attribute(GENDER, by_source(Exchange(*pair, *pair) for pair in pairs), groups={})


def _analogies() -> Iterator[tuple[str, str]]:
    analogies = table("person_nouns")["analogies"]
    pairs = list(zip(analogies["male"], analogies["female"], strict=True))
    for nouns in gender_nouns():
        pairs += [(nouns.male.singular, nouns.female.singular), (nouns.male.plural, nouns.female.plural)]
    for male, female in pairs:
        yield (male, female)
        yield (female, male)


def _neutral() -> Iterator[str]:
    yield from table("person_nouns")["neutral"]["nouns"]
    for occupation in occupations():
        yield from (occupation.singular, occupation.plural)
