"""The dot plot of the first screen: what each group gets beside the others, and what editing alone does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from harness.blocks import Interval
from harness.findings.records import Contrast, Drift, Group
from harness.report.finding import sure
from harness.report.groups import FEW
from harness.report.summary import Summary

T = TypeVar("T")

MOST = 14
"""The most groups of the plot: it must fit the first screen."""
REACHES = (0.02, 0.04, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0, 1.5, 2.0)
"""The ends of the axis, on both sides of zero."""
COVERED = 0.75
"""The share of intervals that the axis covers; the others go beyond it."""


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis that goes as far below zero as above it."""

    reach: float

    def place(self, value: float) -> float:
        """Return where a value is on the axis, in percent of its length; what is beyond is at its end."""
        return 50 + 50 * max(-1.0, min(1.0, value / self.reach))

    def beyond(self, interval: Interval) -> bool:
        """Return whether an interval goes beyond the axis."""
        return interval[0] < -self.reach or interval[1] > self.reach

    @property
    def ticks(self) -> Sequence[float]:
        """The values to write below the axis."""
        return [self.reach * part for part in (-1, -0.5, 0, 0.5, 1)]


@dataclass(frozen=True, slots=True)
class Dots(Axis):
    """The groups by attribute; ``band`` is the change of ``outcome`` in control mutants, None without any."""

    outcome: str
    groups: Mapping[str, Sequence[Group]]
    band: Drift | None
    left_out: int


def dots(summary: Summary, most: int = MOST) -> Dots | None:
    """Return the plot of the outcome about which most is sure; None where no groups were compared."""
    outcome = main_outcome(summary.contrasts)
    rows = [row for row in summary.groups if row.outcome == outcome]
    ranked = sorted(filter(shown, rows), key=rank)
    if not ranked:
        return None
    told = shared_out(ranked, most, lambda row: row.attribute)
    band = band_of(summary, told[0].outcome)
    groups: dict[str, list[Group]] = {}
    for row in told:  # the attribute of the surest first
        groups.setdefault(row.attribute, []).append(row)
    for of_attribute in groups.values():
        of_attribute.sort(key=lambda row: row.effect)
    return Dots(reach_of(told, [band]), told[0].outcome, groups, band, len(rows) - len(told))


def main_outcome(contrasts: Iterable[Contrast]) -> str | None:
    """Return the outcome that the first screen is about: the one of the surest contrast."""
    best = min(contrasts, key=lambda row: (not sure(row), _p(row.p_holm), -abs(row.effect)), default=None)
    return None if best is None else best.outcome


def shown(row: Group) -> bool:
    """Return whether a group has enough texts for the plot."""
    return row.originals >= FEW or sure(row)


def shared_out(rows: Sequence[T], most: int, of: Callable[[T], str]) -> list[T]:
    """Return at most ``most`` rows: the first of each attribute, then the second of each, and so on."""
    rounds: dict[str, int] = {}
    turns = []
    for row in rows:
        turns.append(rounds.setdefault(of(row), 0))
        rounds[of(row)] += 1
    kept = sorted(sorted(range(len(rows)), key=lambda place: turns[place])[:most])
    return [rows[place] for place in kept]


def rank(row: Group) -> tuple[bool, float, int]:
    """Return by what rows are sorted: the surest first, then those of most texts."""
    return (not sure(row), _p(row.p_holm), -row.originals)


def _p(p: float | None) -> float:
    return 1.0 if p is None else p


def band_of(summary: Summary, outcome: str) -> Drift | None:
    """Return what one change of words that name nobody does to the outcome, from the kind with most texts."""
    drifts = summary.control.drift if summary.control is not None else ()
    single = [row for row in drifts if row.outcome == outcome and row.edits.rstrip("+") == "1"]
    return max(single, key=lambda row: row.originals, default=None)


def reach_of(rows: Sequence[Group], bands: Sequence[Drift | None]) -> float:
    """Return the end of an axis for the effects, most of their intervals, and the bands."""
    ends = sorted(_ends(rows))
    most = max(abs(row.effect) for row in rows)
    wide = max(most, *_ends(filter(sure, rows)), ends[int(COVERED * (len(ends) - 1))] if ends else 0.0)
    for band in bands:
        if band is not None and band.ci95 is not None:
            wide = max(wide, min(1.0, *map(abs, band.ci95)))
    return rounded(wide)


def rounded(wide: float) -> float:
    """Return the first end of an axis that is as far."""
    return next((reach for reach in REACHES if reach >= wide), REACHES[-1])


def _ends(rows: Iterable[Group]) -> Iterator[float]:
    """Yield how far each interval reaches from zero."""
    for row in rows:
        if row.ci95 is not None:
            yield max(map(abs, row.ci95))
