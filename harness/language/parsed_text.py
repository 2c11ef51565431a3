"""A whole parsed text: tokens with tags, dependencies and sentences, and its named entities."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Token:
    """A token and its place in the dependency tree.

    ``start`` and ``end`` are character offsets; ``head`` is the index of the governing token (a root's is its
    own); ``tag`` a fine part of speech (Penn); ``dep`` a dependency label; ``sentence`` the index of its
    sentence.
    """

    start: int
    end: int
    tag: str
    dep: str
    head: int
    sentence: int


@dataclass(frozen=True, slots=True)
class Named:
    """A named entity: the tokens ``[first, last)`` and their label (``PERSON``, ``GPE`` …)."""

    first: int
    last: int
    label: str


@dataclass(frozen=True, slots=True)
class ParsedText:
    """A parsed text. ``children[i]`` are the indices of the tokens that depend on token ``i``, in order."""

    text: str
    tokens: tuple[Token, ...]
    named: tuple[Named, ...]
    children: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, text: str, tokens: tuple[Token, ...], named: tuple[Named, ...]) -> ParsedText:
        """Build a reading, deriving ``children`` from the heads of ``tokens``."""
        children: list[list[int]] = [[] for _ in tokens]
        for index, token in enumerate(tokens):
            if token.head != index:
                children[token.head].append(index)
        return cls(text, tokens, named, tuple(map(tuple, children)))

    def word(self, index: int) -> str:
        """Return the token as written in the text."""
        return self.text[self.tokens[index].start : self.tokens[index].end]

    def lower(self, index: int) -> str:
        """Return the token in lower case."""
        return self.word(index).lower()

    def at(self, offset: int) -> int | None:
        """Return the index of the token that covers the character at ``offset``, or None between tokens."""
        index = bisect_right(self.tokens, offset, key=lambda token: token.start) - 1
        return index if index >= 0 and offset < self.tokens[index].end else None

    def between(self, start: int, end: int) -> Iterator[int]:
        """Yield the indices of the tokens in the characters ``[start, end)``."""
        index = self.at(start)
        while index is not None and index < len(self.tokens) and self.tokens[index].start < end:
            yield index
            index += 1

    def sentence(self, number: int) -> Iterator[int]:
        """Yield the tokens of the sentence ``number``."""
        return (i for i, token in enumerate(self.tokens) if token.sentence == number)

    def ancestors(self, index: int) -> Iterator[int]:
        """Yield the tokens above ``index``, nearest first."""
        while self.tokens[index].head != index:
            index = self.tokens[index].head
            yield index

    def owned(self, index: int) -> bool:
        """Return whether the noun at ``index`` is somebody's: *his girl*, *Lulu's mother*."""
        return any(self.tokens[child].dep == "poss" for child in self.children[index])

    def subtree(self, index: int) -> Iterator[int]:
        """Yield ``index`` and all tokens below it, in no particular order."""
        waiting = [index]
        while waiting:
            index = waiting.pop()
            yield index
            waiting += self.children[index]
