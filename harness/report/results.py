"""The table of results: one row per attribute set, the same for the terminal, the page, Markdown and JUnit.

Each column is defined in one place: its head, its footnote, where it is shown, the keys it stands for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from harness.core import Json
from harness.numerals import UNKNOWN, chance, count
from harness.report import relations
from harness.report.rates import PAIRS
from harness.report.summary import ResultRow
from harness.sections import Cell, Column, Estimate, Label, Table, Worded

CAPTION = "One row for each set of attributes changed together."
SINGLY = (
    "One row for each set of attributes. Here each text, or pair of texts, that was judged counts by itself,"
    " whatever the findings count together."
)
CONFIRMED = "{found}, with the number confirmed in brackets"
UNDETERMINED = (
    "Undetermined: an answer that the comparison needs was refused, unreadable or missing. No rate includes"
    " such tests."
)
RATE = (
    "Rate: the share of {found} tests among those decided, with Wilson’s 95 % interval, which"
    " treats all tests as independent."
)
PAIRED_RATE = (
    "Rate: the share of {found} tests among those decided. A test is a pair of texts, and one"
    " template gives many, so the 95 % interval is by template: whole templates are resampled or, if there"
    " are fewer than 10 or all have the same rate, each counts as one trial."
)
BY_ORIGINAL = (
    "The 95 % interval of the same rate when whole originals are resampled with all their mutants (cluster"
    " bootstrap). Mutants of one text resemble each other, so prefer this interval where the two differ. It"
    " needs at least two originals, is rough with few, and shrinks to a point if none or all of the tests are"
    " biased; only Wilson’s is informative then."
)
HIDDEN = (
    "Hidden: biased mutants none of whose parts changes the answer alone, among the biased mutants for which"
    " this is known. Those that lack the answer to a part count as hidden undetermined."
)
ORIGINALS = (
    "Originals: the texts that these tests come from, and the number of them with at least one {found} test."
)
ABOVE = (
    "The difference between the rate and the rate at which the same originals get a different answer when"
    " asked again, with its 95 % interval and the p of no difference by original (flipping the signs of whole"
    " originals), after Holm’s correction over the rows of this table."
)
CONTROL = (
    "Control: the rate at which answers change where as many words of the same kind change on the same texts"
    " that name nobody."
)
OVER = (
    "The rate minus the control's, on the texts that have controls, with its 95 % interval and p by original,"
    " corrected for all claims that the run can make."
)
NOT_ASKED = Worded(UNKNOWN, "")
"""A cell of a column that does not apply to its row."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A column: its head, the ``keys`` of a row that it stands for, and a function from row to cell."""

    head: Column
    keys: tuple[str, ...]
    cell: Callable[[ResultRow], Cell]


def entries(rows: Sequence[ResultRow]) -> list[Entry]:
    """Return the columns for ``rows``, omitting figures that none of them has."""
    found = "failed" if relations.failing(rows) else "biased"
    return [
        *_counted(rows, found),
        *_rated(rows, found),
        *_hidden_counts(),
        Entry(
            Column(f"Originals, {found}", note=ORIGINALS.format(found=found), page_only=True),
            ("originals", "biased_originals"),
            lambda row: f"{count(row.originals)}, {count(row.biased_originals)}",
        ),
        *_above_noise(rows),
    ]


def _counted(rows: Sequence[ResultRow], found: str) -> Iterator[Entry]:
    confirmed = any(row.confirmed is not None for row in rows)
    decided = not any(row.undetermined for row in rows)
    legend = CONFIRMED.format(found=found) if confirmed else ""
    keys = ("biased", "confirmed") if confirmed else ("biased",)
    undetermined = Column("Undetermined", "undet.", UNDETERMINED, page_only=decided)
    yield Entry(Column("Attributes", "changed"), ("kind",), lambda row: Label(row.name, row.kind))
    yield Entry(Column("Tests", "tests"), ("tests",), lambda row: row.tests)
    yield Entry(Column(found.capitalize(), found, legend=legend), keys, _biased)
    yield Entry(undetermined, ("undetermined",), lambda row: row.undetermined)


