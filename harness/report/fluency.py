"""The content of ``fluency.json`` for the terminal, the page and Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import Field, ValidationError

from harness.blocks import Block, Interval
from harness.core import JsonObject
from harness.errors import RunError
from harness.numerals import counted
from harness.sections import Cell, Section, Table

SCHEMA = 1

NAME = "fluency.json"
BY_VERDICT = (
    "Of the sample that hinter fluency drew. Intervals resample texts. Changed minus not changed: of mutants,"
    " in the difference from their originals; of originals, in the score, where any of their mutants changes"
    " the answer."
)
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


class ByVerdict(Block):
    """Texts of one ``order`` (0: originals) by whether the answer changed; an original's, by any mutant.

    Each has the mean score and, of mutants, the mean difference from their originals. ``contrast`` is what
    changed answers have more than others: of mutants in this difference, of originals in the score.
    """

    order: int
    changed: Mean
    unchanged: Mean
    changed_difference: Mean | None
    unchanged_difference: Mean | None
    contrast: Contrast

    @property
    def name(self) -> str:
        """What the texts are."""
        return f"mutants of {counted(self.order, 'attribute')}" if self.order else "originals"


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
    by_verdict: tuple[ByVerdict, ...] = ()

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
    yield from map(_by_verdict, fluency.by_verdict)


def _by_verdict(row: ByVerdict) -> str:
    changed, others = (f"{_figure(mean, '.4f')} of {mean.n}" for mean in (row.changed, row.unchanged))
    contrast = _figure(row.contrast, "+.4f")
    return f"{row.name}: answer changed {changed}, not changed {others}, difference {contrast}"


def read(folder: Path) -> Fluency | None:
    """Return what ``hinter fluency`` wrote to a run folder; None if nothing. Raises ``RunError``."""
    file = folder / NAME
    if not file.exists():
        return None
    try:
        return Fluency.model_validate_json(file.read_bytes())
    except (OSError, ValidationError) as error:
        raise RunError(f"{file}: not written by hinter fluency: delete it") from error


def sections(folder: Path) -> list[Section]:
    """Return the section of the fluency by verdict; empty if it was not measured. Raises ``RunError``."""
    fluency = read(folder)
    if fluency is None or not fluency.by_verdict:
        return []
    rows: list[list[Cell]] = []
    for one in fluency.by_verdict:
        parts = (
            ("changed", one.changed, one.changed_difference, _figure(one.contrast, "+.4f")),
            ("not changed", one.unchanged, one.unchanged_difference, ""),
        )
        for answer, scores, beside, contrast in parts:
            minus = _figure(beside, "+.4f") if beside is not None else ""
            rows.append([one.name, answer, scores.n, _figure(scores, ".4f"), minus, contrast])
    columns = ["texts", "answer", "scored", "mean score", "minus its original", "changed minus not changed"]
    text = f"Scored by {fluency.scorer.name}: {UNITS[fluency.measure]}."
    return [Section("Fluency by verdict", text, Table(columns, rows), notes=[BY_VERDICT], page_only=True)]


def _figure(figure: Mean | Contrast | Kind, form: str) -> str:
    if figure.mean is None:
        return "-"
    between = " to ".join(format(limit, form) for limit in figure.ci95) if figure.ci95 else ""
    return f"{figure.mean:{form}}" + (f" ({between})" if between else "")
