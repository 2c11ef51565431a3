"""What reading a lexicon cleans without a word: stray spaces, repetitions, words that replace themselves."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from harness.errors import LexiconError
from harness.files import read_toml
from harness.suites.hinter import lexicon

INVISIBLE = "Cf"  # Unicode's category of zero-width spaces, soft hyphens and byte order marks
ALIGNED = "aligned"


def faults(path: str | Path | None = None) -> Iterator[str]:
    """A line for each word or pair of the lexicon at ``path`` [bundled] that is not written as it is read.

    Raises ``LexiconError`` for what cannot be read at all.
    """
    lexicon.load(path)
    place = lexicon.BUNDLED if path is None else Path(path)
    for file in sorted(place.glob("*.toml")) if place.is_dir() else [place]:
        tables = read_toml(file, LexiconError)["attribute"]
        for name, table in tables.items():
            yield from _attribute(name, table)


def cleaned(word: str) -> str:
    """``word`` without what cannot be seen: spaces around it, more than one inside, zero-width characters."""
    return " ".join("".join(c for c in word if unicodedata.category(c) != INVISIBLE).split())


def stray(word: str) -> str | None:
    """What is wrong with the spaces of ``word``, or None."""
    if any(unicodedata.category(c) == INVISIBLE for c in word):
        return "an invisible character"
    if any(c.isspace() and c != " " for c in word):
        return "a space that is not a plain one"
    if word != word.strip():
        return "a space before or after it"
    return "two spaces in a row" if word != cleaned(word) else None


def _attribute(name: str, table: Mapping[str, Any]) -> Iterator[str]:
    sets = {f"{name}.sets[{number}]": one for number, one in enumerate(table.get("sets", []), 1)}
    if "groups" in table:
        sets = {f"{name}.groups": table, **sets}
    for where, one in sets.items():
        yield from _set(where, one)
    pairs = table.get("pairs", [])
    yield from _strays(f"{name}.pairs", (word for pair in pairs for word in pair))
    yield from _selves(f"{name}.pairs", pairs)
    yield from _repeated(f"{name}.pairs", (" -> ".join(map(cleaned, pair)) for pair in pairs))
    yield from _strays(f"{name}.case_sensitive", table.get("case_sensitive", []))


def _set(where: str, one: Mapping[str, Any]) -> Iterator[str]:
    groups = one["groups"]
    for group, words in groups.items():
        yield from _strays(f"{where}.{group}", words)
    if one.get("pairing", ALIGNED) == ALIGNED:
        # A word may stand twice for two counterparts, but not the same row of counterparts.
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
            yield f"{where}: {source!r} for {target!r} changes nothing"


def _repeated(where: str, entries: Iterable[str]) -> Iterator[str]:
    first: dict[str, str] = {}
    for entry in entries:
        written = first.get(entry.lower())
        if written is None:
            first[entry.lower()] = entry
        elif written == entry:
            yield f"{where}: {entry!r} stands there twice"
        else:
            yield f"{where}: {entry!r} differs from {written!r} by case alone"
