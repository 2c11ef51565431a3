"""The findings as tables and plots: groups, contrasts, intersections and controls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from harness.findings.records import Changed, Contrast, Group, Intersection, Likeness
from harness.findings.tally import ANY
from harness.numerals import chance, count, fraction, listed, percent
from harness.report.summary import Summary
from harness.sections import Cell, Column, Estimate, Section, Table

Row = TypeVar("Row", Group, Contrast, Intersection)

FEW = 5
"""The texts below which a row is not worth a reader's time."""
MOST = 40
"""The most rows of a table; all are in ``summary.json``."""
GROUPS = (
    "Effect: the mean difference, within a text, of a group from the groups at the same places, without the"
    " drift of editing, with its 95 % interval by resampled originals.",
    "p: of no effect, corrected for all claims that the run can make.",
    "Impact ratio: the counterfactual rate of a group over that of the best-off group at the places that both"
    " have. It is no impact ratio in the sense of a law, because no person was selected.",
)
CHANGES = (
    "All pairs of versions of one text that differ in nothing but the group, whichever label differs; of"
    " several labels, the sets are compared. The interval of pairs resamples texts.",
)
CONTRASTS = (
    "All pairs of versions of one text that differ in nothing but this group, in both directions.",
    "Effect: the mean difference within a text, without the drift of editing, with its 95 % interval.",
    "Told by: what tells the effect from drift. Alike: both versions are edited as much. Uncorrected: nothing"
    " does, so that no claim rests on the row.",
)
INTERSECTIONS = (
    "Interaction: the outcome with both changes, less that with each alone, plus that of the original,"
    " without the drift of editing. Zero: the two changes add up.",
)
SILENT = (
    "Versions of texts by the group that they speak of, each counted once, with an interval by original: who"
    " is refused or filtered more often is treated in another way, whatever the answers that were read say.",
)
UNLIKE = (
    "Unlike: the mean share of the words that the answers to a mutant and to its original do not have in"
    " common, without the words that the two texts do not share and pronouns. Controls: the same of control"
    " mutants of the same texts and number of changes.",
    "Excess: what is beyond the controls, with its 95 % interval by resampled originals; p corrected for all"
    " claims that the run can make.",
)
AGAIN = (
    "Repeats: the same of the answers to an original that was asked about again, and to it at first: what the"
    " model changes by itself. Over repeats: what the answers to mutants have beyond that, with an interval.",
)
PREFERRED = (
    "The judge sees the answers to an original and to a version of it, without the words that the two texts"
    " do not share and pronouns, once in each order. An answer is preferred only if it is in both.",
    "Net: how many more answers to versions are preferred than to originals, as a share of all pairs, with"
    " its 95 % interval by resampled originals. The measure preference is 1, 0 and a half where neither is.",
)
CONTROLS = (
    "Control mutants change as many words, of the same kind, in the same sentences, and name nobody. How"
    " their answers change is what any edit would do. They are in no other figure.",
)


def sections(summary: Summary, most: int = MOST) -> list[Section]:
    """Return the sections of the findings, those that have rows; at most ``most`` rows a table."""
    unread = [*_unread(summary, most)]
    if not summary.contrasts:
        return unread
    return [
        *_groups(summary, most),
        *_changes(summary),
        *_contrasts(summary, most),
        *_intersections(summary, most),
        *_likeness(summary),
        *_preference(summary),
        *unread,
        *_controls(summary),
    ]


def _groups(summary: Summary, most: int) -> Iterator[Section]:
    rows = sorted(summary.groups, key=lambda row: (row.attribute, row.outcome, row.effect))
    if not rows:
        return
    several = len({row.outcome for row in rows}) > 1
    ratios = any(row.impact_ratio is not None for row in rows)
    odds = any(row.shift is not None for row in rows)
    gold = any(row.judged for row in rows)
    shown = _surest(rows, most)
    columns: list[str | Column] = ["group", *([_heading(summary)] if several else []), "texts"]
    columns += [Column("rate", page_only=True), Column("effect", "effect (95 % interval)"), "p"]
    columns += [Column("impact ratio", page_only=True)] if ratios else []
    columns += [Column("shift of log-odds", page_only=True)] if odds else []
    columns += [Column("right", page_only=True)] if gold else []
    cells: list[list[Cell]] = [
        [
            f"{row.attribute}: {row.group}",
            *([row.outcome] if several else []),
            row.originals,
            percent(row.rate),
            points(row.effect, row.ci95),
            p_value(row.p_holm),
            *([row.impact_ratio] if ratios else []),
            *([row.shift] if odds else []),
            *([_right(row)] if gold else []),
        ]
        for row in shown
    ]
    outcome = rows[0].outcome if not several else f"each {_heading(summary)}"
    yield Section(
        f"Groups against those at the same places: {outcome}",
        text=_cut(shown, rows),
        table=Table(columns, cells) if cells else None,
        notes=GROUPS if ratios else GROUPS[:2],
    )


