"""What a suite shows of its figures, as data: tables and plots that the page and the terminal draw alike.

A suite's ``figures`` puts sections, made plain by ``plain``, into the summary, so that a report can be drawn
again from the summary alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

Cell = str | int | float | None


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells under ``columns``; the first column names the row, and what is a number is set right."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]


@dataclass(frozen=True, slots=True)
class Bar:
    """A value with its interval (None: not known); ``kind`` is 0 or 1, for the colour."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    kind: int = 0


@dataclass(frozen=True, slots=True)
class Box:
    """Whisker ends, quartiles and median of a distribution, and the points beyond the whiskers."""

    name: str
    low: float
    first: float
    median: float
    third: float
    high: float
    outliers: Sequence[float] = ()


@dataclass(frozen=True, slots=True)
class Line:
    """A curve through ``points`` (x, y)."""

    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Plot:
    """Bars, boxes or lines over one axis each; ``percent`` writes values as shares."""

    title: str
    bars: Sequence[Bar] = ()
    boxes: Sequence[Box] = ()
    lines: Sequence[Line] = ()
    percent: bool = False
    x_title: str = ""
    y_title: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with what stands under it, in this order: text, table, plots, notes."""

    title: str
    text: str = ""
    table: Table | None = None
    plots: Sequence[Plot] = ()
    notes: Sequence[str] = ()


def plain(sections: Sequence[Section]) -> list[dict[str, Any]]:
    """The sections as JSON values."""
    return [asdict(section) for section in sections]


def written(cell: Cell, share: bool = False) -> str:
    """A cell as it is shown: whole numbers with thousands, others to four digits, an en dash for None."""
    if cell is None:
        return "–"
    if isinstance(cell, str):
        return cell
    if share:
        return f"{100 * cell:.1f} %"
    return f"{cell:,}" if isinstance(cell, int) else f"{cell:.4g}"


def scale(plot: Mapping[str, Any]) -> tuple[float, float]:
    """The ends of the value axis: all that is drawn, and zero."""
    values = [0.0]
    for bar in plot["bars"]:
        values += [v for v in (bar["value"], bar["low"], bar["high"]) if v is not None]
    for box in plot["boxes"]:
        values += [box["low"], box["high"], *box["outliers"]]
    for line in plot["lines"]:
        values += [y for _, y in line["points"]]
    low, high = min(values), max(values)
    return (low, high) if high > low else (low, low + 1.0)
