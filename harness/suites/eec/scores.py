"""Read score files: CSV or TSV with an id and a score per row, like the submissions to the shared task.

Those had the columns ID, Tweet, Affect Dimension and Intensity Score, and sentences beyond those of the EEC.
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
    """The scores of the corpus's sentences by id, and the ids of sentences without one.

    ``others`` counts rows about other sentences; ``dimension`` is what was rated ("anger"), if the file says
    so.
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
    """Read the score file at ``path``.

    Unless columns are named, the usual names are looked for, ignoring case. Raises ``DocumentError`` naming
    the file and the row (the header is row 0).
    """
    header, rows = _table(path)
    ids = _column(path, header, id_column, ID_COLUMNS, "the ids")
    score = _column(path, header, score_column, SCORE_COLUMNS, "the scores")
    folded = [name.strip().lower() for name in header]
    dimension = folded.index(DIMENSION_COLUMN) if DIMENSION_COLUMN in folded else None
    by_id: dict[str, float] = {}
    rated: set[str] = set()
    for number, fields in rows:
        where = f"{path}: row {number}"
        if len(fields) != len(header):
            raise DocumentError(f"{where}: {len(fields)} fields, but the header has {len(header)}")
        name = fields[ids].strip()
        if name in by_id:
            raise DocumentError(f"{where}: the id {name!r} is given twice")
        by_id[name] = _number(fields[score], where)
        if dimension is not None:
            rated.add(fields[dimension].strip().lower())
    if len(rated) > 1:
        raise DocumentError(f"{path}: scores of {' and '.join(sorted(rated))}: give one file for each")
    scores = {s.id: by_id[s.id] for s in corpus if s.id in by_id}
    if not scores:
        raise DocumentError(
            f"{path}: none of its {len(by_id)} ids is in the corpus, which has ids like {corpus[0].id}"
        )
    missing = tuple(s.id for s in corpus if s.id not in by_id)
    return ScoreFile(scores, missing, len(by_id) - len(scores), next(iter(rated), None))


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
        # In tab-separated data, quotation marks are ordinary characters.
        if "\t" in text.partition("\n")[0]:
            table = list(csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE, strict=True))
        else:
            table = list(csv.reader(lines, strict=True))
    except csv.Error as error:
        raise DocumentError(f"{path}: not a table: {error}") from error
    return table[0], ((number, fields) for number, fields in enumerate(table[1:], 1) if fields)


def _column(path: Path, header: Sequence[str], name: str | None, usual: Container[str], holds: str) -> int:
    if name is not None:
        matching = [i for i, title in enumerate(header) if title == name]
    else:
        matching = [i for i, title in enumerate(header) if title.strip().lower() in usual]
    if len(matching) != 1:
        problem = f"no column {name!r}" if name else f"cannot tell which column has {holds}"
        raise DocumentError(f"{path}: {problem}: there are {', '.join(map(repr, header))}")
    return matching[0]


def _number(written: str, where: str) -> float:
    try:
        value = float(written)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise DocumentError(f"{where}: the score {written!r} is not a number")
    return value
