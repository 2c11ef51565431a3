"""CheckList's tests as data: a file of JSON lines, one case per line.

A line has ``test``, ``type`` (MFT, INV or DIR), ``capability`` and ``texts``, the first of which is the
original for INV and DIR. An MFT may have ``text`` instead, and has ``label`` (0 negative, 1 neutral, 2
positive, or the name) or ``expected``, a list of the labels that are right. A DIR has ``expect``, one of
``DIRECTIONS``, and optionally a ``tolerance``. ``data/checklist.toml`` fills in what the released sentiment
suite leaves out. Pickled suites are not read, since unpickling runs the code in the file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from heapq import nsmallest
from pathlib import Path
from typing import Any, Literal, get_args

from harness.errors import ConfigError
from harness.files import DATA, read_toml

Kind = Literal["MFT", "INV", "DIR"]
Direction = Literal["no less confident", "no more confident", "no less positive", "no more positive"]

KINDS: tuple[Kind, ...] = get_args(Kind)
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)
BUNDLED = DATA / "checklist.toml"
PICKLED = b"\x80"
SENTIMENTS = {
    "0": "negative",
    "1": "neutral",
    "2": "positive",
    "neg": "negative",
    "neu": "neutral",
    "pos": "positive",
    "negative": "negative",
    "neutral": "neutral",
    "positive": "positive",
}


@dataclass(frozen=True, slots=True)
class Item:
    """One case of a test.

    ``expected`` are the sentiments that are right (MFT); ``direction`` and ``tolerance`` say how an answer
    may not change (DIR).
    """

    test: str
    kind: Kind
    capability: str
    case: str
    texts: tuple[str, ...]
    expected: frozenset[str] | None = None
    direction: Direction | None = None
    tolerance: float = 0.0

    @property
    def id(self) -> str:
        """The test and the case within it."""
        return f"{self.test}/{self.case}"


@dataclass(frozen=True, slots=True)
class Tests:
    """The cases of a file, grouped by test; ``digest`` is the file's SHA-256."""

    items: tuple[Item, ...]
    source: str
    digest: str


def load(path: str | Path, limit: int | None = None, seed: int = 0) -> Tests:
    """Load the tests in the file at ``path``, at most ``limit`` cases of each, chosen by ``seed``.

    Raises ``ConfigError`` naming the file and the row.
    """
    file = Path(path)
    try:
        content = file.read_bytes()
    except OSError as error:
        raise ConfigError(f"{file}: {error.strerror or error}") from error
    if content.startswith(PICKLED) or file.suffix in (".pkl", ".pickle"):
        raise ConfigError(
            f"{file}: a pickle is not read, since that would run the code in it: give JSON lines"
        )
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: not UTF-8 at byte {error.start}: give JSON lines") from error
    by_test: dict[str, dict[str, Item]] = {}
    for place, row in _rows(text, file):
        item = _RowReader(place, row).item(by_test)
        cases = by_test.setdefault(item.test, {})
        if item.case in cases:
            raise ConfigError(f"{place}: case {item.case!r} of test {item.test!r} is given twice")
        cases[item.case] = item
    if not by_test:
        raise ConfigError(f"{file}: no tests found: give JSON lines with test, type, capability and texts")
    items = tuple(item for cases in by_test.values() for item in _sample(list(cases.values()), limit, seed))
    return Tests(items, str(path), sha256(content).hexdigest())


def _rows(text: str, file: Path) -> Iterator[tuple[str, Mapping[str, object]]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        place = f"{file}: row {number}"
        try:
            row = json.loads(line)
        except ValueError as error:
            raise ConfigError(f"{place}: not valid JSON: {error}") from error
        if not isinstance(row, dict):
            raise ConfigError(f"{place}: not a JSON object")
        yield place, row


def _sample(items: list[Item], limit: int | None, seed: int) -> list[Item]:
    """Return at most ``limit`` of a test's cases, in order, chosen by their ids and the seed alone."""
    if limit is None or len(items) <= limit:
        return items
    chosen = set(nsmallest(limit, (item.id for item in items), key=lambda name: _rank(seed, name)))
    return [item for item in items if item.id in chosen]


def _rank(seed: int, name: str) -> bytes:
    return sha256(f"{seed}/{name}".encode("utf-8", "surrogatepass")).digest()


@cache
def _bundled() -> Mapping[str, Any]:
    return read_toml(BUNDLED, ConfigError)


@dataclass(frozen=True, slots=True)
class _RowReader:
    """Reads one row; errors name its ``place``."""

    place: str
    row: Mapping[str, object]

    def item(self, earlier: Mapping[str, Mapping[str, Item]]) -> Item:
        """Return the case in the row; ``earlier`` holds the cases read so far, by test."""
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
            expected = _bundled()["expected"].get(test)
            if expected is None:
                raise self._wrong(f"test {test!r} has neither 'label' nor 'expected'")
        if expected is None:
            label = self._sentiment(self.row["label"])
            means = _bundled()["neutral_means"].get(test) if label == "neutral" else None
            expected = means or [label]
        if not isinstance(expected, list) or not expected:
            raise self._wrong("'expected' must be a list of labels")
        return frozenset(map(self._sentiment, expected))

    def _sentiment(self, label: object) -> str:
        sentiment = SENTIMENTS.get(str(label).strip().lower())
        if sentiment is None:
            raise self._wrong(
                f"unknown label {label!r}: write 0 negative, 1 neutral, 2 positive, or the name"
            )
        return sentiment

    def _direction(self, test: str) -> Direction:
        direction = self.row.get("expect", _bundled()["direction"].get(test))
        if direction not in DIRECTIONS:
            problem = (
                f"test {test!r} has no 'expect'" if direction is None else f"unknown 'expect' {direction!r}"
            )
            raise self._wrong(f"{problem}: write one of {', '.join(DIRECTIONS)}")
        return direction

    def _tolerance(self) -> float:
        tolerance = self.row.get("tolerance", _bundled()["tolerance"])
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
