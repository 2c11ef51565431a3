"""The tables of a run: records to rows and back, and Parquet files of bounded size."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from harness import columns, files
from harness.core import (
    Case,
    Margin,
    Noise,
    Outcome,
    Preference,
    Repeated,
    Substitution,
    Verdict,
    canonical,
)
from harness.errors import RunError

if TYPE_CHECKING:
    import polars as pl

Row = Mapping[str, Any]
Content = TypeVar("Content")

ROWS_A_PART = 10_000
CHARACTERS_A_PART = 8_000_000


class Parts:
    """A writer of the table ``name``, to numbered Parquet files of bounded size in ``folder``.

    ``with Parts(…) as parts: parts.add(row)``.
    """

    def __init__(self, folder: Path, name: str, prefix: str = "part-") -> None:
        self._folder = folder
        self._name = name
        self._prefix = prefix
        self._rows: list[Row] = []
        self._characters = 0
        self._number = 0

    def __enter__(self) -> Parts:
        files.private_folder(self._folder)
        return self

    def __exit__(self, *exception: object) -> None:
        self.flush()

    def add(self, row: Row, characters: int = 0) -> None:
        """Add one row; ``characters`` is the length of its text, which bounds the size of a part."""
        self._rows.append(row)
        self._characters += characters
        if len(self._rows) >= ROWS_A_PART or self._characters >= CHARACTERS_A_PART:
            self.flush()

    def flush(self) -> None:
        """Write the pending rows to a file that appears only when it is complete."""
        if not self._rows:
            return
        write(self._folder / f"{self._prefix}{self._number:05d}.parquet", frame(self._name, self._rows))
        self._rows, self._characters = [], 0
        self._number += 1


def frame(name: str, rows: Sequence[Row] = ()) -> pl.DataFrame:
    """Return a table with the columns of ``name`` and these ``rows``."""
    import polars as pl

    return pl.DataFrame(rows, schema=columns.schema(name), orient="row")


def write(file: Path, table: pl.DataFrame) -> None:
    """Write ``table`` to the Parquet file ``file``, completely or not at all. Raises ``RunError``."""
    import polars as pl

    try:
        with files.replacing(file) as unfinished:
            table.write_parquet(unfinished)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise RunError(f"{file}: cannot be written: {reason(error)}") from error


def merge(parts: Sequence[Path], file: Path) -> None:
    """Merge Parquet files into one, without loading them all into memory. Raises ``RunError``."""
    import polars as pl

    try:
        with files.replacing(file) as unfinished:
            scan(parts).sink_parquet(unfinished)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise RunError(f"{file}: cannot be written: {reason(error)}") from error


def scan(paths: Sequence[Path]) -> pl.LazyFrame:
    """Return the rows of Parquet files as a lazy table. Raises ``RunError`` for a damaged file."""
    import polars as pl

    for path in paths:
        _readable(path, _schema)
    return pl.scan_parquet(list(paths), glob=False)


def _schema(path: Path) -> pl.Schema:
    """Return the columns of a Parquet file, whose name may have the characters of a pattern."""
    import polars as pl

    return pl.scan_parquet(path, glob=False).collect_schema()


def complete(name: str, table: pl.LazyFrame) -> pl.LazyFrame:
    """Return ``table`` with all columns of the table ``name``; those that it lacks are null."""
    import polars as pl

    there = table.collect_schema().names()
    absent = {column: kind for column, kind in columns.schema(name).items() if column not in there}
    return table.with_columns(pl.lit(None, kind).alias(column) for column, kind in absent.items())


def read(path: Path) -> pl.DataFrame:
    """Return the rows of a Parquet file. Raises ``RunError`` for a damaged file."""
    import polars as pl

    return _readable(path, partial(pl.read_parquet, glob=False))


def height(path: Path) -> int:
    """Return the number of rows of a Parquet file. Raises ``RunError`` for a damaged file."""
    import polars as pl

    return int(scan([path]).select(pl.len()).collect().item())


def _readable(path: Path, reader: Callable[[Path], Content]) -> Content:
    import polars as pl

    try:
        return reader(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise RunError(
            f"{path}: cannot be read: {reason(error)}: delete it, and run the same command again"
        ) from error


def reason(error: Exception) -> str:
    """Return the first line of the error's message, without the path."""
    message = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return str(message).splitlines()[0]


