"""Atomic against intersectional mutants as tables, and in a sentence."""

from __future__ import annotations

from collections.abc import Iterator

from harness.findings.orders import Orders, Recurring, Uncovered
from harness.findings.records import Part
from harness.numerals import counted, fraction, interval, percent, proportion
from harness.report.summary import Summary
from harness.sections import Cell, Column, Section, Table

BY_ORDER = (
    "All {case}s of one order together, whatever attributes they change. Intervals resample originals with"
    " all their {case}s; where these are fewer than 10 or all alike, each counts as one trial.",
    "Hidden: changed answers of which no part changes the answer alone, among those for which this is known.",
)
DISCARDED = "A duplicate has the text of another {case} of the attribute: it is neither valid nor discarded."
UNCOVERED = (
    "A text is uncovered by a {case} that changes the answer to it. Only by intersectional {case}s: with a"
    " hidden {case}, and no atomic one that changes the answer, among the uncovered texts for which this is"
    " known."
)
TRUTH = (
    "Each {case} of two attributes by what changes the answer: the first attribute alone, the second alone,"
    " both at once. Those that change it only together are the hidden ones. Not known: one of the four"
    " answers was not read, or the {case} of a part was not valid."
)
CASES = {
    (False, False, False): "nothing",
    (True, False, False): "first",
    (False, True, False): "second",
    (True, True, False): "first, second",
    (False, False, True): "only both",
    (True, False, True): "first, both",
    (False, True, True): "second, both",
    (True, True, True): "all three",
}
"""What changes the answer, by whether the first, the second and both do."""


def sections(summary: Summary) -> list[Section]:
    """Return the sections, those that have rows; all for the page and Markdown."""
    found, case = summary.orders, summary.nouns.case
    if found is None:
        return []
    return [*_by_order(found, case), *_uncovered(found, case), *_truth_tables(found, case)]


def sentence(summary: Summary) -> str:
    """Return how many texts only intersectional mutants uncover; "" where there are none."""
    uncovered = summary.orders.uncovered if summary.orders is not None else None
    if uncovered is None or not uncovered.only_intersectional.count:
        return ""
    part = uncovered.only_intersectional
    texts = "text whose answer changed" if part.of == 1 else "texts whose answer changed"
    missed = proportion(part.count, part.of, part.ci95, texts)
    case = summary.nouns.case.capitalize()
    return f"{case}s of a single attribute miss {missed}: only several attributes at once uncover them."


def _by_order(found: Orders, case: str) -> Iterator[Section]:
    tested = [row for row in found.by_order if row.tests]
    columns: list[str | Column] = ["changed at once", "tests", "undetermined", "changed answers", "hidden"]
    cells: list[list[Cell]] = [
        [
            counted(row.order, "attribute"),
            row.tests,
            row.undetermined,
            _share(row.biased),
            _share(row.hidden) if row.hidden is not None else "",
            _share(row.originals),
        ]
        for row in tested
    ]
    if tested:
        table = Table([*columns, "texts with a changed answer"], cells)
        notes = [note.format(case=case) for note in BY_ORDER]
        yield Section(
            "All attributes together, by order",
            table=table,
            notes=notes,
            page_only=True,
        )
    reasons = sorted({reason for row in found.by_order for reason in row.discarded_by_reason})
    columns = ["changed at once", "generated", *(f"discarded, {reason}" for reason in reasons), "duplicates"]
    made: list[list[Cell]] = [
        [
            counted(row.order, "attribute"),
            row.generated,
            *(row.discarded_by_reason.get(reason, 0) for reason in reasons),
            row.duplicate,
            _share(row.valid),
        ]
        for row in found.by_order
    ]
    yield Section(
        f"{case.capitalize()}s generated and discarded, by order",
        table=Table([*columns, "valid"], made),
        notes=[DISCARDED.format(case=case)],
        page_only=True,
    )


def _uncovered(found: Orders, case: str) -> Iterator[Section]:
    if found.uncovered is None:
        return
    rows = _kinds(found.uncovered, case)
    again = [_recurring(found.recurring, case)] if found.recurring is not None else []
    table = Table(["uncovered by", "texts"], [[name, _share(part)] for name, part in rows])
    yield Section(
        f"Texts uncovered by atomic and by intersectional {case}s",
        text=" ".join(again),
        table=table,
        notes=[UNCOVERED.format(case=case)],
        page_only=True,
    )


def _kinds(uncovered: Uncovered, case: str) -> Iterator[tuple[str, Part]]:
    yield f"atomic {case}s", uncovered.by_atomic
    yield f"intersectional {case}s", uncovered.by_intersectional
    yield "both", uncovered.by_both
    yield "either", uncovered.by_either
    yield f"only intersectional {case}s", uncovered.only_intersectional


def _recurring(again: Recurring, case: str) -> str:
    """Return how many atomic flips recur together with another attribute."""
    if not again.of:
        return f"No changed answer of an atomic {case} can be compared with intersectional {case}s."
    part = f"{again.count:,} ({percent(again.rate)}, 95 % interval {interval(again.ci95)})"
    return (
        f"Of {counted(again.of, 'changed answer')} of atomic {case}s whose substitution is in an"
        f" intersectional {case}, too, {part} also change there."
    )


def _truth_tables(found: Orders, case: str) -> Iterator[Section]:
    cells: list[list[Cell]] = []
    for table in found.truth_tables:
        numbers = {(cell.first, cell.second, cell.both): cell.mutants for cell in table.cells}
        cells.append([" + ".join(table.attributes), *(numbers[which] for which in CASES), table.undetermined])
    if cells:
        yield Section(
            "What changes the answer: one attribute, the other, or both",
            table=Table(["first + second", *CASES.values(), "not known"], cells),
            notes=[TRUTH.format(case=case)],
            page_only=True,
        )


def _share(part: Part) -> str:
    return fraction(part.count, part.of, part.ci95)
