"""Where the terms of a dictionary occur in a text, whom they describe, and which of them are left alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from harness.core import Span

Reason = Literal["not-a-person", "person-unclear", "coordination", "contradiction"]
NOT_A_PERSON: Reason = "not-a-person"
UNCLEAR: Reason = "person-unclear"
COORDINATION: Reason = "coordination"
CONTRADICTION: Reason = "contradiction"
REASONS = frozenset({NOT_A_PERSON, UNCLEAR, COORDINATION, CONTRADICTION})


@dataclass(frozen=True)
class Place:
    """A term of an attribute where it occurs, with the head of the person it describes, if any."""

    attribute: str
    term: str
    span: Span
    head: int | None


@dataclass(frozen=True)
class Left:
    """A term that is left alone at ``spans``, and why."""

    attribute: str
    term: str
    spans: tuple[Span, ...]
    reason: Reason


def left(reason: Reason, places: Iterable[Place]) -> list[Left]:
    """Return the terms at ``places`` as left alone for ``reason``."""
    by_term: dict[tuple[str, str], list[Span]] = {}
    for place in places:
        by_term.setdefault((place.attribute, place.term), []).append(place.span)
    return [Left(attribute, term, tuple(spans), reason) for (attribute, term), spans in by_term.items()]
