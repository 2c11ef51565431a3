"""The content of ``fluency.json`` for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from harness.report.summary import Block, Interval

UNITS = {
    "log_likelihood": "mean log-likelihood per token, in nats; higher is more fluent",
    "matches_per_100_words": "LanguageTool matches per 100 words; lower is more fluent",
}


class Mean(Block):
    """A mean, or a difference of two, with its 95 % interval by document."""

    mean: float | None
    ci95: Interval | None


class Kind(Mean):
    """The texts of one kind or of a ``part`` of it; ``difference`` is theirs less that of their originals.

    ``n`` texts have a score; ``unscored`` counts the others by reason.
    """

    kind: str
    part: str | None
    n: int
    unscored: Mapping[str, int]
    difference: Mean | None


class _Scorer(Block):
    name: str


class Fluency(Block):
    """The fluency of a run's originals, valid mutants and discarded mutants by one scorer."""

    scorer: _Scorer
    measure: str
    kinds: tuple[Kind, ...]
    valid_less_discarded: Mean | None

    @property
    def failed(self) -> bool:
        """Whether any text lacks a score because its request failed."""
        return any(row.unscored.get("failed") for row in self.kinds)


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


def _figure(figure: Mean, form: str) -> str:
    if figure.mean is None:
        return "-"
    between = " to ".join(format(limit, form) for limit in figure.ci95) if figure.ci95 else ""
    return f"{figure.mean:{form}}" + (f" ({between})" if between else "")
