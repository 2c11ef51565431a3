"""Exhibit the tests of a CheckList run: the block of the summary, the headline and the sections."""

from __future__ import annotations

from collections.abc import Sequence

from harness import numerals
from harness.sections import Cell, Figures, Section, Table, Worded
from harness.suites.checklist.counts import Row, by_capability

OPEN = ("undetermined", "excluded")
"""Columns for cases that neither passed nor failed, shown where there are any."""


def figures(rows: Sequence[Row]) -> Figures:
    """Return the block of the summary, the headline and the sections of the report."""
    together = by_capability(rows)
    block = {"tests": [row.plain() for row in rows], "capabilities": [row.plain() for row in together]}
    return Figures({"checklist": block}, _headline(rows), _sections(rows, together) if rows else [])


def _headline(rows: Sequence[Row]) -> str:
    judged = [row for row in rows if row.judged]
    if not judged:
        return "No case of these tests could be judged."
    failed, total = sum(row.failed for row in judged), sum(row.judged for row in judged)
    worst = max(judged, key=lambda row: row.failed / row.judged)
    noun = "test" if len(judged) == 1 else "tests"
    finding = f"{failed:,} of {total:,} cases failed in {len(judged)} {noun}"
    if not failed:
        return f"{finding}."
    return f"{finding}; most often in “{worst.test}” ({numerals.share(worst.failed, worst.judged)})."


def _sections(rows: Sequence[Row], together: Sequence[Row]) -> list[Section]:
    columns = ["cases", "failed", *(name for name in OPEN if any(getattr(row, name) for row in rows))]
    notes = ["A case of an INV or DIR test fails if any of its changed texts does."]
    if any(row.excluded for row in rows):
        notes.append(
            "Excluded: cases to which the expectation of the test does not apply, such as more confidence in"
            " neutral."
        )
    if any(row.undetermined and row.kind == "DIR" for row in rows):
        notes.append(
            "A DIR test compares probabilities: it is undetermined if the model gives neither probabilities"
            " nor a score."
        )
    tests = [[f"{row.capability}: {row.test}", row.kind, *_cells(row, columns)] for row in rows]
    return [
        Section(
            "CheckList, by capability",
            table=Table(["capability", *columns], [[r.capability, *_cells(r, columns)] for r in together]),
        ),
        Section("CheckList, by test", table=Table(["test", "type", *columns], tests), notes=notes),
    ]


def _cells(row: Row, columns: Sequence[str]) -> list[Cell]:
    counts = {name: getattr(row, name) for name in ("cases", *OPEN)}
    counts["failed"] = _failed(row)
    return [counts[column] for column in columns]


def _failed(row: Row) -> Worded:
    """Return the number and share of failed cases, with its interval where there is room."""
    text = numerals.fraction(row.failed, row.judged, row.ci95)
    return Worded(text, text.partition(" [")[0])
