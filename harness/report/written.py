"""Answers in free form side by side: to an original and to a version of it, with what differs marked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING

from harness.answering import turns
from harness.findings.build import Reply, grouped, replies
from harness.language.differences import Piece, changes, excerpt, left_out

if TYPE_CHECKING:
    from harness.core import Case
    from harness.folder import RunFolder

FARTHEST = 5
"""The pairs shown whose scores differ most, of one text each."""
DRAWN = 5
"""The pairs shown that are drawn by a hash of their names, whatever their scores."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of two answers: whose it is, its measures in words, and its text with what differs marked."""

    name: str
    measures: str
    pieces: Sequence[Piece]
    left_out: bool


@dataclass(frozen=True, slots=True)
class Example:
    """The answers to an original and to the ``case`` in which ``words`` were changed."""

    case: str
    words: str
    why: str
    sides: tuple[Side, Side]


@dataclass(frozen=True, slots=True)
class _Two:
    """A version and its original with their measures, the first of which is their score."""

    original: str
    version: Case
    before: Mapping[str, float]
    after: Mapping[str, float]

    @property
    def distance(self) -> float:
        """How far the two scores are apart, from 0 to 1."""
        name = next(iter(self.before))
        return abs(self.after[name] - self.before[name])


def examples(folder: RunFolder) -> list[Example]:
    """Return some answers in free form side by side; none of a run whose answers are labels or ratings.

    First those whose scores differ most, one of each text, then some that are drawn. Raises ``RunError``.
    """
    pairs = list(_pairs(folder))
    farthest = _of_each_text(sorted(pairs, key=lambda two: (-two.distance, two.version.id)))
    chosen = [(two, "scores far apart") for two in islice(farthest, FARTHEST) if two.distance]
    known = {two.version.id for two, _ in chosen}
    rest = sorted((two for two in pairs if two.version.id not in known), key=_lot)
    chosen += [(two, "drawn") for two in rest[:DRAWN]]
    texts = _texts(folder, [case for two, _ in chosen for case in (two.original, two.version.id)])
    return [_example(two, why, texts) for two, why in chosen]


def _pairs(folder: RunFolder) -> Iterator[_Two]:
    read = {case: measures for case, reply in replies(folder).items() if (measures := _measures(reply))}
    if not read:
        return
    for group in grouped(folder):
        original = next((case.id for case in group if case.role == "original"), None)
        if original in read:
            for case in group:
                if case.role in ("atomic", "intersectional", "variant") and case.id in read:
                    yield _Two(original, case, read[original], read[case.id])


def _measures(reply: Reply) -> Mapping[str, float] | None:
    return reply[3]


def _of_each_text(pairs: Sequence[_Two]) -> Iterator[_Two]:
    """Yield the first pair of each text."""
    seen: set[str] = set()
    for two in pairs:
        if two.version.document not in seen:
            seen.add(two.version.document)
            yield two


def _lot(two: _Two) -> str:
    return sha256(two.version.id.encode()).hexdigest()


def _texts(folder: RunFolder, cases: Sequence[str]) -> dict[str, str]:
    """Return the answers to ``cases`` without a model's thoughts."""
    import polars as pl

    rows = folder.scan("answers").filter(pl.col("case").is_in(cases)).select("case", "reply").collect()
    return {case: (turns.answer(reply) or "").strip() for case, reply in rows.iter_rows()}


def _example(two: _Two, why: str, texts: Mapping[str, str]) -> Example:
    before, after = texts[two.original], texts[two.version.id]
    marked = changes(before, after)
    return Example(
        case=two.version.id,
        words=", ".join(f"{s.source} → {s.target}" for s in two.version.substitutions),
        why=why,
        sides=(
            _side("To the original", two.before, before, marked[0]),
            _side("To the version", two.after, after, marked[1]),
        ),
    )


def _side(name: str, measures: Mapping[str, float], text: str, spans: Sequence[tuple[int, int]]) -> Side:
    values = ", ".join(f"{measure} {value:.2f}" for measure, value in measures.items())
    return Side(name, values, excerpt(text, spans), left_out(text, spans))
