"""The whole report of a run as GitHub-flavoured Markdown, for issues, wikis and CI."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from harness.disclosure import visible
from harness.report import choice, groups, incomplete, orders, results, serving, wording
from harness.report.cells import written
from harness.report.summary import Summary
from harness.sections import Cell, Estimate, Section, Table, Worded

_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~])")


def render(summary: Summary, measured: Sequence[Section] = ()) -> str:
    """Return the report: headline, what is missing, notes, results, sections.

    ``measured`` are sections of what was measured after the run.
    """
    return "\n\n".join(_blocks(summary, measured)) + "\n"


def _blocks(summary: Summary, measured: Sequence[Section]) -> Iterator[str]:
    yield f"# Audit of {escaped(summary.model)}"
    yield escaped(f"Task {summary.task}, suite {summary.suite}: {wording.made_of(summary)}.")
    if served := serving.server(summary):
        yield escaped(f"Served by {served}.")
    missing = [*choice.lines(summary), *incomplete.missing(summary)]
    if missing:
        yield "\n".join(f"> {escaped(line)}" for line in missing)
    yield escaped(wording.headline(summary))
    yield "\n".join(f"- {escaped(note)}" for note in wording.notes(summary))
    rows = [row for row in summary.rows if row.tests]
    conclusive = summary.headline is not None  # the suite's sections are the findings, not the results
    caption = results.SINGLY if conclusive else results.CAPTION
    tables = ["## Results", caption, table(results.table(rows))] if rows else []
    found, by_order, sections = (
        [part for one in parts for part in section(one)]
        for parts in (
            [*choice.sections(summary), *groups.sections(summary)],
            orders.sections(summary),
            summary.sections,
        )
    )
    yield from (*sections, *tables) if conclusive else (*found, *tables, *by_order, *sections)
    for one in measured:
        yield from section(one)


def section(source: Section) -> Iterator[str]:
    """Yield the blocks of a section: its heading, text, table and notes."""
    yield f"## {escaped(source.title)}"
    if source.text:
        yield escaped(source.text)
    if source.table:
        yield table(source.table)
    if source.notes:
        yield "\n".join(f"- {escaped(note)}" for note in source.notes)


def table(source: Table) -> str:
    """Return a table with its footnotes as a numbered list."""
    notes = [head.note for head in source.heads if head.note]
    names = [
        escaped(head.name) + (f" ({notes.index(head.note) + 1})" if head.note else "")
        for head in source.heads
    ]
    columns = list(zip(*source.rows, strict=True)) or [()] * len(names)
    rules = ["---", *("---:" if all(map(_figure, column)) else "---" for column in columns[1:])]
    rows = [[escaped(written(cell)) for cell in row] for row in source.rows]
    lines = [f"| {' | '.join(cells)} |" for cells in (names, rules, *rows)]
    if notes:
        lines += ["", *(f"{number}. {escaped(note)}" for number, note in enumerate(notes, 1))]
    return "\n".join(lines)


def _figure(cell: Cell) -> bool:
    """Return whether a cell has a figure, or nothing, so that its column may be aligned to the right."""
    return cell in (None, "") or isinstance(cell, int | float | Estimate | Worded)


def escaped(text: str) -> str:
    """Return ``text`` on one line, with Markdown and HTML markup escaped."""
    return _SPECIAL.sub(r"\\\1", visible(" ".join(text.split())))