def _heading(summary: Summary) -> str:
    """Return what the outcomes of a table are called."""
    return "measure" if summary.scores else "answer"


def _changes(summary: Summary) -> Iterator[Section]:
    cells: list[list[Cell]] = [
        [
            row.attribute,
            fraction(row.originals.count, row.originals.of, row.originals.ci95),
            fraction(row.pairs.count, row.pairs.of, row.pairs.ci95),
        ]
        for row in summary.changes
    ]
    if cells:
        table = Table(["attribute", Column("texts whose answer differs", "texts"), "pairs"], cells)
        yield Section("Whole answers that differ between groups", table=table, notes=CHANGES)


def _contrasts(summary: Summary, most: int) -> Iterator[Section]:
    rows = summary.contrasts
    several = len({row.outcome for row in rows}) > 1
    better, worse = ("better", "worse") if summary.favourable else ("more", "less")
    columns: list[str | Column] = ["from → to", *([_heading(summary)] if several else []), "pairs", "texts"]
    columns += [
        worse,
        better,
        Column("effect", "effect (95 % interval)"),
        "p",
        Column("told by", page_only=True),
    ]
    shown = _surest(rows, most)
    cells: list[list[Cell]] = [
        [
            f"{row.attribute}: {row.source} → {row.target}",
            *([row.outcome] if several else []),
            row.pairs,
            row.originals,
            row.worse,
            row.better,
            points(row.effect, row.ci95),
            p_value(row.p_holm),
            row.basis,
        ]
        for row in shown
    ]
    if rows:
        table = Table(columns, cells) if cells else None
        yield Section("Contrasts of two groups", _cut(shown, rows), table, notes=CONTRASTS, page_only=True)


def _unread(summary: Summary, most: int) -> Iterator[Section]:
    rows = sorted(summary.unread, key=lambda row: -(row.answers.rate or 0.0))
    cells: list[list[Cell]] = [
        [
            f"{row.attribute}: {row.group}",
            fraction(row.answers.count, row.answers.of, row.answers.ci95),
            ", ".join(f"{count(number)} {reason}" for reason, number in row.reasons.items()),
        ]
        for row in rows[:most]
    ]
    if cells:
        text = f"{most} of {len(rows):,} groups; all are in summary.json." if len(rows) > most else ""
        table = Table(["group", Column("answers that were not read", "not read"), "reasons"], cells)
        yield Section("Answers that were not read, by group", text, table, notes=SILENT, page_only=True)


def meeting(row: Intersection) -> list[str]:
    """Return the groups that meet, in words: ``any body`` for all groups of body that do."""
    return [f"{ANY} {attribute}" if group == ANY else group for attribute, group in row.groups.items()]


def _intersections(summary: Summary, most: int) -> Iterator[Section]:
    rows = summary.intersections
    several = len({row.outcome for row in rows}) > 1
    columns: list[str | Column] = [
        "groups that meet",
        *([_heading(summary)] if several else []),
        "mutants",
        "texts",
    ]
    columns += ["effect of both", "interaction", "p", "hidden"]
    shown = _surest(rows, most)
    cells: list[list[Cell]] = [
        [
            " + ".join(meeting(row)),
            *([row.outcome] if several else []),
            row.pairs,
            row.originals,
            points(row.effect, row.effect_ci95),
            points(row.interaction, row.ci95),
            p_value(row.p_holm),
            row.hidden,
        ]
        for row in shown
    ]
    if rows:
        table = Table(columns, cells) if cells else None
        yield Section(
            "Groups that meet on one person", _cut(shown, rows), table, notes=INTERSECTIONS, page_only=True
        )


