"""Where runs part: the tests of the same texts in which one changes its answer and another does not.

The rows are those of the list of a run, with the answers of every run in place of one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from harness.core import Tables
from harness.findings.frequency import decided
from harness.report import flips, packing, relations
from harness.report import listing as lists
from harness.report.listing import CHARACTERS, MOST, Answer, Listing, Row, Shown, Told
from harness.report.pairing import Run

if TYPE_CHECKING:
    import polars as pl

FEWEST = 2
"""The runs that must have decided a test."""
ABSENT = Told(Answer("not in this run"), biased=False)
CHANGED, UNCHANGED = "changed", "not changed"
OF_ONE_RUN = dict.fromkeys(("direction", "hidden", "confirmed", "near_tie", "margin", "shift"))
"""What holds in the run that a row is read from, and need not in the others."""
FACETS = ("attributes", "from", "to", "person")
COLUMNS = ("case", "document", "relation", "attributes", "groups", "words", "changed_in", "unchanged_in")
TEXTS = ("other_text", "text")
NAME = "parted.csv"

Key = tuple[str, str]
"""A case, and the one that it is compared with; "" for its original."""


def read(runs: Sequence[Run], most: int = MOST, characters: int = CHARACTERS) -> Listing:
    """Return the tests in which ``runs`` part: at most ``most`` rows and ``characters`` of text.

    Raises ``RunError``.
    """
    import polars as pl

    tested = [_tests(run.tables, run, place) for place, run in enumerate(runs) if run.tables is not None]
    if len(tested) < FEWEST:
        return Listing([], {}, [], {"changed": 0}, [run.name for run in runs])
    parted = _parted(pl.concat(tested))
    rows: list[Row] = []
    cases: dict[str, Shown] = {}
    texts: list[str] = []
    for source, tests in parted.sort("source").group_by("source", maintain_order=True):
        run = runs[int(source[0])]
        assert run.tables is not None
        found = list(_rows(run, run.tables, tests, len(runs), most - len(rows)))
        wanted = {case for row in found for case in row.cases} - cases.keys()
        room = characters - _taken(texts, cases)
        of_run = {case.id: case for case in lists.shown(run.tables, wanted, texts, room)}
        cases |= _told(runs, run.tables, of_run)
        rows += lists.held(found, cases)
    return Listing(rows, cases, texts, {"changed": parted.height}, [run.name for run in runs])


def _taken(texts: Sequence[str], cases: Mapping[str, Shown]) -> int:
    return sum(map(len, texts)) + sum(len(put) for case in cases.values() for _, _, put in case.splices)


def _tests(tables: Tables, run: Run, place: int) -> pl.LazyFrame:
    """Return the decided tests of a run with the hash of the case's text."""
    import polars as pl

    cases = tables.scan("cases").filter("valid")
    texts = cases.select("document", case="id", text=pl.col("text").hash())
    return (
        decided(run.verdicts)
        .join(texts, on=["case", "document"], how="inner")
        .select("case", "other", "text", "biased", run=pl.lit(place), suite=pl.lit(run.summary.suite))
    )


def _parted(tests: pl.LazyFrame) -> pl.DataFrame:
    """Return the tests that differ between runs: ``changed`` and ``runs`` as lists, ``source`` the first run.

    Of an id that stands for different texts, the text of most runs counts.
    """
    import polars as pl

    same = ["suite", "case", "text"]
    by_text = tests.group_by(same).agg(number=pl.col("run").n_unique(), source=pl.col("run").min())
    kept = by_text.sort("number", "source", descending=[True, False]).unique("case", keep="first")
    parting = pl.col("biased").any() & ~pl.col("biased").all()
    return (
        tests.join(kept, on=same, how="semi")
        .group_by("case", "other")
        .agg(parting.alias("parting"), runs="run", changed="biased", source=pl.col("run").min())
        .filter("parting")
        .collect()
    )


def _rows(run: Run, tables: Tables, tests: pl.DataFrame, runs: int, most: int) -> Iterator[Row]:
    """Yield the rows of ``tests`` in the order of the run's verdicts."""
    import polars as pl

    changed: dict[Key, list[bool | None]] = {}
    for case, other, places, biased in tests.select("case", "other", "runs", "changed").iter_rows():
        by_place = dict(zip(places, biased, strict=True))
        changed[case, other] = [by_place.get(place) for place in range(runs)]
    verdicts = run.verdicts.with_columns(key=pl.col("other").fill_null(""))
    keys = tests.lazy().select("case", key="other")
    verdicts = verdicts.join(keys, on=["case", "key"], how="semi", maintain_order="left")
    others = verdicts.select("case", "other").head(most).collect().iter_rows()  # an original has no name here
    found = flips.tested(tables, verdicts.drop("key").head(most), run.summary.favourable)
    rows = lists.with_parts(tables, [{**flip, **OF_ONE_RUN, "kind": "changed"} for flip in found])
    for row, (case, other) in zip(rows, others, strict=True):
        yield replace(row, changed=changed[case, other or ""])


