"""Which of two runs is biased on which cases, as a table and in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.numerals import count, counted, listed
from harness.report.finding import ALPHA
from harness.report.pairing import Paired, Run
from harness.sections import Cell, Column, Section, Table

NAMED = 3
"""The most pairs of runs that a headline names."""
NOTE = (
    "Cases judged in both runs. p: McNemar's exact test on the cases where only one run is biased, which"
    " treats cases as independent. By original: a test that flips the signs of whole originals, whose"
    " mutants resemble each other. Holm's correction is over all rows."
)


def sections(pairs: Sequence[Paired]) -> list[Section]:
    """Return the table of the cases that two runs judged; none without any."""
    if not pairs:
        return []
    several = len({(row.first, row.second) for row in pairs}) > 1
    columns: list[str | Column] = ["changed", *(["first", "second"] if several else [])]
    columns += ["cases", Column("both biased", page_only=True)]
    columns += ["only first", "only second", Column("neither", page_only=True), Column("p", page_only=True)]
    columns += [
        "p, Holm",
        Column("p, by original", page_only=True),
        Column("by original, Holm", "by original"),
    ]
    rows: list[list[Cell]] = [
        [
            " + ".join(row.attributes),
            *((row.first, row.second) if several else ()),
            *(row.cases, row.both, row.only_first, row.only_second, row.neither),
            *(f"{p:.2g}" for p in (row.p, row.p_holm, row.p_by_original, row.p_by_original_holm)),
        ]
        for row in pairs
    ]
    which = [] if several else [f"First: {pairs[0].first}. Second: {pairs[0].second}."]
    return [Section("Case by case", " ".join([*which, *more(pairs)]), Table(columns, rows), notes=[NOTE])]


def more(pairs: Sequence[Paired]) -> Iterator[str]:
    """Yield, for a few pairs of runs, of which attribute sets one is biased on more cases than by chance."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in filter(_differ, pairs):
        found.setdefault(_order(row), []).append(" + ".join(row.attributes))
    for (more, fewer), names in [*found.items()][:NAMED]:
        yield f"{more} is biased on more cases than {fewer} of {listed(names)}."
    if (left := len(found) - NAMED) > 0:
        yield f"{counted(left, 'further pair')} of runs {'differs' if left == 1 else 'differ'} so, too."


def headline(runs: Sequence[Run], pairs: Sequence[Paired]) -> str:
    """Return in words which run is biased on more cases of what, or why this cannot be told."""
    if not pairs:
        if len({run.summary.suite for run in runs}) == len(runs):
            return "These runs are of different suites, so their cases cannot be compared one by one."
        return "No case was judged in two of these runs, so they cannot be compared case by case."
    sentences = []
    for row in filter(_differ, pairs):
        most, least = sorted((row.only_first, row.only_second), reverse=True)
        sentences.append(
            f"{_order(row)[0]} is biased on more cases of {' + '.join(row.attributes)}: {count(most)} where"
            f" the other is not, against {count(least)} the other way"
            f" (of {count(row.cases)}; p = {row.p_holm:.2g})."
        )
    none = "On shared cases, no two runs differ by more than chance in any attribute set."
    return " ".join(sentences) or none


def _differ(row: Paired) -> bool:
    return max(row.p_holm, row.p_by_original_holm) < ALPHA


def _order(row: Paired) -> tuple[str, str]:
    """Return the run that is biased on more cases, and the other."""
    return (row.first, row.second) if row.only_first > row.only_second else (row.second, row.first)
