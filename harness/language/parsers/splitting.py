"""The rule that splits a text into sentences over spaCy's tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.core import Span
from harness.language.parse import Split

if TYPE_CHECKING:
    from spacy.tokens import Doc

TERMINATORS = frozenset(".!?…")
CLOSERS = frozenset("\"'”’)]»")


def split(doc: Doc) -> Split:
    """Split at terminators with the closing quotes or brackets that touch them, and at empty lines."""
    spans: list[Span] = []
    start: int | None = None
    end = 0
    ended = False
    for token in doc:
        text, at = token.text, token.idx
        if token.is_space:
            if text.count("\n") > 1 and start is not None:
                spans.append((start, end))
                start = None
            continue
        extends = TERMINATORS.issuperset(text) or (CLOSERS.issuperset(text) and at == end)
        if ended and not extends and start is not None:
            spans.append((start, end))
            start = None
        if start is None:
            start = at
        ended = TERMINATORS.issuperset(text) or (ended and extends)
        end = at + len(text)
    if start is not None:
        spans.append((start, end))
    return Split(tuple(spans), ended)
