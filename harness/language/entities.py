"""The output of a coreference system: entities with their mentions, and the protocols that produce them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from harness.language.parsed_text import ParsedText
from harness.language.persons import Gender, Mention


@dataclass(frozen=True, slots=True)
class Entity:
    """All ``mentions`` of one thing, in text order."""

    mentions: tuple[Mention, ...]

    @property
    def person(self) -> bool:
        """Whether every mention refers to a person."""
        return all(m.kind != "other" for m in self.mentions)

    @property
    def genders(self) -> frozenset[Gender]:
        """The genders that the mentions express."""
        return frozenset(m.gender for m in self.mentions if m.gender)

    def agrees(self, gender: Gender | None) -> bool:
        """Return whether a mention of ``gender`` may refer to the entity."""
        return gender is None or not self.genders or self.genders == {gender}


@dataclass(frozen=True, slots=True)
class Resolution:
    """A parsed text with its entities, ordered by first mention.

    ``rivals`` tells how clear each pronoun is: for the index of its head token, the indices of the other
    entities that it may refer to; none where its own entity is the only candidate.
    """

    reading: ParsedText
    entities: tuple[Entity, ...]
    rivals: Mapping[int, tuple[int, ...]]


class Resolver(Protocol):
    """A coreference system, as templates require it."""

    @property
    def name(self) -> str:
        """The system with its pipeline and version."""

    def resolve(self, texts: Iterable[str]) -> Iterator[Resolution]:
        """Yield the resolution of each text, in order."""

    def entities(self, text: str) -> tuple[Entity, ...]:
        """Return the entities of ``text``."""


class Reader(Protocol):
    """Turns texts into readings."""

    @property
    def name(self) -> str:
        """The pipeline with its version."""

    def read(self, texts: Iterable[str]) -> Iterator[ParsedText]:
        """Yield the reading of each text, in order."""
