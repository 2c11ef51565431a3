"""How sections are drawn, by the pages and by the terminal: cells as words, and the scale of a plot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.sections import Cell


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
