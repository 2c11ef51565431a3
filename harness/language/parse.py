"""The output of a parser: the records of a parse and a split, and the protocol on which suites rely."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from harness.core import Span


@dataclass(frozen=True, slots=True)
class Parse:
    """A parsed sentence: per token, its character offset, fine part-of-speech tag and dependency label."""

    offsets: tuple[int, ...]
    pos: tuple[str, ...]
    dep: tuple[str, ...]

    def tag_at(self, offset: int) -> str | None:
        """Return the tag of the token that starts at ``offset`` in the sentence, or None."""
        return self.pos[self.offsets.index(offset)] if offset in self.offsets else None


Chosen = Callable[[Sequence[tuple[str, ...]]], Collection[int]]
"""Return which of some sentences are parsed for dependencies, by the part-of-speech tags of all."""


@dataclass(frozen=True, slots=True)
class Split:
    """The sentence spans of a text, without surrounding white space.

    ``closed`` is true if the last sentence ends with a terminator.
    """

    spans: tuple[Span, ...]
    closed: bool


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as a parser reads it: how it splits as a text of its own, and its parse."""

    split: Split
    parse: Parse


class Parser(Protocol):
    """What a suite requires of a parser.

    ``name`` is that of the parser with its model and version, such as ``spacy:en_core_web_sm 3.8.0``.
    """

    name: str

    def split(self, text: str) -> Split:
        """Split ``text`` into sentences."""

    def parse(self, sentences: Sequence[str]) -> list[Parse]:
        """Parse each of ``sentences`` on its own."""

    def read(self, sentences: Sequence[str], chosen: Chosen) -> list[Sentence]:
        """Read each of ``sentences`` on its own, all at once.

        Of those that are not ``chosen``, the dependencies may be left out.
        """
        parses = zip(sentences, self.parse(sentences), strict=True)
        return [Sentence(self.split(sentence), parse) for sentence, parse in parses]
