"""Rows of files of every kind, streamed in order: tables, JSON, Parquet and Excel."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.documents import streams, tables
from harness.documents.tables import Expected, Note, Row
from harness.errors import DocumentError

__all__ = ["SUFFIXES", "Row", "kind", "rows"]

TABLES, JSON, PARQUET, EXCEL = (".csv", ".tsv"), (".jsonl", ".ndjson", ".json"), (".parquet",), (".xlsx",)
SUFFIXES = (*TABLES, *JSON, *PARQUET, *EXCEL)
PARQUET_ROWS = 1000


def kind(path: Path) -> str | None:
    """Return which of ``SUFFIXES`` the name of ``path`` has, apart from that of a compression, or None."""
    suffix = (path.with_suffix("") if path.suffix.lower() in streams.PACKED else path).suffix.lower()
    return suffix if suffix in SUFFIXES else None


def rows(path: Path, name: str, expected: Expected, note: Note) -> Iterator[Row]:
    """Yield the rows of the file at ``path``, whose kind its name tells or else its content.

    ``note`` hears what the user should know. Raises ``DocumentError``, which calls the file ``name``.
    """
    suffix = kind(path) or _by_content(path, name)
    if path.stat().st_size == 0:
        raise DocumentError(f"{name}: the file is empty")
    if suffix in PARQUET:
        return _parquet_rows(path, name)
    if suffix in EXCEL:
        return _excel_rows(path, name, note)
    return _json_rows(path, name) if suffix in JSON else tables.rows(path, name, expected, note)


def _by_content(path: Path, name: str) -> str:
    first = streams.start(path, name)
    for magic, suffix in streams.BINARY.items():
        if first.startswith(magic):
            return suffix
    text = first.decode(json.detect_encoding(first), "ignore").lstrip("\ufeff \t\r\n")
    return JSON[0] if text.startswith(("{", "[")) else TABLES[0]


def _parquet_rows(path: Path, name: str) -> Iterator[Row]:
    import polars as pl

    try:
        frame = pl.scan_parquet(path, glob=False)
        for batch in frame.collect_batches(chunk_size=PARQUET_ROWS, maintain_order=True):
            yield from batch.iter_rows(named=True)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise DocumentError(f"{name}: not a Parquet file: {str(error).splitlines()[0]}") from error


def _excel_rows(path: Path, name: str, note: Note) -> Iterator[Row]:
    """Yield the rows of the first sheet, every cell as text."""
    try:
        import fastexcel
    except ImportError as error:
        raise DocumentError(f"{name}: reading Excel files needs an extra: {streams.EXTRA}") from error
    try:
        book = fastexcel.read_excel(path)
        sheet = book.load_sheet(0, header_row=None, dtypes="string").to_polars()
    except fastexcel.FastExcelError as error:
        raise DocumentError(f"{name}: not an Excel file: {str(error).splitlines()[0]}") from error
    if others := book.sheet_names[1:]:
        note(f"{name}: only the first sheet, {book.sheet_names[0]!r}, is read, not {', '.join(others)}")
    yield from tables.named(sheet.iter_rows(), name)


def _json_rows(path: Path, name: str) -> Iterator[Row]:
    """Yield the objects of an array, or else those of the lines."""
    lines = (line for line in streams.lines(path, name) if line.strip())
    first = next(lines, None)
    if first is None:
        raise DocumentError(f"{name}: the file is empty")
    if first.lstrip().startswith("["):
        text = "".join(streams.lines(path, name))
        for number, row in enumerate(_parsed(text, name), 1):
            yield _object(row, f"{name}: row {number}")
        return
    yield _object(_parsed(first, f"{name}: row 1"), f"{name}: row 1")
    for number, line in enumerate(lines, 2):
        where = f"{name}: row {number}"
        yield _object(_parsed(line, where), where)


def _parsed(text: str, where: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_once)
    except _TwiceError as error:
        raise DocumentError(f"{where}: the key {error} is there twice in one object") from error
    except (ValueError, RecursionError) as error:  # or a number too long, or brackets nested too deep
        form = " (one object a line, or an array of objects, is read)" if text.strip() == "{" else ""
        raise DocumentError(f"{where}: not valid JSON: {error}{form}") from error


class _TwiceError(ValueError):
    """A key that one object has twice."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for key, value in pairs:
        if key in row:
            raise _TwiceError(repr(key))
        row[key] = value
    return row


def _object(row: object, where: str) -> Row:
    if not isinstance(row, dict):
        raise DocumentError(f"{where}: not a JSON object")
    return row
