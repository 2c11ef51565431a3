"""Atomic against intersectional mutants: totals by order, the originals that each uncovers, truth tables.

HINTER, RQ1, RQ3.1 and RQ4. Control mutants are in none of these figures.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from harness.blocks import Block
from harness.core import DUPLICATE, Tables
from harness.findings.excess import SCORES
from harness.findings.records import Part

if TYPE_CHECKING:
    import polars as pl

ROLES = ("atomic", "intersectional")
PAIR = ("attribute", "source", "target")
"""What identifies a substitution within its document."""


class Order(Block):
    """All mutants of one order, whatever attributes they change.

    Intervals resample originals; where these are fewer than 10 or all alike, each counts as one trial.
    """

    order: int = Field(description="The number of attributes changed at once.")
    kind: Literal["atomic", "intersectional"] = Field(description="One attribute, or several at once.")
    generated: int = Field(description="Mutants made: valid, discarded and duplicate.")
    discarded_by_reason: Mapping[str, int] = Field(description="Discarded ones by reason.")
    duplicate: int = Field(description="Those with the text of another mutant.")
    valid: Part = Field(description="Valid mutants among the valid and discarded ones.")
    tests: int = Field(description="Valid mutants with a verdict.")
    undetermined: int = Field(description="Of these, those that lack an answer; in no rate.")
    biased: Part = Field(description="Changed answers among the decided tests.")
    hidden: Part | None = Field(
        description="Hidden ones among the biased tests for which that is known; null for one attribute."
    )
    hidden_undetermined: int = Field(description="Biased tests that lack the answer to a part.")
    originals: Part = Field(
        description="Texts with a changed answer among those with a decided test (Wilson)."
    )


class Uncovered(Block):
    """The originals with a changed answer, by what uncovers them; Wilson's intervals."""

    by_atomic: Part = Field(description="Texts of which any atomic mutant changes the answer, among all.")
    by_intersectional: Part = Field(description="The same by any intersectional mutant.")
    by_both: Part = Field(description="The same by both kinds.")
    by_either: Part = Field(description="The same by any mutant.")
    only_intersectional: Part = Field(
        description="Texts with a hidden mutant and no atomic one that changes the answer, among those with"
        " a changed answer for which this is known."
    )
    undetermined: int = Field(
        description="Texts uncovered by intersectional mutants alone that lack an answer to an atomic one, or"
        " a valid atomic one; in no part of only_intersectional."
    )


class Recurring(Part):
    """Atomic flips that an intersectional mutant with the same substitution shows, too (RQ4.1)."""

    flips: int = Field(description="All atomic mutants that change the answer.")
    alone: int = Field(description="Of these, those in no valid intersectional mutant; not in of.")
    undetermined: int = Field(
        description="Those whose intersectional mutants do not flip as far as they were read; not in of."
    )


class Cell(Block):
    """A row of a truth table."""

    first: bool = Field(description="Whether the first attribute alone changes the answer.")
    second: bool = Field(description="Whether the second one alone does.")
    both: bool = Field(description="Whether both together do.")
    mutants: int = Field(description="Mutants of both attributes for which this holds.")


class TruthTable(Block):
    """What the parts of the mutants of two attributes show, and the mutants themselves."""

    attributes: tuple[str, str] = Field(description="The first and the second attribute.")
    tests: int = Field(description="Mutants of both attributes with a verdict.")
    undetermined: int = Field(
        description="Of these, those that lack one of the four answers, or a valid mutant of a part."
    )
    cells: tuple[Cell, ...] = Field(description="The eight cases; their sum is tests − undetermined.")


class Orders(Block):
    """Atomic against intersectional mutants; ``uncovered`` and ``recurring`` need both kinds."""

    by_order: tuple[Order, ...] = Field(description="All mutants of one order.")
    uncovered: Uncovered | None = Field(default=None, description="The originals, by what uncovers them.")
    recurring: Recurring | None = Field(default=None, description="Atomic flips that occur together, too.")
    truth_tables: tuple[TruthTable, ...] = Field(default=(), description="For each two attributes.")


