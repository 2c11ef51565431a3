"""Figures as data: tables and plots that every page and the terminal draw alike.

A suite's ``figures`` puts sections, as JSON by ``plain``, into the summary, so that a report can be redrawn
from the summary alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

Cell = str | int | float | None


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells under ``columns``; the first column names the row, and numbers are aligned right."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]


@dataclass(frozen=True, slots=True)
class Bar:
    """A value with its interval (None: unknown); ``kind`` is 0 or 1 and selects the colour."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    kind: int = 0


@dataclass(frozen=True, slots=True)
class Box:
    """The whisker ends, quartiles and median of a distribution, and the points beyond the whiskers."""

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
    """Bars, boxes or lines over one axis each; with ``percent``, values are written as percentages."""

    title: str
    bars: Sequence[Bar] = ()
    boxes: Sequence[Box] = ()
    lines: Sequence[Line] = ()
    percent: bool = False
    x_title: str = ""
    y_title: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with its content in this order: text, table, plots, notes.

    The terminal omits a section that is ``page_only``.
    """

    title: str
    text: str = ""
    table: Table | None = None
    plots: Sequence[Plot] = ()
    notes: Sequence[str] = ()
    page_only: bool = False


@dataclass(frozen=True, slots=True)
class Figures:
    """What a suite adds to the summary of a run.

    ``blocks`` holds JSON blocks by name; ``headline`` is the finding in a sentence or two, empty where the
    results speak for themselves; ``sections`` is what the terminal and the report display.
    """

    blocks: Mapping[str, Any] = field(default_factory=dict)
    headline: str = ""
    sections: Sequence[Section] = ()

    def plain(self) -> dict[str, Any]:
        """Return what is put into the summary: the blocks, ``headline`` where there is one, ``sections``."""
        headline = {"headline": self.headline} if self.headline else {}
        return {**self.blocks, **headline, "sections": plain(self.sections)}


def plain(sections: Sequence[Section]) -> list[dict[str, Any]]:
    """Return the sections as JSON values, with lists for tuples, exactly as read back from a summary."""
    values: list[dict[str, Any]] = json.loads(json.dumps([asdict(section) for section in sections]))
    return values
