"""Mentions of persons, and the bundled vocabulary that identifies them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from harness.core import Span
from harness.errors import LexiconError
from harness.files import DATA, read_toml

Gender = Literal["male", "female"]
Kind = Literal["name", "pronoun", "nominal", "other"]  # other: not a reference to a person


@dataclass(frozen=True, slots=True)
class Mention:
    """A reference to a person.

    ``start`` and ``end`` are character offsets, ``head`` the index of the head token. ``gender`` is None
    where the words do not express one. ``title`` is the span of a preceding title that does (*Mr.*).
    """

    start: int
    end: int
    kind: Kind
    head: int
    gender: Gender | None = None
    title: Span | None = None

    @property
    def span(self) -> Span:
        """The characters of the mention with its title."""
        return (self.title[0] if self.title else self.start), self.end


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Lower-case words for persons, each with the gender it expresses, or None."""

    given_names: Mapping[str, Gender | None]
    nouns: Mapping[str, Gender | None]
    titles: Mapping[str, Gender | None]


@cache
def vocabulary() -> Vocabulary:
    """Return the bundled words (``data/persons.toml``)."""
    tables = read_toml(DATA / "persons.toml", LexiconError)
    return Vocabulary(*(_by_word(tables[key]) for key in ("given_names", "nouns", "titles")))


def _by_word(table: Mapping[str, list[str]]) -> dict[str, Gender | None]:
    genders: dict[str, Gender | None] = {"male": "male", "female": "female", "neutral": None}
    return {word: genders[group] for group, words in table.items() for word in words}
