"""The annotators' sheet: CSV for spreadsheets, written and read.

A row has an opaque id, the text, what the text should be about, and empty cells to fill. Nothing in it
reveals whether a text is an original or a mutant, valid or discarded, what is expected or what a model
answered.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from io import StringIO
from pathlib import Path

from harness.core import Case
from harness.errors import DocumentError
from harness.spreadsheets import disarmed
from harness.studies.judging.marking import marked

COLUMNS = ("id", "text", "about", "label", "relevance", "fluency", "remarks")
OF_MUTANTS = ("id", "text", "right", "remarks")
TO_FILL = ("label", "relevance", "fluency", "right")
SAID = {"yes": True, "no": False}
SCALE = range(1, 6)
DELIMITERS = ",;\t"
ENCODING = "utf-8-sig"  # spreadsheets recognise UTF-8 by its byte order mark


@dataclass(frozen=True, slots=True)
class Rating:
    """The answers of one annotator to one case; None where a cell was left empty."""

    annotator: str
    case: str
    label: frozenset[str] | None = None
    relevance: int | None = None
    fluency: int | None = None
    right: bool | None = None

    @property
    def empty(self) -> bool:
        """Whether no cell was filled in."""
        return all(cell is None for cell in (self.label, self.relevance, self.fluency, self.right))


def opaque(case: str) -> str:
    """Return the id of a case in the sheet; it begins with a letter, so that it is not read as a number."""
    return "t" + sha256(case.encode("utf-8", "surrogatepass")).hexdigest()[:10]


def write(cases: Iterable[Case], about: Callable[[Case], str], seed: int) -> str:
    """Return the sheet of ``cases`` in random order; ``about`` tells what a text should be about."""
    rows = ((case, (opaque(case.id), case.text, about(case))) for case in cases)
    return _sheet(COLUMNS, rows, seed)


def write_mutants(mutants: Iterable[tuple[Case, str]], seed: int) -> str:
    """Return the sheet of mutants with their originals in random order: the changes marked in one text."""
    rows = ((case, (opaque(case.id), marked(original, case.text))) for case, original in mutants)
    return _sheet(OF_MUTANTS, rows, seed)


def _sheet(columns: Sequence[str], rows: Iterable[tuple[Case, Sequence[str]]], seed: int) -> str:
    out = StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(columns)
    for _, cells in sorted(rows, key=lambda row: _place(row[0], seed)):
        writer.writerow([*map(disarmed, cells), *("" for _ in columns[len(cells) :])])
    return out.getvalue()


def read(file: Path, cases: Mapping[str, str], labels: Iterable[str], several: bool) -> list[Rating]:
    """Read the ratings in ``file``, whose name is the annotator's; rows left empty are skipped.

    ``cases`` maps opaque ids to the ids of cases; ``several``: a text may have more than one of ``labels``,
    separated by semicolons. Raises ``DocumentError``, which names the file and the row (1 is the first below
    the header).
    """
    by_folded = {label.casefold(): label for label in labels}
    ratings: dict[str, Rating] = {}
    for number, row in _rows(file):
        place = f"{file}: row {number}"
        name = row["id"].strip()
        if name not in cases:
            raise DocumentError(f"{place}: no case of this run has the id {name!r}")
        if name in ratings:
            raise DocumentError(f"{place}: the id {name!r} is given twice")
        ratings[name] = Rating(
            file.stem,
            cases[name],
            _label(row.get("label", ""), by_folded, several, place),
            _score(row.get("relevance", ""), "relevance", place),
            _score(row.get("fluency", ""), "fluency", place),
            _said(row.get("right", ""), place),
        )
    return [rating for rating in ratings.values() if not rating.empty]


def _rows(file: Path) -> Iterator[tuple[int, dict[str, str]]]:
    try:
        text = file.read_text(encoding=ENCODING)
    except OSError as error:
        raise DocumentError(f"{file}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise DocumentError(f"{file}: not UTF-8 at byte {error.start}: save it as CSV UTF-8") from error
    header = text.partition("\n")[0]
    reader = csv.DictReader(
        StringIO(text, newline=""), delimiter=max(DELIMITERS, key=header.count), strict=True
    )
    number = 0
    try:
        if "id" not in (reader.fieldnames or ()):
            raise DocumentError(f"{file}: no column 'id': give a sheet of hinter review export")
        for number, row in enumerate(reader, 1):
            if None in row or None in row.values():
                raise DocumentError(f"{file}: row {number}: not as many cells as the header has")
            if any(cell.strip() for cell in row.values()):
                yield number, row
    except csv.Error as error:
        raise DocumentError(f"{file}: row {number + 1}: not CSV: {error}") from error


def _label(cell: str, by_folded: Mapping[str, str], several: bool, place: str) -> frozenset[str] | None:
    parts = [part.strip().lstrip("'") for part in (cell.split(";") if several else [cell])]
    names = [part for part in parts if part]
    for name in names:
        if name.casefold() not in by_folded:
            raise DocumentError(f"{place}: unknown label {name!r}: write {', '.join(by_folded.values())}")
    return frozenset(by_folded[name.casefold()] for name in names) or None


def _said(cell: str, place: str) -> bool | None:
    value = cell.strip().lstrip("'").lower()
    if value and value not in SAID:
        raise DocumentError(f"{place}: right must be yes or no, not {value!r}")
    return SAID.get(value)


def _score(cell: str, column: str, place: str) -> int | None:
    value = cell.strip().lstrip("'")
    if not value:
        return None
    if value not in map(str, SCALE):
        raise DocumentError(f"{place}: {column} must be a whole number from 1 to {SCALE[-1]}, not {value!r}")
    return int(value)


def _place(case: Case, seed: int) -> bytes:
    return sha256(f"{seed}/{case.id}".encode("utf-8", "surrogatepass")).digest()
