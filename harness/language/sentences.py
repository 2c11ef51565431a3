"""Sentences of a text by its marks alone, where no parser is worth its time.

The parsers' own splitter (``language.parsers``) decides by tokens, for what depends on where a sentence ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from harness.core import Span

_STRETCH = re.compile(r"[^.!?\n]*[.!?\n]+[\"”’')\]]*\s*|[^.!?\n]+")
_END = re.compile(r"[.!?…][\"'”’)\]]*(?=\s)")


def spans(text: str) -> Iterator[Span]:
    """Yield where the sentences of ``text`` are, each with the white space behind it: all of the text.

    A line break ends one, as do the marks in "3.5" and "Mr.": what is wanted is small pieces.
    """
    return (match.span() for match in _STRETCH.finditer(text))


def ends(text: str) -> Iterator[int]:
    """Yield the places behind a closing mark, with its quotation mark or bracket, where white space follows:
    where ``text`` may be cut."""
    return (match.end() for match in _END.finditer(text))
