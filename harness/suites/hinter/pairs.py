"""Import of published word pairs: one ``source;target`` a line, cleaned, with what was dropped and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import tomli_w

from harness.errors import LexiconError
from harness.suites.hinter.lexicon import Pair
from harness.suites.hinter.lexicon_lint import cleaned, stray

SEPARATOR = ";"


@dataclass(frozen=True)
class Imported:
    """The pairs kept, in order; ``dropped`` has a line for each row left out, ``cleaned`` counts the words
    that had stray spaces."""

    pairs: tuple[Pair, ...]
    dropped: tuple[str, ...]
    rows: int
    cleaned: int
    sources: tuple[str, ...]


def files(paths: Sequence[Path]) -> list[Path]:
    """The pair files that ``paths`` stand for: of a folder, its CSV files that hold pairs at all."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = [
                file for file in sorted(path.glob("*.csv")) if any(SEPARATOR in x for x in _lines(file))
            ]
            if not inside:
                raise LexiconError(f"{path}: no CSV file of source{SEPARATOR}target pairs in this folder")
            found += inside
        else:
            found.append(path)
    return found


def read(files: Sequence[Path]) -> Imported:
    """The pairs of all ``files``. Raises ``LexiconError`` for a file or row that cannot be read."""
    kept: dict[Pair, Pair] = {}
    places: dict[Pair, str] = {}
    dropped: list[str] = []
    rows = strays = 0
    for file in files:
        for number, line in enumerate(_lines(file), 1):
            if not line.strip():
                continue
            rows += 1
            where = f"{file}: line {number}"
            words = line.split(SEPARATOR)
            if len(words) != 2:
                raise LexiconError(f"{where}: {len(words)} fields, not source{SEPARATOR}target")
            strays += sum(stray(word) is not None for word in words)
            pair = (cleaned(words[0]), cleaned(words[1]))
            key = (pair[0].lower(), pair[1].lower())
            if reason := _fault(pair, kept.get(key), places.get(key)):
                dropped.append(f"{where}: {line.strip()!r} dropped: {reason}")
            else:
                kept[key], places[key] = pair, where
    if not kept:
        raise LexiconError(f"{', '.join(map(str, files))}: no pair in it")
    return Imported(tuple(kept.values()), tuple(dropped), rows, strays, tuple(file.name for file in files))


def to_toml(attribute: str, imported: Imported) -> str:
    """The lexicon of one attribute, as TOML."""
    comment = f"# Pairs of {attribute}, imported from {', '.join(imported.sources)}\n"
    pairs = [list(pair) for pair in imported.pairs]
    return comment + tomli_w.dumps({"attribute": {attribute: {"pairs": pairs}}})


def _fault(pair: Pair, kept: Pair | None, place: str | None) -> str | None:
    if not all(pair):
        return "a word is missing"
    if pair[0].lower() == pair[1].lower():
        return "both words are the same"
    if kept is not None:
        return f"already at {place}" + ("" if kept == pair else ", but for upper case")
    return None


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise LexiconError(f"{file}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise LexiconError(f"{file}: not UTF-8 at byte {error.start}") from error
