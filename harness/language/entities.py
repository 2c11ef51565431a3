"""What coreference systems give: entities, the mentions of one thing each, and who finds them in a text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from harness.language.parsed_text import ParsedText
from harness.language.persons import Gender, Mention


@dataclass(frozen=True, slots=True)
class Entity:
    """All ``mentions`` of one thing, in the order of the text."""

    mentions: tuple[Mention, ...]

    @property
    def person(self) -> bool:
        """Whether each mention is one of a person."""
        return all(m.kind != "other" for m in self.mentions)

    @property
    def genders(self) -> frozenset[Gender]:
        return frozenset(m.gender for m in self.mentions if m.gender)


@dataclass(frozen=True, slots=True)
class Resolution:
    """A text as it was read, and its entities in the order of their first mentions."""

    reading: ParsedText
    entities: tuple[Entity, ...]


class Resolver(Protocol):
    """What templates need of a coreference system."""

    @property
    def name(self) -> str: ...

    def resolve(self, texts: Iterable[str]) -> Iterator[Resolution]: ...

    def entities(self, text: str) -> tuple[Entity, ...]: ...


class Reader(Protocol):
    """What turns texts into readings, in order."""

    @property
    def name(self) -> str: ...

    def read(self, texts: Iterable[str]) -> Iterator[ParsedText]: ...
