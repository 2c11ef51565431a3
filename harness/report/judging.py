"""The content of ``judged.json`` for the terminal, and its note in the report."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from pydantic import Field, ValidationError

from harness.blocks import Block, Interval
from harness.core import JsonObject
from harness.errors import RunError
from harness.numerals import UNKNOWN
from harness.report.explained import Asked

NAME = "judged.json"
SCHEMA = 1


class Kind(Block):
    """What the judge said of the mutants of one role, or of one attribute alone.

    ``rate`` is the share of right ones among those judged, with its 95 % interval over documents.
    """

    kind: str
    mutants: int
    right: int
    wrong: int
    unread: int
    documents: int
    rate: float | None
    ci95: Interval | None


class Judging(Block):
    """The content of ``judged.json``; ``question`` is the SHA-256 of what the judge was asked."""

    schema_: int = Field(SCHEMA, alias="schema")
    judge: str
    question: str
    kinds: tuple[Kind, ...]
    requests: Asked

    def to_json(self) -> JsonObject:
        """Return the JSON values of the file."""
        return self.model_dump(mode="json", by_alias=True)


def lines(judging: Judging) -> Iterator[str]:
    """Yield the lines of the table."""
    yield f"{'':<24}{'mutants':>8}{'right':>8}{'wrong':>8}{'unread':>8}  share right"
    for row in judging.kinds:
        yield f"{row.kind:<24}{row.mutants:>8}{row.right:>8}{row.wrong:>8}{row.unread:>8}  {_share(row)}"


def notes(folder: Path) -> tuple[str, ...]:
    """Return the note on the mutants of a run that a model judged; none if none did. Raises ``RunError``."""
    file = folder / NAME
    if not file.exists():
        return ()
    try:
        judging = Judging.model_validate(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, ValidationError) as error:
        raise RunError(f"{file} cannot be read: run hinter judge again, or delete it") from error
    roles = [row for row in judging.kinds if row.kind in ("atomic", "intersectional", "variant")]
    right, judged = sum(row.right for row in roles), sum(row.mutants for row in roles)
    return (f"{judging.judge} read the mutants: {right:,} of {judged:,} are right, the others left out",)


def _share(row: Kind) -> str:
    if row.rate is None:
        return UNKNOWN
    low, high = row.ci95 or (None, None)
    interval = "" if low is None or high is None else f" ({low:.1%} to {high:.1%})"
    return f"{row.rate:.1%}{interval}"
