"""What a run that asked about some of its cases says of all of them, and how they were chosen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.numerals import count, counted, interval, listed, percent
from harness.report.groups import FEW, MOST, points
from harness.report.summary import Decided, EstimatedEffect, Stopping, Summary
from harness.sections import Cell, Column, Section, Table

EFFECTS = (
    "Estimated effect: the mean difference, within a text, of the outcome's share from the first group to the"
    " second, in points, in versions edited alike, had all cases of this run been asked about, with its 95 %"
    " interval.",
)
TOGETHER = "The intervals hold for all rows together, at every look at the answers."


def lines(summary: Summary) -> list[str]:
    """Return what the run was to find out and whether it did, and how its mutants were chosen."""
    return [*filter(None, (answer(summary), chosen(summary)))]


def answer(summary: Summary) -> str:
    """Return what the run was to find out and whether it did, and what it asked; "" if it asked all."""
    return "" if summary.stopping is None else _stopped(summary, summary.stopping)


def chosen(summary: Summary) -> str:
    """Return a warning if an adaptive budget chose the mutants; "" otherwise."""
    if summary.adaptive is None:
        return ""
    requests = counted(summary.adaptive.asked, "request")
    return (
        f"An adaptive budget ({requests}) chose the mutants: the counts and rates below describe only these, "
        "many of them the most likely to show a bias. "
        + (
            "What they say of all mutants of this run is marked as estimated."
            if summary.adaptive.estimates is not None
            else "They are not estimates for any others."
        )
    )


def _stopped(summary: Summary, stopping: Stopping) -> str:
    """Return what is known of what was to be found out, and how much was asked for it."""
    answers = [*_of_precision(stopping), *(_decided(stopping, each) for each in stopping.decisions)]
    known = "; ".join(answers)
    case, left = summary.nouns.case, stopping.of - stopping.asked
    spent = (
        f"{count(stopping.asked)} of {counted(stopping.of, 'text')} ({case}s and originals) were asked about"
    )
    saved = f", {percent(left / stopping.of)} less than all" if left else ""
    sentences = (f"{known[:1].upper()}{known[1:]}.", _rate(summary, stopping), f"{spent}{saved}.")
    return " ".join(filter(None, (*sentences, _why(stopping, left))))


def _of_precision(stopping: Stopping) -> Iterator[str]:
    if stopping.precision is None or stopping.ci95 is None:
        return
    low, high = stopping.ci95
    within = (high - low) / 2 <= stopping.precision
    yield f"the rate is {'' if within else 'not '}known to within {percent(stopping.precision, ' points')}"


def _decided(stopping: Stopping, decided: Decided) -> str:
    """Return the decision, with the effects that are above the limit."""
    limit = percent(decided.limit, " points" if decided.figure == "effect" else " %")
    if decided.decision == "undecided":
        figure = "an effect" if decided.figure == "effect" else "the rate"
        return f"it is not known whether {figure} is above {limit}"
    if decided.figure == "rate":
        return f"the rate is {decided.decision} {limit}"
    if decided.decision == "below":
        return f"none of {counted(len(stopping.effects), 'group effect')} is above {limit}"
    above = [row for row in stopping.effects if row.ci95[0] > decided.limit or row.ci95[1] < -decided.limit]
    first = sorted(above, key=lambda row: -abs(row.effect))[:3]
    named = listed(f"{_named(row)}, {points(row.effect, row.ci95)}" for row in first)
    more = f", and {counted(len(above) - 3, 'other')}" if len(above) > 3 else ""
    return f"a group effect is above {limit}: {named}{more}"


def _rate(summary: Summary, stopping: Stopping) -> str:
    if stopping.rate is None or stopping.ci95 is None:
        return ""
    return (
        f"Of all {summary.nouns.case}s of this run {percent(stopping.rate)} change the answer (95 % interval"
        f" {interval(stopping.ci95)}, which holds at every look)."
    )


def _why(stopping: Stopping, left: int) -> str:
    """Return why no more was asked, where the answer is not the reason."""
    if stopping.reached:
        return ""
    if not stopping.of_looks:
        return "In too few texts are two groups compared that are edited alike, on one outcome."
    return "No more could be asked before it was known." if left else "There are no more."


def sections(summary: Summary, most: int = MOST) -> list[Section]:
    """Return the estimated effects between groups, those of a goal or else of a budget, if there are any."""
    stopping, adaptive = summary.stopping, summary.adaptive
    of_goal = stopping.effects if stopping is not None else ()
    of_budget = adaptive.estimates.effects if adaptive is not None and adaptive.estimates is not None else ()
    rows = of_goal or of_budget
    return [_section(rows, most, (*EFFECTS, TOGETHER) if of_goal else EFFECTS)] if rows else []


def _section(rows: Sequence[EstimatedEffect], most: int, notes: Sequence[str]) -> Section:
    told = sorted((row for row in rows if row.originals >= FEW or _sure(row)), key=_surest)[:most]
    cells: list[list[Cell]] = [[_named(row), row.originals, points(row.effect, row.ci95)] for row in told]
    columns: list[str | Column] = [
        "from → to",
        "texts",
        Column("estimated effect", "estimated effect (95 % interval)"),
    ]
    left = len(rows) - len(told)
    text = f"{len(told)} of {len(rows):,} rows; all are in summary.json." if left else ""
    title = f"Contrasts of two groups, estimated: {rows[0].outcome}"
    return Section(title, text, Table(columns, cells) if cells else None, notes=notes)


def _named(row: EstimatedEffect) -> str:
    return f"{row.attribute}: {row.source} → {row.target}"


def _sure(row: EstimatedEffect) -> bool:
    low, high = row.ci95
    return low > 0 or high < 0


def _surest(row: EstimatedEffect) -> tuple[bool, float, int]:
    return not _sure(row), -abs(row.effect), -row.originals
