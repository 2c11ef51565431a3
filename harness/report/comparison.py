"""Two or more runs side by side, from their summaries and verdicts: rates, suites, and who is biased where.

Two models asked about the same cases are compared case by case: McNemar's test on biased or benign, which
knows what two separate rates do not, that both are of the same texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from harness import __version__
from harness.core import KEY_SEPARATOR
from harness.report import wording
from harness.report.html import environment
from harness.report.summary import SCORES
from harness.sections import Bar, Plot, Section, Table, plain
from harness.statistics import adjusted, flip_test, mcnemar, rate, wilson

if TYPE_CHECKING:
    import polars as pl

ALPHA = 0.05
COUNTS = ("cases", "both", "only_first", "only_second", "neither")
P_VALUES = ("p", "p_holm", "p_by_original")


@dataclass(frozen=True)
class Run:
    """A run to compare: how it is called, its summary, and its table of verdicts."""

    name: str
    figures: Mapping[str, Any]
    verdicts: pl.LazyFrame


def render(compared: Mapping[str, Any]) -> str:
    """``comparison.html``: the sections of a comparison, of runs or of scores, on a page of their own."""
    template = environment().get_template("comparison.html.jinja")
    shown = {key: compared[key] for key in ("headline", "sections")}
    return template.render(title="Side by side", version=__version__, **shown)


def compare(runs: Sequence[Run]) -> dict[str, Any]:
    """All that ``comparison.json`` holds of ``runs``, with ``headline`` and ``sections`` for people."""
    pairs = paired(runs)
    suites = [of_suite(run) for run in runs]
    return {
        "runs": [_side(run) for run in runs],
        "suites": suites,
        "paired": pairs,
        "headline": _headline(runs, pairs),
        "sections": plain(
            [
                _models(runs),
                *_rates(runs),
                _suites(suites),
                *_diversity(runs),
                *([_paired(pairs)] if pairs else []),
            ]
        ),
    }


def paired(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Every two runs of one suite that share cases: per attribute set how many cases only one of them is
    biased on, with McNemar's p, corrected by Holm over the attribute sets of these two runs, and the p of a
    permutation of whole originals."""
    found: list[dict[str, Any]] = []
    for first, second in combinations(runs, 2):
        if first.figures["suite"] != second.figures["suite"]:
            continue
        rows = _joined(first, second)
        for row, p in zip(rows, adjusted([row["p"] for row in rows]), strict=True):
            found.append({"first": first.name, "second": second.name, **row, "p_holm": p})
    return found


def _joined(first: Run, second: Run) -> list[dict[str, Any]]:
    import polars as pl

    one, other = (_decided(run.verdicts) for run in (first, second))
    counts = (
        one.join(other, on=["case", "other", "key", "document"], suffix="_second")
        .group_by("key", "document")
        .agg(
            cases=pl.len(),
            both=(pl.col("biased") & pl.col("biased_second")).sum(),
            only_first=(pl.col("biased") & ~pl.col("biased_second")).sum(),
            only_second=(~pl.col("biased") & pl.col("biased_second")).sum(),
        )
        .sort("document")
        .group_by("key")
        .agg(
            pl.col("cases", "both", "only_first", "only_second").sum(),
            more=pl.col("only_first").cast(pl.Int64) - pl.col("only_second").cast(pl.Int64),
        )
        .sort(pl.col("key").str.count_matches(KEY_SEPARATOR, literal=True), "key")
        .collect()
    )
    return [
        {
            "attributes": key.split(KEY_SEPARATOR),
            "cases": cases,
            "both": both,
            "only_first": only_first,
            "only_second": only_second,
            "neither": cases - both - only_first - only_second,
            "p": mcnemar(only_first, only_second),
            "p_by_original": flip_test([number for number in more if number]),
        }
        for key, cases, both, only_first, only_second, more in counts.iter_rows()
    ]


