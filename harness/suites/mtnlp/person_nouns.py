"""The nouns that name a person, and what MT-NLP replaces them with."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from harness.suites.lexicon import Attribute, Exchange, by_source
from harness.suites.nouns import gender_nouns, occupations, table

GENDER = "gender"
MALE, FEMALE = IDENTITIES = ("male", "female")
UNMARKED = "unmarked"
"""The group of nouns that say no gender."""


@cache
def person_nouns() -> Attribute:
    """Return the mutations of each person noun.

    These are the noun of the other gender, if there is one, then the noun itself after each of
    ``IDENTITIES``.
    """
    analogies = {exchange.source: exchange for exchange in _analogies()}
    exchanges = (
        exchange
        for noun in dict.fromkeys([*analogies, *_neutral()])
        for exchange in (*filter(None, [analogies.get(noun)]), *_active(noun, analogies.get(noun)))
    )
    return Attribute(GENDER, by_source(exchanges), groups={})


def _active(noun: str, analogy: Exchange | None) -> Iterator[Exchange]:
    group = UNMARKED if analogy is None else analogy.source_group
    return (Exchange(noun, f"{identity} {noun}", group, identity) for identity in IDENTITIES)


def _analogies() -> Iterator[Exchange]:
    analogies = table("person_nouns")["analogies"]
    pairs = list(zip(analogies["male"], analogies["female"], strict=True))
    for nouns in gender_nouns():
        pairs += [(nouns.male.singular, nouns.female.singular), (nouns.male.plural, nouns.female.plural)]
    for male, female in pairs:
        yield Exchange(male, female, MALE, FEMALE)
        yield Exchange(female, male, FEMALE, MALE)


def _neutral() -> Iterator[str]:
    yield from table("person_nouns")["neutral"]["nouns"]
    for occupation in occupations():
        yield from (occupation.singular, occupation.plural)
