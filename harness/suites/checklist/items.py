"""A case of CheckList's tests, whatever file it came from, and the words for what a test may say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Kind = Literal["MFT", "INV", "DIR"]
Direction = Literal["no less confident", "no more confident", "no less positive", "no more positive"]

KINDS: tuple[Kind, ...] = get_args(Kind)
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)
TOLERANCE = 0.1
"""A probability that moves by up to this much has not moved."""
_SENTIMENTS = {"0": "negative", "1": "neutral", "2": "positive"}
_SENTIMENTS |= {form: name for name in _SENTIMENTS.values() for form in (name, name[:3])}


@dataclass(frozen=True, slots=True)
class Item:
    """One case of a test.

    ``expected`` are the sentiments that are right (MFT); ``direction`` and ``tolerance`` say how an answer
    may not change (DIR). The first of ``texts`` is the original, save in an MFT.
    """

    test: str
    kind: Kind
    capability: str
    case: str
    texts: tuple[str, ...]
    expected: frozenset[str] | None = None
    direction: Direction | None = None
    tolerance: float = 0.0

    @property
    def id(self) -> str:
        """The test and the case within it."""
        return f"{self.test}/{self.case}"


def sentiment(label: object) -> str:
    """Return the sentiment that ``label`` names. Raises ``ValueError`` if it names none."""
    found = _SENTIMENTS.get(str(label).strip().lower())
    if found is None:
        raise ValueError(f"unknown label {label!r}: write 0 negative, 1 neutral, 2 positive, or the name")
    return found
