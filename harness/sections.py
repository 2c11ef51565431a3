"""Tables and plots as data, which the pages, the terminal and Markdown all draw from.

A suite's ``figures`` adds sections to the summary as JSON (``plain``), so that a report can be redrawn from
the summary alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Estimate:
    """A share from 0 to 1 with its 95 % interval and a ``note``; ``value`` is None for an interval alone."""

    value: float | None
    interval: tuple[float, float] | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Label:
    """The name of a row and its ``kind``, which a page marks with a colour."""

    text: str
    kind: str


@dataclass(frozen=True, slots=True)
class Worded:
    """A cell in words, with a ``brief`` form for narrow displays."""

    text: str
    brief: str


Cell = str | int | float | Estimate | Label | Worded | None
"""A table cell: None for an unknown value, "" if the column does not apply to the row."""


@dataclass(frozen=True, slots=True)
class Column:
    """The head of a column that needs more than a name.

    Narrow displays use ``brief`` instead of ``name`` and explain brief cells by ``legend``. ``note`` is a
    footnote. The terminal omits a column that is ``page_only``.
    """

    name: str
    brief: str = ""
    note: str = ""
    legend: str = ""
    page_only: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells under ``columns``; the first column names the row, and numbers are aligned right."""

    columns: Sequence[str | Column]
    rows: Sequence[Sequence[Cell]]

    @property
    def heads(self) -> tuple[Column, ...]:
        """The columns, with bare names as ``Column`` too."""
        return tuple(Column(head) if isinstance(head, str) else head for head in self.columns)

    def narrow(self) -> Table:
        """Return the table without its ``page_only`` columns."""
        places = [place for place, head in enumerate(self.heads) if not head.page_only]
        return Table(
            [self.columns[place] for place in places], [[row[place] for place in places] for row in self.rows]
        )


@dataclass(frozen=True, slots=True)
class Bar:
    """A value with its interval (None: unknown); ``kind`` selects one of six colours."""

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
    """The figures that a suite adds to the summary of a run.

    ``blocks`` holds JSON blocks by name; ``headline`` is the finding in a sentence or two, empty if the
    results speak for themselves; ``sections`` are displayed by the terminal and the report.
    """

    blocks: Mapping[str, Any] = field(default_factory=dict)
    headline: str = ""
    sections: Sequence[Section] = ()

    def plain(self) -> dict[str, Any]:
        """Return the keys to add to the summary: the blocks, ``headline`` if not empty, ``sections``."""
        headline = {"headline": self.headline} if self.headline else {}
        return {**self.blocks, **headline, "sections": plain(self.sections)}


def plain(sections: Sequence[Section]) -> list[dict[str, Any]]:
    """Return the sections as JSON values, with lists for tuples, exactly as read back from a summary."""
    values: list[dict[str, Any]] = json.loads(json.dumps([asdict(section) for section in sections]))
    return values
