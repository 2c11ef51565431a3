"""The table of results: one row an attribute set, the same for the terminal, the page, Markdown and JUnit.

Each column is said in one place: its head, its footnote, who shows it, the keys of the row it stands for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.core import Json
from harness.numerals import UNKNOWN, chance, count
from harness.report.summary import ResultRow
from harness.sections import Cell, Column, Estimate, Label, Table, Worded

CAPTION = "One row for each set of attributes changed together."
CONFIRMED = "biased, and in brackets how many were confirmed"
UNDETERMINED = (
    "Undetermined: an answer that the comparison needs was refused, unreadable or never came. Such tests are"
    " in no rate."
)
RATE = (
    "Rate: biased tests among those that are biased or benign, with Wilson’s 95 % interval, which takes all"
    " tests as independent."
)
BY_ORIGINAL = (
    "The 95 % interval of the same rate when whole originals are drawn anew, with all their mutants (cluster"
    " bootstrap). Mutants of one text resemble each other, so prefer this one where the two differ. It needs"
    " at least two originals, is rough with few, and shrinks to a point where none or all of the tests are"
    " biased: then only Wilson’s says something."
)
HIDDEN = (
    "Hidden: biased mutants none of whose parts changes the answer, among the biased mutants for which that"
    " is known. Where the answer to a part is missing, they are counted as hidden undetermined."
)
ORIGINALS = "Originals: the texts these tests come from, and how many of them have at least one biased test."
ABOVE = (
    "By how much the rate is above the rate at which the same originals, asked again, get another answer,"
    " with its 95 % interval, and the p of no difference by original (signs of whole originals flipped),"
    " after Holm’s correction for the rows of this table."
)
NOT_ASKED = Worded(UNKNOWN, "")
"""Where the question does not arise."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A column: its head, the ``keys`` of a row that it stands for, and its cell of a row."""

    head: Column
    keys: tuple[str, ...]
    cell: Callable[[ResultRow], Cell]


def entries(rows: Sequence[ResultRow]) -> list[Entry]:
    """Return the columns for ``rows``; what was not measured in any of them has none."""
    confirmed = any(row.confirmed is not None for row in rows)
    columns = [
        Entry(Column("Attributes", "changed"), ("kind",), lambda row: Label(row.name, row.kind)),
        Entry(Column("Tests", "tests"), ("tests",), lambda row: row.tests),
        Entry(
            Column("Biased", "biased", legend=CONFIRMED if confirmed else ""),
            ("biased", "confirmed") if confirmed else ("biased",),
            _biased,
        ),
        Entry(
            Column("Undetermined", "undet.", UNDETERMINED), ("undetermined",), lambda row: row.undetermined
        ),
        Entry(
            Column("Rate, Wilson", "rate (95 % interval)", RATE),
            ("rate", "ci95"),
            lambda row: Estimate(row.rate, row.ci95),
        ),
        Entry(
            Column("By original", note=BY_ORIGINAL, page_only=True),
            ("ci95_by_original",),
            lambda row: Estimate(None, row.ci95_by_original),
        ),
        Entry(Column("Hidden", "hidden", HIDDEN), ("hidden",), _hidden),
        Entry(
            Column("Hidden rate", page_only=True),
            ("hidden_rate", "hidden_ci95"),
            lambda row: Estimate(row.hidden_rate, row.hidden_ci95) if row.together else NOT_ASKED,
        ),
        Entry(
            Column("Hidden undetermined", page_only=True),
            ("hidden_undetermined",),
            lambda row: row.hidden_undetermined if row.together else NOT_ASKED,
        ),
        Entry(
            Column("Originals, biased", note=ORIGINALS, page_only=True),
            ("originals", "biased_originals"),
            lambda row: f"{count(row.originals)}, {count(row.biased_originals)}",
        ),
    ]
    if any(row.p_holm is not None for row in rows):
        above = Column("Above self-flips", note=ABOVE, page_only=True)
        columns.append(Entry(above, ("excess", "excess_ci95", "p_holm"), _above))
    return columns


def table(rows: Sequence[ResultRow]) -> Table:
    """Return the table of ``rows``."""
    columns = entries(rows)
    return Table(
        [column.head for column in columns], [[column.cell(row) for column in columns] for row in rows]
    )


def properties(row: ResultRow) -> dict[str, Json]:
    """Return what the columns stand for in ``row``, as JSON values by key."""
    values: dict[str, Json] = row.model_dump(mode="json")
    return {key: values[key] for column in entries([row]) for key in column.keys}


def _biased(row: ResultRow) -> Cell:
    """``5``, or ``5 (4 confirmed)`` where flips were asked again."""
    if row.confirmed is None:
        return row.biased
    biased, confirmed = count(row.biased), count(row.confirmed)
    return Worded(f"{biased} ({confirmed} confirmed)", f"{biased} ({confirmed})")


def _hidden(row: ResultRow) -> Cell:
    """``60 of 136``, the denominator being the biased tests for which it is known."""
    if not row.together:
        return NOT_ASKED
    return f"{count(row.hidden)} of {count(row.determined)}" if row.determined else None


def _above(row: ResultRow) -> Cell:
    if row.p_holm is None:
        return NOT_ASKED
    return Estimate(row.excess, row.excess_ci95, f"p\u00a0{chance(row.p_holm)}")
