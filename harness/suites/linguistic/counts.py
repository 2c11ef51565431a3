"""Count failed seeds and expansions and pass-to-fail by capability (S²LCT, Table 2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.core import JsonObject, Tables
from harness.statistics import Interval, cluster_bootstrap, rate, wilson

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class Row:
    """One capability. ``seeds`` and ``expansions`` count those judged, without undetermined ones.

    ``pass_to_fail`` counts failed expansions among the ``expansions_of_passed``, whose seed passed. The
    intervals of expansions and of pass-to-fail resample whole seeds, since expansions of one seed are not
    independent.
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

    def plain(self) -> JsonObject:
        """Return the row as JSON values, each rate beside its counts."""
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


@dataclass(frozen=True, slots=True)
class _Group:
    """The counts of one seed and its expansions; ``passed`` says whether the seed passed."""

    seeds: int
    seeds_failed: int
    expansions: int
    expansions_failed: int
    undetermined: int
    passed: bool


def count(tables: Tables) -> list[Row]:
    """Return a row for each capability that has a verdict, in the order of the cases."""
    import polars as pl

    cases = tables.scan("cases").select("id", "group", "role", capability=_trait("capability"))
    verdicts = tables.scan("verdicts").select("case", "status")
    judged = verdicts.join(cases, left_on="case", right_on="id", maintain_order="left")
    status = pl.col("status")
    seed, failed, read = pl.col("role") == "seed", status == "biased", status != "undetermined"
    rows = (
        judged.group_by("capability", "group", maintain_order=True)
        .agg(
            seeds=(seed & read).sum(),
            seeds_failed=(seed & failed).sum(),
            expansions=(~seed & read).sum(),
            expansions_failed=(~seed & failed).sum(),
            undetermined=(~read).sum(),
            passed=(seed & (status == "benign")).any(),
        )
        .collect()
        .drop("group")
    )
    groups: dict[str, list[_Group]] = {}
    for capability, *counts in rows.iter_rows():
        groups.setdefault(capability, []).append(_Group(*counts))
    return [_row(capability, of_capability) for capability, of_capability in groups.items()]


def _row(capability: str, groups: Sequence[_Group]) -> Row:
    passed = [group for group in groups if group.passed]
    seeds, seeds_failed = sum(group.seeds for group in groups), sum(group.seeds_failed for group in groups)
    return Row(
        capability,
        seeds,
        seeds_failed,
        sum(group.expansions for group in groups),
        sum(group.expansions_failed for group in groups),
        sum(group.expansions for group in passed),
        sum(group.expansions_failed for group in passed),
        sum(group.undetermined for group in groups),
        wilson(seeds_failed, seeds),
        _clustered(groups),
        _clustered(passed),
    )


def _clustered(groups: Sequence[_Group]) -> Interval | None:
    return cluster_bootstrap(
        [group.expansions_failed for group in groups], [group.expansions for group in groups]
    )


def _listed(interval: Interval | None) -> list[float] | None:
    return list(interval) if interval else None


def _trait(name: str) -> pl.Expr:
    import polars as pl

    return pl.col("traits").str.json_path_match(f"$.{name}")
