"""The choice of biased cases to display or explain, if there are too many for all."""

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
    """Return at most ``limit`` biased cases in display order, and the number of all biased cases.

    Hidden cases come first, then the others evenly by attribute set; those of one set evenly over the run.
    """
    import polars as pl

    key = pl.col("attributes").list.join(KEY_SEPARATOR)
    biased = verdicts.filter(pl.col("status") == "biased").with_columns(key=key)
    shown_first = pl.col("hidden").eq_missing(pl.lit("yes"))  # a case may be in several pairs
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
        sample = biased.filter(same).select("case").gather_every(step).head(quota[hidden, name])
        chosen += sample.collect(engine="streaming")["case"].to_list()
    return chosen, sum(counts.values())


def allot(counts: Mapping[Group, int], limit: int) -> dict[Group, int]:
    """Return how many cases of each group to display: hidden ones first, then evenly over the others."""
    quota: dict[Group, int] = {}
    for part in (
        {group: n for group, n in counts.items() if group[0] == "yes"},
        {group: n for group, n in counts.items() if group[0] != "yes"},
    ):
        for left, group in zip(range(len(part), 0, -1), sorted(part, key=part.__getitem__), strict=True):
            quota[group] = min(part[group], -(-limit // left))
            limit -= quota[group]
    return {group: n for group, n in quota.items() if n}
