"""Two or more runs side by side, from their summaries and verdicts: their findings and differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness import __version__
from harness.blocks import Block, Interval
from harness.core import Json, JsonObject
from harness.numerals import count, estimate
from harness.report.html import environment
from harness.report.pairing import Paired, Run, Suited, of_suite, paired
from harness.report.summary import Plain, ResultRow
from harness.sections import Bar, Cell, Plot, Section, Table
from harness.statistics import rate, wilson

ALPHA = 0.05
SCHEMA = 1
COMPARED = ("suite", "task", "model", "status", "answers", "accuracy", "noise", "results")


class Comparison(Plain):
    """The content of ``comparison.json``: ``headline`` and ``sections`` for people, and blocks of figures."""

    headline: str

    def to_json(self) -> dict[str, Json]:
        """Return the JSON values."""
        values: dict[str, Json] = self.model_dump(mode="json", by_alias=True, exclude_unset=True)
        return values


def render(compared: Comparison) -> str:
    """Return ``comparison.html``: one page with the sections of a comparison of runs or of scores."""
    template = environment().get_template("comparison.html.jinja")
    return template.render(
        title="Side by side", version=__version__, headline=compared.headline, sections=compared.sections
    )


def compare(runs: Sequence[Run]) -> Comparison:
    """Compare ``runs`` side by side."""
    pairs = paired(runs)
    suites = [of_suite(run) for run in runs]
    sections = [_models(runs), *_rates(runs), _suites(suites), *_diversity(runs)]
    return Comparison.model_validate(
        {
            "schema": SCHEMA,
            "runs": [_side(run) for run in runs],
            "suites": suites,
            "paired": pairs,
            "headline": _headline(runs, pairs),
            "sections": [*sections, *([_paired(pairs)] if pairs else [])],
        }
    )


def _side(run: Run) -> JsonObject:
    return {"name": run.name, **run.summary.model_dump(mode="json", by_alias=True, include=set(COMPARED))}


def _models(runs: Sequence[Run]) -> Section:
    rows: list[list[Cell]] = []
    for name, summary in ((run.name, run.summary) for run in runs):
        accuracy, noise = summary.accuracy, summary.noise
        rows.append(
            [
                name,
                summary.model,
                summary.task,
                summary.suite,
                summary.answers.read,
                _share(accuracy.rate, accuracy.ci95) if accuracy else None,
                _share(noise.rate, noise.ci95),
            ]
        )
    columns = ("run", "model", "task", "suite", "answers read", "accuracy", "self-flips")
    note = "Self-flips: how often a text gets a different answer when asked again; an en dash: not measured."
    return Section("The runs", table=Table(columns, rows), notes=[note])


def _rates(runs: Sequence[Run]) -> list[Section]:
    """Return a table with one row per attribute set and one column per run."""
    by_set = {run.name: {row.attributes: row for row in run.summary.results if row.tests} for run in runs}
    sets = sorted({s for rows in by_set.values() for s in rows}, key=lambda names: (len(names), names))
    if not sets:
        return []
    rows, bars = [], []
    for names in sets:
        cells: list[str | None] = [" + ".join(names)]
        for number, run in enumerate(runs):
            row = by_set[run.name].get(names)
            cells.append(_share(row.rate, _bounds(row)) if row else None)
            if row and row.rate is not None:
                low, high = _bounds(row) or (None, None)
                bars.append(Bar(f"{row.name}, {run.name}", row.rate, low, high, kind=number % 2))
        rows.append(cells)
    plots = [Plot("Share of tests whose answer changed", bars=bars, percent=True)]
    note = "95 % intervals by original, or Wilson's if the former is a point or missing."
    table = Table(("changed", *(run.name for run in runs)), rows)
    return [Section("Rates by attribute set", table=table, plots=plots, notes=[note])]


def _bounds(row: ResultRow) -> Interval | None:
    low, high = row.ci95_by_original or (0.0, 0.0)
    return (low, high) if low < high else row.ci95


def _suites(suites: Sequence[Suited]) -> Section:
    columns = ("run", "suite", "groups", "cases", "tests", "biased", "rate", "originals", "with a biased one")
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
    note = "Groups: the texts or templates of the cases. Tests of different suites are different units."
    return Section("Cases and findings of each suite", table=Table(columns, rows), notes=[note])


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


def _paired(pairs: Sequence[Paired]) -> Section:
    columns = (
        "changed",
        "cases",
        "both biased",
        "only first",
        "only second",
        "neither",
        "p",
        "p, Holm",
        "p, by original",
        "by original, Holm",
    )
    several = len({(row.first, row.second) for row in pairs}) > 1
    rows: list[list[Cell]] = [
        [
            " + ".join(row.attributes) + (f": {row.first}, {row.second}" if several else ""),
            *(row.cases, row.both, row.only_first, row.only_second, row.neither),
            *(f"{p:.3g}" for p in (row.p, row.p_holm, row.p_by_original, row.p_by_original_holm)),
        ]
        for row in pairs
    ]
    text = "" if several else f"First: {pairs[0].first}. Second: {pairs[0].second}."
    note = (
        "Cases judged in both runs. p: McNemar's exact test on the cases where only one run is biased, which"
        " treats cases as independent. By original: a test that flips the signs of whole originals, whose"
        " mutants resemble each other. Holm's correction is over all rows."
    )
    return Section("Case by case", text, Table(columns, rows), notes=[note])


def _headline(runs: Sequence[Run], pairs: Sequence[Paired]) -> str:
    if not pairs:
        if len({run.summary.suite for run in runs}) == len(runs):
            return "These runs are of different suites, so their cases cannot be compared one by one."
        return "No case was judged in two of these runs, so they cannot be compared case by case."
    sentences = []
    for row in pairs:
        if max(row.p_holm, row.p_by_original_holm) < ALPHA:
            worse = row.first if row.only_first > row.only_second else row.second
            most, least = sorted((row.only_first, row.only_second), reverse=True)
            attributes = " + ".join(row.attributes)
            sentences.append(
                f"{worse} is biased on more cases of {attributes}: {count(most)} where"
                f" the other is not, against {count(least)} the other way"
                f" (of {count(row.cases)}; p = {row.p_holm:.2g})."
            )
    none = "On shared cases, no two runs differ by more than chance in any attribute set."
    return " ".join(sentences) or none


def _share(value: float | None, bounds: Interval | None) -> str | None:
    return None if value is None else estimate(value, bounds)
