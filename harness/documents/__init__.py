"""Texts of files (CSV, TSV, JSON lines, Parquet, a folder of these) and of Hugging Face data sets.

Every fault of a row is a ``DocumentError`` that names the file and the row (1 is the first data row).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from itertools import islice
from math import isnan
from pathlib import Path
from typing import Any

from harness.core import Document, DocumentOptions, canonical
from harness.documents import hub
from harness.documents.rows import SUFFIXES, Row
from harness.documents.rows import rows as file_rows
from harness.errors import DocumentError
from harness.files import DATA, read_toml

__all__ = ["Row", "digest", "files", "label_names", "read", "sample"]

TEXT_COLUMNS = ("text", "review", "sentence", "content")
LABEL_COLUMNS = ("label", "labels", "sentiment", "polarity")
ID_COLUMN = "id"

Known = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _RowFormat:
    """How the rows of a task are read: what ``read`` is given, made ready."""

    options: DocumentOptions
    labels: tuple[str, ...]
    known: Known
    clean: Callable[[str], str]
    adapt: Callable[[Row], Row | None]
    multi_label: bool
    paragraphs: bool


def read(
    options: DocumentOptions,
    labels: Sequence[str],
    aliases: Mapping[str, str] | None = None,
    clean: Callable[[str], str] = str,
    *,
    adapt: Callable[[Row], Row | None] = lambda row: row,
    multi_label: bool = False,
    paragraphs: bool = False,
    numbered: bool = True,
) -> Iterator[Document]:
    """The documents that ``options`` name, gold labels checked against ``labels``.

    ``aliases`` maps other spellings (lower case) to labels; ``numbered``: an integer is the place of a label
    in ``labels``, unless an alias says otherwise. ``clean`` mends the text before use. ``adapt`` brings the
    columns of a published layout into ours (text, label, id), None for a row that is not of the task.
    ``paragraphs``: a text may be a list of paragraphs, joined by line breaks. With ``multi_label``, several
    labels in one field are a list, or stand between semicolons or commas; none of them is ``None``.
    """
    known = {str(place): label for place, label in enumerate(labels)} if numbered else {}
    known |= dict(aliases or {}) | {label.lower(): label for label in labels}
    reading = _RowFormat(options, tuple(labels), known, clean, adapt, multi_label, paragraphs)
    return islice(_documents(reading), options.limit)


def sample(file: str) -> str:
    """The path of a bundled file of texts."""
    return str(DATA / file)


@cache
def label_names(name: str, key: str = "names") -> tuple[str, ...]:
    """The official labels of the data set ``name``, in their order; with ``key`` "codes" their codes."""
    return tuple(read_toml(DATA / "labels.toml", DocumentError)[name][key])


def files(path: str | Path | None) -> list[Path]:
    """The data files that ``path`` stands for. Raises ``DocumentError``."""
    if path is None:
        raise DocumentError("no texts are given: use --data FILE")
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


def digest(options: DocumentOptions) -> str:
    """SHA-256 over the data files, so that a run knows when its texts have changed; of a data set of the hub,
    over its name and revision."""
    total = sha256()
    if options.dataset is not None:
        total.update(canonical((options.dataset, options.name, options.split, options.revision)).encode())
        found = sorted(path for path in Path(options.dataset).rglob("*") if path.is_file())
    else:
        found = files(options.path)
    for file in found:
        with file.open("rb") as stream:
            while block := stream.read(1 << 20):
                total.update(block)
    return total.hexdigest()


def _documents(reading: _RowFormat) -> Iterator[Document]:
    options = reading.options
    if options.dataset is not None:
        yield from _source(hub.rows(options, reading.labels), reading, hub.title(options), "", set())
        return
    paths, seen = files(options.path), set[str]()
    several = len(paths) > 1
    short = len({path.stem for path in paths}) == len(paths)
    for path in paths:
        found = file_rows(path, reading.known, options.text_column, TEXT_COLUMNS)
        prefix = f"{path.stem if short else path.name}:" if several else ""
        yield from _source(found, reading, str(path), prefix, seen)


def _source(
    rows: Iterator[Row], reading: _RowFormat, source: str, prefix: str, seen: set[str]
) -> Iterator[Document]:
    """The documents of one file or data set; ``seen`` holds the ids so far."""
    number = 0
    for number, published in enumerate(rows, 1):
        row = reading.adapt(published)
        if row is None:
            continue
        document = _document(row, reading, source, number, prefix)
        if document.id in seen:
            raise DocumentError(
                f"{source}: row {number}: id {document.id!r} is given twice"
                " (a row without an id has its number)"
            )
        seen.add(document.id)
        yield document
    if number == 0:
        raise DocumentError(f"{source}: no rows")


def _document(row: Row, reading: _RowFormat, source: str, number: int, prefix: str) -> Document:
    where, options = f"{source}: row {number}", reading.options
    text_column = _column(row, options.text_column, TEXT_COLUMNS, source)
    if text_column is None:
        raise DocumentError(
            f"{source}: no column named {' or '.join(TEXT_COLUMNS)}: it has {', '.join(row)}; "
            "name yours with --text-column"
        )
    text = _text(row[text_column], reading, where, text_column)
    label_column = _column(row, options.label_column, LABEL_COLUMNS, source)
    labels = _labels(row[label_column], reading, where) if label_column is not None else None
    name = str(row[ID_COLUMN]) if row.get(ID_COLUMN) not in (None, "") else str(number)
    return Document(prefix + _encodable(name, where, ID_COLUMN), text, labels)


def _text(value: Any, reading: _RowFormat, where: str, column: str) -> str:
    if reading.paragraphs and isinstance(value, list) and all(isinstance(part, str) for part in value):
        value = "\n".join(value)
    if not isinstance(value, str):
        raise DocumentError(f"{where}: {column!r} is {type(value).__name__}, not text")
    text = reading.clean(value)
    if not text.strip():
        raise DocumentError(f"{where}: {column!r} is empty")
    return _encodable(text, where, column)


def _encodable(text: str, where: str, column: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise DocumentError(f"{where}: {column!r} has a lone surrogate at character {error.start}") from None
    return text


def _column(row: Row, asked: str | None, usual: Sequence[str], source: str) -> str | None:
    if asked is not None and asked not in row:
        raise DocumentError(f"{source}: no column {asked!r}: it has {', '.join(row)}")
    return asked or next((name for name in usual if name in row), None)


def _labels(value: Any, reading: _RowFormat, where: str) -> frozenset[str] | None:
    if isinstance(value, float):  # a column of integers with gaps, as pandas writes it
        value = None if isnan(value) else int(value) if value.is_integer() else value
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    values = _several(value, reading.known) if reading.multi_label else value
    values = values if isinstance(values, list) else [values]
    if not reading.multi_label and len(values) != 1:
        raise DocumentError(f"{where}: {len(values)} labels where the task has one a text")
    for one in values:
        if str(one).strip().lower() not in reading.known:
            raise DocumentError(f"{where}: unknown label {one!r}: the task has {_few(reading.labels)}")
    return frozenset(reading.known[str(one).strip().lower()] for one in values)


def _several(value: Any, known: Known) -> Any:
    """The labels in one field of a table: a JSON list, or parts between semicolons or else commas."""
    if not isinstance(value, str) or value.strip().lower() in known:
        return value
    if value.strip().lower() in ("none", "[]"):
        return []
    if value.lstrip().startswith("["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    separator = ";" if ";" in value else ","
    return [part.strip() for part in re.split(separator, value) if part.strip()]


def _few(labels: Sequence[str], most: int = 14) -> str:
    more = f" and {len(labels) - most} more" if len(labels) > most else ""
    return ", ".join(labels[:most]) + more