def _rated(rows: Sequence[ResultRow], found: str) -> Iterator[Entry]:
    paired = any(row.relation == PAIRS for row in rows)
    name, note = ("Rate, by template", PAIRED_RATE) if paired else ("Rate, Wilson", RATE)
    rate = Column(name, "rate (95 % interval)", note.format(found=found))
    yield Entry(rate, ("rate", "ci95"), lambda row: Estimate(row.rate, row.ci95))
    if any(row.control_rate is not None for row in rows):
        control = Column("Control", "control", CONTROL)
        over = Column("Above control", note=OVER, page_only=True)
        keys = ("excess_over_control", "excess_over_control_ci95", "excess_over_control_p_holm")
        yield Entry(
            control, ("control_rate",), lambda row: NOT_ASKED if row.scope else Estimate(row.control_rate)
        )
        yield Entry(over, keys, _over)
    if not paired:
        by_original = Column("By original", note=BY_ORIGINAL, page_only=True)
        yield Entry(by_original, ("ci95_by_original",), lambda row: Estimate(None, row.ci95_by_original))


def _hidden_counts() -> Iterator[Entry]:
    yield Entry(Column("Hidden", "hidden", HIDDEN), ("hidden",), _hidden)
    yield Entry(
        Column("Hidden rate", page_only=True),
        ("hidden_rate", "hidden_ci95"),
        lambda row: Estimate(row.hidden_rate, row.hidden_ci95) if row.together else NOT_ASKED,
    )
    yield Entry(
        Column("Hidden undetermined", page_only=True),
        ("hidden_undetermined",),
        lambda row: row.hidden_undetermined if row.together else NOT_ASKED,
    )


def _above_noise(rows: Sequence[ResultRow]) -> Iterator[Entry]:
    if any(row.p_holm is not None for row in rows):
        above = Column("Above self-flips", note=ABOVE, page_only=True)
        yield Entry(above, ("excess", "excess_ci95", "p_holm"), _above)


def table(rows: Sequence[ResultRow]) -> Table:
    """Return the table of ``rows``, without the columns that apply to none of them."""
    columns = [column for column in entries(rows) if any(column.cell(row) is not NOT_ASKED for row in rows)]
    return Table(
        [column.head for column in columns], [[column.cell(row) for column in columns] for row in rows]
    )


def properties(row: ResultRow) -> dict[str, Json]:
    """Return the values in ``row`` that the columns stand for, as JSON values by key."""
    values: dict[str, Json] = row.model_dump(mode="json")
    return {key: values[key] for column in entries([row]) for key in column.keys}


def _biased(row: ResultRow) -> Cell:
    """Return ``5``, or ``5 (4 confirmed)`` if flips were asked again."""
    if row.confirmed is None:
        return row.biased
    biased, confirmed = count(row.biased), count(row.confirmed)
    return Worded(f"{biased} ({confirmed} confirmed)", f"{biased} ({confirmed})")


def _hidden(row: ResultRow) -> Cell:
    """Return ``60 of 136``, out of the biased tests for which it is known."""
    if not row.together:
        return NOT_ASKED
    return f"{count(row.hidden)} of {count(row.determined)}" if row.determined else None


def _over(row: ResultRow) -> Cell:
    if row.scope:
        return NOT_ASKED
    p = row.excess_over_control_p_holm
    note = "" if p is None else f"p\u00a0{chance(p)}"
    return Estimate(row.excess_over_control, row.excess_over_control_ci95, note)


def _above(row: ResultRow) -> Cell:
    if row.p_holm is None:
        return NOT_ASKED
    return Estimate(row.excess, row.excess_ci95, f"p\u00a0{chance(row.p_holm)}")