def _told(runs: Sequence[Run], source: Tables, cases: Mapping[str, Shown]) -> dict[str, Shown]:
    """Return ``cases`` with the answers of all runs that have them with the same text."""
    import polars as pl

    texts = pl.col("text").hash()
    told: dict[str, list[Told]] = {case: [] for case in cases}
    same = lists.answered(source, sorted(cases)).select("id", texts)
    for run in runs:
        of_run: dict[str, Told] = {}
        if run.tables is not None:
            own = lists.answered(run.tables, sorted(cases)).with_columns(texts)
            for row in own.join(same, on=["id", "text"], how="semi").collect().iter_rows(named=True):
                of_run[row["id"]] = Told(lists.answer(row), bool(row["biased"]))
        for case, so_far in told.items():
            so_far.append(of_run.get(case, ABSENT))
    return {name: replace(case, told=told[name]) for name, case in cases.items()}


def values(listing: Listing) -> dict[str, Any]:
    """Return the rows, their cases and how they can be filtered, as JSON values."""
    rows, names = listing.rows, listing.runs
    made = packing.rows_of(listing)
    cases = listing.cases.values()
    by_run = {
        f"run:{place}": packing.coded(status(row.changed[place]) for row in rows)
        for place in range(len(names))
    }
    sides = {
        "changed_in": packing.coded(_names(row, names, True) for row in rows),
        "unchanged_in": packing.coded(_names(row, names, False) for row in rows),
        "answers": packing.coded(relations.parting(row, names) for row in rows),
    }
    answers = [f"{name}: {side}" for name in names for side in ("other_answer", "answer")]
    return {
        **made,
        "columns": [*COLUMNS, "other", "expected", *answers, *TEXTS],
        "file": NAME,
        "runs": names,
        "coded": {**made["coded"], **by_run, **sides},
        "facets": [
            *_who(names, relations.only_mark(rows) or "biased"),
            *(facet for facet in made["facets"] if _holds(facet["key"])),
        ],
        "cases": {
            **made["cases"],
            "told": packing.coded(tuple(told.answer for told in case.told) for case in cases),
            "biased_in": [
                sum(1 << place for place, told in enumerate(case.told) if told.biased) for case in cases
            ],
        },
    }


def status(changed: bool | None) -> str | None:
    """Return in a word whether an answer changed; None where that is not decided."""
    return None if changed is None else CHANGED if changed else UNCHANGED


def _names(row: Row, names: Sequence[str], changed: bool) -> list[str]:
    return [name for name, given in zip(names, row.changed, strict=True) if given is changed]


def _who(names: Sequence[str], mark: str) -> list[dict[str, Any]]:
    """Return the filters by the runs in which answers change: by the set, and of more than two by each."""
    words = {CHANGED: mark, UNCHANGED: relations.UNMARKED.get(mark, f"not {mark}")}
    each = [{"key": f"run:{place}", "name": f"In {name}", "words": words} for place, name in enumerate(names)]
    sets = {"key": "changed_in", "name": f"{mark.capitalize()} in"}
    return [sets, *(each if len(names) > FEWEST else [])]


def _holds(key: str) -> bool:
    return key in FACETS or key.startswith("trait:")


def counts(listing: Listing) -> list[tuple[Sequence[str], int]]:
    """Return in how many of the rows which runs change their answer, the most frequent first."""
    return sorted(
        ((names, len(rows)) for names, rows in _by_runs(listing).items()), key=lambda item: -item[1]
    )


def choose(listing: Listing, number: int) -> list[str]:
    """Return the cases of at most ``number`` rows, in turn of each set of runs that change their answer."""
    turns = zip_longest(*_by_runs(listing).values())
    rows = [row for turn in turns for row in turn if row is not None]
    return list(dict.fromkeys(row.flip["case"] for row in rows))[:number]


def _by_runs(listing: Listing) -> Mapping[tuple[str, ...], Sequence[Row]]:
    found: dict[tuple[str, ...], list[Row]] = {}
    for row in listing.rows:
        found.setdefault(tuple(_names(row, listing.runs, True)), []).append(row)
    return found
