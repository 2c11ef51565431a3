"""From the tables of a run to counts by capability: failed seeds and expansions, pass-to-fail (Table 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.core import Tables
from harness.statistics import Interval, cluster_bootstrap, rate, wilson


@dataclass(frozen=True, slots=True)
class Row:
    """One capability. ``seeds`` and ``expansions`` are those judged, so neither holds an undetermined one.

    ``pass_to_fail`` counts failed expansions of the ``expansions_of_passed`` whose seed passed. The interval
    of expansions and of pass-to-fail draws whole seeds: expansions of one seed are not independent.
    """

    capability: str
    seeds: int
    seeds_failed: int
    expansions: int
    expansions_failed: int
    expansions_of_passed: int
    pass_to_fail: int
    undetermined: int
    seeds_ci95: Interval | None
    expansions_ci95: Interval | None
    pass_to_fail_ci95: Interval | None

    def plain(self) -> dict[str, Any]:
        """The row as JSON values, each rate beside its counts."""
        return {
            "capability": self.capability,
            "seeds": self.seeds,
            "seeds_failed": self.seeds_failed,
            "seeds_rate": rate(self.seeds_failed, self.seeds),
            "seeds_ci95": _listed(self.seeds_ci95),
            "expansions": self.expansions,
            "expansions_failed": self.expansions_failed,
            "expansions_rate": rate(self.expansions_failed, self.expansions),
            "expansions_ci95": _listed(self.expansions_ci95),
            "expansions_of_passed": self.expansions_of_passed,
            "pass_to_fail": self.pass_to_fail,
            "pass_to_fail_rate": rate(self.pass_to_fail, self.expansions_of_passed),
            "pass_to_fail_ci95": _listed(self.pass_to_fail_ci95),
            "undetermined": self.undetermined,
        }


def count(tables: Tables) -> list[Row]:
    """A row for each capability that has a verdict, in the order of the cases."""
    import polars as pl

    cases = tables.scan("cases").select("id", "group", "role", capability=_trait("capability"))
    judged = (
        tables.scan("verdicts")
        .select("case", "status")
        .join(cases, left_on="case", right_on="id", maintain_order="left")
    )
    seed, failed, read = pl.col("role") == "seed", pl.col("status") == "biased", _read()
    passed = (seed & (pl.col("status") == "benign")).any()
    groups = (
        judged.group_by("capability", "group", maintain_order=True)
        .agg(
            seeds=(seed & read).sum(),
            seeds_failed=(seed & failed).sum(),
            expansions=(~seed & read).sum(),
            expansions_failed=(~seed & failed).sum(),
            undetermined=(~read).sum(),
            passed=passed,
        )
        .collect()
    )
    found: dict[str, list[dict[str, Any]]] = {}
    for row in groups.iter_rows(named=True):
        found.setdefault(row["capability"], []).append(row)
    return [_row(name, rows) for name, rows in found.items()]


def _row(name: str, groups: Sequence[Mapping[str, Any]]) -> Row:
    passed = [group for group in groups if group["passed"]]
    sums = {
        key: sum(group[key] for group in groups) for key in groups[0] if key not in ("capability", "group")
    }
    return Row(
        name,
        sums["seeds"],
        sums["seeds_failed"],
        sums["expansions"],
        sums["expansions_failed"],
        sum(group["expansions"] for group in passed),
        sum(group["expansions_failed"] for group in passed),
        sums["undetermined"],
        wilson(sums["seeds_failed"], sums["seeds"]),
        _clustered(groups),
        _clustered(passed),
    )


def _clustered(groups: Sequence[Mapping[str, Any]]) -> Interval | None:
    return cluster_bootstrap(
        [group["expansions_failed"] for group in groups], [group["expansions"] for group in groups]
    )


def _listed(interval: Interval | None) -> list[float] | None:
    return list(interval) if interval else None


def _trait(name: str) -> Any:
    import polars as pl

    return pl.col("traits").str.json_path_match(f"$.{name}")


def _read() -> Any:
    import polars as pl

    return pl.col("status") != "undetermined"
