"""Which biased cases are shown, where there are more than a page holds or a study explains."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from harness.core import KEY_SEPARATOR

if TYPE_CHECKING:
    import polars as pl

HIDDEN_ORDER = ("yes", "undetermined", "no", None)

Group = tuple[str | None, str]
"""Whether a bias is hidden, and its attribute set."""


def choose(verdicts: pl.LazyFrame, limit: int) -> tuple[list[str], int]:
    """At most ``limit`` biased cases in the order they are shown, and how many there are.

    Hidden ones first, then evenly over the attribute sets; those of one set evenly over the run.
    """
    import polars as pl

    key = pl.col("attributes").list.join(KEY_SEPARATOR)
    biased = verdicts.filter(pl.col("status") == "biased").with_columns(key=key)
    shown_first = pl.col("hidden").eq_missing(pl.lit("yes"))  # of the many pairs that a case may be in
    biased = biased.sort(~shown_first, maintain_order=True).unique("case", keep="first", maintain_order=True)
    counts = {
        (hidden, name): count
        for hidden, name, count in biased.group_by("hidden", "key").len().sort("key").collect().rows()
    }
    quota = allot(counts, limit)
    chosen: list[str] = []
    for hidden, name in sorted(quota, key=lambda group: (HIDDEN_ORDER.index(group[0]), group[1])):
        same = pl.col("hidden").eq_missing(pl.lit(hidden)) & (pl.col("key") == name)
        step = counts[hidden, name] // quota[hidden, name]
        some = biased.filter(same).select("case").gather_every(step).head(quota[hidden, name])
        chosen += some.collect(engine="streaming")["case"].to_list()
    return chosen, sum(counts.values())


def allot(counts: Mapping[Group, int], limit: int) -> dict[Group, int]:
    """How many of each (hidden, attribute set) to show: hidden ones first, the rest shared evenly."""
    quota: dict[Group, int] = {}
    for some in (
        {group: n for group, n in counts.items() if group[0] == "yes"},
        {group: n for group, n in counts.items() if group[0] != "yes"},
    ):
        for left, group in zip(range(len(some), 0, -1), sorted(some, key=some.__getitem__), strict=True):
            quota[group] = min(some[group], -(-limit // left))
            limit -= quota[group]
    return {group: n for group, n in quota.items() if n}