def orders(tables: Tables) -> Orders | None:
    """Return the figures of a run's mutants; None without any."""
    import polars as pl

    made = _made(tables)
    judged = _judged(tables)
    if not made.height:
        return None
    numbers = made["order"].unique().sort().to_list()
    by_order = tuple(
        _order(int(n), made.filter(order=n), judged.filter(pl.col("order") == n)) for n in numbers
    )
    if judged["role"].n_unique() < len(ROLES):
        return Orders(by_order=by_order)
    atomic = _alone(judged)
    return Orders(
        by_order=by_order,
        uncovered=_uncovered(judged),
        recurring=_recurring(judged, atomic),
        truth_tables=tuple(_truth_tables(judged, atomic)),
    )


def _made(tables: Tables) -> pl.DataFrame:
    """Return the number of mutants by order, document and reason."""
    import polars as pl

    mutants = tables.scan("cases").filter(pl.col("role").is_in(ROLES))
    order = pl.col("substitutions").list.len()
    return mutants.group_by("document", "reason", order=order).len().collect(engine="streaming")


def _judged(tables: Tables) -> pl.DataFrame:
    """Return the valid mutants that were judged, with their substitutions."""
    import polars as pl

    mutants = tables.scan("cases").filter(pl.col("valid") & pl.col("role").is_in(ROLES))
    pairs = pl.col("substitutions").list.eval(pl.struct(pl.element().struct.field(*PAIR)))
    verdicts = tables.scan("verdicts").filter(pl.col("relation") != SCORES)
    return (
        mutants.select("id", "group", "document", "role", pairs=pairs, order=pairs.list.len())
        .join(verdicts.select("case", "status", "hidden"), left_on="id", right_on="case")
        .collect()
    )


def _order(order: int, made: pl.DataFrame, judged: pl.DataFrame) -> Order:
    """Return the row of one order."""
    import polars as pl

    reasons = {reason: int(n) for reason, n in made.group_by("reason").agg(pl.col("len").sum()).iter_rows()}
    kept = {reason: n for reason, n in sorted(reasons.items(), key=str) if reason not in (None, DUPLICATE)}
    valid = pl.col("reason").is_null()
    status, hidden = pl.col("status"), pl.col("hidden")
    biased, known = status == "biased", hidden.is_in(["yes", "no"])
    by_text = judged.group_by("document").agg(biased.any(), (status != "undetermined").any().alias("known"))
    unknown = judged.filter(status == "undetermined").height
    return Order(
        order=order,
        kind="atomic" if order == 1 else "intersectional",
        generated=int(made["len"].sum()),
        discarded_by_reason=kept,
        duplicate=reasons.get(DUPLICATE, 0),
        valid=_clustered(
            made.filter(pl.col("reason").ne_missing(DUPLICATE)), valid * pl.col("len"), pl.col("len")
        ),
        tests=judged.height,
        undetermined=unknown,
        biased=_clustered(judged, biased, status != "undetermined"),
        hidden=_clustered(judged.drop_nulls("hidden"), hidden == "yes", known) if order > 1 else None,
        hidden_undetermined=judged.filter(hidden == "undetermined").height,
        originals=Part.of_trials(int(by_text["status"].sum()), int(by_text["known"].sum())),
    )


def _clustered(rows: pl.DataFrame, hit: pl.Expr, trial: pl.Expr) -> Part:
    """Return the share of hits among trials, with an interval by document."""
    by_text = rows.group_by("document").agg(hit=hit.sum(), trial=trial.sum()).sort("document")
    hits, trials = by_text["hit"].to_list(), by_text["trial"].to_list()
    return Part.clustered(hits, trials)


