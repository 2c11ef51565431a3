"""CheckList's tests as data: a file of JSON lines, a case a line.

A line has ``test``, ``type`` (MFT, INV or DIR), ``capability`` and ``texts``, of which the first is the
original for INV and DIR. An MFT may have ``text`` in their place, and has ``label`` (0 negative, 1 neutral,
2 positive, or the name) or ``expected``, a list of those that are right. A DIR has ``expect``, one of
``DIRECTIONS``, and may have a ``tolerance``. ``data/checklist.toml`` knows what the released sentiment suite
leaves out. A pickled suite is not read: to read one is to run the code in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from heapq import nsmallest
from pathlib import Path
from typing import Any, Literal, cast, get_args

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
    """One case of a test. ``expected``: the sentiments that are right (MFT); ``direction`` and ``tolerance``:
    how an answer may not change (DIR)."""

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
        return f"{self.test}/{self.case}"


@dataclass(frozen=True, slots=True)
class Tests:
    """The cases of a file, those of a test next to each other; ``digest`` is the file's SHA-256."""

    items: tuple[Item, ...]
    source: str
    digest: str


def load(path: str | Path, limit: int | None = None, seed: int = 0) -> Tests:
    """The tests in the file at ``path``, at most ``limit`` cases of each, chosen by ``seed``.

    Raises ``ConfigError``, which names the file and the row.
    """
    file = Path(path)
    try:
        content = file.read_bytes()
    except OSError as error:
        raise ConfigError(f"{file}: {error.strerror or error}") from error
    if content.startswith(PICKLED) or file.suffix in (".pkl", ".pickle"):
        raise ConfigError(f"{file}: a pickle is not read, for that runs the code in it: give JSON lines")
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
        raise ConfigError(f"{file}: no tests in it: give JSON lines with test, type, capability and texts")
    items = tuple(item for cases in by_test.values() for item in _drawn(list(cases.values()), limit, seed))
    return Tests(items, str(path), sha256(content).hexdigest())


def _rows(text: str, file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
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


def _drawn(items: list[Item], limit: int | None, seed: int) -> list[Item]:
    """At most ``limit`` of a test's cases, in their order; the choice depends on each one's name alone."""
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
    """Reads one row; ``place`` is what errors name."""

    place: str
    row: Mapping[str, Any]

    def item(self, known: Mapping[str, Mapping[str, Item]]) -> Item:
        test = self._text("test")
        kind = self._text("type").upper()
        if kind not in KINDS:
            raise self._wrong(f"type {self.row['type']!r} is none of {', '.join(KINDS)}")
        case = self.row.get("case")
        return Item(
            test,
            kind,
            self._text("capability"),
            str(len(known.get(test, ())) if case is None else case),
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
        given = self.row.get("expected")
        if given is None and self.row.get("label") is None:
            given = _bundled()["expected"].get(test)
            if given is None:
                raise self._wrong(f"test {test!r} has neither 'label' nor 'expected'")
        if given is None:
            label = self._sentiment(self.row["label"])
            means = _bundled()["neutral_means"].get(test) if label == "neutral" else None
            given = means or [label]
        if not isinstance(given, list) or not given:
            raise self._wrong("'expected' must be a list of labels")
        return frozenset(map(self._sentiment, given))

    def _sentiment(self, label: Any) -> str:
        found = SENTIMENTS.get(str(label).strip().lower())
        if found is None:
            raise self._wrong(
                f"unknown label {label!r}: write 0 negative, 1 neutral, 2 positive, or the name"
            )
        return found

    def _direction(self, test: str) -> Direction:
        given = self.row.get("expect", _bundled()["direction"].get(test))
        if given not in DIRECTIONS:
            said = f"test {test!r} has no 'expect'" if given is None else f"unknown 'expect' {given!r}"
            raise self._wrong(f"{said}: write one of {', '.join(DIRECTIONS)}")
        return cast(Direction, given)

    def _tolerance(self) -> float:
        given = self.row.get("tolerance", _bundled()["tolerance"])
        if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= 1:
            raise self._wrong(f"'tolerance' must be a number from 0 to 1, not {given!r}")
        return float(given)

    def _text(self, key: str) -> str:
        value = self.row.get(key)
        if not isinstance(value, str) or not value.strip():
            raise self._wrong(f"{key!r} is missing, or no text")
        return value

    def _wrong(self, what: str) -> ConfigError:
        return ConfigError(f"{self.place}: {what}")