def _decided(verdicts: pl.LazyFrame) -> pl.LazyFrame:
    """The tests that are biased or benign; a difference of scores is neither."""
    import polars as pl

    status = pl.col("status")
    return verdicts.filter((pl.col("relation") != SCORES) & status.is_in(["biased", "benign"])).select(
        "case",
        "document",
        pl.col("other").fill_null(""),
        key=pl.col("attributes").list.join(KEY_SEPARATOR),
        biased=status == "biased",
    )


def of_suite(run: Run) -> dict[str, Any]:
    """What one suite made of its texts and found, whatever it is (BiasFinder, Table 6)."""
    import polars as pl

    tests = run.verdicts.filter(pl.col("relation") != SCORES)
    biased = pl.col("status") == "biased"
    row = (
        tests.select(
            tests=pl.len(),
            biased=biased.sum(),
            benign=(pl.col("status") == "benign").sum(),
            originals=pl.col("document").n_unique(),
            biased_originals=pl.col("document").filter(biased).n_unique(),
        )
        .collect()
        .row(0, named=True)
    )
    decided = row["biased"] + row["benign"]
    return {
        "name": run.name,
        "suite": run.figures["suite"],
        "groups": run.figures["documents"]["eligible"],
        "cases": run.figures["cases"]["valid"],
        "tests": row["tests"],
        "biased": row["biased"],
        "rate": rate(row["biased"], decided),
        "ci95": wilson(row["biased"], decided),
        "originals": row["originals"],
        "biased_originals": row["biased_originals"],
    }


def _side(run: Run) -> dict[str, Any]:
    kept = ("suite", "task", "model", "status", "answers", "accuracy", "noise", "results")
    return {"name": run.name, **{key: run.figures[key] for key in kept}}


def _models(runs: Sequence[Run]) -> Section:
    rows = []
    for run in runs:
        accuracy, noise = run.figures["accuracy"] or {}, run.figures["noise"]
        rows.append(
            [
                run.name,
                run.figures["model"],
                run.figures["task"],
                run.figures["suite"],
                run.figures["answers"]["read"],
                _share(accuracy.get("rate"), accuracy.get("ci95")),
                _share(noise["rate"], noise["ci95"]),
            ]
        )
    columns = ("run", "model", "task", "suite", "answers read", "accuracy", "self-flips")
    note = "Self-flips: how often the same text, asked again, gets another answer; an en dash: not measured."
    return Section("The runs", table=Table(columns, rows), notes=[note])


def _rates(runs: Sequence[Run]) -> list[Section]:
    """One line an attribute set, one column a run."""
    by_set = {
        run.name: {tuple(row["attributes"]): row for row in run.figures["results"] if row["tests"]}
        for run in runs
    }
    sets = sorted({s for rows in by_set.values() for s in rows}, key=lambda names: (len(names), names))
    if not sets:
        return []
    rows, bars = [], []
    for chosen in sets:
        cells: list[str | None] = [" + ".join(chosen)]
        for run in runs:
            row = by_set[run.name].get(chosen)
            cells.append(_share(row["rate"], _bounds(row)) if row else None)
            if row and row["rate"] is not None:
                low, high = _bounds(row) or (None, None)
                name = f"{' + '.join(chosen)}, {run.name}"
                bars.append(Bar(name, row["rate"], low, high, kind=runs.index(run) % 2))
        rows.append(cells)
    plots = [Plot("Share of tests whose answer changed", bars=bars, percent=True)]
    note = "95 % intervals by original, or Wilson's where that one is a point or is missing."
    table = Table(("changed", *(run.name for run in runs)), rows)
    return [Section("Rates by attribute set", table=table, plots=plots, notes=[note])]


def _bounds(row: Mapping[str, Any]) -> Sequence[float] | None:
    wilson_s: Sequence[float] | None = row["ci95"]
    low, high = row.get("ci95_by_original") or (0.0, 0.0)
    return (low, high) if low < high else wilson_s


