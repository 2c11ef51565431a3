"""Which of two models changes its answer more often on the same tests, and beyond control mutants.

Both have answered about the same texts, so what is compared is the difference of their verdicts, test by
test: 1 where only the second changed its answer, -1 where only the first did. The difference of their
excesses over controls is the excess of these differences, made as that of one run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from pydantic import Field

from harness.blocks import Block, Interval
from harness.core import KEY_SEPARATOR, Tables
from harness.findings.build import Claim, claims_of
from harness.findings.estimation import Contributions, by_text, within
from harness.findings.excess import SCORES, Matched, Strata, contributions, edits
from harness.findings.gaps import Side, common
from harness.findings.records import P, Resampled

if TYPE_CHECKING:
    import polars as pl

EVERY = ""
"""The one set of tests: whatever was changed."""


class Frequency(Block):
    """How much more often the second of two runs changes its answer than the first, on the same tests."""

    first: str = Field(description="One of the runs.")
    second: str = Field(description="The other run.")
    texts: int = Field(description="Texts with a test that both decided.")
    tests: int = Field(description="Tests that both decided: same text, same change.")
    biased_first: int = Field(description="Those on which the first run is biased.")
    biased_second: int = Field(description="Those on which the second run is biased.")
    difference: float = Field(description="The share in `second` minus that in `first`.")
    ci95: Resampled
    p: P
    p_holm: float | None = Field(description="The same, corrected for all rows, with `beyond`.")
    detectable: float | None = Field(
        default=None, description="What would be found with a probability of 80 %."
    )
    controls: int = Field(description="Control mutants like the tests, of the same texts, that both decided.")
    beyond: float | None = Field(
        default=None, description="`difference` less that on controls; null without any."
    )
    beyond_ci95: Interval | None = Field(default=None, description="Its 95 % interval, resampling originals.")
    beyond_p: P = None
    beyond_p_holm: float | None = Field(default=None, description="The same, corrected as `p_holm`.")


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two runs: the tests of both by text, and those of them that have controls, with these."""

    first: str
    second: str
    tests: pl.DataFrame
    alike: Matched | None

    @classmethod
    def of(cls, first: Side, second: Side) -> _Pair:
        import polars as pl

        strata = between(first.tables, second.tables)
        counts = pl.col("changed_hits", "changed_known", "first", "second").sum()
        tests = strata.tests.group_by("document").agg(counts).sort("document")
        return cls(first.name, second.name, tests, strata.compared(EVERY, "changed"))


def find(sides: Sequence[Side]) -> list[Frequency]:
    """Return a row for every two runs of one suite that decided some tests of the same texts.

    Runs whose cases were chosen by their answers are left out. All differences are one family of claims.
    """
    compared = combinations([side for side in sides if not side.chosen], 2)
    pairs = [_Pair.of(first, second) for first, second in compared if first.suite == second.suite]
    pairs = [pair for pair in pairs if pair.tests.height]
    texts = {text: n for n, text in enumerate(sorted({d for pair in pairs for d in pair.tests["document"]}))}
    whole = [_contributions(pair.tests, texts) for pair in pairs]
    beyond = [contributions(pair.alike, texts) for pair in pairs if pair.alike is not None]
    claims = claims_of([*whole, *beyond], families=1)
    of_controls = iter(claims[len(pairs) :])
    return [
        _row(pair, claim, next(of_controls) if pair.alike is not None else None)
        for pair, claim in zip(pairs, claims[: len(pairs)], strict=True)
    ]


def _row(pair: _Pair, claim: Claim, beyond: Claim | None) -> Frequency:
    row = Frequency(
        first=pair.first,
        second=pair.second,
        texts=claim.estimate.texts,
        tests=int(pair.tests["changed_known"].sum()),
        biased_first=int(pair.tests["first"].sum()),
        biased_second=int(pair.tests["second"].sum()),
        difference=claim.estimate.value,
        ci95=within(claim.interval, 1.0),
        p=claim.p,
        p_holm=claim.p_holm,
        detectable=claim.detectable,
        controls=int(pair.alike.controls.sum()) if pair.alike is not None else 0,
    )
    if beyond is None:
        return row
    told = {
        "beyond": beyond.estimate.value,
        "beyond_ci95": within(beyond.interval, 2.0),  # from 1 minus -1 to -1 minus 1
        "beyond_p": beyond.p,
        "beyond_p_holm": beyond.p_holm,
    }
    return row.model_copy(update=told)


def _contributions(tests: pl.DataFrame, texts: Mapping[str, int]) -> Contributions:
    """Return what each text contributes to the difference of two shares of the same tests."""
    import numpy as np

    places = np.array([texts[document] for document in tests["document"]], dtype=np.int64)
    differences, sizes = (tests[name].cast(float).to_numpy() for name in ("changed_hits", "changed_known"))
    value = float(differences.sum() / sizes.sum())
    return Contributions(
        value=value,
        spread=by_text(places, (differences - value * sizes) / sizes.sum(), len(texts)),
        null=by_text(places, differences / sizes.sum(), len(texts)),
        texts=tests.height,
    )


def between(first: Tables, second: Tables) -> Strata:
    """Return the tests and controls that both runs decided; a hit counts 1 for the second, -1 for the first.

    Beside ``changed_hits`` stand the tests that ``first`` and ``second`` changed.
    """
    cases = first.scan("cases").select("id", **edits())
    same = common(first, second).select("id").lazy()
    return Strata(*(_differing(first, second, table, cases, same) for table in ("verdicts", "controls")))


def _differing(
    first: Tables, second: Tables, table: str, cases: pl.LazyFrame, same: pl.LazyFrame
) -> pl.DataFrame:
    import polars as pl

    left, right = (decided(tables.scan(table)) for tables in (first, second))
    one, other = pl.col("biased"), pl.col("biased_second")
    return (
        left.join(right, on=["case", "other", "key", "document"], suffix="_second")
        .join(same, left_on="case", right_on="id", how="semi")
        .join(cases, left_on="case", right_on="id")
        .group_by(pl.lit(EVERY).alias("key"), "document", "order", "edits")
        .agg(
            changed_hits=other.cast(pl.Int64).sum() - one.cast(pl.Int64).sum(),
            changed_known=pl.len(),
            first=one.sum(),
            second=other.sum(),
        )
        .sort("document", "edits")
        .collect()
    )


def decided(verdicts: pl.LazyFrame) -> pl.LazyFrame:
    """Return the tests that are biased or benign; a difference of scores is neither."""
    import polars as pl

    status = pl.col("status")
    return verdicts.filter((pl.col("relation") != SCORES) & status.is_in(["biased", "benign"])).select(
        "case",
        "document",
        pl.col("other").fill_null(""),
        key=pl.col("attributes").list.join(KEY_SEPARATOR),
        biased=status == "biased",
    )
