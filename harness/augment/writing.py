"""Writes rows as CSV, JSON lines or Parquet, by the name of the file, which appears once it is complete."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from harness import files, tables
from harness.augment.rows import COLUMNS
from harness.errors import ConfigError

if TYPE_CHECKING:
    import polars as pl

Cells = Mapping[str, str | list[str] | None]
SUFFIXES = (".csv", ".jsonl", ".parquet")
ROWS_A_PART = 10_000
LABELS = ("label", "origin_label")


def checked(path: Path) -> Path:
    """Return ``path`` if it names a kind of file that can be written. Raises ``ConfigError``."""
    if path.suffix.lower() not in SUFFIXES:
        raise ConfigError(f"--out {path}: give a name that ends in {', '.join(SUFFIXES)}")
    return path


def write(path: Path, rows: Iterable[Cells], several: bool) -> None:
    """Write ``rows`` to ``path``; labels are lists where a text may have ``several``."""
    writers: dict[str, Callable[[Path, Iterator[Cells], bool], None]] = {
        ".csv": _csv,
        ".jsonl": _json_lines,
        ".parquet": _parquet,
    }
    files.private_folder(path.absolute().parent)
    with files.replacing(path) as unfinished:
        writers[path.suffix.lower()](unfinished, iter(rows), several)


def _csv(path: Path, rows: Iterator[Cells], several: bool) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for cells in rows:
            writer.writerow([_spelt(cells[name], several) for name in COLUMNS])


def _spelt(cell: str | list[str] | None, several: bool) -> str:
    """Return a cell as text: several labels as a JSON list, which is read as such, none of them as []."""
    if isinstance(cell, list):
        return json.dumps(cell, ensure_ascii=False) if several else "".join(cell)
    return cell or ""


def _json_lines(path: Path, rows: Iterator[Cells], several: bool) -> None:
    with path.open("w", encoding="utf-8") as file:
        for cells in rows:
            file.write(json.dumps(_values(cells, several), ensure_ascii=False) + "\n")


def _values(cells: Cells, several: bool) -> dict[str, str | list[str] | None]:
    return {
        name: cell if several or not isinstance(cell, list) else "".join(cell) for name, cell in cells.items()
    }


def _parquet(path: Path, rows: Iterator[Cells], several: bool) -> None:
    with _parts(path) as folder:
        numbers = 0
        while part := list(islice(rows, ROWS_A_PART)):
            tables.write(folder / f"{numbers:06d}.parquet", _frame(part, several))
            numbers += 1
        if not numbers:
            tables.write(folder / "000000.parquet", _frame([], several))
        tables.merge(sorted(folder.glob("*.parquet")), path)


@contextmanager
def _parts(path: Path) -> Iterator[Path]:
    with TemporaryDirectory(dir=path.absolute().parent, prefix=".parts-") as folder:
        yield Path(folder)


def _frame(rows: Iterable[Cells], several: bool) -> pl.DataFrame:
    import polars as pl

    kinds = {name: pl.List(pl.String) if several and name in LABELS else pl.String() for name in COLUMNS}
    return pl.DataFrame([_values(cells, several) for cells in rows], schema=kinds, orient="row")
