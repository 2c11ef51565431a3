"""What the results have in excess of control mutants, and what the controls show by themselves.

Each row of the results is compared with the controls of the same number and kind of changes on the same
texts. A control counts as many times as the mutants of its text that it stands for are tests of the row, so
that each text has the same weight on both sides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from harness.core import CONTROL, KEY_SEPARATOR, Tables
from harness.findings.estimation import Contributions, chances, intervals
from harness.findings.places import INSERTED
from harness.findings.records import Changed, Control, Drift
from harness.statistics import cluster_bootstrap, rate, wilson

if TYPE_CHECKING:
    import polars as pl

    from harness.blocks import Interval

COVERED = 0.9
"""The share of a row's tests that must have controls of the same kind; otherwise only the number counts."""
SCORES = "paired scores"
FIGURES = ("changed", "hidden")


@dataclass(slots=True)
class Counts:
    """Answers that changed, and tests, by text; those of controls are weighted."""

    hits: Counter[str] = field(default_factory=Counter)
    tests: Counter[str] = field(default_factory=Counter)

    @property
    def rate(self) -> float:
        """The share of tests that changed."""
        return self.hits.total() / self.tests.total()


@dataclass(frozen=True, slots=True)
class Excess:
    """A rate in excess of the controls', with the controls' rate, its interval and its p, corrected too."""

    control_rate: float
    difference: float
    interval: Interval | None
    p: float
    p_holm: float


@dataclass(frozen=True, slots=True)
class Strata:
    """The tests and controls of a run, as rows by attribute set, text, and number and kind of changes."""

    tests: pl.DataFrame
    controls: pl.DataFrame
    mutants: Mapping[tuple[str, str], int]

    @classmethod
    def of(cls, tables: Tables) -> Strata:
        """Return the strata of a run."""
        import polars as pl

        cases = tables.scan("cases").filter("valid").select("id", "role", "document", "traits", **_edits())
        mutants = cases.filter(pl.col("role").is_in(["atomic", "intersectional"]))
        by_text = mutants.group_by("document", "edits").len().collect()
        numbers = {(text, edits): number for text, edits, number in by_text.iter_rows()}
        return cls(
            _judged(tables.scan("verdicts").filter(pl.col("relation") != SCORES), cases),
            _judged(tables.scan("controls"), cases),
            numbers,
        )

    def compared(self, key: str, figure: str) -> tuple[Counts, Counts] | None:
        """Return the tests of an attribute set and their controls; None where no control is like them."""
        import polars as pl

        tests = self.tests.filter((pl.col("key") == key) & (pl.col(f"{figure}_known") > 0))
        controls = self.controls.filter(pl.col(f"{figure}_known") > 0)
        for level in ("edits", "order"):
            kinds = controls[level].unique().to_list()
            of_kind = tests.filter(pl.col(level).is_in(kinds))
            covered, known = (int(rows[f"{figure}_known"].sum()) for rows in (of_kind, tests))
            if known and covered >= COVERED * known:
                return self._weighed(of_kind, controls, figure, level)
        return None

    def _weighed(
        self, tests: pl.DataFrame, controls: pl.DataFrame, figure: str, level: str
    ) -> tuple[Counts, Counts] | None:
        counts, shares = Counts(), Counter[tuple[str, str]]()
        known, hits = f"{figure}_known", f"{figure}_hits"
        for row in tests.iter_rows(named=True):
            counts.hits[row["document"]] += row[hits]
            counts.tests[row["document"]] += row[known]
            shares[row["document"], row[level]] += row[known]
        whole: Counter[tuple[str, str]] = Counter()
        for (text, edits), number in self.mutants.items():
            whole[text, edits if level == "edits" else edits.rstrip(INSERTED)] += number
        weighted = Counts()
        for row in controls.iter_rows(named=True):
            place = (row["document"], row[level])
            if place in shares:
                share = shares[place] / whole[place]
                weighted.hits[row["document"]] += share * row[f"weighted_{hits}"]
                weighted.tests[row["document"]] += share * row[f"weighted_{known}"]
        return (counts, weighted) if weighted.tests.total() else None


def _edits() -> dict[str, pl.Expr]:
    """Return the columns ``order``, the number of changes, and ``edits``, marked for inserted words."""
    import polars as pl

    order = pl.col("substitutions").list.len().cast(pl.String)
    inserted = pl.col("substitutions").list.eval(pl.element().struct.field("operation") == "insertion")
    mark = pl.when(inserted.list.any()).then(pl.lit(INSERTED)).otherwise(pl.lit(""))
    return {"order": order, "edits": order + mark}


