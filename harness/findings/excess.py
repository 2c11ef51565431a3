"""What the results have in excess of control mutants, and what the controls show by themselves.

Each row of the results is compared with the controls of the same number and kind of changes, within each text
that has both: a text weighs as many times as it has tests, on either side.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.core import CONTROL, KEY_SEPARATOR, Tables
from harness.findings.estimation import Contributions, by_text, chances, intervals, within
from harness.findings.places import INSERTED
from harness.findings.records import Changed, Control, Drift
from harness.statistics import cluster_bootstrap, exchange_test, rate, wilson

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from harness.blocks import Interval

    Array = NDArray[np.float64]

COVERED = 0.9
"""The share of the comparable tests that must have controls of the same kind; else only the number counts."""
SCORES = "paired scores"
FIGURES = ("changed", "hidden")


@dataclass(frozen=True, slots=True)
class Matched:
    """Tests and controls of the same texts and kind: how many there are and how many changed, by stratum."""

    documents: Sequence[str]
    hits: Array
    tests: Array
    control_hits: Array
    controls: Array

    @property
    def shares(self) -> Array:
        """The weight of each stratum: its share of the tests."""
        shares: Array = self.tests / self.tests.sum()
        return shares

    @property
    def control_rate(self) -> float:
        """The share of controls that changed, each text weighed as among the tests."""
        return float(self.shares @ (self.control_hits / self.controls))

    @property
    def differences(self) -> Array:
        """What each stratum contributes to the excess."""
        found: Array = self.shares * (self.hits / self.tests - self.control_hits / self.controls)
        return found


@dataclass(frozen=True, slots=True)
class Excess:
    """A rate in excess of the controls', on the ``tests`` and ``controls`` of the same texts.

    ``rate`` and ``control_rate`` are those on these texts; ``p`` is of no excess, and corrected too.
    """

    tests: int
    rate: float
    controls: int
    control_rate: float
    interval: Interval | None
    p: float
    p_holm: float

    @property
    def difference(self) -> float:
        """By how much the rate is above the controls'."""
        return self.rate - self.control_rate


@dataclass(frozen=True, slots=True)
class Strata:
    """The tests and controls of a run, as rows by attribute set, text, and number and kind of changes."""

    tests: pl.DataFrame
    controls: pl.DataFrame

    @classmethod
    def of(cls, tables: Tables) -> Strata:
        """Return the strata of a run."""
        import polars as pl

        cases = tables.scan("cases").filter("valid").select("id", **edits())
        return cls(
            _judged(tables.scan("verdicts").filter(pl.col("relation") != SCORES), cases),
            _judged(tables.scan("controls"), cases),
        )

    def compared(self, key: str, figure: str) -> Matched | None:
        """Return the tests of an attribute set and their controls; None where no control is like them."""
        import polars as pl

        tests = self.tests.filter(pl.col("key") == key)
        of_kind, of_order = (_joined(tests, self.controls, figure, level) for level in ("edits", "order"))
        if of_order.is_empty():
            return None
        alike, comparable = (float(rows["tests"].sum()) for rows in (of_kind, of_order))
        chosen = of_kind if alike >= COVERED * comparable else of_order
        names = ("hits", "tests", "control_hits", "controls")
        counts = (chosen[name].cast(pl.Float64).to_numpy() for name in names)
        return Matched(chosen["document"].to_list(), *counts)


def _joined(tests: pl.DataFrame, controls: pl.DataFrame, figure: str, level: str) -> pl.DataFrame:
    """Return the texts that have both, with the counts of both, by kind of change (``level``)."""
    import polars as pl

    sides = []
    for rows, names in ((tests, ("hits", "tests")), (controls, ("control_hits", "controls"))):
        found = rows.filter(pl.col(f"{figure}_known") > 0).group_by("document", level)
        sums = (pl.col(f"{figure}_{part}").sum() for part in ("hits", "known"))
        sides.append(found.agg(**dict(zip(names, sums, strict=True))))
    return sides[0].join(sides[1], on=["document", level]).sort("document", level)


