"""Atomic against intersectional mutants as tables, and in a sentence."""

from __future__ import annotations

from collections.abc import Iterator

from harness.findings.orders import Orders, Part, Recurring, Uncovered
from harness.numerals import counted, fraction, interval, percent, proportion
from harness.report.summary import Summary
from harness.sections import Cell, Column, Section, Table

BY_ORDER = (
    "All mutants of one order together, whatever attributes they change. Intervals resample originals with"
    " all their mutants; where these are fewer than 10 or all alike, each counts as one trial.",
    "Hidden: changed answers of which no part changes the answer alone, among those for which this is known.",
)
DISCARDED = "A duplicate has the text of another mutant of the attribute: it is neither valid nor discarded."
UNCOVERED = (
    "A text is uncovered by a mutant that changes the answer to it. Only by intersectional mutants: with a"
    " hidden mutant, and no atomic one that changes the answer, among the uncovered texts for which this is"
    " known.",
)
TRUTH = (
    "Mutants of two attributes by what changes the answer: the first attribute alone, the second alone, both"
    " at once. Those that change it only together are the hidden ones. Not known: one of the four answers was"
    " not read, or the mutant of a part was not valid."
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
    found = summary.orders
    return [] if found is None else [*_by_order(found), *_uncovered(found), *_truth_tables(found)]


def sentence(summary: Summary) -> str:
    """Return how many texts only intersectional mutants uncover; "" where no text is uncovered."""
    uncovered = summary.orders.uncovered if summary.orders is not None else None
    if uncovered is None or not uncovered.only_intersectional.of:
        return ""
    part = uncovered.only_intersectional
    texts = "text whose answer changed" if part.of == 1 else "texts whose answer changed"
    return (
        f"Mutants of a single attribute miss {proportion(part.count, part.of, part.ci95, texts)}: only"
        " several attributes at once uncover them."
    )


def _by_order(found: Orders) -> Iterator[Section]:
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
        yield Section("All attributes together, by order", table=table, notes=BY_ORDER, page_only=True)
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
        "Mutants generated and discarded, by order",
        table=Table([*columns, "valid"], made),
        notes=[DISCARDED],
        page_only=True,
    )


def _uncovered(found: Orders) -> Iterator[Section]:
    if found.uncovered is None:
        return
    rows = _kinds(found.uncovered)
    again = [_recurring(found.recurring)] if found.recurring is not None else []
    table = Table(["uncovered by", "texts"], [[name, _share(part)] for name, part in rows])
    yield Section(
        "Texts uncovered by atomic and by intersectional mutants",
        text=" ".join(again),
        table=table,
        notes=UNCOVERED,
        page_only=True,
    )


def _kinds(uncovered: Uncovered) -> Iterator[tuple[str, Part]]:
    yield "atomic mutants", uncovered.by_atomic
    yield "intersectional mutants", uncovered.by_intersectional
    yield "both", uncovered.by_both
    yield "either", uncovered.by_either
    yield "only intersectional mutants", uncovered.only_intersectional


def _recurring(again: Recurring) -> str:
    """Return how many atomic flips recur together with another attribute."""
    if not again.of:
        return "No changed answer of an atomic mutant can be compared with intersectional mutants."
    part = f"{again.count:,} ({percent(again.rate)}, 95 % interval {interval(again.ci95)})"
    return (
        f"Of {counted(again.of, 'changed answer')} of atomic mutants whose substitution is in an"
        f" intersectional mutant, too, {part} also change there."
    )


def _truth_tables(found: Orders) -> Iterator[Section]:
    cells: list[list[Cell]] = []
    for table in found.truth_tables:
        numbers = {(cell.first, cell.second, cell.both): cell.mutants for cell in table.cells}
        cells.append([" + ".join(table.attributes), *(numbers[case] for case in CASES), table.undetermined])
    if cells:
        yield Section(
            "What changes the answer: one attribute, the other, or both",
            table=Table(["first + second", *CASES.values(), "not known"], cells),
            notes=[TRUTH],
            page_only=True,
        )


def _share(part: Part) -> str:
    return fraction(part.count, part.of, part.ci95)