def read_cases(paths: Iterable[Path]) -> Iterator[Case]:
    """Yield the cases of Parquet files, with one file in memory at a time. Raises ``RunError``."""
    for path in paths:
        yield from map(case_of, read(path).iter_rows(named=True))


def case_of(row: Row) -> Case:
    """Return the case in a row of ``cases``."""
    return Case(
        id=row["id"],
        group=row["group"],
        document=row["document"],
        role=row["role"],
        text=row["text"],
        substitutions=tuple(Substitution(**s) for s in row["substitutions"]),
        traits=json.loads(row["traits"]),
        expected=None if row["expected"] is None else frozenset(row["expected"]),
        reason=row["reason"],
        weight=row.get("weight", 1.0),
    )


def case_row(case: Case) -> Row:
    """Return the row of a case in ``cases``."""
    return {
        "id": case.id,
        "group": case.group,
        "document": case.document,
        "role": case.role,
        "text": case.text,
        "valid": case.valid,
        "reason": case.reason,
        "substitutions": [_substitution_row(s) for s in case.substitutions],
        "traits": canonical(dict(case.traits)),
        "expected": _listed(case.expected),
        "weight": case.weight,
    }


def _substitution_row(substitution: Substitution) -> Row:
    return {name: getattr(substitution, name) for name in columns.SUBSTITUTION}


def answer_row(case: Case, outcome: Outcome, reply: str) -> Row:
    """Return the row in ``answers`` of a case; ``reply`` is the text that its outcome was read from."""
    return {
        "case": case.id,
        **_said(outcome, reply),
        **_margin_columns(outcome.margin),
        "log_odds": outcome.log_odds,
        "mass": outcome.mass,
    }


def _said(outcome: Outcome, reply: str) -> Row:
    return {
        "outcome": outcome.reason or "read",
        "labels": _listed(outcome.labels),
        "score": outcome.score,
        "measures": None if outcome.measures is None else json.dumps(dict(outcome.measures)),
        "reply": reply,
    }


def repeat_row(again: Repeated) -> Row:
    """Return the row in ``repeats`` of an answer that was asked for again."""
    return {"case": again.case, "repeat": again.repeat, **_said(again.outcome, again.words)}


def preference_row(preference: Preference) -> Row:
    """Return the row in ``preferences`` of what a judge said of two answers."""
    return {
        "case": preference.case,
        "repeat": preference.repeat,
        "forwards": preference.forwards,
        "backwards": preference.backwards,
        "preference": preference.value,
    }


def verdict_row(verdict: Verdict, case: Case) -> Row:
    """Return the row in ``verdicts`` (or ``discarded``) of a verdict on ``case``."""
    return {
        "case": verdict.case,
        "relation": verdict.relation,
        "status": verdict.status,
        "hidden": verdict.hidden,
        "attributes": list(verdict.attributes),
        "document": case.document,
        "confirmed": verdict.confirmed,
        **_margin_columns(verdict.margin),
        "shift": verdict.shift,
        "other": verdict.other,
        "weight": case.weight,
    }


def _margin_columns(margin: Margin | None) -> Row:
    return {
        "margin": None if margin is None else margin.value,
        "margin_is_bound": None if margin is None else margin.is_bound,
    }


def noise_row(noise: Noise) -> Row:
    """Return the row in ``noise`` of an original that was asked about again."""
    return {"document": noise.document, "asked": noise.asked, "read": noise.read, "flips": noise.flips}


def _listed(labels: frozenset[str] | None) -> list[str] | None:
    return None if labels is None else sorted(labels)
