"""Rows of tables: text with commas, tabs, semicolons or bars between its fields, and worksheets."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal

from harness.documents import streams
from harness.errors import DocumentError

SEPARATORS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars"}
HEADER_LINES = 20

Row = Mapping[str, Any]
Note = Callable[[str], None]
Quoting = Literal[0, 3]
"""``csv.QUOTE_MINIMAL``, or ``csv.QUOTE_NONE`` where quotation marks stand for themselves."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What tells a header from data: spellings of the labels, and folded names of the text column."""

    labels: Container[str]
    columns: Collection[str]

    def header(self, fields: Sequence[str]) -> bool:
        """Return whether a first row names a text column."""
        return any(folded(field) in self.columns for field in fields)

    def data(self, fields: Sequence[str]) -> bool:
        """Return whether a first row is data: two fields, the first a label. BiasFinder's IMDB is so."""
        return len(fields) == 2 and folded(fields[0]) in self.labels and not self.header(fields)


def folded(name: str) -> str:
    """Return the name of a column without white space around it, in lower case."""
    return name.strip().casefold()


def rows(path: Path, name: str, expected: Expected, note: Note) -> Iterator[Row]:
    """Yield the rows of the text file at ``path``. Raises ``DocumentError``, which calls the file ``name``.

    The separator is the one under which the first line names a text column; that of the suffix comes first.
    """
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    head = [line for line in islice(_lines(path, name), HEADER_LINES) if line.strip()]
    if not head:
        raise DocumentError(f"{name}: the file is empty")
    separator = _separator(head, ".tsv" in path.suffixes, expected)
    quoting: Quoting = _quoting(path, name, note) if separator == "\t" else csv.QUOTE_MINIMAL
    literal = quoting == csv.QUOTE_NONE
    spaced = _spaced(next(csv.reader(head, delimiter=separator)))
    records = _records(path, name, separator, quoting, spaced)
    if literal:
        records = ([_unquoted(field) for field in record] for record in records)
    yield from named(records, name, expected if separator == "\t" else None, separator)


def named(
    records: Iterable[Sequence[Any]], name: str, headless: Expected | None = None, separator: str = ""
) -> Iterator[Row]:
    """Yield records as rows by the names in the first one; blank records are left out and not counted.

    With ``headless``, the first record may be data. Raises ``DocumentError``.
    """
    filled: Iterator[Sequence[Any]] = (r for r in records if any(field is not None for field in r))
    header = next(filled, None)
    if header is None:
        raise DocumentError(f"{name}: the file is empty")
    if headless is not None and headless.data(header):
        header, filled = ["label", "text"], chain([header], filled)
    columns = ["" if column is None else str(column).strip() for column in header]
    if len({*columns, ""}) < len([column for column in columns if column]) + 1:
        raise DocumentError(f"{name}: duplicate column name: {', '.join(columns)}")
    for number, fields in enumerate(filled, 1):
        if len(fields) != len(columns):
            many = len(fields) > len(columns) and separator
            cause = f": fields with {SEPARATORS[separator]} in them need quotation marks" if many else ""
            counts = f"{len(fields)} fields, but the header has {len(columns)}"
            raise DocumentError(f"{name}: row {number}: {counts}{cause}")
        yield dict(zip(columns, fields, strict=True))


def _lines(path: Path, name: str) -> Iterator[str]:
    """Yield the lines of a table, without the ``sep=;`` that Excel writes and reads above a header."""
    lines = streams.lines(path, name)
    first = next(lines, "")
    if not first.lower().startswith("sep="):
        yield first
    yield from lines


def _separator(head: Sequence[str], tabs_first: bool, expected: Expected) -> str:
    order = sorted(SEPARATORS, key=lambda separator: separator == "\t", reverse=True)
    order = order if tabs_first else list(SEPARATORS)
    headers = {separator: next(csv.reader(head, delimiter=separator)) for separator in order}
    naming = [separator for separator in order if expected.header(headers[separator])]
    if naming:
        return naming[0]
    return "\t" if "\t" in head[0] else max(order, key=lambda separator: len(headers[separator]))


def _spaced(header: Sequence[str]) -> bool:
    """Return whether the file puts a space after each separator."""
    return len(header) > 1 and all(field.startswith(" ") for field in header[1:])


def _records(
    path: Path, name: str, separator: str, quoting: Quoting, spaced: bool
) -> Iterator[Sequence[str]]:
    reader = csv.reader(
        _lines(path, name),
        delimiter=separator,
        quoting=quoting,
        skipinitialspace=spaced,
        strict=True,
    )
    number = -1
    try:
        for record in reader:
            number += bool(record)
            yield record
    except csv.Error as error:
        raise DocumentError(f"{name}: row {number + 1}: {error}") from error


def _quoting(path: Path, name: str, note: Note) -> Quoting:
    """Return how quotation marks are meant in a tab-separated file: as in CSV, or as they stand.

    Published data have them unpaired in running text; spreadsheets quote fields with line breaks. They are
    read as in CSV unless that fails, or makes rows of several lengths where the plain lines are all of one.
    """
    try:
        widths, odd = set(), 0
        for record in csv.reader(_lines(path, name), delimiter="\t", strict=True):
            if record:
                widths.add(len(record))
                odd += any("\t" in field and "\n" in field for field in record)
    except csv.Error:
        return csv.QUOTE_NONE
    if len(widths) > 1:
        plain = {line.count("\t") for line in _lines(path, name) if line.strip("\r\n")}
        return csv.QUOTE_NONE if len(plain) == 1 else csv.QUOTE_MINIMAL
    if odd:
        note(f"{name}: {odd} quoted fields hold tabs and line breaks: each is read as one field, not as rows")
    return csv.QUOTE_MINIMAL


def _unquoted(field: str) -> str:
    if len(field) > 1 and field[0] == field[-1] == '"':
        return field[1:-1].replace('""', '"')
    return field
