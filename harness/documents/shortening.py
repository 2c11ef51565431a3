"""Shortens documents that do not fit the model, at the end of a sentence, before they are mutated.

All members of a group are thus cut at the same place, and every changed word lies within the text. Tokens are
counted by the model's own tokenizer if it is available in this process, else estimated from characters,
always in the same way: the requests must not depend on whether a server answers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from harness.core import Document
from harness.estimates import characters_within, text_bound
from harness.language import sentences

TOKENS_A_MUTANT_ADDS = 64
PART_A_MUTANT_ADDS = 4
"""In little room, one token in so many is kept for what a mutant adds, so that short texts have a place."""
SPECIAL_TOKENS = 8  # beside those, no tokenizer makes more tokens of a text than it has bytes
_WORD_END = re.compile(r"\S(?=\s)")


def longest(room: int) -> int:
    """Return the most tokens of a text, so that its mutants fit into ``room`` tokens, too."""
    return room - min(TOKENS_A_MUTANT_ADDS, max(room, 0) // PART_A_MUTANT_ADDS)


@dataclass(frozen=True)
class Shortener:
    """Cuts documents to at most ``limit`` tokens; with None, leaves all as they are."""

    limit: int | None
    count: Callable[[str], int] = text_bound

    def fits(self, document: Document) -> bool:
        """Return whether ``document`` is within the limit.

        Tokens are counted only where the number of bytes does not settle it, since a tokenizer may load a
        model.
        """
        if self.limit is None:
            return True
        most = len(document.text.encode("utf-8", "surrogatepass")) + SPECIAL_TOKENS
        return most <= self.limit or self.count(document.text) <= self.limit

    def shortened(self, documents: Iterator[Document]) -> Iterator[Document]:
        """Yield ``documents``, each cut to the limit where it exceeds it."""
        for document in documents:
            yield document if self.fits(document) else replace(document, text=self._cut(document.text))

    def _cut(self, text: str) -> str:
        """Return the longest prefix that fits and ends with a sentence or, failing that, with a word."""
        for ends in (sentences.ends, _word_ends):
            places = list(ends(text))
            low, high = 0, len(places)
            while low < high:
                middle = (low + high + 1) // 2
                if self.count(text[: places[middle - 1]]) <= (self.limit or 0):
                    low = middle
                else:
                    high = middle - 1
            if low:
                return text[: places[low - 1]]
        return text[: characters_within(self.limit or 0)]


def _word_ends(text: str) -> Iterator[int]:
    return (match.end() for match in _WORD_END.finditer(text))