def _judged(verdicts: pl.LazyFrame, cases: pl.LazyFrame) -> pl.DataFrame:
    """Return the counts of verdicts by attribute set, text and kind of change, with and without weights."""
    import polars as pl

    status, hidden = pl.col("status"), pl.col("hidden")
    changed, decided = status == "biased", status != "undetermined"
    figures = {
        "changed_hits": changed,
        "changed_known": decided,
        "hidden_hits": hidden == "yes",
        "hidden_known": decided & (hidden.is_null() | (hidden != "undetermined")),
    }
    sums = {name: value.fill_null(value=False).sum() for name, value in figures.items()}
    weighted = {
        f"weighted_{name}": (value.fill_null(value=False) * pl.col("weight")).sum()
        for name, value in figures.items()
    }
    return (
        verdicts.select("case", "document", "status", "hidden", "weight", "attributes")
        .join(cases.select("id", "order", "edits", "traits"), left_on="case", right_on="id")
        .with_columns(key=pl.col("attributes").list.join(KEY_SEPARATOR))
        .group_by("key", "document", "order", "edits")
        .agg(**sums, **weighted, all=pl.len())
        .sort("key", "document", "edits")
        .collect()
    )


def excesses(strata: Strata, sets: Sequence[tuple[str, ...]], families: int) -> dict[tuple[str, str], Excess]:
    """Return the excess of each attribute set, by its key and figure: ``changed``, or ``hidden`` cases.

    All are one family of claims of ``families``. Rows without a control that is like them are left out.
    """
    found: dict[tuple[str, str], tuple[Contributions, float]] = {}
    texts = sorted({*strata.tests["document"], *strata.controls["document"]})
    for names in sets:
        key = KEY_SEPARATOR.join(names)
        for figure in FIGURES[: 1 + (len(names) > 1)]:
            both = strata.compared(key, figure)
            if both is not None:
                found[key, figure] = (_contributions(*both, texts), both[1].rate)
    every = [contributions for contributions, _ in found.values()]
    tested = chances(every)
    claims = zip(found.items(), intervals(every), zip(tested.alone, tested.joint, strict=True), strict=True)
    return {
        place: Excess(control_rate, each.value, interval, p, min(1.0, joint * families))
        for (place, (each, control_rate)), interval, (p, joint) in claims
    }


def _contributions(tests: Counts, controls: Counts, texts: Sequence[str]) -> Contributions:
    """Return what each of ``texts`` contributes to the difference of two rates."""
    import numpy as np

    sides = []
    for counts in (tests, controls):
        hits = np.array([float(counts.hits[text]) for text in texts])
        sides.append((hits, np.array([float(counts.tests[text]) for text in texts])))
    (hits, sizes), (other_hits, other_sizes) = sides
    share, other = sizes / sizes.sum(), other_sizes / other_sizes.sum()
    first, second = hits / sizes.sum(), other_hits / other_sizes.sum()
    pooled = (hits.sum() + other_hits.sum()) / (sizes.sum() + other_sizes.sum())
    return Contributions(
        value=float(first.sum() - second.sum()),
        spread=(first - first.sum() * share) - (second - second.sum() * other),
        null=(first - pooled * share) - (second - pooled * other),
        texts=len(tests.tests),
    )


def control(tables: Tables, strata: Strata, drift: Sequence[Drift]) -> Control | None:
    """Return what the control mutants show by themselves; None where there are none."""
    import polars as pl

    if not strata.controls.height:
        return None
    cases = tables.scan("cases").filter(pl.col("role") == "control").select("traits")
    kinds = cases.select(kind=pl.col("traits").str.json_path_match(f"$.{CONTROL}")).group_by("kind").len()
    orders = dict(_by_order(strata.controls))
    whole = _changed(strata.controls)
    return Control(
        **whole,
        kinds={str(kind): number for kind, number in sorted(kinds.collect().iter_rows())},
        by_order=orders,
        drift=tuple(drift),
    )


def _by_order(controls: pl.DataFrame) -> Iterator[tuple[str, Changed]]:
    for (order,), rows in sorted(controls.group_by("order")):
        hidden = int(rows["hidden_hits"].sum()) if str(order) != "1" else None
        yield str(order), Changed(**_changed(rows), hidden=hidden)


def _changed(rows: pl.DataFrame) -> dict[str, Any]:
    import polars as pl

    by_text = rows.group_by("document").agg(pl.col("changed_hits", "changed_known").sum()).sort("document")
    hits, known = by_text["changed_hits"].to_list(), by_text["changed_known"].to_list()
    biased, decided = int(sum(hits)), int(sum(known))
    interval = cluster_bootstrap(hits, known)
    if interval is None or interval[0] == interval[1]:
        interval = wilson(biased, decided)
    return {
        "tests": int(rows["all"].sum()),
        "biased": biased,
        "undetermined": int(rows["all"].sum()) - decided,
        "rate": rate(biased, decided),
        "ci95": interval,
        "originals": by_text.height,
    }
