"""The content of ``review.json`` for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import Field

from harness.blocks import Block, Interval
from harness.core import JsonObject
from harness.numerals import UNKNOWN
from harness.report.fluency import Mean

SCHEMA = 1


class Consistency(Block):
    """The share of ``n`` ratings with the expected label, or *yes*, with its 95 % interval."""

    n: int
    consistent: int
    rate: float | None
    ci95: Interval | None


class Kind(Block):
    """The annotators' ratings of the cases of one kind."""

    kind: str
    cases: int
    ratings: int
    right: Consistency
    label_consistency: Consistency
    relevancy: Mean
    fluency: Mean


class Kappa(Block):
    """The agreement of annotators beyond chance on ``items`` cases."""

    items: int
    kappa: float | None
    ci95: Interval | None


class Pair(Block):
    """The agreement of two annotators."""

    annotators: tuple[str, str]
    items: int
    kappa: float | None
    ci95: Interval | None


class Agreement(Block):
    """Cohen's kappa of every two annotators and, for more than two, Fleiss' kappa of all.

    ``weights`` is ``quadratic`` where the answers are steps of a scale, else ``none``.
    """

    weights: str
    cohen: tuple[Pair, ...]
    fleiss: Kappa | None


class Review(Block):
    """The content of ``review.json``: the annotators' ratings of a run's cases, and their agreement.

    ``agreement`` is by column of the sheet; ``ratings`` counts the rows filled in.
    """

    schema_: int = Field(SCHEMA, alias="schema")
    annotators: tuple[str, ...]
    ratings: int
    kinds: tuple[Kind, ...]
    agreement: Mapping[str, Agreement]

    def to_json(self) -> JsonObject:
        """Return the JSON values of the file."""
        return self.model_dump(mode="json", by_alias=True)


def lines(review: Review) -> Iterator[str]:
    """Yield the lines of the table and of the agreement."""
    if any(row.right.n for row in review.kinds):
        yield f"{'':<24}{'cases':>6}{'ratings':>9}  right"
        for row in review.kinds:
            yield f"{row.kind:<24}{row.cases:>6}{row.ratings:>9}  {_figure(row.right.rate, row.right.ci95)}"
    else:
        yield from _rated(review)
    for column, agreement in review.agreement.items():
        for pair in agreement.cohen:
            who = " and ".join(pair.annotators)
            kappa = _figure(pair.kappa, pair.ci95)
            yield f"{column}: Cohen's kappa of {who}: {kappa}, {pair.items} cases"
        if agreement.fleiss:
            kappa = _figure(agreement.fleiss.kappa, agreement.fleiss.ci95)
            yield f"{column}: Fleiss' kappa of all: {kappa}, {agreement.fleiss.items} cases"


def _rated(review: Review) -> Iterator[str]:
    yield f"{'':<24}{'cases':>6}{'ratings':>9}  {'label consistent':<28}{'relevancy':<26}fluency"
    for row in review.kinds:
        label = _figure(row.label_consistency.rate, row.label_consistency.ci95)
        relevancy, fluency = (_figure(mean.mean, mean.ci95) for mean in (row.relevancy, row.fluency))
        yield f"{row.kind:<24}{row.cases:>6}{row.ratings:>9}  {label:<28}{relevancy:<26}{fluency}"


def _figure(value: float | None, between: Interval | None) -> str:
    if value is None:
        return UNKNOWN
    return f"{value:.2f}" + (f" ({between[0]:.2f} to {between[1]:.2f})" if between else "")
