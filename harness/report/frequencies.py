"""Which of two runs is biased on more of the same tests, as a table and in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.findings.frequency import Frequency
from harness.numerals import chance, counted, percent
from harness.report.finding import ALPHA, POINTS, magnitude
from harness.report.groups import p_value, points
from harness.sections import Cell, Column, Section, Table, Worded

NOTES = (
    "Difference: the share of the same tests on which the second run is biased, minus that of the first, in"
    " points. Beyond controls: the same difference less that on control mutants like the tests. Both with"
    " 95 % intervals by resampled originals.",
    "p: by flipping the signs of whole originals, corrected for all differences of this table.",
)


def sections(rows: Sequence[Frequency]) -> list[Section]:
    """Return the table of two runs on the same tests; none without any."""
    if not rows:
        return []
    several = len(rows) > 1
    columns: list[str | Column] = ["second − first" if several else "compared", "tests", "biased"]
    columns += ["difference", "p", "beyond controls", Column("p, beyond controls", page_only=True)]
    cells: list[list[Cell]] = [
        [
            f"{row.second} − {row.first}",
            row.tests,
            f"{row.biased_second:,} − {row.biased_first:,}",
            _points(row.difference, row.ci95),
            p_value(row.p_holm),
            None if row.beyond is None else _points(row.beyond, row.beyond_ci95),
            p_value(row.beyond_p_holm),
        ]
        for row in rows
    ]
    return [Section("Biased on more of the same tests", table=Table(columns, cells), notes=NOTES)]


def _points(value: float, interval: Sequence[float] | None) -> Worded:
    """Return ``-12.0 (-15.1 to -9.0)``; briefly the interval on a line of its own."""
    number, _, bounds = points(value, interval).partition(" ")
    return Worded(f"{number} {bounds}".strip(), f"{number}\n{bounds.strip('()')}".strip())


def headline(rows: Sequence[Frequency]) -> Iterator[str]:
    """Yield in words which run is biased on more of the same tests, and whether beyond control mutants."""
    if not rows:
        return
    certain = [row for row in rows if _sure(row.p_holm)]
    widest = max(certain or rows, key=lambda row: abs(row.difference))
    if len(rows) == 1:
        yield _told(widest)
    elif certain:
        differ = "differs" if len(certain) == 1 else "differ"
        most = ", most" if len(certain) > 1 else ""
        yield (
            f"{len(certain)} of {counted(len(rows), 'pair')} of runs {differ} in how many of the same tests"
            f" they are biased on{most}: {_told(widest)}"
        )
    else:
        yield (
            f"No two of these runs are shown to be biased on different numbers of the same tests: at most,"
            f" {_signed(widest, widest.difference, widest.ci95)}."
        )
    if certain:
        yield _beyond(widest)


def _told(row: Frequency) -> str:
    more, fewer = _order(row)
    if not _sure(row.p_holm):
        return (
            f"Which of {row.first} and {row.second} is biased on more of the {row.tests:,} tests of both is"
            f" not shown: {_signed(row, row.difference, row.ci95)}."
        )
    shares = [percent(number / row.tests) for number in sorted((row.biased_first, row.biased_second))]
    return (
        f"{more} is biased on {shares[1]} of the {row.tests:,} tests of both, {fewer} on {shares[0]}:"
        f" {magnitude(row.difference, row.ci95)} more (corrected p {chance(row.p_holm or 0.0)},"
        f" {counted(row.texts, 'text')})."
    )


def _beyond(row: Frequency) -> str:
    if row.beyond is None:
        return "Without control mutants, this is not told from what any edit would change."
    if not _sure(row.beyond_p_holm):
        figure = _signed(row, row.beyond, row.beyond_ci95)
        return f"That this goes beyond what control mutants change is not shown: {figure}."
    more, fewer = _order(row) if row.beyond * row.difference > 0 else _order(row)[::-1]
    return (
        f"Less what control mutants change, {more} is biased on {magnitude(row.beyond, row.beyond_ci95)} more"
        f" than {fewer} (corrected p {chance(row.beyond_p_holm or 0.0)})."
    )


def _signed(row: Frequency, value: float, interval: Sequence[float] | None) -> str:
    """Return ``b minus a is +1.5 points (95 % interval -0.4 to +3.4 points)``."""
    figure = f"{row.second} minus {row.first} is {100 * value:+.1f}{POINTS}"
    if interval is None:
        return figure
    low, high = (100 * bound for bound in interval)
    return f"{figure} (95 % interval {low:+.1f} to {high:+.1f}{POINTS})"


def _sure(p: float | None) -> bool:
    return p is not None and p <= ALPHA


def _order(row: Frequency) -> tuple[str, str]:
    """Return the run that is biased on more tests, and the other."""
    return (row.second, row.first) if row.difference > 0 else (row.first, row.second)
