"""Heat maps of the groups that meet on one person: what both changes at once do to an outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.findings.records import Intersection
from harness.findings.tally import ANY
from harness.report.dots import main_outcome
from harness.report.finding import sure
from harness.report.groups import FEW
from harness.report.summary import Summary

STEPS = (0.02, 0.1, 0.25)
"""The effects at which a cell becomes darker."""
MOST = 9
"""The most groups on a side."""
FEWEST = 2
"""The fewest cells of a map; a single one is shown where it is sure."""


@dataclass(frozen=True, slots=True)
class Cell:
    """Two groups that meet; ``sure`` where both changes do not add up, after correction."""

    row: Intersection

    @property
    def sure(self) -> bool:
        """Whether both changes together are shown to do more or less than they add up to."""
        return sure(self.row)

    @property
    def shade(self) -> str:
        """The class of the cell: ``less1`` to ``less3``, ``more1`` to ``more3``, or none."""
        steps = sum(abs(self.row.effect) >= step for step in STEPS)
        return f"{'less' if self.row.effect < 0 else 'more'}{steps}" if steps else ""


@dataclass(frozen=True, slots=True)
class Heat:
    """The groups of ``down`` by those of ``across``; a pair that does not meet has no cell."""

    outcome: str
    down: str
    across: str
    rows: Sequence[str]
    columns: Sequence[str]
    cells: Mapping[tuple[str, str], Cell]
    left_out: int


def heats(summary: Summary) -> list[Heat]:
    """Return a map for each two attributes, the one with most texts first; none where too few groups meet."""
    outcome = main_outcome(summary.contrasts)
    pairs: dict[tuple[str, ...], list[Intersection]] = {}
    for row in summary.intersections:
        if row.outcome == outcome and len(row.groups) == 2:
            pairs.setdefault(tuple(row.groups), []).append(row)
    found = [heat for names, rows in pairs.items() if (heat := _heat(names, rows)) is not None]
    return sorted(found, key=lambda heat: -sum(cell.row.originals for cell in heat.cells.values()))


def _heat(names: tuple[str, ...], rows: Sequence[Intersection]) -> Heat | None:
    told = [row for row in rows if row.originals >= FEW or sure(row)]
    if not told:
        return None
    first, second = names
    if len({row.groups[first] for row in told}) < len({row.groups[second] for row in told}):
        first, second = second, first
    down, across = _most(told, first), _most(told, second)
    shown = [row for row in told if row.groups[first] in down and row.groups[second] in across]
    if len(shown) < FEWEST and not any(map(sure, shown)):
        return None
    cells = {(row.groups[first], row.groups[second]): Cell(row) for row in shown}
    return Heat(told[0].outcome, first, second, down, across, cells, len(rows) - len(shown))


def _most(rows: Sequence[Intersection], attribute: str) -> list[str]:
    """Return the groups of an attribute with most texts, all of them together first."""
    texts: dict[str, int] = {}
    for row in rows:
        texts[row.groups[attribute]] = texts.get(row.groups[attribute], 0) + row.originals
    return sorted(texts, key=lambda name: (name != ANY, -texts[name], name))[:MOST]
