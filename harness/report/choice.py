"""What a run that asked about some of its cases says of all of them, and how they were chosen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from harness.numerals import count, counted, interval, listed, percent
from harness.report.groups import FEW, MOST, points
from harness.report.summary import (
    Decided,
    EstimatedEffect,
    EstimatedExcess,
    EstimatedInteraction,
    Stopping,
    Summary,
)
from harness.sections import Cell, Column, Section, Table

EFFECTS = (
    "Estimated effect: the mean difference, within a text, of the outcome's share from the first group to the"
    " second, in points, in versions edited alike, had all cases of this run been asked about, with its 95 %"
    " interval.",
)
INTERACTIONS = (
    "Estimated interaction: the outcome with both changes, less that with each alone, plus that of the"
    " original, in points, had all cases of this run been asked about, with its 95 % interval.",
    "Editing twice is a part of it, and what that does by itself is not taken out: no claim rests on a row.",
)
EXCESSES = (
    "Estimated excess: how much more often mutants change the answer than control mutants of the same texts,"
    " which change as many words that name nobody, in points, had all cases of this run been asked about,"
    " with its 95 % interval.",
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
    """Return the estimated effects between groups and excesses over controls, if there are any.

    The effects are those of a goal, or else of a budget.
    """
    of_goal = summary.stopping.effects if summary.stopping is not None else ()
    estimates = summary.estimates
    effects = of_goal or (estimates.effects if estimates is not None else ())
    met = estimates.interactions if estimates is not None else ()
    found = []
    if effects:
        title = f"Contrasts of two groups, estimated: {effects[0].outcome}"
        found.append(_section(title, "effect", effects, most, (*EFFECTS, TOGETHER) if of_goal else EFFECTS))
    if met:
        title = f"Groups that meet on one person, estimated: {met[0].outcome}"
        found.append(_section(title, "interaction", met, most, INTERACTIONS))
    return [*found, *_over_controls(summary)]


def _over_controls(summary: Summary) -> Iterator[Section]:
    """Yield the table of what mutants do beyond controls, and what it shows, if there are any."""
    estimated = summary.estimated_excesses
    if not estimated:
        return
    rows = {row.name: found for row in summary.results if (found := estimated.get(frozenset(row.attributes)))}
    columns: list[str | Column] = [
        "changed",
        "texts",
        "mutants",
        "controls",
        Column("estimated excess", "estimated excess (95 % interval)"),
    ]
    cells: list[list[Cell]] = [
        [
            name,
            row.originals,
            percent(row.rate),
            percent(row.control_rate),
            points(row.excess, row.ci95),
        ]
        for name, row in rows.items()
    ]
    title = "Changes in excess of control mutants, estimated"
    yield Section(title, _shown(rows), Table(columns, cells), notes=EXCESSES)


def _shown(rows: Mapping[str, EstimatedExcess]) -> str:
    """Return which sets are shown to change the answer more often than other edits do."""
    names = [name for name, row in rows.items() if row.shown]
    if not names:
        return (
            "No set is shown to change the answer more often than edits that name nobody do: changes cannot"
            " be told from brittleness."
        )
    return (
        f"Shown to change the answer more often than edits that name nobody do: {listed(names)} (by intervals"
        " that hold for all rows together)."
    )


def _section(
    title: str,
    figure: str,
    rows: Sequence[EstimatedEffect] | Sequence[EstimatedInteraction],
    most: int,
    notes: Sequence[str],
) -> Section:
    """Return the table of a ``figure``, the surest rows first, of which at most ``most`` are shown."""
    told = sorted((row for row in rows if row.originals >= FEW or _sure(row)), key=_surest)[:most]
    cells: list[list[Cell]] = [[_named(row), row.originals, points(_value(row), row.ci95)] for row in told]
    estimated = Column(f"estimated {figure}", f"estimated {figure} (95 % interval)")
    named = "from → to" if figure == "effect" else "groups that meet"
    columns: list[str | Column] = [named, "texts", estimated]
    left = len(rows) - len(told)
    text = f"{len(told)} of {len(rows):,} rows; all are in summary.json." if left else ""
    table = Table(columns, cells) if cells else None
    return Section(title, text, table, notes=notes, page_only=figure == "interaction")


def _named(row: EstimatedEffect | EstimatedInteraction) -> str:
    if isinstance(row, EstimatedInteraction):
        return " + ".join(row.groups.values())
    return f"{row.attribute}: {row.source} → {row.target}"


def _value(row: EstimatedEffect | EstimatedInteraction) -> float:
    return row.interaction if isinstance(row, EstimatedInteraction) else row.effect


def _sure(row: EstimatedEffect | EstimatedInteraction) -> bool:
    low, high = row.ci95
    return low > 0 or high < 0


def _surest(row: EstimatedEffect | EstimatedInteraction) -> tuple[bool, float, int]:
    return not _sure(row), -abs(_value(row)), -row.originals
