"""The content of ``fluency.json`` for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import Field

from harness.blocks import Block, Interval
from harness.core import JsonObject

SCHEMA = 1

UNITS = {
    "log_likelihood": "mean log-likelihood per token, in nats; higher is more fluent",
    "matches_per_100_words": "LanguageTool matches per 100 words; lower is more fluent",
}


class Mean(Block):
    """The mean of ``n`` values from so many documents, with its 95 % interval by document."""

    n: int
    documents: int
    mean: float | None
    ci95: Interval | None


class Contrast(Block):
    """The difference of two means, with its 95 % interval by document."""

    mean: float | None
    ci95: Interval | None


class Kind(Block):
    """The texts of one kind, or of a ``part`` of it: the run has ``cases``, of which ``sampled`` were drawn.

    ``n`` texts have a score; ``unscored`` counts the others by reason. ``difference`` is the mean difference
    of the mutants from their originals.
    """

    kind: str
    part: str | None
    cases: int | None
    sampled: int
    unscored: Mapping[str, int]
    n: int
    documents: int
    mean: float | None
    ci95: Interval | None
    difference: Mean | None


class Judge(Block):
    """The scorer; what else identifies it stands beside its name."""

    name: str


class Texts(Block):
    """Texts scored now, texts whose scores were kept from an earlier time, and requests sent again."""

    scored: int
    kept: int
    retried: int


class Fluency(Block):
    """The content of ``fluency.json``: the fluency of a run's originals and mutants by one scorer.

    ``better`` is ``higher`` or ``lower``. ``limit`` is the most texts drawn of a kind.
    """

    schema_: int = Field(SCHEMA, alias="schema")
    scorer: Judge
    measure: str
    better: str
    seed: int
    limit: int
    texts: Texts
    kinds: tuple[Kind, ...]
    valid_less_discarded: Contrast | None

    @property
    def failed(self) -> bool:
        """Whether any text lacks a score because its request failed."""
        return any(row.unscored.get("failed") for row in self.kinds)

    def to_json(self) -> JsonObject:
        """Return the JSON values of the file."""
        return self.model_dump(mode="json", by_alias=True)


def lines(fluency: Fluency) -> Iterator[str]:
    """Yield the lines of the table."""
    yield f"{fluency.scorer.name}: {UNITS[fluency.measure]}"
    yield f"{'':<28}{'n':>6}  {'mean, 95 % interval':<30}{'minus its original'}".rstrip()
    for row in fluency.kinds:
        name = row.kind if row.part is None else f"  {row.part}"
        beside = _figure(row.difference, "+.4f") if row.difference else ""
        yield f"{name:<28}{row.n:>6}  {_figure(row, '.4f'):<30}{beside}".rstrip()
    if fluency.valid_less_discarded:
        yield f"valid minus discarded: {_figure(fluency.valid_less_discarded, '+.4f')}"


def _figure(figure: Mean | Contrast | Kind, form: str) -> str:
    if figure.mean is None:
        return "-"
    between = " to ".join(format(limit, form) for limit in figure.ci95) if figure.ci95 else ""
    return f"{figure.mean:{form}}" + (f" ({between})" if between else "")
