"""Rows of CSV, TSV, JSON lines and Parquet files, streamed and strictly UTF-8."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from harness.errors import DocumentError

SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")
PARQUET_ROWS = 1000

Row = Mapping[str, Any]


def rows(
    path: Path, labels: Container[str], text_column: str | None, columns: Collection[str]
) -> Iterator[Row]:
    """Yield the rows of the file at ``path``. Raises ``DocumentError``.

    ``labels`` (their spellings), ``columns`` (usual names of the text column) and ``text_column`` (the user's
    choice) help to tell a header from data.
    """
    if path.stat().st_size == 0:
        raise DocumentError(f"{path}: the file is empty")
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        return _parquet_rows(path)
    if suffix in (".jsonl", ".ndjson"):
        return _json_rows(path)
    return _table_rows(path, labels, {*columns, text_column})


def _parquet_rows(path: Path) -> Iterator[Row]:
    import polars as pl

    try:
        for frame in pl.scan_parquet(path, glob=False).collect_batches(
            chunk_size=PARQUET_ROWS, maintain_order=True
        ):
            yield from frame.iter_rows(named=True)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise DocumentError(f"{path}: not a Parquet file: {str(error).splitlines()[0]}") from error


def _json_rows(path: Path) -> Iterator[Row]:
    number = 0
    for line in _lines(path):
        if not line.strip():
            continue
        number += 1
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:  # or a number too long, or brackets nested too deep
            raise DocumentError(f"{path}: row {number}: not valid JSON: {error}") from error
        if not isinstance(row, dict):
            raise DocumentError(f"{path}: row {number}: not a JSON object")
        yield row


def _table_rows(path: Path, labels: Container[str], columns: Collection[str | None]) -> Iterator[Row]:
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    first = next(_lines(path))
    tabs = path.suffix.lower() == ".tsv" or ("\t" in first and not _is_header(first, columns))
    # In tab-separated data a quotation mark is an ordinary character unless a field begins with it.
    reader = csv.reader(
        _lines(path),
        delimiter="\t" if tabs else ",",
        quoting=csv.QUOTE_NONE if tabs else csv.QUOTE_MINIMAL,
        strict=True,
    )
    number = 0
    try:
        header = next(reader)
        rows: Iterator[list[str]] = reader
        if tabs and _is_data(header, labels, columns):
            header, rows = ["label", "text"], chain([header], reader)
        if len(set(header)) < len(header):
            raise DocumentError(f"{path}: duplicate column name: {', '.join(header)}")
        for fields in rows:
            if not fields:
                continue
            number += 1
            if len(fields) != len(header):
                raise DocumentError(
                    f"{path}: row {number}: {len(fields)} fields, but the header has {len(header)}"
                )
            yield dict(zip(header, (map(_unquote, fields) if tabs else fields), strict=True))
    except csv.Error as error:
        raise DocumentError(f"{path}: row {number + 1}: {error}") from error


def _is_header(line: str, columns: Collection[str | None]) -> bool:
    """Return whether a line, read as comma-separated, names a text column."""
    return not set(columns).isdisjoint(next(csv.reader([line]), []))


def _is_data(first: Sequence[str], labels: Container[str], columns: Collection[str | None]) -> bool:
    """Return whether a first line is data, not a header: two fields, the first a label.

    IMDB in BiasFinder's form is such a file.
    """
    return len(first) == 2 and first[0].strip().lower() in labels and first[1] not in columns


def _unquote(field: str) -> str:
    if len(field) > 1 and field[0] == field[-1] == '"':
        return field[1:-1].replace('""', '"')
    return field


def _lines(path: Path) -> Iterator[str]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            yield from stream
    except UnicodeDecodeError as error:
        line = _undecodable(path)
        raise DocumentError(f"{path}: not UTF-8 at line {line} ({error.reason}): convert it first") from error
    except OSError as error:
        raise DocumentError(f"{path}: {error.strerror or error}") from error


def _undecodable(path: Path) -> int:
    """Return the number of the first line that is not UTF-8.

    Text is decoded in blocks, so that decoding fails long before that line is reached.
    """
    number = 0
    with path.open("rb") as stream:
        for number, line in enumerate(stream, 1):  # noqa: B007
            try:
                line.decode()
            except UnicodeDecodeError:
                break
    return number
