"""How runs treat groups, side by side: what each found, contrasts, groups, and the gaps between runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from harness.findings.gaps import Gap, Shared, directions
from harness.findings.records import Contrast, Group
from harness.numerals import counted, percent
from harness.report.finding import ALPHA, sure
from harness.report.groups import p_value, points
from harness.report.pairing import Run
from harness.report.summary import ResultRow
from harness.sections import Cell, Column, Section, Table, Worded

Row = TypeVar("Row", Contrast, Group)
Key = tuple[str, ...]
Sides = Mapping[Key, Mapping[str, Row]]
"""Rows by what they are about, and by the name of their run."""

MOST = 40
"""The most rows of a table; all are in ``comparison.json``."""
STAR = "*: significant after the correction for all claims of its run, and told from what editing does."
CONTRASTS = (
    "Effect on the outcome from the first group to the second, in points, without the drift of editing, with"
    " its 95 % interval.",
    STAR,
)
GROUPS = (
    "Effect: the difference, in points, from the groups at the same places, with its 95 % interval. Rate: the"
    " mean share of the outcome. Impact ratio: that rate over the best-off group's.",
    STAR,
)
EXCESS = (
    "How much more often the answer changes with a person than with as many words that name nobody, in"
    " points, with its 95 % interval; beside it the rate of these controls.",
    "*: significant after the correction for all claims of its run.",
)
GAPS = (
    "Difference: the effect in the second run minus that in the first, in points, on the cases that both"
    " answered, with its 95 % interval by resampled originals.",
    "p: corrected for all differences between the runs.",
)


def sections(runs: Sequence[Run], shared: Sequence[Shared], gaps: Sequence[Gap]) -> list[Section]:
    """Return the sections of the findings of ``runs``, those that have rows; none where no run has any."""
    if not any(run.summary.contrasts for run in runs):
        return []
    return [*_contrasts(runs), *_gaps(shared, gaps), *_groups(runs), *_excess(runs)]


def found(runs: Sequence[Run]) -> list[Section]:
    """Return what each run found by itself; nothing where no run says what."""
    return [_found(run) for run in runs] if any(map(_said, runs)) else []


def _said(run: Run) -> str:
    return run.summary.headline or (run.summary.finding.text if run.summary.finding else "")


def _found(run: Run) -> Section:
    """Return what a run found, and its cautions."""
    summary = run.summary
    cautions = " ".join(caution.text for caution in summary.cautions)
    number = len(summary.cautions)
    notes = [f"{counted(number, 'caution')}: {cautions}"] if number else []
    return Section(f"What {run.name} found", _said(run) or "It compared no two groups.", notes=notes)


def _contrasts(runs: Sequence[Run]) -> Iterator[Section]:
    turned = directions(run.summary.contrasts for run in runs)
    rows: dict[Key, dict[str, Contrast]] = {}
    for run in runs:
        for row in run.summary.contrasts:
            way = turned[row.attribute, frozenset((row.source, row.target))]
            forward = way == (row.source, row.target)
            rows.setdefault((row.attribute, *way, row.outcome), {})[run.name] = (
                row if forward else row.turned()
            )
    several = len({key[-1] for key in rows}) > 1
    ordered = _ordered(rows)
    cells = [
        [*_named(key, several), *(_effect(of_run.get(run.name)) for run in runs)]
        for key, of_run in ordered[:MOST]
    ]
    columns = [*_head("from → to", several), *(run.name for run in runs)]
    outcome = "" if several else f": effect on {next(iter(rows))[-1]}"
    yield Section(
        f"Who is treated differently{outcome}", _cut(ordered), Table(columns, cells), notes=CONTRASTS
    )


def _groups(runs: Sequence[Run]) -> Iterator[Section]:
    rows: dict[Key, dict[str, Group]] = {}
    for run in runs:
        for row in run.summary.groups:
            rows.setdefault((row.attribute, row.group, row.outcome), {})[run.name] = row
    if not rows:
        return
    several = len({key[-1] for key in rows}) > 1
    ratios = any(row.impact_ratio is not None for of_run in rows.values() for row in of_run.values())
    columns = _head("group", several)
    for run in runs:
        columns += [Column(f"{run.name}: effect", run.name), Column(f"{run.name}: rate", page_only=True)]
        columns += [Column(f"{run.name}: impact ratio", page_only=True)] if ratios else []
    ordered = _ordered(rows)
    cells: list[list[Cell]] = []
    for key, of_run in ordered[:MOST]:
        line: list[Cell] = [*_named(key, several)]
        for run in runs:
            found = of_run.get(run.name)
            line += [_effect(found), percent(found.rate) if found else None]
            line += [found.impact_ratio if found else None] if ratios else []
        cells.append(line)
    outcome = "" if several else f": {next(iter(rows))[-1]}"
    yield Section(
        f"Groups against those at the same places{outcome}",
        _cut(ordered),
        Table(columns, cells),
        notes=GROUPS,
    )


def _excess(runs: Sequence[Run]) -> Iterator[Section]:
    rows: dict[Key, dict[str, ResultRow]] = {}
    for run in runs:
        for row in run.summary.results:
            if row.control_rate is not None:
                rows.setdefault(row.attributes, {})[run.name] = row
    if not rows:
        return
    columns: list[str | Column] = ["changed"]
    for run in runs:
        columns.append(Column(f"{run.name}: excess", run.name))
        columns.append(Column(f"{run.name}: controls", "controls", page_only=len(runs) > 2))
    cells: list[list[Cell]] = []
    for names, of_run in sorted(rows.items(), key=lambda item: (len(item[0]), item[0])):
        line: list[Cell] = [" + ".join(names)]
        for run in runs:
            found = of_run.get(run.name)
            line += [_over(found), percent(found.control_rate) if found else None]
        cells.append(line)
    yield Section("Changes in excess of control mutants", table=Table(columns, cells), notes=EXCESS)


def _gaps(shared: Sequence[Shared], gaps: Sequence[Gap]) -> Iterator[Section]:
    """Yield the table of the differences between runs, and what can not be compared, and why."""
    apart = [
        f"{row.first} and {row.second} are not compared: {row.reason}."
        for row in shared
        if row.reason is not None
    ]
    common = [
        f"{row.first} and {row.second} have {counted(row.texts, 'text')} in common"
        f" ({counted(row.cases, 'case')} that both answered)."
        for row in shared
        if row.reason is None
    ]
    several = len({row.outcome for row in gaps}) > 1
    many = len(common) > 1
    rows = sorted(gaps, key=lambda row: _rank([row], abs(row.difference)))
    columns = [
        *_head("from → to", several),
        *(["second − first"] if many else []),
        "texts",
        "difference",
        "p",
    ]
    cells: list[list[Cell]] = [
        [
            *_named((row.attribute, row.source, row.target, row.outcome), several),
            *([f"{row.second} − {row.first}"] if many else []),
            row.texts,
            _starred(row.difference, row.ci95),
            p_value(row.p_holm),
        ]
        for row in rows[:MOST]
    ]
    text = " ".join([*common, *apart, _cut(rows)]).strip()
    if rows and not many:
        text = f"{rows[0].second} minus {rows[0].first}. {text}"
    table = Table(columns, cells) if rows else None
    yield Section("Differences between runs on the same texts", text, table, notes=GAPS if rows else ())


def _ordered(rows: Sides[Row]) -> list[tuple[Key, Mapping[str, Row]]]:
    """Return the rows to show first."""
    ranks = {
        key: _rank(list(by_run.values()), max(abs(row.effect) for row in by_run.values()))
        for key, by_run in rows.items()
    }
    return sorted(rows.items(), key=lambda item: (ranks[item[0]], item[0]))


def _rank(rows: Sequence[Contrast | Group | Gap], size: float) -> tuple[bool, float, float]:
    """Rank rows that are sure in a run by their size, and the others by how little chance explains them."""
    certain = any(map(sure, rows))
    p = min((row.p for row in rows if row.p is not None and row.ci95 is not None), default=1.0)
    return (not certain, 0.0 if certain else p, -size)


def _head(name: str, several: bool) -> list[str | Column]:
    return [name, *(["answer"] if several else [])]


def _named(key: Key, several: bool) -> list[str]:
    """Return the cells that name a row: ``gender: male → female``, and the outcome if there are several."""
    attribute, *groups, outcome = key
    return [f"{attribute}: {' → '.join(groups)}", *([outcome] if several else [])]


def _effect(row: Contrast | Group | None) -> Cell:
    return None if row is None else _starred(row.effect, row.ci95, sure(row))


def _over(row: ResultRow | None) -> Cell:
    if row is None or row.excess_over_control is None:
        return None
    p = row.excess_over_control_p_holm
    return _starred(row.excess_over_control, row.excess_over_control_ci95, p is not None and p <= ALPHA)


def _starred(value: float, interval: Sequence[float] | None, certain: bool = False) -> Worded:
    """Return ``-12.0* (-15.1 to -9.0)``; briefly the interval on a line of its own."""
    number, _, bounds = points(value, interval).partition(" ")
    number += "*" if certain else ""
    return Worded(f"{number} {bounds}".strip(), f"{number}\n{bounds.strip('()')}".strip())


def _cut(rows: Sequence[object]) -> str:
    return "" if len(rows) <= MOST else f"The first {MOST} of {len(rows):,} rows; all are in comparison.json."
