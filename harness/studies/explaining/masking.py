"""A text as words that can be masked one by one."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from harness.core import Span
from harness.language.differences import changed_words

MOST_UNITS = 400
"""A longer text is split into this many runs of words, so that explaining it stays affordable."""

_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Masking:
    """``text`` with the spans of its ``units``; ``mask`` replaces a masked unit, "" leaves it out."""

    text: str
    units: Sequence[Span]
    mask: str = ""

    def __len__(self) -> int:
        return len(self.units)

    def only(self, visible: Collection[int]) -> str:
        """Return the text with every unit masked except those in ``visible``."""
        if len(visible) == len(self.units):
            return self.text
        pieces, end_before = [], 0
        for index, (start, end) in enumerate(self.units):
            if index in visible:
                pieces.append(self.text[end_before:end])
            elif self.mask:
                pieces.append(self.text[end_before:start] + self.mask)
            end_before = end
        return "".join(pieces).strip()

    def without(self, index: int) -> str:
        """Return the text with the unit at ``index`` masked."""
        return self.only(set(range(len(self.units))) - {index})

    def words(self, index: int) -> str:
        """Return the words of the unit at ``index``."""
        start, end = self.units[index]
        return self.text[start:end]

    def changed(self, other: str) -> set[int]:
        """Return the units with a word that ``other`` has not in its place."""
        spans = changed_words(self.text, other)
        return {
            index
            for index, (start, end) in enumerate(self.units)
            if any(start < high and low < end for low, high in spans)
        }


def masking(text: str, mask: str = "", most: int = MOST_UNITS) -> Masking:
    """Return the words of ``text``, split at white space, as units; runs of words above ``most`` words."""
    words = [match.span() for match in _WORD.finditer(text)]
    size = -(-len(words) // most) or 1
    runs = [words[start : start + size] for start in range(0, len(words), size)]
    return Masking(text, [(run[0][0], run[-1][1]) for run in runs], mask)
