"""Constituency trees: their record, the bracketed notation of treebanks, and productions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

ROOT = "ROOT"
TRACE = "-NONE-"
_PIECE = re.compile(r"[()]|[^\s()]+")
_FUNCTION = re.compile(r"(?<=.)[-=|].*")

Production = tuple[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Tree:
    """A phrase with its ``children``, or without children a word's part of speech (a pre-terminal).

    ``start`` and ``end`` are character offsets of the text it spans, zero for a tree read from brackets.
    """

    label: str
    children: tuple[Tree, ...] = ()
    start: int = 0
    end: int = 0

    @property
    def production(self) -> Production:
        """The label with the labels of the children."""
        return self.label, tuple(child.label for child in self.children)

    def phrases(self) -> Iterator[Tree]:
        """Yield the phrases from the top, left to right, without pre-terminals."""
        if self.children:
            yield self
            for child in self.children:
                yield from child.phrases()

    def leaves(self) -> Iterator[Tree]:
        """Yield the pre-terminals, left to right."""
        if not self.children:
            yield self
        for child in self.children:
            yield from child.leaves()

    def __str__(self) -> str:
        if not self.children:
            return self.label
        return f"({self.label} {' '.join(map(str, self.children))})"


def phrase(label: str, children: Iterable[Tree]) -> Tree:
    """Return a phrase that spans ``children``, of which there is at least one."""
    parts = tuple(children)
    return Tree(label, parts, parts[0].start, parts[-1].end)


def read(lines: Iterable[str]) -> Iterator[Tree]:
    """Yield the trees of bracketed text in the format of the Penn Treebank.

    Functions and indices are stripped from labels (``NP-SBJ-1`` becomes ``NP``), traces and phrases that hold
    nothing else are dropped, and an outermost bracket without a label becomes ``ROOT``. Raises ``ValueError``
    whose message begins with the number of the line at fault.
    """
    open_: list[tuple[str | None, list[Tree], bool]] = []
    for number, line in enumerate(lines, 1):
        for piece in _PIECE.findall(line):
            if piece == "(":
                open_.append((None, [], False))
            elif not open_:
                raise ValueError(f"line {number}: {piece[:20]!r} stands outside any bracket")
            elif piece == ")":
                tree = _closed(*open_.pop())
                if open_ and tree is not None:
                    open_[-1][1].append(tree)
                elif tree is not None:
                    yield tree
            else:
                open_[-1] = _extended(*open_[-1], piece)
    if open_:
        raise ValueError(f"the end: {len(open_)} brackets are not closed")


def _extended(
    label: str | None, children: list[Tree], word: bool, piece: str
) -> tuple[str | None, list[Tree], bool]:
    return (piece, children, word) if label is None and not children else (label, children, True)


def _closed(label: str | None, children: list[Tree], word: bool) -> Tree | None:
    if label is None:
        return Tree(ROOT, tuple(children)) if children else None
    if word and not children:
        return None if label == TRACE else Tree(label)
    return Tree(_FUNCTION.sub("", label), tuple(children)) if children else None
