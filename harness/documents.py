"""Texts from files: CSV, TSV, JSON lines, Parquet, or a folder of these. Streamed, strictly UTF-8.

Every fault of a row is a ``DocumentError`` that names the file and the row (1 is the first data row).
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import chain, islice
from pathlib import Path
from typing import Any

from harness.core import Document, DocumentOptions
from harness.errors import DocumentError

SAMPLE = Path(__file__).parent / "data" / "sample.csv"
SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")
TEXT_COLUMNS = ("text", "review", "sentence", "content")
LABEL_COLUMNS = ("label", "labels", "sentiment", "polarity")
ID_COLUMN = "id"
PARQUET_ROWS = 1000

Row = Mapping[str, Any]


def read(
    options: DocumentOptions,
    labels: Sequence[str],
    aliases: Mapping[str, str] | None = None,
    clean: Callable[[str], str] = str,
) -> Iterator[Document]:
    """The documents at ``options.path`` (None: the bundled sample), gold labels checked against ``labels``.

    ``aliases`` maps other spellings (lower case) to labels; ``clean`` mends the text before use.
    """
    known = {label.lower(): label for label in labels} | dict(aliases or {})
    return islice(_documents(options, known, clean), options.limit)


def files(path: str | Path | None) -> list[Path]:
    """The data files that ``path`` stands for. Raises ``DocumentError``."""
    if path is None:
        return [SAMPLE]
    path = Path(path)
    if path.is_dir():
        found = sorted(p for p in path.iterdir() if p.suffix.lower() in SUFFIXES)
        if not found:
            raise DocumentError(f"{path}: no {', '.join(SUFFIXES)} file in this folder")
        return found
    if not path.exists():
        raise DocumentError(f"{path}: no such file")
    if path.suffix.lower() not in SUFFIXES:
        raise DocumentError(f"{path}: unknown kind of file: use {', '.join(SUFFIXES)}")
    return [path]


def digest(path: str | Path | None) -> str:
    """SHA-256 over the data files, so that a run knows when its texts have changed."""
    total = sha256()
    for file in files(path):
        with file.open("rb") as stream:
            while block := stream.read(1 << 20):
                total.update(block)
    return total.hexdigest()


def _documents(
    options: DocumentOptions, known: Mapping[str, str], clean: Callable[[str], str]
) -> Iterator[Document]:
    paths = files(options.path)
    seen: set[str] = set()
    for path in paths:
        number = 0
        for number, row in enumerate(_rows(path, known, options.text_column), 1):
            document = _document(row, options, known, clean, path, number, len(paths) > 1)
            if ID_COLUMN in row:
                if document.id in seen:
                    raise DocumentError(f"{path}: row {number}: id {document.id!r} is given twice")
                seen.add(document.id)
            yield document
        if number == 0:
            raise DocumentError(f"{path}: no rows")


def _document(
    row: Row,
    options: DocumentOptions,
    known: Mapping[str, str],
    clean: Callable[[str], str],
    path: Path,
    number: int,
    several: bool,
) -> Document:
    where = f"{path}: row {number}"
    text_column = _column(row, options.text_column, TEXT_COLUMNS, path, "text")
    value = row[str(text_column)]
    if not isinstance(value, str):
        raise DocumentError(f"{where}: {text_column!r} is {type(value).__name__}, not text")
    text = clean(value)
    if not text.strip():
        raise DocumentError(f"{where}: {text_column!r} is empty")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise DocumentError(
            f"{where}: {text_column!r} has a lone surrogate at character {error.start}"
        ) from None
    label_column = _column(row, options.label_column, LABEL_COLUMNS, path, "label")
    labels = _labels(row[label_column], known, where) if label_column is not None else None
    name = str(row[ID_COLUMN]) if row.get(ID_COLUMN) not in (None, "") else str(number)
    return Document(f"{path.stem}:{name}" if several else name, text, labels)


def _column(row: Row, asked: str | None, usual: Sequence[str], path: Path, kind: str) -> str | None:
    if asked is not None:
        if asked not in row:
            raise DocumentError(f"{path}: no column {asked!r}: it has {', '.join(row)}")
        return asked
    found = next((name for name in usual if name in row), None)
    if found is None and kind == "text":
        raise DocumentError(
            f"{path}: no column named {' or '.join(usual)}: it has {', '.join(row)}; "
            "name yours with --text-column"
        )
    return found


def _labels(value: Any, known: Mapping[str, str], where: str) -> frozenset[str] | None:
    if value is None or value == "":
        return None
    values = value if isinstance(value, list) else [value]
    for one in values:
        if str(one).strip().lower() not in known:
            names = ", ".join(dict.fromkeys(known.values()))
            raise DocumentError(f"{where}: unknown label {one!r}: the task has {names}")
    return frozenset(known[str(one).strip().lower()] for one in values)


def _rows(path: Path, known: Mapping[str, str], asked: str | None) -> Iterator[Row]:
    if path.stat().st_size == 0:
        raise DocumentError(f"{path}: the file is empty")
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        return _parquet_rows(path)
    return _json_rows(path) if suffix in (".jsonl", ".ndjson") else _table_rows(path, known, asked)


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
        except json.JSONDecodeError as error:
            raise DocumentError(f"{path}: row {number}: not valid JSON: {error}") from error
        if not isinstance(row, dict):
            raise DocumentError(f"{path}: row {number}: not a JSON object")
        yield row


def _table_rows(path: Path, known: Mapping[str, str], asked: str | None) -> Iterator[Row]:
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    first = next(_lines(path))
    tabs = path.suffix.lower() == ".tsv" or ("\t" in first and not _is_header(first, asked))
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
        if tabs and _is_data(header, known):
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


def _is_header(line: str, asked: str | None) -> bool:
    """Whether a line names a text column when read with commas."""
    names = next(csv.reader([line]), [])
    return asked in names or not set(TEXT_COLUMNS).isdisjoint(names)


def _is_data(first: Sequence[str], known: Mapping[str, str]) -> bool:
    """Two fields, the first a label: data without a header (IMDB in BiasFinder's form)."""
    return len(first) == 2 and first[0].strip().lower() in known and first[1] not in TEXT_COLUMNS


def _unquote(field: str) -> str:
    if len(field) > 1 and field[0] == field[-1] == '"':
        return field[1:-1].replace('""', '"')
    return field


def _lines(path: Path) -> Iterator[str]:
    number = 0
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            for number, line in enumerate(stream, 1):  # noqa: B007
                yield line
    except UnicodeDecodeError as error:
        raise DocumentError(
            f"{path}: not UTF-8 near line {number + 1} ({error.reason}): convert it first"
        ) from error
    except OSError as error:
        raise DocumentError(f"{path}: {error.strerror or error}") from error