def _uncovered(judged: pl.DataFrame) -> Uncovered:
    """Return how many originals each kind of mutant uncovers."""
    import polars as pl

    role, status = pl.col("role"), pl.col("status")
    texts = (
        judged.group_by("document")
        .agg(
            atomic=((role == "atomic") & (status == "biased")).any(),
            together=((role == "intersectional") & (status == "biased")).any(),
            open=((role == "atomic") & (status == "undetermined")).any(),
            hidden=(pl.col("hidden") == "yes").any(),
            known=(status != "undetermined").any(),
        )
        .filter("known")
    )
    atomic, together = pl.col("atomic"), pl.col("together")
    only, settled = together & ~atomic, pl.col("hidden") & ~pl.col("open")
    every = texts.height
    by_atomic, by_together, by_both, by_either, hidden, unclear = (
        int(number)
        for number in texts.select(
            a=atomic.sum(),
            t=together.sum(),
            b=(atomic & together).sum(),
            e=(atomic | together).sum(),
            h=(only & settled).sum(),
            u=(only & ~settled).sum(),
        ).row(0)
    )
    return Uncovered(
        by_atomic=Part.of_trials(by_atomic, every),
        by_intersectional=Part.of_trials(by_together, every),
        by_both=Part.of_trials(by_both, every),
        by_either=Part.of_trials(by_either, every),
        only_intersectional=Part.of_trials(hidden, by_either - unclear),
        undetermined=unclear,
    )


def _alone(judged: pl.DataFrame) -> pl.DataFrame:
    """Return the status of each atomic mutant, by its group and substitution."""
    import polars as pl

    atomic = judged.filter(pl.col("role") == "atomic")
    return atomic.select("group", "document", "status", pair=pl.col("pairs").list.first())


def _recurring(judged: pl.DataFrame, atomic: pl.DataFrame) -> Recurring:
    """Return how many atomic flips an intersectional mutant with the same substitution shows, too."""
    import polars as pl

    status = pl.col("status")
    together = (
        judged.filter(pl.col("role") == "intersectional")
        .explode("pairs")
        .group_by("group", pair="pairs")
        .agg(again=(status == "biased").any(), open=(status == "undetermined").any())
    )
    flips = atomic.filter(status == "biased").join(together, on=["group", "pair"], how="left")
    met = flips.drop_nulls("again")
    decided = met.filter(pl.col("again") | ~pl.col("open"))
    share = _clustered(decided, pl.col("again"), pl.col("again").is_not_null())
    return Recurring(
        **share.model_dump(),
        flips=flips.height,
        alone=flips.height - met.height,
        undetermined=met.height - decided.height,
    )


def _truth_tables(judged: pl.DataFrame, atomic: pl.DataFrame) -> Iterator[TruthTable]:
    """Yield the truth table of each two attributes."""
    import polars as pl

    pairs = pl.col("pairs")
    of_two = judged.filter(pl.col("order") == 2).with_columns(
        one=pairs.list.get(0, null_on_oob=True), two=pairs.list.get(1, null_on_oob=True)
    )
    for side in ("one", "two"):
        alone = atomic.select("group", pl.col("pair").alias(side), pl.col("status").alias(f"{side}_status"))
        of_two = of_two.join(alone, on=["group", side], how="left")
    counts = (
        of_two.group_by(
            first=pl.col("one").struct.field("attribute"),
            second=pl.col("two").struct.field("attribute"),
            alone="one_status",
            other="two_status",
            both="status",
        )
        .len()
        .sort("first", "second")
    )
    for (first, second), rows in counts.group_by("first", "second", maintain_order=True):
        numbers = {tuple(row[2:5]): int(row[5]) for row in rows.iter_rows()}
        cells = tuple(
            Cell(
                first=one,
                second=two,
                both=both,
                mutants=numbers.get(tuple(map(_status, (one, two, both))), 0),
            )
            for one, two, both in product((False, True), repeat=3)
        )
        tests = sum(numbers.values())
        decided = sum(cell.mutants for cell in cells)
        yield TruthTable(
            attributes=(str(first), str(second)), tests=tests, undetermined=tests - decided, cells=cells
        )


def _status(flips: bool) -> str:
    return "biased" if flips else "benign"
