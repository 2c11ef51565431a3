"""The cases that the page shows without its script, and on paper: each beside its original and its parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from harness.language.differences import Piece, changes, excerpt, left_out
from harness.report import relations
from harness.report.listing import Listing, Row, Shown
from harness.report.packing import expected


class Reply(NamedTuple):
    """An answer with its ``mark`` ("changed"); ``run`` names whose it is, where several are compared."""

    answer: str
    mark: str
    read: bool
    run: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """One text of a card: its name, the answer of each run, and an excerpt.

    ``part``: the text has a part of the change alone.
    """

    name: str
    replies: Sequence[Reply]
    part: bool
    pieces: Sequence[Piece]
    left_out: bool


@dataclass(frozen=True, slots=True)
class Card:
    """A row of the list beside its original and the mutants of its parts.

    ``parting``: in which of several runs the answer is changed, and in which not.
    """

    case: str
    attributes: str
    parting: str
    badges: Sequence[str]
    facts: str
    lines: Sequence[Line]


def cards(listing: Listing, chosen: Sequence[str]) -> Iterator[Card]:
    """Yield the cards of the ``chosen`` cases that are listed, in their order."""
    rows = {row.flip["case"]: row for row in reversed(listing.rows)}
    for case in chosen:
        if case in rows:
            yield _card(listing, rows[case])


def _card(listing: Listing, row: Row) -> Card:
    flip, own, other = row.flip, row.flip["case"], row.flip["other"]
    text = listing.text(own)
    source = text if other is None else listing.text(other)
    words = {word for arrow in flip["words"] for word in arrow.partition(" → ")[0].lower().split()}
    lines = []
    if other is not None:
        spans, _ = changes(source, text, words)
        lines.append(_line(listing, row, other, relations.side(row, 0), source, spans))
    for case in (*row.parts, own):
        _, spans = changes(source, listing.text(case), words)
        name = relations.side(row, 1) if case == own else ""
        lines.append(_line(listing, row, case, name, listing.text(case), spans))
    gold = expected(row)
    right = "expected" if flip["relation"] == "expected" else "gold label"
    return Card(
        case=own,
        attributes=" + ".join(flip["attributes"]),
        parting=relations.parting(row, listing.runs) if listing.runs else "",
        badges=relations.badges(row),
        facts=f"document {flip['document']}, {f'{right} {gold}' if gold else 'no gold label'}",
        lines=lines,
    )


def _line(
    listing: Listing, row: Row, case: str, name: str, text: str, spans: Iterable[tuple[int, int]]
) -> Line:
    shown, spans = listing.cases[case], list(spans)
    own = case == row.flip["case"]
    return Line(
        name=name or shown.title or ("This text" if own else "Other"),
        replies=list(_replies(listing, row, shown)),
        part=case in row.parts,
        pieces=excerpt(text, spans),
        left_out=left_out(text, spans),
    )


def _replies(listing: Listing, row: Row, shown: Shown) -> Iterator[Reply]:
    mark = relations.mark(row.flip["relation"])
    if not listing.runs:
        yield Reply(shown.answer.text, mark if relations.flagged(row, shown) else "", shown.answer.read)
    for run, told, changed in zip(listing.runs, shown.told, row.changed, strict=True):
        flagged = changed is True if shown.id == row.flip["case"] else relations.of_part(row, told.biased)
        yield Reply(told.answer.text, mark if flagged and told.answer.read else "", told.answer.read, run)
