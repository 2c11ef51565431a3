"""Count CheckList's cases by test and by capability.

A case of an INV or DIR test fails if any of its changed texts does, as its authors count.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.core import JsonObject, Tables
from harness.statistics import Interval, rate, wilson


@dataclass(frozen=True, slots=True)
class Row:
    """The cases of a test (``test`` None: of all tests of a capability).

    The rate is of ``passed`` and ``failed``; in ``excluded`` cases, the expectation did not apply.
    """

    capability: str
    test: str | None
    kind: str | None
    passed: int
    failed: int
    undetermined: int
    excluded: int

    @property
    def cases(self) -> int:
        """The number of all cases."""
        return self.judged + self.undetermined + self.excluded

    @property
    def judged(self) -> int:
        """The number of cases that passed or failed."""
        return self.passed + self.failed

    @property
    def ci95(self) -> Interval | None:
        """Wilson's 95 % interval of the failure rate."""
        return wilson(self.failed, self.judged)

    def plain(self) -> JsonObject:
        """Return the row as JSON values, its rate beside the counts."""
        return {
            "capability": self.capability,
            "test": self.test,
            "type": self.kind,
            "cases": self.cases,
            "passed": self.passed,
            "failed": self.failed,
            "rate": rate(self.failed, self.judged),
            "ci95": list(self.ci95) if self.ci95 else None,
            "undetermined": self.undetermined,
            "excluded": self.excluded,
        }


def count(tables: Tables) -> list[Row]:
    """Return a row for each test, in the order of the cases."""
    import polars as pl

    traits = {key: pl.col("traits").str.json_path_match(f"$.{key}") for key in ("test", "type", "capability")}
    cases = tables.scan("cases").select("id", "group", **traits)
    judged = tables.scan("verdicts").select("case", "status")
    status = pl.col("status")
    groups = (
        cases.join(judged, left_on="id", right_on="case", how="left", maintain_order="left")
        .group_by("test", "type", "capability", "group", maintain_order=True)
        .agg(
            failed=(status == "biased").any(),
            open=(status == "undetermined").any(),
            passed=(status == "benign").any(),
        )
    )
    failed, undetermined = pl.col("failed"), ~pl.col("failed") & pl.col("open")
    passed = ~pl.col("failed") & ~pl.col("open") & pl.col("passed")
    counted = groups.group_by("test", "type", "capability", maintain_order=True).agg(
        passed=passed.sum(),
        failed=failed.sum(),
        undetermined=undetermined.sum(),
        excluded=(~passed & ~failed & ~undetermined).sum(),
    )
    return [
        Row(row["capability"], row["test"], row["type"], row["passed"], row["failed"], row["undetermined"],
            row["excluded"])
        for row in counted.collect().iter_rows(named=True)
    ]  # fmt: skip


def by_capability(rows: Iterable[Row]) -> list[Row]:
    """Return a row for each capability, with the cases of all its tests."""
    by_name: dict[str, list[Row]] = {}
    for row in rows:
        by_name.setdefault(row.capability, []).append(row)
    return [_total(name, of_capability) for name, of_capability in by_name.items()]


def _total(capability: str, rows: Sequence[Row]) -> Row:
    return Row(
        capability,
        None,
        None,
        sum(row.passed for row in rows),
        sum(row.failed for row in rows),
        sum(row.undetermined for row in rows),
        sum(row.excluded for row in rows),
    )
