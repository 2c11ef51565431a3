"""Documents from files (CSV, TSV, JSON lines, Parquet, or a folder of these) and Hugging Face data sets.

A fault in a row is a ``DocumentError`` that names the file and the row (1 is the first data row).
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

Spellings = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Layout:
    """The layout of a task's rows: the arguments of ``read``, prepared.

    ``spellings`` maps lower-case spellings to labels.
    """

    options: DocumentOptions
    labels: tuple[str, ...]
    spellings: Spellings
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
    """Yield the documents that ``options`` select, with gold labels checked against ``labels``.

    ``aliases`` maps other spellings (lower case) to labels. With ``numbered``, an integer is an index into
    ``labels`` unless an alias says otherwise. ``clean`` corrects each text before use. ``adapt`` maps the
    columns of a published layout to ours (text, label, id), or returns None for a row that is not part of the
    task. With ``paragraphs``, a text may be a list of paragraphs, which are joined by line breaks. With
    ``multi_label``, a field may hold several labels, as a list or separated by semicolons or commas; ``None``
    stands for no label.

    Raises ``DocumentError`` for a fault in the options, a file or a row.
    """
    spellings = {str(place): label for place, label in enumerate(labels)} if numbered else {}
    spellings |= dict(aliases or {}) | {label.lower(): label for label in labels}
    layout = _Layout(options, tuple(labels), spellings, clean, adapt, multi_label, paragraphs)
    return islice(_documents(layout), options.limit)


def sample(file: str) -> str:
    """Return the path of a bundled file of texts."""
    return str(DATA / file)


@cache
def label_names(name: str, key: str = "names") -> tuple[str, ...]:
    """Return the official labels of the data set ``name``, in order, or with ``key`` "codes" their codes."""
    return tuple(read_toml(DATA / "labels.toml", DocumentError)[name][key])


def files(path: str | Path | None) -> list[Path]:
    """Return the data files at ``path``, a file or a folder. Raises ``DocumentError``."""
    if path is None:
        raise DocumentError("no texts to read: use --data FILE")
    path = Path(path)
    if path.is_dir():
        data_files = sorted(p for p in path.iterdir() if p.suffix.lower() in SUFFIXES)
        if not data_files:
            raise DocumentError(f"{path}: no {', '.join(SUFFIXES)} file in this folder")
        return data_files
    if not path.exists():
        raise DocumentError(f"{path}: no such file")
    if path.suffix.lower() not in SUFFIXES:
        raise DocumentError(f"{path}: unknown kind of file: use {', '.join(SUFFIXES)}")
    return [path]


def digest(options: DocumentOptions) -> str:
    """Return a SHA-256 of the data files, so that a run can tell when its texts have changed.

    For a data set of the hub, it covers the name and revision; for a local one, its files too.
    """
    total = sha256()
    if options.dataset is not None:
        total.update(canonical((options.dataset, options.name, options.split, options.revision)).encode())
        paths = sorted(path for path in Path(options.dataset).rglob("*") if path.is_file())
    else:
        paths = files(options.path)
    for file in paths:
        with file.open("rb") as stream:
            while block := stream.read(1 << 20):
                total.update(block)
    return total.hexdigest()


def _documents(layout: _Layout) -> Iterator[Document]:
    options = layout.options
    if options.dataset is not None:
        yield from _source(hub.rows(options, layout.labels), layout, hub.title(options), "", set())
        return
    paths, seen = files(options.path), set[str]()
    several = len(paths) > 1
    short = len({path.stem for path in paths}) == len(paths)
    for path in paths:
        rows = file_rows(path, layout.spellings, options.text_column, TEXT_COLUMNS)
        prefix = f"{path.stem if short else path.name}:" if several else ""
        yield from _source(rows, layout, str(path), prefix, seen)


def _source(
    rows: Iterator[Row], layout: _Layout, source: str, prefix: str, seen: set[str]
) -> Iterator[Document]:
    """Yield the documents of one file or data set; ``seen`` collects the ids."""
    number = 0
    for number, published in enumerate(rows, 1):
        row = layout.adapt(published)
        if row is None:
            continue
        document = _document(row, layout, source, number, prefix)
        if document.id in seen:
            raise DocumentError(
                f"{source}: row {number}: duplicate id {document.id!r} (a row without an id takes its number)"
            )
        seen.add(document.id)
        yield document
    if number == 0:
        raise DocumentError(f"{source}: no rows")


def _document(row: Row, layout: _Layout, source: str, number: int, prefix: str) -> Document:
    where, options = f"{source}: row {number}", layout.options
    text_column = _column(row, options.text_column, TEXT_COLUMNS, source)
    if text_column is None:
        raise DocumentError(
            f"{source}: no column named {' or '.join(TEXT_COLUMNS)}: the columns are {', '.join(row)}; "
            "name yours with --text-column"
        )
    text = _text(row[text_column], layout, where, text_column)
    label_column = _column(row, options.label_column, LABEL_COLUMNS, source)
    labels = _labels(row[label_column], layout, where) if label_column is not None else None
    name = str(row[ID_COLUMN]) if row.get(ID_COLUMN) not in (None, "") else str(number)
    return Document(prefix + _encodable(name, where, ID_COLUMN), text, labels)


def _text(value: object, layout: _Layout, where: str, column: str) -> str:
    if layout.paragraphs and isinstance(value, list) and all(isinstance(part, str) for part in value):
        value = "\n".join(value)
    if not isinstance(value, str):
        raise DocumentError(f"{where}: {column!r} is {type(value).__name__}, not text")
    text = layout.clean(value)
    if not text.strip():
        raise DocumentError(f"{where}: {column!r} is empty")
    return _encodable(text, where, column)


def _encodable(text: str, where: str, column: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise DocumentError(f"{where}: {column!r} has a lone surrogate at character {error.start}") from None
    return text


def _column(row: Row, chosen: str | None, usual: Sequence[str], source: str) -> str | None:
    if chosen is not None and chosen not in row:
        raise DocumentError(f"{source}: no column {chosen!r}: the columns are {', '.join(row)}")
    return chosen or next((name for name in usual if name in row), None)


def _labels(value: object, layout: _Layout, where: str) -> frozenset[str] | None:
    if isinstance(value, float) and isnan(value):
        value = None
    elif isinstance(value, float) and value.is_integer():  # as pandas writes integers with missing values
        value = int(value)
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    values = _several(value, layout.spellings) if layout.multi_label else value
    values = values if isinstance(values, list) else [values]
    if not layout.multi_label and len(values) != 1:
        raise DocumentError(f"{where}: {len(values)} labels, but the task takes one per text")
    for spelling in values:
        if str(spelling).strip().lower() not in layout.spellings:
            raise DocumentError(f"{where}: unknown label {spelling!r}: the labels are {_few(layout.labels)}")
    return frozenset(layout.spellings[str(spelling).strip().lower()] for spelling in values)


def _several(value: object, spellings: Spellings) -> object:
    """Split a table field into labels: a JSON list, or parts separated by semicolons or else commas."""
    if not isinstance(value, str) or value.strip().lower() in spellings:
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
