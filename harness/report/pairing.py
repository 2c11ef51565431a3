"""Two or more runs, case by case: which is biased where, and the cases and findings of each suite.

Two models asked about the same cases are compared by McNemar's test on biased or benign, which, unlike two
separate rates, takes into account that both answered about the same texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from harness.blocks import Block, Interval
from harness.core import KEY_SEPARATOR, Tables
from harness.findings.excess import SCORES
from harness.findings.frequency import decided
from harness.findings.gaps import common
from harness.findings.outcomes import Outcomes
from harness.report.rates import intervals
from harness.report.summary import Summary
from harness.statistics import adjusted, flip_test, mcnemar, rate

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Run:
    """A run to compare: its display name, its summary, and its table of verdicts.

    ``tables`` and ``outcomes`` are those that its findings were made from; without them, no effects can be
    compared text by text.
    """

    name: str
    summary: Summary
    verdicts: pl.LazyFrame
    tables: Tables | None = None
    outcomes: Outcomes | None = None


class Suited(Block):
    """The cases and findings of one run's suite; tests are verdicts, whatever their unit."""

    name: str
    suite: str
    groups: int
    cases: int
    tests: int
    biased: int
    rate: float | None
    ci95: Interval | None
    originals: int
    biased_originals: int


class Paired(Block):
    """The cases of one attribute set that two runs judged, by the runs in which they are biased."""

    first: str
    second: str
    attributes: tuple[str, ...]
    cases: int
    both: int
    only_first: int
    only_second: int
    neither: int
    p: float
    p_by_original: float
    p_holm: float
    p_by_original_holm: float


def paired(runs: Sequence[Run]) -> list[Paired]:
    """Return a row per attribute set for every two runs of one suite that share cases.

    It counts the cases on which only one run is biased, with McNemar's p and the p of a permutation test of
    whole originals, and both after Holm's correction over all rows: the attribute sets of every two runs.
    """
    rows = [
        row
        for first, second in combinations(runs, 2)
        if first.summary.suite == second.summary.suite
        for row in _joined(first, second)
    ]
    by_case, by_original = adjusted([row.p for row in rows]), adjusted([row.p_by_original for row in rows])
    return [
        row.model_copy(update={"p_holm": p, "p_by_original_holm": q})
        for row, p, q in zip(rows, by_case, by_original, strict=True)
    ]


def _joined(first: Run, second: Run) -> Iterator[Paired]:
    """Yield the rows of two runs, with p not corrected yet."""
    import polars as pl

    left, right = (decided(run.verdicts) for run in (first, second))
    if first.tables is not None and second.tables is not None:
        same = common(first.tables, second.tables).lazy()
        left = left.join(same, left_on="case", right_on="id", how="semi")
    counts = (
        left.join(right, on=["case", "other", "key", "document"], suffix="_second")
        .group_by("key", "document")
        .agg(
            cases=pl.len(),
            both=(pl.col("biased") & pl.col("biased_second")).sum(),
            only_first=(pl.col("biased") & ~pl.col("biased_second")).sum(),
            only_second=(~pl.col("biased") & pl.col("biased_second")).sum(),
        )
        .sort("document")
        .group_by("key")
        .agg(
            pl.col("cases", "both", "only_first", "only_second").sum(),
            more=pl.col("only_first").cast(pl.Int64) - pl.col("only_second").cast(pl.Int64),
        )
        .sort(pl.col("key").str.count_matches(KEY_SEPARATOR, literal=True), "key")
        .collect()
    )
    for key, cases, both, only_first, only_second, more in counts.iter_rows():
        p = mcnemar(only_first, only_second)
        flipped = flip_test([number for number in more if number])
        yield Paired(
            first=first.name,
            second=second.name,
            attributes=tuple(key.split(KEY_SEPARATOR)),
            cases=cases,
            both=both,
            only_first=only_first,
            only_second=only_second,
            neither=cases - both - only_first - only_second,
            p=p,
            p_by_original=flipped,
            p_holm=p,
            p_by_original_holm=flipped,
        )


def of_suite(run: Run) -> Suited:
    """Return the cases and findings of any suite (BiasFinder, Table 6)."""
    import polars as pl

    tests = run.verdicts.filter(pl.col("relation") != SCORES)
    biased = pl.col("status") == "biased"
    rows = (
        tests.group_by("document")
        .agg(
            tests=pl.len(),
            biased=biased.sum(),
            decided=pl.col("status").is_in(["biased", "benign"]).sum(),
            relation=pl.col("relation").first(),
        )
        .sort("document")
        .collect()
    )
    total = {name: int(rows[name].sum()) for name in ("tests", "biased", "decided")}
    relation = rows["relation"][0] if rows.height else None
    return Suited(
        name=run.name,
        suite=run.summary.suite,
        groups=run.summary.documents.eligible,
        cases=run.summary.cases.valid,
        tests=total["tests"],
        biased=total["biased"],
        rate=rate(total["biased"], total["decided"]),
        ci95=intervals(relation, rows["biased"].to_list(), rows["decided"].to_list())[0],
        originals=rows.height,
        biased_originals=int((rows["biased"] > 0).sum()),
    )
