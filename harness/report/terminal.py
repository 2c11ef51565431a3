"""The figures of a run as a table for people, on standard error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.report.cells import written
from harness.report.wording import (
    cautions,
    chosen,
    discarded,
    estimates,
    headline,
    made,
    noise,
    nouns,
    percent,
)


def table(figures: Mapping[str, Any]) -> Table:
    """One row for each attribute set."""
    asked_again = any(row["confirmed"] is not None for row in figures["results"])
    shown = Table(title=Text(f"{figures['model']} on {figures['task']}", "table.title"), title_justify="left")
    shown.caption = "biased, and in brackets how many were confirmed" if asked_again else None
    shown.add_column("changed")
    for name in ("tests", "biased", "undet.", "rate (95 % interval)", "hidden"):
        shown.add_column(name, justify="right", no_wrap=True)
    for row in figures["results"]:
        together = row["kind"] == "intersectional"
        shown.add_row(
            Text(" + ".join(row["attributes"])),
            str(row["tests"]),
            str(row["biased"]) + (f" ({row['confirmed']})" if asked_again else ""),
            str(row["undetermined"]),
            _rate(row),
            f"{row['hidden']} of {row['hidden'] + row['not_hidden']}" if together else "",
        )
    return shown


def section_table(section: Mapping[str, Any]) -> Table:
    """The table of a suite's section."""
    shown = Table(title=Text(section["title"], "table.title"), title_justify="left")
    for number, name in enumerate(section["table"]["columns"]):
        shown.add_column(Text(name), justify="right" if number else "left", overflow="fold")
    for row in section["table"]["rows"]:
        shown.add_row(*(Text(written(cell)) for cell in row))
    return shown


def show_sections(headline: str, sections: Sequence[Mapping[str, Any]]) -> None:
    """The tables of plain sections with their notes, and what was found in words."""
    console = Console(stderr=True)
    for section in sections:
        if section["table"]:
            console.print(section_table(section))
        for note in section["notes"]:
            console.print(note, highlight=False, markup=False, style="dim")
    console.print(headline, highlight=False, markup=False)


def show(figures: Mapping[str, Any], folder: Path) -> None:
    """The table, what was found in words, and where the report is."""
    console = Console(stderr=True)
    documents, cases, requests = figures["documents"], figures["cases"], figures["requests"]
    counts = documents["read"], documents["eligible"], cases["generated"], cases["valid"]
    console.print(
        f"{made(nouns(figures), *counts)}; "
        f"{requests['sent']} requests sent, {requests['cached']} answered from the cache",
        highlight=False,
        markup=False,
    )
    if figures["results"]:
        console.print(table(figures))
    for section in figures.get("sections", []):
        if section["table"] and not section.get("page_only"):
            console.print(section_table(section))
    console.print(headline(figures), highlight=False, markup=False)
    measured = noise(figures) if figures["noise"]["repeats"] else ""
    more = (chosen(figures), measured, *cautions(figures), *estimates(figures), discarded(figures))
    for line in filter(None, more):
        console.print(line, highlight=False, markup=False)
    console.print(f"Report: {folder / 'report.html'}", highlight=False, markup=False, soft_wrap=True)


def _rate(row: Mapping[str, Any]) -> str:
    if row["rate"] is None:
        return "-"
    low, high = row["ci95"]
    return f"{percent(row['rate'])} ({percent(low, '')} to {percent(high, '')})"
