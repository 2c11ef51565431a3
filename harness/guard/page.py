"""What a page shows of a stream of checks: rates with their intervals, and alarms."""

from __future__ import annotations

from collections.abc import Iterator

from harness.guard.watch import LEARNT, Name, Series, Watch
from harness.numerals import percent
from harness.sections import Estimate, Line, Plot, Section, Table

COLUMNS = ("who", "checks", "answers that depend on it", "usual", "alarms", "last alarm")
CURVES = 4
"""The most curves that are drawn: those of the attributes with most checks."""


def sections(watch: Watch) -> Iterator[Section]:
    """Yield the sections about a stream."""
    if watch.first is None or watch.last is None:
        yield Section("No check yet", "The log has no check of a text that names somebody.")
        return
    times = [time.astimezone().strftime("%Y-%m-%d %H:%M") for time in (watch.first, watch.last)]
    names = sorted(watch.series)
    yield Section(
        "Answers that depend on who is spoken of",
        f"From {times[0]} to {times[1]}. A group's line counts the checks in which it was compared, and those"
        " in which it fared worst, or was one of the two that differed most.",
        Table(COLUMNS, [_row(name, watch.series[name]) for name in names]),
        [_plot(name, watch.series[name]) for name in _drawn(watch)],
        [
            "Intervals hold the rate at all times at once with 95 %, so they may be looked at as often as you"
            " like.",
            f"What is usual is given, or the upper end after {LEARNT} checks. While the rate is no higher,"
            " there are at least 10,000 checks between alarms on average.",
            *([f"{watch.unread:,} lines of the log could not be read."] if watch.unread else []),
        ],
    )


def _row(name: Name, series: Series) -> tuple[str, int, Estimate, str, int, str]:
    attribute, group = name
    return (
        f"{attribute}: {group}" if group else attribute,
        series.checks,
        Estimate(series.rate, series.interval),
        "being learnt" if series.usual is None else percent(series.usual),
        len(series.alarms),
        series.alarms[-1].astimezone().strftime("%Y-%m-%d %H:%M") if series.alarms else "",
    )


def _drawn(watch: Watch) -> list[Name]:
    attributes = [name for name in watch.series if not name[1] and len(watch.series[name].curve) > 1]
    return sorted(attributes, key=lambda name: -watch.series[name].checks)[:CURVES]


def _plot(name: Name, series: Series) -> Plot:
    lines = [
        Line("upper end", [(number, interval[1]) for number, _, interval in series.curve]),
        Line("rate", [(number, rate) for number, rate, _ in series.curve]),
        Line("lower end", [(number, interval[0]) for number, _, interval in series.curve]),
    ]
    return Plot(f"{name[0]}: share of answers that depend on it", lines=lines, percent=True, x_title="checks")
