"""Exhibit the capabilities of an S²LCT run: the block of the summary, the headline and the section."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness import numerals
from harness.core import JsonObject
from harness.sections import Cell, Column, Figures, Section, Table, Worded
from harness.suites.linguistic.counts import Row


def figures(
    rows: Sequence[Row], titles: Mapping[str, str], settings: JsonObject, has_neutral: bool
) -> Figures:
    """Return the block of the summary, the headline and the section of the report."""
    block = {"capabilities": [{**row.plain(), "title": titles[row.capability]} for row in rows]}
    sections = [_section(rows, titles, settings, has_neutral)] if rows else []
    return Figures({"linguistic": block}, _headline(rows, titles), sections)


def _headline(rows: Sequence[Row], titles: Mapping[str, str]) -> str:
    judged = [row for row in rows if row.seeds + row.expansions]
    if not judged:
        return "No seed was found and judged: supply sentences labelled positive, negative and neutral."
    failed = sum(row.seeds_failed + row.expansions_failed for row in judged)
    total = sum(row.seeds + row.expansions for row in judged)
    worst = max(judged, key=_failing)
    noun = "capability" if len(judged) == 1 else "capabilities"
    finding = f"{failed:,} of {total:,} cases failed in {len(judged)} linguistic {noun}"
    if not failed:
        return f"{finding}."
    share = numerals.percent(_failing(worst))
    return f"{finding}; most often in {worst.capability}, {titles[worst.capability]} ({share})."


def _failing(row: Row) -> float:
    return (row.seeds_failed + row.expansions_failed) / (row.seeds + row.expansions)


def _section(
    rows: Sequence[Row], titles: Mapping[str, str], settings: JsonObject, has_neutral: bool
) -> Section:
    columns = (
        "capability",
        Column("sentences", page_only=True),
        Column("shared", page_only=True),
        "seeds",
        "failed",
        Column("expansions", brief="expanded"),
        "failed",
        Column("pass to fail", page_only=True),
        Column("undetermined", page_only=True),
    )
    cells: list[list[Cell]] = [
        [
            f"{row.capability}: {titles[row.capability]}",
            row.sentences,
            row.shared,
            row.seeds,
            _failed(row.seeds_failed, row.seeds, row.seeds_ci95),
            row.expansions,
            _failed(row.expansions_failed, row.expansions, row.expansions_ci95),
            numerals.fraction(row.pass_to_fail, row.expansions_of_passed, row.pass_to_fail_ci95),
            row.undetermined,
        ]
        for row in rows
    ]
    notes = [
        "Sentences: the source sentences of the seeds; shared: those that another capability uses, too.",
        "Pass to fail: failed expansions among those whose seed passed.",
        f"Trees: {settings['trees']}; words: {settings['suggester']}; judge: {settings['judge'] or 'none'};"
        f" sentiment: {settings['sentiment']}.",
    ]
    if not has_neutral:
        notes.append(
            "The task has no label neutral: an answer less than twice as likely as the other label also"
            " counts as neutral. Without log-probabilities, a case that expects only neutral is undetermined."
        )
    return Section("Linguistic capabilities", table=Table(columns, cells), notes=notes)


def _failed(part: int, whole: int, interval: tuple[float, float] | None) -> Worded:
    """Return the number and share of failed cases, with its interval where there is room."""
    text = numerals.fraction(part, whole, interval, of_whole=False)
    return Worded(text, text.partition(" [")[0])
