"""Arrange many systems side by side, in the form of the paper's Tables 5 to 7 and Figures 1 and 2."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from harness.suites.eec.analysis import Assessment, Box, Direction

Group = Literal["none", "first", "second", "all"]
GROUPS: tuple[Group, ...] = ("none", "first", "second", "all")


@dataclass(frozen=True, slots=True)
class Submission:
    """One system's predictions for one task.

    ``rank`` is its place among the task's systems, 1 for the most accurate; ``direction`` is the group that
    ``analysis.directions`` assigned.
    """

    system: str
    task: str
    assessment: Assessment
    direction: Direction
    rank: int | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """A row of Tables 5 to 7: the submissions in a group and their average score differences.

    ``up`` and ``down`` are means of the submissions' own means; None if the group has none.
    """

    task: str
    group: Group
    submissions: int
    up: float | None
    down: float | None


@dataclass(frozen=True, slots=True)
class Plotted:
    """One system's box in Figure 1 or 2."""

    system: str
    rank: int | None
    direction: Direction
    box: Box


def bias_table(submissions: Sequence[Submission]) -> tuple[Row, ...]:
    """Return the rows of each task's three groups and of all its submissions, tasks in order of first use."""
    return tuple(
        _row(task, group, [s for s in submissions if s.task == task and group in (s.direction, "all")])
        for task in dict.fromkeys(s.task for s in submissions)
        for group in GROUPS
    )


def box_plot(submissions: Iterable[Submission], task: str) -> tuple[Plotted, ...]:
    """Return the boxes of one task's systems by rank; those without a rank come last, in the order given."""
    of_task = [s for s in submissions if s.task == task]
    of_task.sort(key=lambda s: (s.rank is None, s.rank or 0))
    return tuple(Plotted(s.system, s.rank, s.direction, s.assessment.box) for s in of_task)


def _row(task: str, group: Group, members: Sequence[Submission]) -> Row:
    up = _average(s.assessment.up for s in members)
    return Row(task, group, len(members), up, _average(s.assessment.down for s in members))


def _average(values: Iterable[float | None]) -> float | None:
    numbers = [value for value in values if value is not None]
    return sum(numbers) / len(numbers) if numbers else None
