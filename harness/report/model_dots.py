"""The plots of a comparison's first screen: what each group gets in each run, and by how much runs differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.findings.gaps import Gap
from harness.findings.records import Drift, Group
from harness.report.dots import (
    COVERED,
    Axis,
    band_of,
    main_outcome,
    rank,
    reach_of,
    rounded,
    shared_out,
    shown,
)
from harness.report.finding import sure
from harness.report.groups import FEW
from harness.report.pairing import Run

LANES = 27
"""The most lines of the plot of groups, one a group and run: it must fit the first screen."""
FEWEST = 4
"""The groups that are shown however many runs there are."""
MOST_GAPS = 8


@dataclass(frozen=True, slots=True)
class ModelDots(Axis):
    """The groups by attribute, each with its row in each run, None where a run has none.

    ``bands``: the change of ``outcome`` in the control mutants of each run, None without any.
    """

    outcome: str
    runs: Sequence[str]
    groups: Mapping[str, Mapping[str, Sequence[Group | None]]]
    bands: Sequence[Drift | None]
    left_out: int


@dataclass(frozen=True, slots=True)
class GapDots(Axis):
    """The differences by contrast, as ``gender: male → female``; ``places`` are those of the runs."""

    outcome: str
    gaps: Mapping[str, Sequence[Gap]]
    places: Mapping[str, int]
    left_out: int


def groups(runs: Sequence[Run], lanes: int = LANES) -> ModelDots | None:
    """Return the plot of the groups; None where no groups were compared."""
    outcome = main_outcome(row for run in runs for row in run.summary.contrasts)
    rows: dict[tuple[str, str], list[Group | None]] = {}
    for place, run in enumerate(runs):
        for row in run.summary.groups:
            if row.outcome == outcome:
                rows.setdefault((row.attribute, row.group), [None] * len(runs))[place] = row
    told = {key: of_group for key, of_group in rows.items() if any(map(shown, _there(of_group)))}
    if outcome is None or not told:
        return None
    ranked = sorted(told, key=lambda key: min(map(rank, _there(told[key]))))
    kept = shared_out(ranked, max(FEWEST, lanes // len(runs)), lambda key: key[0])
    by_attribute: dict[str, dict[str, Sequence[Group | None]]] = {}
    for attribute, _ in kept:  # the attribute of the surest first
        own = [key for key in kept if key[0] == attribute]
        own.sort(key=lambda key: min(row.effect for row in _there(told[key])))
        by_attribute[attribute] = {group: told[attribute, group] for _, group in own}
    bands = [band_of(run.summary, outcome) for run in runs]
    plotted = [row for key in kept for row in _there(told[key])]
    names = [run.name for run in runs]
    return ModelDots(reach_of(plotted, bands), outcome, names, by_attribute, bands, len(rows) - len(kept))


def gaps(runs: Sequence[Run], found: Sequence[Gap], most: int = MOST_GAPS) -> GapDots | None:
    """Return the plot of the differences in the outcome of the surest; None where there are none."""
    best = min(found, key=_rank, default=None)
    if best is None:
        return None
    rows = [row for row in found if row.outcome == best.outcome]
    kept = sorted((row for row in rows if row.texts >= FEW or sure(row)), key=_rank)[:most]
    if not kept:
        return None
    by_contrast: dict[str, list[Gap]] = {}
    for row in kept:
        by_contrast.setdefault(f"{row.attribute}: {row.source} → {row.target}", []).append(row)
    ends = sorted(max(map(abs, row.ci95)) for row in kept if row.ci95 is not None)
    wide = max(*(abs(row.difference) for row in kept), 0.0, *ends[: max(1, int(COVERED * len(ends)))])
    places = {run.name: place for place, run in enumerate(runs)}
    return GapDots(rounded(wide), best.outcome, by_contrast, places, len(rows) - len(kept))


def _rank(row: Gap) -> tuple[bool, float, float]:
    certain = sure(row)
    p = row.p if row.p is not None and row.ci95 is not None else 1.0
    return (not certain, 0.0 if certain else p, -abs(row.difference))


def _there(rows: Sequence[Group | None]) -> Iterator[Group]:
    return (row for row in rows if row is not None)
