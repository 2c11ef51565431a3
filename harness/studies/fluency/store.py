"""``fluency.parquet``: a row for each case and scorer, so that no text is scored twice."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from harness import tables
from harness.core import Case, Failure, JsonObject, canonical
from harness.errors import RunError
from harness.plugins import Score
from harness.studies.fluency.figures import Scores
from harness.studies.fluency.sample import Sample
from harness.studies.sampling import kind

if TYPE_CHECKING:
    import polars as pl


def digest(text: str) -> str:
    """Return the SHA-256 of ``text`` in hexadecimal."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Store:
    """The scores in the file at ``path`` by the scorer of ``identity``; rows of others stay untouched."""

    def __init__(self, path: Path, identity: JsonObject) -> None:
        self._path = path
        self.scorer = digest(canonical(dict(identity)))
        self._earlier = self._read()

    def scores(self) -> dict[str, Score]:
        """Return the earlier scores of this scorer by the SHA-256 of the text."""
        import polars as pl

        of_ours = self._earlier.filter((pl.col("scorer") == self.scorer) & pl.col("total").is_not_null())
        rows = of_ours.select("text_sha256", "total", "units").iter_rows()
        return {text: Score(total, units) for text, total, units in rows}

    def write(self, sample: Sample, scores: Scores) -> None:
        """Write the scores so far of the cases of ``sample`` beside the earlier rows, whole or not at all."""
        import polars as pl

        sampled = {case.id for cases in sample.by_kind.values() for case in cases}
        ours = [self._row(c, c.id in sampled, scores[c.text]) for c in sample.cases if c.text in scores]
        now = pl.DataFrame(ours, schema=_schema(), orient="row")
        before = self._earlier.join(now, on=["scorer", "case"], how="anti").with_columns(
            sampled=pl.when(pl.col("scorer") == self.scorer).then(False).otherwise(pl.col("sampled"))
        )
        tables.write(self._path, pl.concat([before, now]))

    def _row(self, case: Case, sampled: bool, result: Score | Failure) -> dict[str, object]:
        score = result if isinstance(result, Score) else None
        return {
            "scorer": self.scorer,
            "case": case.id,
            "document": case.document,
            "group": case.group,
            "kind": kind(case),
            "role": case.role,
            "reason": case.reason,
            "sampled": sampled,
            "text_sha256": digest(case.text),
            "total": score.total if score else None,
            "units": score.units if score else None,
            "mean": score.mean if score else None,
            "unscored": result.reason if isinstance(result, Failure) else None,
        }

    def _read(self) -> pl.DataFrame:
        import polars as pl

        if not self._path.exists():
            return pl.DataFrame(schema=_schema())
        try:
            table = pl.read_parquet(self._path, glob=False)
        except (pl.exceptions.PolarsError, OSError) as error:
            raise RunError(f"{self._path}: not a Parquet file: delete it") from error
        if table.schema != _schema():
            raise RunError(f"{self._path}: other columns than expected: delete it")
        return table


def _schema() -> pl.Schema:
    import polars as pl

    words = ("scorer", "case", "document", "group", "kind", "role", "reason")
    return pl.Schema(
        {
            **dict.fromkeys(words, pl.String),
            "sampled": pl.Boolean,
            "text_sha256": pl.String,
            "total": pl.Float64,
            "units": pl.Int64,
            "mean": pl.Float64,
            "unscored": pl.String,
        }
    )
