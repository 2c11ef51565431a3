"""What the page lists: each flip with the cases that it is shown beside, their texts and answers.

A case is shown by what its text has other than the first listed text of its group, so that 100,000 flips of a
few thousand texts take little more room than these texts. The tables are read in batches of bounded size.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from harness.core import KEY_SEPARATOR, Tables
from harness.language.differences import Splice, spliced, splices
from harness.report import flips
from harness.report.flips import COLUMNS, REFUSALS, Flip, Kind, arrow, cell, numbers

if TYPE_CHECKING:
    import polars as pl

    from harness.folder import RunFolder

MOST = 100_000
"""The most rows of the list; a file beside the page has all flips where there are more."""
CHARACTERS = 16_000_000
"""The most characters of text, which are in memory at once; of English, about what a page of 15 MB holds."""
TEXTS_AT_ONCE = 1_000
ROLES = {"original": "Original", "seed": "Seed", "expansion": "Expansion", "control": "Control"}

KEPT = (
    "kind",
    *(name for name in COLUMNS if not name.endswith("text")),
    "traits",
    "outcome",
    "other_outcome",
)
"""What a row keeps of its flip: the rest would take much memory, of 100,000 rows."""

Substitutions = Sequence[Mapping[str, str]]


class Answer(NamedTuple):
    """What was answered, in words for people and as a cell of a CSV file, or why nothing was ``read``."""

    text: str
    csv: str = ""
    read: bool = False


class Told(NamedTuple):
    """What a run of several answered about a case, and whether it is biased there."""

    answer: Answer
    biased: bool


@dataclass(frozen=True, slots=True)
class Shown:
    """A case as the page shows it: text number ``base`` of the listing, with its ``splices``.

    ``told``: the answer of each run, where several are compared.
    """

    id: str
    base: int
    splices: Sequence[Splice]
    title: str
    answer: Answer
    biased: bool
    told: Sequence[Told] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the list: the flip, and the ids of the cases of its parts, the smaller first.

    ``changed``: whether it is a flip in each run, None where that is not decided, of several runs.
    """

    flip: Flip
    parts: Sequence[str]
    changed: Sequence[bool | None] = ()

    @property
    def cases(self) -> Iterator[str]:
        """The cases shown for this row: the one compared with, those of the parts, its own."""
        if self.flip["other"] is not None:
            yield self.flip["other"]
        yield from self.parts
        yield self.flip["case"]

    @property
    def traits(self) -> Mapping[str, str]:
        """What else the suite says of the case."""
        traits: Mapping[str, str] = json.loads(self.flip["traits"] or "{}")
        return traits


@dataclass(frozen=True, slots=True)
class Listing:
    """The rows of the page with their cases and texts; ``totals`` counts all rows of the run by kind.

    ``runs``: the names of the runs, where several are compared.
    """

    rows: Sequence[Row]
    cases: Mapping[str, Shown]
    texts: Sequence[str]
    totals: Mapping[Kind, int] = field(default_factory=dict)
    runs: Sequence[str] = ()

    def text(self, case: str) -> str:
        """Return the text of a case."""
        shown = self.cases[case]
        return spliced(self.texts[shown.base], shown.splices)

    def first(self, number: int) -> Listing:
        """Return the first rows alone, with no case and no text but theirs."""
        rows = self.rows[:number]
        wanted = {case for row in rows for case in row.cases}
        cases = [case for case in self.cases.values() if case.id in wanted]
        bases = {base: place for place, base in enumerate(dict.fromkeys(case.base for case in cases))}
        moved = {case.id: replace(case, base=bases[case.base]) for case in cases}
        return Listing(rows, moved, [self.texts[base] for base in bases], self.totals, self.runs)

    @property
    def complete(self) -> bool:
        """Whether all that could be listed is."""
        return len(self.rows) == sum(self.totals.values())


def read(
    folder: RunFolder, favourable: Sequence[str], most: int = MOST, characters: int = CHARACTERS
) -> Listing:
    """Return the listing of a run: at most ``most`` rows and ``characters`` of text. Raises ``RunError``."""
    rows = with_parts(folder, list(flips.listed(folder, favourable, most)))
    wanted = {case for row in rows for case in row.cases}
    texts: list[str] = []
    cases = {case.id: case for case in shown(folder, wanted, texts, characters)}
    return Listing(held(rows, cases), cases, texts, numbers(folder))


