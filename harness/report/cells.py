"""Drawing of sections for pages, the terminal and Markdown: cells as text, and the scale of a plot."""

from __future__ import annotations

import itertools
import math

from harness.numerals import UNKNOWN, count, interval, percent
from harness.sections import Cell, Estimate, Label, Plot, Worded

STEPS = 4
"""The steps of an axis."""
ROUND = (1.0, 2.0, 2.5, 5.0)
"""What a step is, times a power of ten."""


def written(cell: Cell, share: bool = False, brief: bool = False) -> str:
    """Return a cell as text: integers with thousands separators, other numbers to four digits, an en dash for
    None.

    ``share`` writes numbers in percent; ``brief`` selects the form for narrow displays.
    """
    match cell:
        case None:
            return UNKNOWN
        case str():
            return cell
        case Label():
            return cell.text
        case Worded():
            return cell.brief if brief else cell.text
        case Estimate():
            return _estimate(cell, brief)
        case _ if share:
            return percent(cell)
        case int():
            return count(cell)
        case _:
            return f"{cell:.4g}"


def _estimate(cell: Estimate, brief: bool) -> str:
    """Return ``22.8 % (18.7 to 27.4 %)``; ``brief`` writes the unit once and no note."""
    if cell.value is None:
        return interval(cell.interval)
    if cell.interval is None:
        return percent(cell.value)
    low, high = cell.interval
    unit = "" if brief else " %"
    note = f", {cell.note}" if cell.note and not brief else ""
    return f"{percent(cell.value)} ({percent(low, '')} to {percent(high, unit)}){note}"


def scale(plot: Plot) -> tuple[float, float]:
    """Return the ends of the value axis, which covers all values and zero; its ticks are round numbers."""
    values = [0.0]
    for bar in plot.bars:
        values += [value for value in (bar.value, bar.low, bar.high) if value is not None]
    for box in plot.boxes:
        values += [box.low, box.high, *box.outliers]
    for line in plot.lines:
        values += [y for _, y in line.points]
    low, high = min(values), max(values)
    least = (high - low or 1.0) / STEPS
    sizes = (figure * 10.0**digits for digits in itertools.count(_order(least)) for figure in ROUND)
    return next(ends for size in sizes if (ends := _ends(low, size))[1] >= high and size >= least)


def _order(number: float) -> int:
    return math.floor(math.log10(number))


def _ends(low: float, step: float) -> tuple[float, float]:
    start = math.floor(low / step) * step
    return start, start + STEPS * step
