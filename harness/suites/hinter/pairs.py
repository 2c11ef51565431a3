"""Import published word pairs, one ``source;target`` per line, and report what was dropped and why."""

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
    """The imported pairs, in order.

    ``dropped`` has a line for each row left out; ``cleaned`` counts the words that had stray spaces.
    """

    pairs: tuple[Pair, ...]
    dropped: tuple[str, ...]
    rows: int
    cleaned: int
    sources: tuple[str, ...]


def files(paths: Sequence[Path]) -> list[Path]:
    """Return the pair files among ``paths``; a folder stands for its CSV files that hold pairs.

    Raises ``LexiconError`` for a folder without any.
    """
    pair_files: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = [
                file for file in sorted(path.glob("*.csv")) if any(SEPARATOR in x for x in _lines(file))
            ]
            if not inside:
                raise LexiconError(f"{path}: this folder has no CSV file of source{SEPARATOR}target pairs")
            pair_files += inside
        else:
            pair_files.append(path)
    return pair_files


def read(files: Sequence[Path]) -> Imported:
    """Read the pairs of all ``files``. Raises ``LexiconError`` naming the file or row that cannot be read."""
    pairs: dict[Pair, Pair] = {}
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
            if reason := _fault(pair, pairs.get(key), places.get(key)):
                dropped.append(f"{where}: {line.strip()!r} dropped: {reason}")
            else:
                pairs[key], places[key] = pair, where
    if not pairs:
        raise LexiconError(f"{', '.join(map(str, files))}: no usable pairs")
    return Imported(tuple(pairs.values()), tuple(dropped), rows, strays, tuple(file.name for file in files))


def to_toml(attribute: str, imported: Imported) -> str:
    """Return the lexicon of one attribute as TOML."""
    comment = f"# Pairs of {attribute}, imported from {', '.join(imported.sources)}\n"
    pairs = [list(pair) for pair in imported.pairs]
    return comment + tomli_w.dumps({"attribute": {attribute: {"pairs": pairs}}})


def _fault(pair: Pair, earlier: Pair | None, place: str | None) -> str | None:
    if not all(pair):
        return "a word is missing"
    if pair[0].lower() == pair[1].lower():
        return "both words are the same"
    if earlier is not None:
        return f"already at {place}" + ("" if earlier == pair else ", except for case")
    return None


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise LexiconError(f"{file}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise LexiconError(f"{file}: not UTF-8 at byte {error.start}") from error
