"""Two or more runs side by side, from their summaries and verdicts: their findings and differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.blocks import Block, Interval
from harness.core import Json, JsonObject
from harness.findings import frequency, gaps
from harness.numerals import count, estimate, interval, percent
from harness.report import case_by_case, frequencies, standings, treatment
from harness.report.finding import sure
from harness.report.pairing import Paired, Run, Suited, of_suite, paired
from harness.report.summary import Plain, ResultRow
from harness.sections import Bar, Cell, Column, Plot, Section, Table, Worded
from harness.statistics import rate, wilson

SCHEMA = 1
COMPARED = ("suite", "task", "model", "status", "answers", "accuracy", "noise", "results")
FINDINGS = ("favourable", "finding", "cautions", "groups", "contrasts", "control")


class Comparison(Plain):
    """The content of ``comparison.json``: ``headline`` and ``sections`` for people, and blocks of figures."""

    headline: str
    shared: tuple[gaps.Shared, ...] = ()
    contrasts: tuple[gaps.Gap, ...] = ()
    frequencies: tuple[frequency.Frequency, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """Return the JSON values."""
        values: dict[str, Json] = self.model_dump(mode="json", by_alias=True, exclude_unset=True)
        return values


def compare(runs: Sequence[Run]) -> Comparison:
    """Compare ``runs`` side by side."""
    pairs = paired(runs)
    sides = [side for run in runs if (side := _of(run)) is not None]
    shared, differences = gaps.find(sides)
    often = frequency.find(sides)
    suites = [of_suite(run) for run in runs]
    sections = [
        _models(runs),
        *treatment.found(runs),
        *treatment.sections(runs, shared, differences),
        *_rates(runs),
        _suites(suites),
        *_diversity(runs),
    ]
    return Comparison.model_validate(
        {
            "schema": SCHEMA,
            "runs": [_side(run) for run in runs],
            "suites": suites,
            "paired": pairs,
            "shared": shared,
            "contrasts": differences,
            "frequencies": often,
            "headline": " ".join([_headline(runs, shared, differences, pairs), *frequencies.headline(often)]),
            "sections": [*sections, *frequencies.sections(often), *case_by_case.sections(pairs)],
        }
    )


def _headline(
    runs: Sequence[Run],
    shared: Sequence[gaps.Shared],
    differences: Sequence[gaps.Gap],
    pairs: Sequence[Paired],
) -> str:
    """Return the finding about groups; where it tells no difference, or there is none, that about cases."""
    about_groups = standings.headline(runs, shared, differences)
    if not about_groups:
        return case_by_case.headline(runs, pairs)
    more = [] if any(map(sure, differences)) else case_by_case.more(pairs)
    return " ".join([about_groups, *more])


def _side(run: Run) -> JsonObject:
    figures = {*COMPARED, *FINDINGS}
    return {"name": run.name, **run.summary.model_dump(mode="json", by_alias=True, include=figures)}


def _of(run: Run) -> gaps.Side | None:
    """Return a run as a side of gaps; None without its tables."""
    if run.tables is None:
        return None
    summary = run.summary
    chosen = summary.adaptive is not None
    return gaps.Side(run.name, summary.suite, run.tables, run.outcomes, summary.contrasts, chosen)


def _models(runs: Sequence[Run]) -> Section:
    measured = any(run.summary.noise.rate is not None for run in runs)
    rows: list[list[Cell]] = []
    for name, summary in ((run.name, run.summary) for run in runs):
        accuracy, noise = summary.accuracy, summary.noise
        rows.append(
            [
                name,
                _placed(summary.model),
                summary.task,
                summary.suite,
                summary.answers.read,
                _share(accuracy.rate, accuracy.ci95) if accuracy else None,
                *([_share(noise.rate, noise.ci95)] if measured else []),
            ]
        )
    columns: list[str | Column] = ["run", "model", Column("task", page_only=True)]
    columns += [Column("suite", page_only=_one_suite(runs)), Column("answers read", "answers"), "accuracy"]
    columns += ["self-flips"] if measured else []
    note = "Self-flips: how often a text gets a different answer when asked again; an en dash: not measured."
    return Section("The runs", table=Table(columns, rows), notes=[note] if measured else [])


def _placed(model: str) -> Worded:
    """Return the name of a model; briefly, of one in a folder, the last part of the path."""
    system, colon, path = model.rpartition(":")
    folders, _, name = path.rstrip("/").rpartition("/")
    return Worded(model, f"{system}{colon}…/{name}" if "/" in folders else model)


def _one_suite(runs: Sequence[Run] | Sequence[Suited]) -> bool:
    return len({run.suite if isinstance(run, Suited) else run.summary.suite for run in runs}) == 1


def _rates(runs: Sequence[Run]) -> list[Section]:
    """Return a table with one row per attribute set and one column per run."""
    by_set = {
        run.name: {frozenset(row.attributes): row for row in run.summary.results if row.tests} for run in runs
    }
    named = {s: row.attributes for rows in reversed(by_set.values()) for s, row in rows.items()}
    sets = sorted(named, key=lambda names: (len(names), named[names]))
    if not sets:
        return []
    rows: list[list[Cell]] = []
    bars = []
    for names in sets:
        cells: list[Cell] = [" + ".join(named[names])]
        for number, run in enumerate(runs):
            row = by_set[run.name].get(names)
            cells.append(_share(row.rate, _bounds(row)) if row else None)
            if row and row.rate is not None:
                low, high = _bounds(row) or (None, None)
                bars.append(Bar(f"{' + '.join(named[names])}, {run.name}", row.rate, low, high, kind=number))
        rows.append(cells)
    plots = [Plot("Share of tests whose answer changed", bars=bars, percent=True)]
    note = "95 % intervals by original, or Wilson's if the former is a point or missing."
    table = Table(("changed", *(run.name for run in runs)), rows)
    return [Section("Rates by attribute set", table=table, plots=plots, notes=[note])]


def _bounds(row: ResultRow) -> Interval | None:
    low, high = row.ci95_by_original or (0.0, 0.0)
    return (low, high) if low < high else row.ci95


def _suites(suites: Sequence[Suited]) -> Section:
    columns: list[str | Column] = [
        "run",
        Column("suite", page_only=_one_suite(suites)),
        Column("groups", note="The texts or templates of the cases.", page_only=True),
        "cases",
        Column("tests", page_only=all(row.cases == row.tests for row in suites)),
        "biased",
        "rate",
        "originals",
        Column("with a biased one", "with bias"),
    ]
    rows: list[list[Cell]] = [
        [
            row.name,
            row.suite,
            row.groups,
            row.cases,
            row.tests,
            row.biased,
            _share(row.rate, row.ci95),
            row.originals,
            row.biased_originals,
        ]
        for row in suites
    ]
    notes = [] if _one_suite(suites) else ["Tests of different suites are different units."]
    return Section("Cases and findings of each suite", table=Table(columns, rows), notes=notes)


class _Kind(Block):
    """The texts of one kind in the block of a suite, and how many of them are distinct in which respect."""

    kind: str
    texts: int
    distinct: int
    tags: int
    trees: int | None


class _Diverse(Block):
    """The diversity and the failures of texts in the block of a suite."""

    diversity: tuple[_Kind, ...] = ()
    capabilities: tuple[Mapping[str, object], ...] = ()
    tests: tuple[Mapping[str, object], ...] = ()

    def failed(self, kind: str) -> tuple[int, int]:
        """Return the numbers of failed and judged cases of one role, or of all tests without roles."""
        roles = [row for row in self.capabilities if f"{kind}s_failed" in row]
        if roles:
            return _total(roles, f"{kind}s_failed"), _total(roles, f"{kind}s")
        failed = _total(self.tests, "failed")
        return failed, failed + _total(self.tests, "passed")


def _total(rows: Sequence[Mapping[str, object]], key: str) -> int:
    return sum(number for row in rows if isinstance(number := row.get(key), int))


def _diversity(runs: Sequence[Run]) -> list[Section]:
    """Return a table of distinct and failed seeds, expansions and handwritten tests (S²LCT, section 5)."""
    rows: list[list[Cell]] = []
    for run in runs:
        block = run.summary.block(run.summary.suite)
        if "diversity" not in block:
            continue
        diverse = _Diverse.model_validate(block)
        for kind in diverse.diversity:
            failed, judged = diverse.failed(kind.kind)
            counts = (kind.texts, kind.distinct, kind.tags, kind.trees)
            part = f"{count(failed)} of {count(judged)}"
            rows.append(
                [run.name, kind.kind, *counts, part, _share(rate(failed, judged), wilson(failed, judged))]
            )
    if not rows:
        return []
    columns = ("run", "cases", "texts", "distinct texts", "POS sequences", "trees", "failed", "failure rate")
    note = "An en dash: no tree parser was used. Counts grow with the number of texts."
    return [Section("Diversity and failures", table=Table(columns, rows), notes=[note])]


def _share(value: float | None, bounds: Interval | None) -> Worded | None:
    if value is None:
        return None
    own_line = f"\n{interval(bounds)}" if bounds is not None else ""
    return Worded(estimate(value, bounds), f"{percent(value)}{own_line}")
