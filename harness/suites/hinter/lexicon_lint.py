"""Lint lexicon files for what reading them silently cleans up: stray spaces, repetitions, no-op pairs."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import TypedDict

from harness.errors import LexiconError
from harness.files import read_toml
from harness.suites import lexicon

INVISIBLE = "Cf"  # Unicode's category of zero-width spaces, soft hyphens and byte order marks
ALIGNED = "aligned"


class SetTable(TypedDict, total=False):
    """A set of groups as TOML has it, checked by ``lexicon.load``."""

    name: str
    groups: dict[str, list[str]]
    pairing: str
    form: str
    word_only: bool


class AttributeTable(SetTable, total=False):
    """An ``[attribute.NAME]`` table as TOML has it, checked by ``lexicon.load``."""

    sets: list[SetTable]
    pairs: list[list[str]]
    case_sensitive: list[str]


def faults(path: str | Path | None = None) -> Iterator[str]:
    """Yield a line for each word or pair that is not written as it is read.

    ``path`` is a TOML file or a folder of them, None the bundled lexicon. Raises ``LexiconError`` if the
    lexicon cannot be read at all.
    """
    lexicon.load(path)
    place = lexicon.BUNDLED if path is None else Path(path)
    for file in sorted(place.glob("*.toml")) if place.is_dir() else [place]:
        tables = read_toml(file, LexiconError)["attribute"]
        for name, table in tables.items():
            yield from _attribute(name, table)


def cleaned(word: str) -> str:
    """Return ``word`` without invisible characters, and with white space trimmed and collapsed."""
    return " ".join("".join(c for c in word if unicodedata.category(c) != INVISIBLE).split())


def stray(word: str) -> str | None:
    """Return what is wrong with the white space of ``word``, or None."""
    if any(unicodedata.category(c) == INVISIBLE for c in word):
        return "an invisible character"
    if any(c.isspace() and c != " " for c in word):
        return "white space that is not a plain space"
    if word != word.strip():
        return "a leading or trailing space"
    return "two spaces in a row" if word != cleaned(word) else None


def _attribute(name: str, table: AttributeTable) -> Iterator[str]:
    sets: dict[str, SetTable] = {
        f"{name}.sets[{number}]": entry for number, entry in enumerate(table.get("sets", []), 1)
    }
    if "groups" in table:
        sets = {f"{name}.groups": table, **sets}
    for where, entry in sets.items():
        yield from _set(where, entry)
    pairs = table.get("pairs", [])
    yield from _strays(f"{name}.pairs", (word for pair in pairs for word in pair))
    yield from _selves(f"{name}.pairs", pairs)
    yield from _repeated(f"{name}.pairs", (" -> ".join(map(cleaned, pair)) for pair in pairs))
    yield from _strays(f"{name}.case_sensitive", table.get("case_sensitive", []))


def _set(where: str, entry: SetTable) -> Iterator[str]:
    groups = entry["groups"]
    for group, words in groups.items():
        yield from _strays(f"{where}.{group}", words)
    if entry.get("pairing", ALIGNED) == ALIGNED:
        # A word may be repeated for a second counterpart, but a whole row of counterparts may not.
        rows = list(zip(*groups.values(), strict=True))
        for pair in combinations(range(len(groups)), 2):
            yield from _selves(where, [[row[i] for i in pair] for row in rows])
        yield from _repeated(where, (" = ".join(map(cleaned, row)) for row in rows))
    else:
        for group, words in groups.items():
            yield from _repeated(f"{where}.{group}", map(cleaned, words))


def _strays(where: str, words: Iterable[str]) -> Iterator[str]:
    for word in words:
        if reason := stray(word):
            yield f"{where}: {word!a} has {reason}"


def _selves(where: str, pairs: Iterable[Sequence[str]]) -> Iterator[str]:
    for source, target in pairs:
        if cleaned(source).lower() == cleaned(target).lower():
            yield f"{where}: replacing {source!r} with {target!r} changes nothing"


def _repeated(where: str, entries: Iterable[str]) -> Iterator[str]:
    first: dict[str, str] = {}
    for entry in entries:
        written = first.get(entry.lower())
        if written is None:
            first[entry.lower()] = entry
        elif written == entry:
            yield f"{where}: {entry!r} is listed twice"
        else:
            yield f"{where}: {entry!r} differs from {written!r} only in case"