def held(rows: Iterable[Row], cases: Mapping[str, object]) -> list[Row]:
    """Return the rows whose cases are all there."""
    return [row for row in rows if all(case in cases for case in row.cases)]


def with_parts(tables: Tables, found: Sequence[Flip]) -> list[Row]:
    """Return the rows with their parts: the mutants of fewer of the same substitutions."""
    import polars as pl

    keys = {(flip["group"], _key(part)) for flip in found for part in _parts(flip["substitutions"])}
    places = pl.LazyFrame(sorted(keys), schema={"group": pl.String(), "key": pl.String()}, orient="row")
    fields = [pl.element().struct.field(name) for name in ("attribute", "source", "target")]
    key = pl.col("substitutions").list.eval(pl.concat_str(fields, separator=":")).list.join(KEY_SEPARATOR)
    keyed = tables.scan("cases").with_columns(key=key).select("group", "key", "id", "valid")
    cases = keyed.join(places, on=["group", "key"], how="semi").sort("valid").collect(engine="streaming")
    ids = {(group, part): case for group, part, case, _ in cases.iter_rows()}  # a valid one stands
    return [_row(flip, ids) for flip in found]


def _row(flip: Flip, ids: Mapping[tuple[str, str], str]) -> Row:
    parts = (ids.get((flip["group"], _key(part))) for part in _parts(flip["substitutions"]))
    return Row({name: flip[name] for name in KEPT}, [part for part in parts if part is not None])


def _parts(substitutions: Substitutions | None) -> list[Substitutions]:
    """Return the proper subsets that are not empty, by size."""
    every = substitutions or ()
    return [list(part) for size in range(1, len(every)) for part in combinations(every, size)]


def _key(substitutions: Substitutions) -> str:
    return KEY_SEPARATOR.join(f"{s['attribute']}:{s['source']}:{s['target']}" for s in substitutions)


def shown(tables: Tables, wanted: Iterable[str], texts: list[str], characters: int) -> Iterator[Shown]:
    """Yield the ``wanted`` cases whose texts fit, and add the first text of each group to ``texts``."""
    bases: dict[str, int] = {}
    table = answered(tables, sorted(wanted))
    for batch in table.collect_batches(chunk_size=TEXTS_AT_ONCE, maintain_order=True):
        for row in batch.iter_rows(named=True):
            if row["group"] not in bases:
                bases[row["group"]] = len(texts)
                texts.append(row["text"])
                characters -= len(row["text"])
            base = bases[row["group"]]
            parts = splices(texts[base], row["text"])
            characters -= sum(len(part) for _, _, part in parts)
            if characters < 0:
                return
            yield Shown(row["id"], base, parts, _title(row), answer(row), bool(row["biased"]))


def answered(tables: Tables, wanted: Sequence[str]) -> pl.LazyFrame:
    """Return the ``wanted`` cases beside their answers, in the order of the cases."""
    import polars as pl

    ids = pl.LazyFrame({"id": wanted}, schema={"id": pl.String()})
    judged = pl.concat([tables.scan(name) for name in ("verdicts", "controls")], how="diagonal")
    biased = judged.filter(status="biased").select("case").unique().with_columns(biased=True)
    answers = tables.scan("answers").select("case", "outcome", "labels", "score")
    table = tables.scan("cases").select("id", "group", "role", "text", "reason", "substitutions")
    table = table.join(ids, on="id", how="semi", maintain_order="left")
    for beside in (answers, biased):
        table = table.join(beside, left_on="id", right_on="case", how="left", maintain_order="left")
    return table


def _title(row: Mapping[str, Any]) -> str:
    """Return what a case is called: its changes of words, or what it is."""
    arrows = ", ".join(arrow(s) for s in row["substitutions"] or ())
    return arrows or ROLES.get(row["role"], "")


def answer(row: Mapping[str, Any]) -> Answer:
    """Return the answer in a row of a case beside its answer."""
    if row["reason"] is not None:
        return Answer(f"discarded: {row['reason']}")
    if row["outcome"] is None:
        return Answer("not asked")
    if row["outcome"] != "read":
        return Answer(row["outcome"] if row["outcome"] in REFUSALS else f"not read: {row['outcome']}")
    if row["labels"] is not None:
        words = cell(row["labels"], "no label")
        return Answer(words, words, read=True)
    return Answer(f"{row['score']:.3g}", cell(row["score"]), read=True)
