"""Score files: CSV or TSV with an id and a score a row, as the submissions to the shared task were.

Those had the columns ID, Tweet, Affect Dimension and Intensity Score, and sentences besides the EEC's.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import DocumentError
from harness.suites.eec.corpus import Sentence

ID_COLUMNS = ("id", "case")
SCORE_COLUMNS = ("score", "intensity score", "intensity", "prediction")
DIMENSION_COLUMN = "affect dimension"


@dataclass(frozen=True, slots=True)
class ScoreFile:
    """The scores of the corpus's sentences by id, and the ids without one.

    ``others`` counts rows about other sentences; ``dimension`` is what was rated ("anger"), if it says.
    """

    scores: Mapping[str, float]
    missing: tuple[str, ...]
    others: int
    dimension: str | None


def read_scores(
    path: Path,
    corpus: Sequence[Sentence],
    id_column: str | None = None,
    score_column: str | None = None,
) -> ScoreFile:
    """The file at ``path``. Raises ``DocumentError`` naming file and row (the header is row 0).

    Without names of columns, the usual ones are looked for, in any case.
    """
    header, rows = _table(path)
    ids = _column(path, header, id_column, ID_COLUMNS, "the ids")
    score = _column(path, header, score_column, SCORE_COLUMNS, "the scores")
    folded = [name.strip().lower() for name in header]
    dimension = folded.index(DIMENSION_COLUMN) if DIMENSION_COLUMN in folded else None
    found: dict[str, float] = {}
    rated: set[str] = set()
    for number, fields in rows:
        where = f"{path}: row {number}"
        if len(fields) != len(header):
            raise DocumentError(f"{where}: {len(fields)} fields where the header has {len(header)}")
        name = fields[ids].strip()
        if name in found:
            raise DocumentError(f"{where}: the id {name!r} stands there twice")
        found[name] = _number(fields[score], where)
        if dimension is not None:
            rated.add(fields[dimension].strip().lower())
    if len(rated) > 1:
        raise DocumentError(f"{path}: scores of {' and '.join(sorted(rated))}: give one file each")
    scores = {s.id: found[s.id] for s in corpus if s.id in found}
    if not scores:
        raise DocumentError(f"{path}: none of its {len(found)} ids is one of the corpus's, as {corpus[0].id}")
    missing = tuple(s.id for s in corpus if s.id not in found)
    return ScoreFile(scores, missing, len(found) - len(scores), next(iter(rated), None))


def _table(path: Path) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DocumentError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise DocumentError(f"{path}: not UTF-8") from error
    if not text.strip():
        raise DocumentError(f"{path}: the file is empty")
    lines = io.StringIO(text, newline="")
    try:
        # In tab-separated data a quotation mark is a character like any other.
        if "\t" in text.partition("\n")[0]:
            table = list(csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE, strict=True))
        else:
            table = list(csv.reader(lines, strict=True))
    except csv.Error as error:
        raise DocumentError(f"{path}: not a table: {error}") from error
    return table[0], ((number, fields) for number, fields in enumerate(table[1:], 1) if fields)


def _column(path: Path, header: Sequence[str], asked: str | None, usual: Container[str], holds: str) -> int:
    if asked is not None:
        matching = [i for i, name in enumerate(header) if name == asked]
    else:
        matching = [i for i, name in enumerate(header) if name.strip().lower() in usual]
    if len(matching) != 1:
        said = f"no column {asked!r}" if asked else f"cannot tell which column has {holds}"
        raise DocumentError(f"{path}: {said}: there are {', '.join(map(repr, header))}")
    return matching[0]


def _number(written: str, where: str) -> float:
    try:
        value = float(written)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise DocumentError(f"{where}: the score {written!r} is not a number")
    return value
