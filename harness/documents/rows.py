"""Rows of CSV, TSV, JSON lines and Parquet files, streamed, strictly UTF-8."""

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


def rows(path: Path, known: Container[str], asked: str | None, columns: Collection[str]) -> Iterator[Row]:
    """The rows of the file at ``path``. Raises ``DocumentError``.

    ``known`` (labels) and ``columns`` (of the text; ``asked``: the user's) tell a header from data.
    """
    if path.stat().st_size == 0:
        raise DocumentError(f"{path}: the file is empty")
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        return _parquet_rows(path)
    if suffix in (".jsonl", ".ndjson"):
        return _json_rows(path)
    return _table_rows(path, known, {*columns, asked})


def _parquet_rows(path: Path) -> Iterator[Row]:
    import polars as pl

    try:
        for frame in pl.scan_parquet(path).collect_batches(chunk_size=PARQUET_ROWS, maintain_order=True):
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
        except (ValueError, RecursionError) as error:  # a number too long, or brackets too deep, to be read
            raise DocumentError(f"{path}: row {number}: not valid JSON: {error}") from error
        if not isinstance(row, dict):
            raise DocumentError(f"{path}: row {number}: not a JSON object")
        yield row


def _table_rows(path: Path, known: Container[str], columns: Collection[str | None]) -> Iterator[Row]:
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    first = next(_lines(path))
    tabs = path.suffix.lower() == ".tsv" or ("\t" in first and not _is_header(first, columns))
    # In tab-separated data a quotation mark is a character like any other, unless a field begins with it.
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
        if tabs and _is_data(header, known, columns):
            header, rows = ["label", "text"], chain([header], reader)
        if len(set(header)) < len(header):
            raise DocumentError(f"{path}: two columns have one name: {', '.join(header)}")
        for fields in rows:
            if not fields:
                continue
            number += 1
            if len(fields) != len(header):
                raise DocumentError(
                    f"{path}: row {number}: {len(fields)} fields where the header has {len(header)}"
                )
            yield dict(zip(header, (map(_unquote, fields) if tabs else fields), strict=True))
    except csv.Error as error:
        raise DocumentError(f"{path}: row {number + 1}: {error}") from error


def _is_header(line: str, columns: Collection[str | None]) -> bool:
    """Whether a line names a text column when read with commas."""
    return not set(columns).isdisjoint(next(csv.reader([line]), []))


def _is_data(first: Sequence[str], known: Container[str], columns: Collection[str | None]) -> bool:
    """Two fields, the first a label: data without a header (IMDB in BiasFinder's form)."""
    return len(first) == 2 and first[0].strip().lower() in known and first[1] not in columns


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
    """The first line that is not UTF-8: text is decoded in blocks, long before its line is reached."""
    number = 0
    with path.open("rb") as stream:
        for number, line in enumerate(stream, 1):  # noqa: B007
            try:
                line.decode()
            except UnicodeDecodeError:
                break
    return number
