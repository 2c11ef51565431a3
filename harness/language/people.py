"""Words for people, and what contradicts them: bundled, beside the words of the coreference rules."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

from harness.core import Span
from harness.errors import LexiconError
from harness.files import DATA, read_toml
from harness.language.persons import Gender, Vocabulary, vocabulary

AGENTS = tuple(
    """maker makers keeper keepers writer writers worker workers singer singers fighter fighters player
    players owner owners smith logist logists jumper""".split()  # noqa: SIM905
)
FAMILIES = tuple(
    frozenset(words.split())
    for words in (
        "mom mother mum mommy mama stepmother moms mothers",
        "dad father daddy papa stepfather dads fathers",
        "husband husbands boyfriend boyfriends fiance groom",
        "wife wives girlfriend girlfriends fiancee bride",
        "brother brothers",
        "sister sisters",
        "son sons",
        "daughter daughters",
    )
)
"""Nouns for relatives of one kind."""
KINSHIP = frozenset("mom mum dad mother father grandma grandpa mommy daddy mummy mama papa granny".split())  # noqa: SIM905


def family(word: str) -> frozenset[str]:
    """Return the nouns for relatives of one kind that have ``word`` among them; none if it is no relative."""
    return next((words for words in FAMILIES if word in words), frozenset())


@dataclass(frozen=True)
class People:
    """Lower-case nouns for one person, their irregular plurals, and the words around them.

    ``facts`` holds, by topic, the words that contradict a change: those of ``gender`` near the person and of
    ``sex`` anywhere, and those of single conditions such as ``blind``; ``about``, by attribute, words that a
    text about it has. ``homes`` holds, by demonym, places of the nation.
    """

    nouns: frozenset[str]
    genders: Mapping[str, Gender | None]
    given_names: Mapping[str, Gender | None]
    plurals: Mapping[str, str]
    animals: frozenset[str]
    called_she: frozenset[str]
    facts: Mapping[str, frozenset[str]]
    about: Mapping[str, frozenset[str]]
    homes: Mapping[str, frozenset[str]]
    phrases: re.Pattern[str]

    def singular(self, word: str) -> str | None:
        """Return the singular noun of which ``word`` is the plural, or None."""
        if word in self.plurals:
            return self.plurals[word]
        stems = (
            word.removesuffix("s"),
            word.removesuffix("es"),
            f"{word[:-3]}y" if word.endswith("ies") else word,
            f"{word[:-2]}an" if word.endswith("men") else word,
        )
        return next((stem for stem in stems if stem != word and stem in self.nouns), None)

    def person(self, word: str) -> bool:
        """Return whether ``word`` is a noun for one person or several."""
        return word in self.nouns or self.singular(word) is not None or word.endswith(AGENTS)

    def gender(self, word: str) -> Gender | None:
        """Return the gender that a noun expresses, singular or plural."""
        return self.genders.get(word) or self.genders.get(self.singular(word) or "")

    def fixed(self, text: str) -> list[Span]:
        """Return the spans of fixed phrases, in which no word describes a person."""
        return [match.span() for match in self.phrases.finditer(text)]


@cache
def people() -> People:
    """Return the bundled words (``data/people.toml`` and ``data/persons.toml``)."""
    table = read_toml(DATA / "people.toml", LexiconError)
    genders: dict[str, Gender | None] = {
        **dict.fromkeys(table["nouns"]["male"], "male"),
        **dict.fromkeys(table["nouns"]["female"], "female"),
        **vocabulary().nouns,
    }
    return People(
        nouns=frozenset([*genders, *table["nouns"]["person"], *table["plurals"].values()]),
        genders=genders,
        given_names=vocabulary().given_names,
        plurals=table["plurals"],
        animals=frozenset(table["animals"]["animal"]),
        called_she=frozenset(table["animals"]["called_she"]),
        facts={topic: frozenset(listed) for topic, listed in table["facts"].items()},
        about={attribute: frozenset(listed) for attribute, listed in table["about"].items()},
        homes={demonym: frozenset(places) for demonym, places in table["homes"].items()},
        phrases=phrase_pattern(table["phrases"]["fixed"]),
    )


@cache
def person_vocabulary() -> Vocabulary:
    """Return the vocabulary of the coreference rules with all nouns of ``people``."""
    words, more = vocabulary(), people()
    return replace(words, nouns={**dict.fromkeys(more.nouns), **more.genders})


def phrase_pattern(phrases: list[str]) -> re.Pattern[str]:
    """Return the expression that finds any of ``phrases`` in any case; ``*`` stands for one word."""
    either = "|".join(
        r"\W+".join(
            r"[\w'’]+" if word == "*" else re.escape(word).replace("'", "['’]") for word in phrase.split()
        )
        for phrase in sorted(phrases, key=len, reverse=True)
    )
    return re.compile(rf"(?<![\w-])(?:{either})(?![\w-])", re.IGNORECASE)