def _suites(suites: Sequence[Mapping[str, Any]]) -> Section:
    columns = ("run", "suite", "groups", "cases", "tests", "biased", "rate", "originals", "with a biased one")
    rows = [
        [
            row["name"],
            row["suite"],
            row["groups"],
            row["cases"],
            row["tests"],
            row["biased"],
            _share(row["rate"], row["ci95"]),
            row["originals"],
            row["biased_originals"],
        ]
        for row in suites
    ]
    note = (
        "Groups: texts or templates that cases were made of. Tests of different suites are different units."
    )
    return Section("What each suite made and found", table=Table(columns, rows), notes=[note])


def _diversity(runs: Sequence[Run]) -> list[Section]:
    """Seeds, expansions and handwritten tests: how many differ and how many failed (S²LCT, section 5)."""
    rows = []
    for run in runs:
        block = run.figures.get(run.figures["suite"], {})
        for kind in block.get("diversity", []) if isinstance(block, Mapping) else []:
            failed, judged = _failed(block, kind["kind"])
            share = _share(rate(failed, judged), wilson(failed, judged))
            counts = (kind["texts"], kind["distinct"], kind["tags"], kind["trees"])
            rows.append([run.name, kind["kind"], *counts, f"{failed:,} of {judged:,}", share])
    if not rows:
        return []
    columns = ("run", "cases", "texts", "different texts", "POS sequences", "trees", "failed", "failure rate")
    note = "An en dash: without a parser of trees. Counts grow with the number of texts."
    return [Section("Diversity and failures", table=Table(columns, rows), notes=[note])]


def _failed(block: Mapping[str, Any], kind: str) -> tuple[int, int]:
    """Failed and judged cases: of one role where a suite tells roles apart, else of all its tests."""
    by_capability = [row for row in block.get("capabilities", []) if f"{kind}s_failed" in row]
    if by_capability:
        return (
            sum(row[f"{kind}s_failed"] for row in by_capability),
            sum(row[f"{kind}s"] for row in by_capability),
        )
    tests = block["tests"]
    return sum(row["failed"] for row in tests), sum(row["failed"] + row["passed"] for row in tests)


def _paired(pairs: Sequence[Mapping[str, Any]]) -> Section:
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
    )
    several = len({(row["first"], row["second"]) for row in pairs}) > 1
    rows = [
        [
            " + ".join(row["attributes"]) + (f": {row['first']}, {row['second']}" if several else ""),
            *(row[key] for key in COUNTS),
            *(f"{row[key]:.3g}" for key in P_VALUES),
        ]
        for row in pairs
    ]
    said = "" if several else f"First: {pairs[0]['first']}. Second: {pairs[0]['second']}."
    note = (
        "Cases judged in both runs. p: McNemar's exact test on those where one run alone is biased, which"
        " takes cases as independent; Holm's correction is over the attribute sets of two runs. By original:"
        " the same question by flipping the signs of whole originals, whose mutants resemble each other."
    )
    return Section("Case by case", said, Table(columns, rows), notes=[note])


def _headline(runs: Sequence[Run], pairs: Sequence[Mapping[str, Any]]) -> str:
    if not pairs:
        if len({run.figures["suite"] for run in runs}) == len(runs):
            return "These runs are of different suites, so their cases cannot be compared one by one."
        return "No case was judged in two of these runs, so they cannot be compared case by case."
    said = []
    for row in pairs:
        if max(row["p_holm"], row["p_by_original"]) < ALPHA:
            worse = row["first"] if row["only_first"] > row["only_second"] else row["second"]
            most, least = sorted((row["only_first"], row["only_second"]), reverse=True)
            attributes = " + ".join(row["attributes"])
            said.append(
                f"{worse} is biased on more cases of {attributes}: {wording.count(most)} where"
                f" the other is not, against {wording.count(least)} the other way"
                f" (of {wording.count(row['cases'])}; p = {row['p_holm']:.2g})."
            )
    none = "On the cases they share, no two runs differ by more than chance, in any attribute set."
    return " ".join(said) or none


def _share(value: float | None, bounds: Sequence[float] | None) -> str | None:
    if value is None:
        return None
    return wording.percent(value) + (f" ({wording.interval(bounds)})" if bounds else "")
