"""What a parser gives: the records of a parse and a split, and the protocol that suites rely on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from harness.core import Span


@dataclass(frozen=True, slots=True)
class Parse:
    """A parsed sentence: per token its character offset, fine POS tag and dependency label."""

    offsets: tuple[int, ...]
    pos: tuple[str, ...]
    dep: tuple[str, ...]

    def tag_at(self, offset: int) -> str | None:
        """The tag of the token that starts at ``offset`` of the sentence, or None."""
        return self.pos[self.offsets.index(offset)] if offset in self.offsets else None


@dataclass(frozen=True, slots=True)
class Split:
    """The sentences of a text, white space left out; ``closed``: the last one ends itself."""

    spans: tuple[Span, ...]
    closed: bool


class Parser(Protocol):
    """What a suite needs of a parser."""

    @property
    def name(self) -> str: ...

    def split(self, text: str) -> Split: ...

    def parse(self, sentences: Sequence[str]) -> list[Parse]: ...