def _likeness(summary: Summary) -> Iterator[Section]:
    again = any(row.repeats for row in summary.likeness)
    cells: list[list[Cell]] = [
        [
            " + ".join(row.attributes),
            row.tests,
            row.controls,
            row.originals,
            percent(row.unlike),
            percent(row.control_unlike),
            *(_again(row) if again else []),
            points(row.excess, row.ci95),
            p_value(row.p_holm),
        ]
        for row in summary.likeness
    ]
    if cells:
        columns = ["changed", "mutants", "controls", "texts", "unlike", "controls unlike"]
        columns += ["repeats unlike", "over repeats"] if again else []
        columns += ["excess", "p"]
        notes = (*UNLIKE, *AGAIN) if again else UNLIKE
        yield Section("How unlike the answers are", table=Table(columns, cells), notes=notes, page_only=True)


def _again(row: Likeness) -> list[Cell]:
    """Return the cells on repeated answers."""
    if row.repeat_unlike is None or row.over_repeats is None:
        return [None, None]
    return [percent(row.repeat_unlike), points(row.over_repeats, row.over_repeats_ci95)]


def _preference(summary: Summary) -> Iterator[Section]:
    if summary.judge is None or (said := summary.preference) is None:
        return
    cells: list[list[Cell]] = [
        [
            row.kind,
            row.pairs,
            row.preferred,
            row.original,
            row.ties + row.alike,
            row.unstable,
            row.unread,
            points(row.net, row.ci95),
        ]
        for row in said.rows
    ]
    columns: list[str | Column] = ["changed", "pairs", "version", "original", "tie", "unstable", "unread"]
    columns += [Column("net", "net (95 % interval)")]
    unstable, position, unread = (
        fraction(part.count, part.of, part.ci95) for part in (said.unstable, said.position, said.unread)
    )
    yield Section(
        f"Which answer {summary.judge.model} prefers",
        f"The orders disagree in {unstable} pairs; the same place is preferred in {position}"
        f" ({count(said.first)} times the first); {unread} could not be read.",
        Table(columns, cells),
        notes=(*PREFERRED, f"Asked: {summary.judge.question}"),
        page_only=True,
    )


def _controls(summary: Summary) -> Iterator[Section]:
    if summary.control is None:
        return
    rows: list[tuple[str, Changed]] = [("all", summary.control)]
    rows += [(f"of {order}", row) for order, row in summary.control.by_order.items()]
    cells: list[list[Cell]] = [
        [
            name,
            row.tests,
            row.biased,
            Estimate(row.rate, row.ci95),
            row.hidden if row.hidden is not None else "",
        ]
        for name, row in rows
    ]
    columns: list[str | Column] = [
        "changes",
        "controls",
        "changed",
        Column("rate", "rate (95 % interval)"),
        "hidden",
    ]
    drift = [
        f"Drift of {row.outcome} by editing ({row.edits}): {points(row.change, row.ci95)}"
        f" in {row.originals:,} texts."
        for row in summary.control.drift
        if row.change
    ]
    yield Section(
        "Control mutants: what editing does by itself", table=Table(columns, cells), notes=(*CONTROLS, *drift)
    )


def _surest(rows: Sequence[Row], most: int) -> list[Row]:
    """Return the rows to show: in their order, or if there are too many the surest ones, these first.

    Rows of few texts are left out unless they are sure.
    """
    told = [row for row in rows if row.originals >= FEW or _sure(row)]
    if len(told) <= most:
        return told
    return sorted(told, key=lambda row: (1.0 if row.p_holm is None else row.p_holm, -row.originals))[:most]


def _cut(shown: Sequence[Row], rows: Sequence[Row]) -> str:
    if len(shown) == len(rows):
        return ""
    few = sum(row.originals < FEW and not _sure(row) for row in rows)
    rest = [f"{few:,} have fewer than {FEW} texts"] if few else []
    if others := len(rows) - len(shown) - few:
        rest.append(f"{others:,} are less sure")
    return f"{len(shown)} of {len(rows):,} rows ({listed(rest)}); all are in summary.json."


def _sure(row: Group | Contrast | Intersection) -> bool:
    return row.p_holm is not None and row.p_holm <= 0.05


def points(value: float, interval: Sequence[float] | None) -> str:
    """Return ``-12.0 (-15.1 to -9.0)``, in percentage points."""
    if interval is None:
        return f"{100 * value:+.1f}"
    return f"{100 * value:+.1f} ({100 * interval[0]:+.1f} to {100 * interval[1]:+.1f})"


def p_value(p: float | None) -> Cell:
    """Return ``0.032`` or ``< 0.001``."""
    return None if p is None else chance(p).removeprefix("= ")


def _right(row: Group) -> Cell:
    return Estimate((row.correct or 0) / row.judged) if row.judged else None
