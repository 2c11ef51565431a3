"""Count the pairs of a BiasFinder run that differ in both attributes of a combination."""

from __future__ import annotations

from dataclasses import dataclass

from harness.core import JsonObject, Tables
from harness.statistics import Interval, rate, rate_by_cluster, wilson

HIDDEN = {"hidden": "yes", "not_hidden": "no", "hidden_undetermined": "undetermined"}


@dataclass(frozen=True, slots=True)
class Together:
    """Pairs that differ in both attributes of a combination, and how many BTCs among them are hidden."""

    pairs: int
    differ: int
    ci95: Interval | None
    hidden: int
    not_hidden: int
    hidden_undetermined: int

    def plain(self) -> JsonObject:
        """Return the counts as JSON values."""
        return {
            "pairs": self.pairs,
            "btc": self.differ,
            "rate": rate(self.differ, self.pairs),
            "ci95_by_template": self.ci95,
            "hidden": self.hidden,
            "not_hidden": self.not_hidden,
            "hidden_rate": rate(self.hidden, self.hidden + self.not_hidden),
            "hidden_ci95": wilson(self.hidden, self.hidden + self.not_hidden),
            "hidden_undetermined": self.hidden_undetermined,
        }


def together(tables: Tables) -> Together | None:
    """Return the counts of pairs that differ in both attributes, both read; None if there are none."""
    import polars as pl

    hidden, both = pl.col("hidden"), pl.col("attributes").list.len() > 1
    rows = (
        tables.scan("verdicts")
        .filter(both & (pl.col("status") != "undetermined"))
        .group_by("document")
        .agg(
            pairs=pl.len(),
            differ=(pl.col("status") == "biased").sum(),
            **{name: (hidden == value).sum() for name, value in HIDDEN.items()},
        )
        .sort("document")
        .collect(engine="streaming")
    )
    if not rows.height:
        return None
    counts = {name: int(rows[name].sum()) for name in ("pairs", "differ", *HIDDEN)}
    return Together(ci95=rate_by_cluster(rows["differ"].to_list(), rows["pairs"].to_list()), **counts)
