"""A stream of checks: how often answers depend on who is spoken of, for whom, and when that rose."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness.guard.records import Checked
from harness.sequences import Alarm, confidence_sequence
from harness.statistics import Interval

LEARNT = 200
"""The checks of an attribute from which its usual rate is learnt, where it is not given."""
TAIL = 64 << 20
"""The bytes at the end of a log that are read."""
POINTS = 100
"""The points of a curve."""

Name = tuple[str, str]
"""An attribute and a group, "" for all of its groups."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A check: when, which groups were compared, and those that fared worse, or differently."""

    time: datetime
    compared: frozenset[Name]
    found: frozenset[Name]

    @classmethod
    def of(cls, checked: Checked) -> Entry:
        """Return the entry of a check that was made now."""
        told = checked.to_json(texts=False)
        return cls.told({**told, "groups": checked.groups}, datetime.now(UTC))

    @classmethod
    def told(cls, line: Mapping[str, Any], time: datetime) -> Entry:
        """Return the entry of a line of a log. Raises ``KeyError``, ``TypeError`` or ``ValueError``."""
        compared = {
            (str(name), str(group))
            for name, groups in dict(line["groups"]).items()
            for group in ("", *groups)
        }
        found: set[Name] = set()
        for difference in line["differences"]:
            worse = [difference["worse"]] if difference["worse"] is not None else list(difference["means"])
            found |= {(str(difference["attribute"]), str(group)) for group in ("", *worse)}
        return cls(time, frozenset(compared), frozenset(found & compared))


@dataclass
class Series:
    """The checks of an attribute, or of a group of it, and those with a finding.

    ``rate`` and ``interval`` are those of all checks; ``usual`` is the rate above which it alarms, None while
    that is learnt. ``curve`` has, at some numbers of checks, the rate and its interval.
    """

    usual: float | None = None
    checks: int = 0
    findings: int = 0
    alarms: list[datetime] = field(default_factory=list)
    curve: list[tuple[int, float, Interval]] = field(default_factory=list)
    _alarm: Alarm | None = None
    _every: int = 1

    @property
    def rate(self) -> float:
        """The share of checks with a finding."""
        return self.findings / self.checks if self.checks else 0.0

    @property
    def interval(self) -> Interval:
        """The interval that holds the rate at all times with 95 %."""
        return confidence_sequence(self.findings, self.checks)

    def add(self, found: bool, time: datetime) -> bool:
        """Add a check, and return whether it raises an alarm."""
        self.checks += 1
        self.findings += found
        self._draw()
        if self._alarm is None:
            if self.usual is None and self.checks >= LEARNT:
                self.usual = self.interval[1]
            self._alarm = Alarm(self.usual) if self.usual is not None else None
            return False
        alarmed = self._alarm.add(found)
        if alarmed:
            self.alarms.append(time)
        return alarmed

    def _draw(self) -> None:
        """Add a point to the curve now and then, of which there are never many."""
        if self.checks % self._every == 0:
            self.curve.append((self.checks, self.rate, self.interval))
        if len(self.curve) > 2 * POINTS:
            self.curve = self.curve[1::2]
            self._every *= 2


class Watch:
    """The series of a stream; ``usual`` is the rate of findings that is usual, None to learn it."""

    def __init__(self, usual: float | None = None) -> None:
        self._usual = usual
        self.series: dict[Name, Series] = {}
        self.first: datetime | None = None
        self.last: datetime | None = None
        self.unread = 0

    def add(self, entry: Entry) -> list[Name]:
        """Add a check, and return the names of the series that raise an alarm."""
        self.first = self.first or entry.time
        self.last = entry.time
        alarmed = []
        for name in sorted(entry.compared):
            series = self.series.setdefault(name, Series(self._usual))
            if series.add(name in entry.found, entry.time):
                alarmed.append(name)
        return alarmed

    @classmethod
    def over(cls, lines: Iterable[str], usual: float | None = None) -> Watch:
        """Return the series of the lines of a log; those that are none are counted in ``unread``."""
        watch = cls(usual)
        for line in lines:
            try:
                told = json.loads(line)
                if told.get("verdict") in ("fair", "unfair"):
                    watch.add(Entry.told(told, datetime.fromisoformat(told["time"])))
            except (ValueError, KeyError, TypeError, AttributeError):
                watch.unread += 1
        return watch


def read(path: Path, tail: int = TAIL) -> Watch:
    """Return the series of the log at ``path``, of its last ``tail`` bytes. Raises ``OSError``."""
    return Watch.over(_lines(path, tail))


def _lines(path: Path, tail: int) -> Iterator[str]:
    with path.open("rb") as file:
        size = path.stat().st_size
        if size > tail:
            file.seek(size - tail)
            file.readline()
        for line in file:
            yield line.decode("utf-8", "replace")
