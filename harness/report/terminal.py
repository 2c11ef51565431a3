"""The figures of a run as tables and sentences for a terminal 80 columns wide.

Findings go to standard output, or to standard error if standard output is reserved for JSON; messages about
the run itself always go to standard error.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich import table as rich_table
from rich.console import Console
from rich.text import Text

from harness.disclosure import visible_lines
from harness.numerals import counted
from harness.report import choice, fitting, groups, incomplete, results, wording
from harness.report.cells import written
from harness.report.summary import Summary
from harness.sections import Section, Table

MANY = 20
"""The number of rows above which a table beside others is cut."""
FEW = 8
"""The rows that are left of it."""


class Screen(Console):
    """A console that shows texts as they are, never as markup or as commands to the terminal.

    It leaves a closed pipe to the command line, which has an exit code for it.
    """

    def print(self, *objects: Any, **how: Any) -> None:
        """Print texts and tables."""
        style = how.get("style", "")
        super().print(*(shown(one, style) if isinstance(one, str) else one for one in objects), **how)

    def on_broken_pipe(self) -> None:
        """Raise the error again instead of exiting."""
        raise  # the error that rich is handling when it calls this


def shown(text: str, style: str = "") -> Text:
    """Return ``text`` for the terminal, its control characters escaped."""
    return Text(visible_lines(text), style=style)


def screen(stderr: bool = False) -> Screen:
    """Return a console on standard output, or on standard error."""
    return Screen(stderr=stderr, highlight=False)


def drawn(table: Table, title: str, room: int) -> rich_table.Table:
    """Return ``table`` for a terminal of ``room`` columns; the caption names what does not fit."""
    narrow = table.narrow()
    heads = [head.brief or head.name for head in narrow.heads]
    rows = [[written(cell, brief=True) for cell in row] for row in narrow.rows]
    widths = fitting.fitted(heads, rows, room)
    left_out = [f"No room for: {', '.join(heads[len(widths) :])}"] if len(widths) < len(heads) else []
    legends = [head.legend for head in narrow.heads[: len(widths)] if head.legend]
    shape = rich_table.Table(title=shown(title), title_justify="left")
    caption = "; ".join([*legends, *left_out])
    shape.caption = shown(caption) if caption else None
    for number, (name, width) in enumerate(zip(heads, widths, strict=False)):
        shape.add_column(shown(name), justify="right" if number else "left", overflow="fold", width=width)
    for row in rows:
        shape.add_row(*map(shown, row[: len(widths)]))
    return shape


def show_sections(headline: str, sections: Sequence[Section], stderr: bool = False) -> None:
    """Print the finding in words, then sections, of long tables the first rows."""
    console = screen(stderr)
    console.print(headline)
    for section in sections:
        if section.page_only:
            continue
        if section.table:
            console.print(drawn(_first(section.table), section.title, console.width))
        elif section.text:
            console.print(shown(section.title, "italic"))
        if section.text:
            console.print(section.text)
        if section.table and (left := len(section.table.rows) - len(_first(section.table).rows)):
            console.print(f"{left:,} more rows are on the page that --out writes.")
        for note in section.notes:
            console.print(note, style="dim")


def _first(table: Table) -> Table:
    return Table(table.columns, table.rows[:FEW]) if len(table.rows) > MANY else table


def show(summary: Summary, folder: Path, stderr: bool = False) -> None:
    """Print what an incomplete run lacks, the findings in words and the tables.

    The requests and the report's path go to standard error.
    """
    console, aside = screen(stderr), screen(stderr=True)
    requests = summary.requests
    probes = f", {counted(requests.probes, 'probe')} of the endpoint" if requests.probes else ""
    aside.print(
        f"{wording.made_of(summary)}; "
        f"{requests.sent} requests sent{probes}, {requests.cached} answered from the cache",
        markup=False,
    )
    for line in incomplete.missing(summary):
        console.print(line, style="bold")
    for line in filter(None, [choice.answer(summary), wording.headline(summary)]):
        console.print(line)
    if summary.results:
        title = f"{summary.model} on {summary.task}"
        console.print(drawn(results.table(summary.rows), title, console.width))
    findings = [*choice.sections(summary, MANY), *groups.sections(summary, MANY)]
    for section in (*findings, *summary.sections):
        if section.table and not section.page_only:
            console.print(drawn(section.table, section.title, console.width))
            if section in findings and section.text:
                console.print(section.text, style="dim")
    measured = wording.noise(summary) if summary.noise.repeats else ""
    for line in filter(None, [choice.chosen(summary), measured, *wording.asides(summary)]):
        console.print(line)
    aside.print(f"Report: {folder / 'report.html'}", soft_wrap=True)
