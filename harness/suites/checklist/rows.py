"""CheckList's tests as lines, one case each: JSON lines, or a table with tabs between the cells.

A line of JSON has ``test``, ``type`` (MFT, INV or DIR), ``capability`` and ``texts``, the first of which is
the original for INV and DIR. An MFT may have ``text`` instead, and has ``label`` (0 negative, 1 neutral, 2
positive, or the name) or ``expected``, a list of the labels that are right. A DIR has ``expect``, one of
``DIRECTIONS``, and optionally a ``tolerance``.

The first line of a table names the columns by these keys; ``text`` is the last, and cells beyond it are
further texts of the case. Several labels in a cell have commas between them.

``data/checklist.toml`` fills in what the released sentiment suite leaves out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from harness.errors import ConfigError
from harness.files import DATA, read_toml
from harness.suites.checklist.items import DIRECTIONS, KINDS, Direction, Item, sentiment

RELEASED = DATA / "checklist.toml"
KEYS = ("test", "type", "capability", "case", "text", "texts", "label", "expected", "expect", "tolerance")
NEEDED = ("test", "type", "capability")
TAB = "\t"

Row = Mapping[str, object]


def items(content: bytes, file: Path) -> Iterator[Item]:
    """Yield the cases in ``content``, the UTF-8 text of ``file``, in the order of its lines.

    Raises ``ConfigError`` naming the file and the row.
    """
    cases: dict[str, set[str]] = {}
    for place, row in _rows(content.decode("utf-8-sig"), file):
        item = _RowReader(place, row).item(cases)
        of_test = cases.setdefault(item.test, set())
        if item.case in of_test:
            raise ConfigError(f"{place}: case {item.case!r} of test {item.test!r} is given twice")
        of_test.add(item.case)
        yield item


def _rows(text: str, file: Path) -> Iterator[tuple[str, Row]]:
    lines = [
        (f"{file}: row {number}", line.rstrip("\r"))
        for number, line in enumerate(text.split("\n"), 1)
        if line.strip()
    ]
    if lines and TAB in lines[0][1] and not lines[0][1].lstrip().startswith("{"):
        columns = _columns(*lines[0])
        return ((place, _cells(place, columns, line)) for place, line in lines[1:])
    return ((place, _object(place, line)) for place, line in lines)


def _object(place: str, line: str) -> Row:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise ConfigError(
            f"{place}: not valid JSON: {error}; a table has tabs between its cells, and its first line names"
            " the columns"
        ) from error
    if not isinstance(row, dict):
        raise ConfigError(f"{place}: not a JSON object")
    return row


def _columns(place: str, line: str) -> Sequence[str]:
    columns = [cell.strip().lower() for cell in line.split(TAB)]
    known = [key for key in KEYS if key != "texts"]
    for column in columns:
        if column not in known:
            raise ConfigError(f"{place}: unknown column {column!r}: known are {', '.join(known)}")
    for column in (*NEEDED, "text"):
        if column not in columns:
            raise ConfigError(f"{place}: there is no column {column!r}")
    if columns[-1] != "text" or len(set(columns)) < len(columns):
        raise ConfigError(f"{place}: each column is named once, and 'text' is the last")
    return columns


def _cells(place: str, columns: Sequence[str], line: str) -> Row:
    cells = [cell.strip() for cell in line.split(TAB)]
    if len(cells) < len(columns):
        raise ConfigError(f"{place}: {len(cells)} cells for {len(columns)} columns")
    row: dict[str, object] = {column: cell for column, cell in zip(columns[:-1], cells, strict=False) if cell}
    row["texts"] = [cell for cell in cells[len(columns) - 1 :] if cell]
    if "," in str(row.get("label", "")):
        row["expected"] = row.pop("label")
    if "expected" in row:
        row["expected"] = str(row["expected"]).split(",")
    if "tolerance" in row:
        row["tolerance"] = _number(str(row["tolerance"]))
    return row


def _number(cell: str) -> object:
    try:
        return float(cell)
    except ValueError:
        return cell


@cache
def _released() -> Mapping[str, Any]:
    return read_toml(RELEASED, ConfigError)


@dataclass(frozen=True, slots=True)
class _RowReader:
    """Reads one row; errors name its ``place``."""

    place: str
    row: Row

    def item(self, earlier: Mapping[str, set[str]]) -> Item:
        """Return the case in the row; ``earlier`` holds the cases read so far, by test."""
        for key in self.row:
            if key not in KEYS:
                raise self._wrong(f"unknown key {key!r}: known are {', '.join(KEYS)}")
        test = self._text("test")
        kind = self._text("type").upper()
        if kind not in KINDS:
            raise self._wrong(f"type {self.row['type']!r} is not one of {', '.join(KINDS)}")
        case = self.row.get("case")
        return Item(
            test,
            kind,
            self._text("capability"),
            str(len(earlier.get(test, ())) if case is None else case),
            self._texts(kind),
            self._expected(test) if kind == "MFT" else None,
            self._direction(test) if kind == "DIR" else None,
            self._tolerance(),
        )

    def _texts(self, kind: str) -> tuple[str, ...]:
        alone = self.row.get("text")
        texts = [alone] if isinstance(alone, str) else self.row.get("texts")
        if not isinstance(texts, list) or not all(isinstance(text, str) and text.strip() for text in texts):
            raise self._wrong("'texts' must be a list of texts, none of them empty")
        if (kind == "MFT" and not texts) or (kind != "MFT" and len(texts) < 2):
            raise self._wrong(f"'texts': {kind} needs {'one' if kind == 'MFT' else 'two or more'}")
        return tuple(texts)

    def _expected(self, test: str) -> frozenset[str]:
        expected = self.row.get("expected")
        if expected is None and self.row.get("label") is None:
            expected = _released()["expected"].get(test)
            if expected is None:
                raise self._wrong(f"test {test!r} has neither 'label' nor 'expected'")
        if expected is None:
            label = self._sentiment(self.row["label"])
            means = _released()["neutral_means"].get(test) if label == "neutral" else None
            expected = means or [label]
        if not isinstance(expected, list) or not expected:
            raise self._wrong("'expected' must be a list of labels")
        return frozenset(map(self._sentiment, expected))

    def _sentiment(self, label: object) -> str:
        try:
            return sentiment(label)
        except ValueError as error:
            raise self._wrong(str(error)) from error

    def _direction(self, test: str) -> Direction:
        direction = self.row.get("expect", _released()["direction"].get(test))
        if direction not in DIRECTIONS:
            problem = (
                f"test {test!r} has no 'expect'" if direction is None else f"unknown 'expect' {direction!r}"
            )
            raise self._wrong(f"{problem}: write one of {', '.join(DIRECTIONS)}")
        return direction

    def _tolerance(self) -> float:
        tolerance = self.row.get("tolerance", _released()["tolerance"])
        if isinstance(tolerance, bool) or not isinstance(tolerance, int | float) or not 0 <= tolerance <= 1:
            raise self._wrong(f"'tolerance' must be a number from 0 to 1, not {tolerance!r}")
        return float(tolerance)

    def _text(self, key: str) -> str:
        value = self.row.get(key)
        if not isinstance(value, str) or not value.strip():
            raise self._wrong(f"{key!r} is missing or not a text")
        return value

    def _wrong(self, what: str) -> ConfigError:
        return ConfigError(f"{self.place}: {what}")
