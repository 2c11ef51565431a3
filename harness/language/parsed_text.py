"""A whole text as a parser read it: tokens with tags, dependencies and sentences, and its named entities."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Token:
    """``start`` and ``end`` are character offsets; ``head`` is the index of the token it depends on (the
    root's is its own); ``tag`` a fine part of speech (Penn), ``dep`` a dependency label, ``sentence`` the
    number of its sentence."""

    start: int
    end: int
    tag: str
    dep: str
    head: int
    sentence: int


@dataclass(frozen=True, slots=True)
class Named:
    """A named entity: the tokens ``[first, last)`` and what it names (``PERSON``, ``GPE`` …)."""

    first: int
    last: int
    label: str


@dataclass(frozen=True, slots=True)
class ParsedText:
    """``children[i]`` are the indices of the tokens that depend on token ``i``, in order."""

    text: str
    tokens: tuple[Token, ...]
    named: tuple[Named, ...]
    children: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, text: str, tokens: tuple[Token, ...], named: tuple[Named, ...]) -> ParsedText:
        children: list[list[int]] = [[] for _ in tokens]
        for index, token in enumerate(tokens):
            if token.head != index:
                children[token.head].append(index)
        return cls(text, tokens, named, tuple(map(tuple, children)))

    def word(self, index: int) -> str:
        """The token as the text writes it."""
        return self.text[self.tokens[index].start : self.tokens[index].end]

    def lower(self, index: int) -> str:
        return self.word(index).lower()

    def at(self, offset: int) -> int | None:
        """The index of the token that holds the character at ``offset``, or None between tokens."""
        index = bisect_right(self.tokens, offset, key=lambda token: token.start) - 1
        return index if index >= 0 and offset < self.tokens[index].end else None

    def ancestors(self, index: int) -> Iterator[int]:
        """The tokens above ``index``, nearest first."""
        while self.tokens[index].head != index:
            index = self.tokens[index].head
            yield index

    def subtree(self, index: int) -> Iterator[int]:
        """``index`` and all the tokens below it, in no order."""
        waiting = [index]
        while waiting:
            index = waiting.pop()
            yield index
            waiting += self.children[index]