def edits() -> dict[str, pl.Expr]:
    """Return the columns ``order``, the number of changes, and ``edits``, marked for inserted words."""
    import polars as pl

    order = pl.col("substitutions").list.len().cast(pl.String)
    inserted = pl.col("substitutions").list.eval(pl.element().struct.field("operation") == "insertion")
    mark = pl.when(inserted.list.any()).then(pl.lit(INSERTED)).otherwise(pl.lit(""))
    return {"order": order, "edits": order + mark}


def _judged(verdicts: pl.LazyFrame, cases: pl.LazyFrame) -> pl.DataFrame:
    """Return the counts of verdicts by attribute set, text and kind of change."""
    import polars as pl

    status, hidden = pl.col("status"), pl.col("hidden")
    changed, decided = status == "biased", status != "undetermined"
    figures = {
        "changed_hits": changed,
        "changed_known": decided,
        "hidden_hits": hidden == "yes",
        "hidden_known": decided & (hidden.is_null() | (hidden != "undetermined")),
    }
    return (
        verdicts.select("case", "document", "status", "hidden", "attributes")
        .join(cases, left_on="case", right_on="id")
        .with_columns(key=pl.col("attributes").list.join(KEY_SEPARATOR))
        .group_by("key", "document", "order", "edits")
        .agg(**{name: value.fill_null(value=False).sum() for name, value in figures.items()}, all=pl.len())
        .sort("key", "document", "edits")
        .collect()
    )


def excesses(strata: Strata, sets: Sequence[tuple[str, ...]], families: int) -> dict[tuple[str, str], Excess]:
    """Return the excess of each attribute set, by its key and figure: ``changed``, or ``hidden`` cases.

    All are one family of claims of ``families``. Rows without a control that is like them are left out.
    A p is the larger of two: by flipping the signs of whole texts, which takes the tests of a text as
    dependent, and by exchanging tests and controls of a text, which is exact for rare changes.
    """
    found: dict[tuple[str, str], Matched] = {}
    for names in sets:
        key = KEY_SEPARATOR.join(names)
        for figure in FIGURES[: 1 + (len(names) > 1)]:
            if (matched := strata.compared(key, figure)) is not None:
                found[key, figure] = matched
    texts = {text: n for n, text in enumerate(sorted({d for each in found.values() for d in each.documents}))}
    every = [contributions(matched, texts) for matched in found.values()]
    tested = chances(every)
    claims = zip(found.items(), intervals(every), tested.alone, tested.joint, strict=True)
    return {
        place: _excess(matched, interval, alone, joint, families, len(found))
        for (place, matched), interval, alone, joint in claims
    }


def _excess(
    matched: Matched, interval: Interval | None, alone: float, joint: float, families: int, claims: int
) -> Excess:
    exchanged = exchange_test(matched.hits, matched.tests, matched.control_hits, matched.controls)
    of_all = 1 - (1 - exchanged) ** claims  # Šidák
    return Excess(
        tests=int(matched.tests.sum()),
        rate=float(matched.hits.sum() / matched.tests.sum()),
        controls=int(matched.controls.sum()),
        control_rate=matched.control_rate,
        interval=within(interval, 1.0),
        p=max(alone, exchanged),
        p_holm=min(1.0, families * max(joint, of_all)),
    )


def contributions(matched: Matched, texts: Mapping[str, int]) -> Contributions:
    """Return what each of ``texts`` contributes to the difference of two rates."""
    import numpy as np

    places = np.array([texts[document] for document in matched.documents], dtype=np.int64)
    value = float(matched.differences.sum())
    return Contributions(
        value=value,
        spread=by_text(places, matched.differences - value * matched.shares, len(texts)),
        null=by_text(places, matched.differences, len(texts)),
        texts=len(set(matched.documents)),
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
