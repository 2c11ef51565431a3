"""What ``fluency.json`` holds, as the terminal shows it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from harness.report.summary import Block, Interval

UNITS = {
    "log_likelihood": "mean log-likelihood of a token, in nats; higher is more fluent",
    "matches_per_100_words": "LanguageTool's matches per 100 words; lower is more fluent",
}


class Mean(Block):
    """A mean, or a difference of two, with its 95 % interval by document."""

    mean: float | None
    ci95: Interval | None


class Kind(Mean):
    """The texts of one kind, or of a ``part`` of it; ``difference`` is that from their originals.

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
    """How fluent a run's originals, valid and discarded mutants are, by one scorer."""

    scorer: _Scorer
    measure: str
    kinds: tuple[Kind, ...]
    valid_less_discarded: Mean | None

    @property
    def failed(self) -> bool:
        """Whether some text has no score because its request failed."""
        return any(row.unscored.get("failed") for row in self.kinds)


def lines(fluency: Fluency) -> Iterator[str]:
    """Yield the table, a line each."""
    yield f"{fluency.scorer.name}: {UNITS[fluency.measure]}"
    yield f"{'':<28}{'n':>6}  {'mean, 95 % interval':<30}{'less its original'}".rstrip()
    for row in fluency.kinds:
        name = row.kind if row.part is None else f"  {row.part}"
        beside = _figure(row.difference, "+.4f") if row.difference else ""
        yield f"{name:<28}{row.n:>6}  {_figure(row, '.4f'):<30}{beside}".rstrip()
    if fluency.valid_less_discarded:
        yield f"valid less discarded: {_figure(fluency.valid_less_discarded, '+.4f')}"


def _figure(figure: Mean, form: str) -> str:
    if figure.mean is None:
        return "-"
    between = " to ".join(format(limit, form) for limit in figure.ci95) if figure.ci95 else ""
    return f"{figure.mean:{form}}" + (f" ({between})" if between else "")
