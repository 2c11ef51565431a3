"""Exhibit the mutants of a HINTER run: the block of the summary and its section."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness import numerals
from harness.core import Tables
from harness.sections import Bar, Cell, Figures, Plot, Section, Table
from harness.statistics import wilson
from harness.suites.hinter.counts import Row, mutants, operations

PARSERS_DISAGREE = "parsers-disagree"
DEPENDS = (
    "Whether a mutant's grammar matches its original's is a property of the parser: of the mutants that at"
    " least one of the two passes, so many only one passes. They are discarded."
)
OPERATIONS = ("exchange", "insertion", "removal")
NOTES = (
    "Valid share: valid mutants among those that are valid or discarded, with Wilson's 95 % interval. A"
    " duplicate has the same text as another mutant of the attribute and counts as neither.",
    "Discarded by the first difference from the original: the number of sentences, parts of speech (pos), or"
    " grammatical structure (dependency). Before that, words are left alone that describe nobody"
    " (not-a-person), whose person is not clear (person-unclear), whose counterpart stands beside them"
    " (coordination), or where the text would contradict the change (contradiction).",
)


def figures(tables: Tables, attributes: Sequence[str]) -> Figures:
    """Return the block ``mutants`` and its section, from the cases alone, in the order of ``attributes``."""
    rows = mutants(tables, attributes)
    counts = operations(tables, attributes)
    blocks = {"mutants": [row.plain() for row in rows], "operations": counts}
    sections = [_section(rows), *_operations(counts), *_parsers(rows)] if rows else []
    return Figures(blocks, sections=sections)


def _parsers(rows: Sequence[Row]) -> list[Section]:
    """Return the section about the mutants that depend on the parser, if two parsers had to agree."""
    cells: list[list[Cell]] = []
    for row in rows:
        disagreed = row.by_reason.get(PARSERS_DISAGREE, 0)
        passed = row.valid + disagreed
        share = numerals.fraction(disagreed, passed, wilson(disagreed, passed))
        cells.append([" + ".join(row.attributes), passed, share])
    if not any(PARSERS_DISAGREE in row.by_reason for row in rows):
        return []
    table = Table(["changed", "passed by a parser", "passed by only one"], cells)
    return [Section("Mutants that depend on the parser", table=table, notes=[DEPENDS], page_only=True)]


def _operations(counts: Mapping[str, Mapping[str, int]]) -> list[Section]:
    """Return the section that tells exchanges from insertions, if there is any valid mutant."""
    kinds = [kind for kind in OPERATIONS if any(kind in of_attribute for of_attribute in counts.values())]
    cells: list[list[Cell]] = [
        [name, *(of_attribute.get(kind, 0) for kind in kinds)] for name, of_attribute in counts.items()
    ]
    table = Table(["attribute", *kinds], cells)
    title = "Valid mutants of a single attribute: words exchanged, inserted or removed"
    return [Section(title, table=table, page_only=True)] if cells else []


def _section(rows: Sequence[Row]) -> Section:
    reasons = sorted({reason for row in rows for reason in row.by_reason})
    columns = ["changed", "generated", "valid", *(f"discarded, {reason}" for reason in reasons), "duplicates"]
    cells: list[list[Cell]] = [
        [
            " + ".join(row.attributes),
            row.generated,
            row.valid,
            *(row.by_reason.get(reason, 0) for reason in reasons),
            row.duplicate,
            numerals.percent(row.valid_rate) + numerals.bracketed(row.valid_ci95),
        ]
        for row in rows
    ]
    plots = [Plot("Share of mutants that are valid", bars=[*map(_bar, rows)], percent=True)]
    return Section(
        "Mutants generated, valid and discarded",
        table=Table([*columns, "valid share"], cells),
        plots=plots if reasons else [],
        notes=NOTES if reasons else NOTES[:1],
        page_only=True,
    )


def _bar(row: Row) -> Bar:
    low, high = row.valid_ci95 or (None, None)
    kind = int(row.kind == "intersectional")
    return Bar(" + ".join(row.attributes), row.valid_rate or 0.0, low, high, kind)
