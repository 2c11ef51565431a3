"""Count failed seeds and expansions and pass-to-fail by capability (S²LCT, Table 2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.core import JsonObject, Tables
from harness.statistics import Interval, rate, rate_by_cluster

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class Row:
    """One capability. ``seeds`` and ``expansions`` count those judged, without undetermined ones.

    ``sentences`` are the source sentences of the seeds, ``shared`` those that another capability uses, too.
    ``pass_to_fail`` counts failed expansions among the ``expansions_of_passed``, whose seed passed. The
    intervals take what was made from one sentence as one observation, since it is not independent.
    """

    capability: str
    sentences: int
    shared: int
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
            "sentences": self.sentences,
            "shared": self.shared,
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
    """The counts of one seed, from ``documents``, and its expansions; ``passed``: whether the seed passed."""

    documents: tuple[str, ...]
    seeds: int
    seeds_failed: int
    expansions: int
    expansions_failed: int
    undetermined: int
    passed: bool


def count(tables: Tables) -> list[Row]:
    """Return a row for each capability that has a verdict, in the order of the cases."""
    import polars as pl

    traits = {name: _trait(name) for name in ("capability", "documents")}
    cases = tables.scan("cases").select("id", "group", "role", **traits)
    verdicts = tables.scan("verdicts").select("case", "status")
    judged = verdicts.join(cases, left_on="case", right_on="id", maintain_order="left")
    status = pl.col("status")
    seed, failed, read = pl.col("role") == "seed", status == "biased", status != "undetermined"
    rows = (
        judged.group_by("capability", "group", "documents", maintain_order=True)
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
    for capability, documents, *counts in rows.iter_rows():
        groups.setdefault(capability, []).append(_Group(tuple(documents.split()), *counts))
    sources = {name: {d for group in some for d in group.documents} for name, some in groups.items()}
    users = Counter(document for some in sources.values() for document in some)
    return [
        _row(capability, of_capability, sum(users[document] > 1 for document in sources[capability]))
        for capability, of_capability in groups.items()
    ]


def _row(capability: str, groups: Sequence[_Group], shared: int) -> Row:
    passed = [group for group in groups if group.passed]
    seeds, seeds_failed = sum(group.seeds for group in groups), sum(group.seeds_failed for group in groups)
    return Row(
        capability,
        len({document for group in groups for document in group.documents}),
        shared,
        seeds,
        seeds_failed,
        sum(group.expansions for group in groups),
        sum(group.expansions_failed for group in groups),
        sum(group.expansions for group in passed),
        sum(group.expansions_failed for group in passed),
        sum(group.undetermined for group in groups),
        _interval(groups, lambda group: (group.seeds_failed, group.seeds)),
        _interval(groups, lambda group: (group.expansions_failed, group.expansions)),
        _interval(passed, lambda group: (group.expansions_failed, group.expansions)),
    )


def _interval(groups: Sequence[_Group], counts: Callable[[_Group], tuple[int, int]]) -> Interval | None:
    """Return the interval of a rate, with groups that share a sentence, also by way of others, as one."""
    clusters: list[tuple[set[str], list[_Group]]] = []
    for group in groups:
        documents, members, apart = set(group.documents), [group], []
        for cluster in clusters:
            if documents.isdisjoint(cluster[0]):
                apart.append(cluster)
            else:
                documents |= cluster[0]
                members += cluster[1]
        clusters = [*apart, (documents, members)]
    sums = [tuple(map(sum, zip(*map(counts, members), strict=True))) for _, members in clusters]
    return rate_by_cluster([failed for failed, _ in sums], [of for _, of in sums])


def _listed(interval: Interval | None) -> list[float] | None:
    return list(interval) if interval else None


def _trait(name: str) -> pl.Expr:
    import polars as pl

    return pl.col("traits").str.json_path_match(f"$.{name}")
