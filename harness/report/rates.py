"""Rates of changed answers: the rows of the results, and those of the discarded mutants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from harness.blocks import Interval
from harness.core import KEY_SEPARATOR, NEAR_TIE
from harness.findings.excess import SCORES, Excess
from harness.report.summary import Adaptive, Discarded, Flips, ResultRow
from harness.statistics import (
    adjusted,
    cluster_bootstrap,
    clustered_rate_difference,
    equal_rates,
    rate,
    rate_by_cluster,
    rate_difference,
    wilson,
)

if TYPE_CHECKING:
    import polars as pl

PAIRS = "pairs"
"""The relation of tests of which one text gives many: their only interval is by text."""
NOT_COUNTS = ("key", "document", "relation", "weighted", "weights")


def results(
    verdicts: pl.LazyFrame,
    sets: Sequence[tuple[str, ...]],
    confirmed: bool = False,
    asked_again: pl.LazyFrame | None = None,
) -> list[ResultRow]:
    """Return a row for each set of attributes changed together, atomic first (HINTER, RQ1).

    A difference between two scores is not a finding by itself, so paired scores have no row here.
    ``confirmed`` tells whether flips were asked again; the number confirmed is None otherwise.
    ``asked_again`` is the table of noise, for the excess of flips over self-flips.
    """
    counts = _by_original(verdicts)
    parted = {key: rows for (key,), rows in counts.group_by("key", maintain_order=True)}
    empty = counts.clear()
    repeated = _self_flips(asked_again)
    rows = [
        _result(names, parted.get(KEY_SEPARATOR.join(names), empty), repeated, confirmed) for names in sets
    ]
    corrected = iter(adjusted([row.p for row in rows if row.p is not None]))
    return [row if row.p is None else row.model_copy(update={"p_holm": next(corrected)}) for row in rows]


def estimated(rows: Sequence[ResultRow], adaptive: Adaptive) -> list[ResultRow]:
    """Return the rows with the estimates of an adaptive budget, of all cases of the run."""
    rates = adaptive.estimates.rates if adaptive.estimates is not None else ()
    known = {frozenset(rate.attributes): rate for rate in rates if rate.attributes}
    return [
        row.model_copy(update={"estimated_rate": found.rate, "estimated_ci95": found.ci95})
        if (found := known.get(frozenset(row.attributes))) is not None
        else row.model_copy(update={"estimated_rate": None, "estimated_ci95": None})
        for row in rows
    ]


def _by_original(verdicts: pl.LazyFrame) -> pl.DataFrame:
    """Return the counts of each attribute set (``key``) in each document, sorted by both."""
    import polars as pl

    status, hidden = pl.col("status"), pl.col("hidden")
    tie = pl.col("margin") < NEAR_TIE
    tie_is_known = tie.is_not_null() & ~(
        tie & pl.col("margin_is_bound").fill_null(value=False)
    )  # a bound below says nothing
    return (
        verdicts.filter(pl.col("relation") != SCORES)
        .with_columns(key=pl.col("attributes").list.join(KEY_SEPARATOR))
        .group_by("key", "document")
        .agg(
            tests=pl.len(),
            biased=(status == "biased").sum(),
            benign=(status == "benign").sum(),
            undetermined=(status == "undetermined").sum(),
            hidden=(hidden == "yes").sum(),
            not_hidden=(hidden == "no").sum(),
            hidden_undetermined=(hidden == "undetermined").sum(),
            confirmed=pl.col("confirmed").sum(),
            near_ties=((status == "biased") & tie & tie_is_known).sum(),
            margins=((status == "biased") & tie_is_known).sum(),
            relation=pl.col("relation").first(),
            weighted=(pl.col("weight") * (status == "biased")).sum(),
            weights=(pl.col("weight") * status.is_in(["biased", "benign"])).sum(),
        )
        .sort("key", "document")
        .collect()
    )


def _self_flips(asked_again: pl.LazyFrame | None) -> dict[str, tuple[int, int]]:
    """Return, by document, the numbers of repeated answers that differ from the first and that were read."""
    if asked_again is None:
        return {}
    summed = asked_again.group_by("document").sum().select("document", "flips", "read")
    return {document: (flips, read) for document, flips, read in summed.collect().iter_rows() if read}


def _result(
    attributes: tuple[str, ...],
    rows: pl.DataFrame,
    repeated: Mapping[str, tuple[int, int]],
    confirmed: bool,
) -> ResultRow:
    total = {name: int(rows[name].sum()) for name in rows.columns if name not in NOT_COUNTS}
    decided = rows["biased"] + rows["benign"]
    determined = total["hidden"] + total["not_hidden"]
    estimated_rate, estimated_ci95 = _estimate(rows)
    excess, excess_ci95, p = _excess(rows, repeated)
    relation = rows["relation"][0] if rows.height else None
    ci95, by_original = intervals(relation, rows["biased"].to_list(), decided.to_list())
    return ResultRow(
        kind="atomic" if len(attributes) == 1 else "intersectional",
        relation=relation,
        attributes=attributes,
        tests=total["tests"],
        biased=total["biased"],
        benign=total["benign"],
        undetermined=total["undetermined"],
        rate=rate(total["biased"], total["biased"] + total["benign"]),
        ci95=ci95,
        ci95_by_original=by_original,
        estimated_rate=estimated_rate,
        estimated_ci95=estimated_ci95,
        controls=None,
        control_rate=None,
        controlled=None,
        controlled_rate=None,
        excess_over_control=None,
        excess_over_control_ci95=None,
        excess_over_control_p=None,
        excess_over_control_p_holm=None,
        hidden_excess=None,
        hidden_excess_ci95=None,
        hidden_excess_p_holm=None,
        excess=excess,
        excess_ci95=excess_ci95,
        p=p,
        p_holm=None,
        hidden=total["hidden"],
        not_hidden=total["not_hidden"],
        hidden_rate=rate(total["hidden"], determined),
        hidden_ci95=wilson(total["hidden"], determined),
        hidden_undetermined=total["hidden_undetermined"],
        hidden_ci95_by_original=_hidden_interval(rows),
        confirmed=total["confirmed"] if confirmed else None,
        near_ties=total["near_ties"] if total["margins"] else None,
        originals=rows.height,
        biased_originals=int((rows["biased"] > 0).sum()),
    )


def _hidden_interval(rows: pl.DataFrame) -> Interval | None:
    """Return the interval of the hidden rate by original; None where it would be a point."""
    determined = (rows["hidden"] + rows["not_hidden"]).to_list()
    interval = cluster_bootstrap(rows["hidden"].to_list(), determined)
    return None if interval is None or interval[0] == interval[1] else interval


def over_controls(rows: Sequence[ResultRow], found: Mapping[tuple[str, str], Excess]) -> list[ResultRow]:
    """Return ``rows`` with their excess over control mutants, by key and figure, where there is one."""
    return [_over_controls(row, found) for row in rows]


def _over_controls(row: ResultRow, found: Mapping[tuple[str, str], Excess]) -> ResultRow:
    key = KEY_SEPARATOR.join(row.attributes)
    changed, hidden = found.get((key, "changed")), found.get((key, "hidden"))
    figures: dict[str, object] = {}
    if changed is not None:
        figures |= {
            "controls": changed.controls,
            "control_rate": changed.control_rate,
            "controlled": changed.tests,
            "controlled_rate": changed.rate,
            "excess_over_control": changed.difference,
            "excess_over_control_ci95": changed.interval,
            "excess_over_control_p": changed.p,
            "excess_over_control_p_holm": changed.p_holm,
        }
    if hidden is not None:
        figures |= {
            "hidden_excess": hidden.difference,
            "hidden_excess_ci95": hidden.interval,
            "hidden_excess_p_holm": hidden.p_holm,
        }
    return row.model_copy(update=figures)


def intervals(
    relation: str | None, biased: Sequence[int], decided: Sequence[int]
) -> tuple[Interval | None, Interval | None]:
    """Return the interval of a rate and its interval by original, from counts by original.

    Pairs have one, by original: as many as they are, they are of a few texts.
    """
    if relation == PAIRS:
        by_original = rate_by_cluster(biased, decided)
        return by_original, by_original
    return wilson(sum(biased), sum(decided)), cluster_bootstrap(biased, decided)


def _excess(
    rows: pl.DataFrame, repeated: Mapping[str, tuple[int, int]]
) -> tuple[float | None, Interval | None, float | None]:
    """Return the excess of the flip rate over the self-flip rate of the same originals, its interval, and the
    p of no excess; all None if noise was not measured.

    The interval is by original, or Newcombe's if that is a point or unavailable.
    """
    flips = [(biased, biased + benign) for biased, benign in rows.select("biased", "benign").iter_rows()]
    again = [repeated.get(document, (0, 0)) for document in rows["document"]]
    difference = clustered_rate_difference(flips, again)
    if difference is None or difference.interval[0] == difference.interval[1]:
        first, second = (
            (sum(part for part, _ in counts), sum(n for _, n in counts)) for counts in (flips, again)
        )
        difference = rate_difference(first, second)
    p = equal_rates(flips, again)
    return (None, None, p) if difference is None else (difference.difference, difference.interval, p)


def _estimate(rows: pl.DataFrame) -> tuple[float | None, Interval | None]:
    """Return the rate weighted to all mutants (a ratio of weighted sums, Hájek) and its interval by original;
    both None if the mutants are not a sample."""
    whole = float(rows["weights"].sum())
    decided = float((rows["biased"] + rows["benign"]).sum())
    if not whole or abs(whole - decided) < 1e-9:
        return None, None
    interval = cluster_bootstrap(rows["weighted"].to_list(), rows["weights"].to_list())
    return float(rows["weighted"].sum()) / whole, interval


def discarded(verdicts: pl.LazyFrame, cases: pl.LazyFrame) -> Discarded | None:
    """Return the verdicts on discarded mutants, in total and by reason; None if they were not asked about.

    The biased ones are the false positives that the invariant avoids (HINTER, RQ3).
    """
    import polars as pl

    status = pl.col("status")
    reasons = cases.select("id", "reason").filter(pl.col("reason").is_not_null())
    rows = (
        verdicts.join(reasons, left_on="case", right_on="id")
        .group_by("reason")
        .agg(biased=(status == "biased").sum(), benign=(status == "benign").sum(), tests=pl.len())
        .sort("reason")
        .collect(engine="streaming")
    )
    if not rows.height:
        return None
    by_reason = {reason: _flips(part) for (reason,), part in rows.group_by("reason", maintain_order=True)}
    return Discarded(**_flips(rows).model_dump(), by_reason=by_reason)


def _flips(rows: pl.DataFrame) -> Flips:
    tests, biased, benign = (int(rows[name].sum()) for name in ("tests", "biased", "benign"))
    decided = biased + benign
    return Flips(
        tests=tests,
        biased=biased,
        undetermined=tests - decided,
        rate=rate(biased, decided),
        ci95=wilson(biased, decided),
    )
