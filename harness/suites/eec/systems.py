"""Compare many systems on one corpus, as the paper does: Tables 5 to 7 and Figures 1 and 2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.core import JsonObject
from harness.errors import RunError
from harness.plugins import ScoredSystem
from harness.sections import Plot, Section, Table, plain
from harness.suites.eec import assessments, corpus, counts, exhibits
from harness.suites.eec.analysis import ALPHA, Scores
from harness.suites.eec.assessments import Pairings, Result, corrected, examine
from harness.suites.eec.corpus import Comparison
from harness.suites.eec.pairing import ALL, NEUTRAL, SUBSETS
from harness.suites.eec.scores import read_scores
from harness.suites.eec.suite import Eec
from harness.suites.eec.tables import Submission, bias_table, box_plot

SHOWN = (ALL, NEUTRAL)
"""The subsets of the sentences in Tables 5 and 7, and in Table 6."""


@dataclass(frozen=True, slots=True)
class System:
    """One system's scores for one task, by sentence id; ``sentences`` is the size of the corpus."""

    name: str
    task: str
    scores: Scores
    sentences: int


@dataclass(frozen=True, slots=True)
class Examined:
    """A system with its results."""

    system: System
    results: tuple[Result, ...]


def compare_files(compared: Sequence[ScoredSystem], corpus_file: Path | None) -> JsonObject:
    """Compare runs of the suite and score files, all on the corpus of ``corpus_file``, or else of the runs.

    Raises ``RunError`` where a run is of another corpus, a system has no pair with both scores or scores that
    are not from 0 to 1.
    """
    suites = {scored.path: scored.suite for scored in compared if isinstance(scored.suite, Eec)}
    spec = next(iter(suites.values())).spec if suites and corpus_file is None else corpus.load(corpus_file)
    for path, suite in suites.items():
        if suite.spec != spec:
            raise RunError(f"{path} is of another corpus ({suite.spec.name}): compare runs of one corpus")
    sentences = list(corpus.sentences(spec))
    systems = []
    for scored in compared:
        if scored.path in suites:
            task, scores = suites[scored.path].rates, scored.scores or {}
        else:
            file = read_scores(scored.path, sentences)
            task, scores = file.dimension, file.scores
        _check_scale(scored.path, scores)
        systems.append(System(scored.name, task or "score", scores, len(sentences)))
    pairings = assessments.pairings(spec)
    examined = examine_all(systems, pairings)
    if empty := next((each.system.name for each in examined if not each.results), None):
        raise RunError(f"{empty} has no pair of sentences of the corpus {spec.name!r} with both scores")
    return comparison(examined, pairings)


def _check_scale(path: Path, scores: Scores) -> None:
    """Raise ``RunError`` for scores outside 0 to 1: differences on other scales cannot stand side by side."""
    low, high = min(scores.values(), default=0.0), max(scores.values(), default=1.0)
    if low < 0 or high > 1:
        raise RunError(
            f"{path} has scores from {low:g} to {high:g}: bring them to the scale from 0 to 1, as those of"
            " runs are (of 0 to 100: divide by 100)"
        )


def examine_all(systems: Sequence[System], pairings: Pairings) -> list[Examined]:
    """Return the results of each system.

    Each correction is over all assessments of a subset, systems times comparisons, as in the paper.
    """
    family = len(systems) * len(pairings)
    examined = [examine(pairings, system.scores, family=family) for system in systems]
    whole = {
        subset: iter(corrected([one for results in examined for one in results if one.subset == subset]))
        for subset in SUBSETS
    }
    return [
        Examined(system, tuple(next(whole[one.subset]) for one in results))
        for system, results in zip(systems, examined, strict=True)
    ]


def comparison(examined: Sequence[Examined], pairings: Pairings) -> JsonObject:
    """Return the content of ``comparison.json``, including ``headline`` and ``sections``."""
    blocks: list[JsonObject] = [
        {
            "system": system.name,
            "task": system.task,
            "sentences": system.sentences,
            "scored": len(system.scores),
            "results": [counts.plain(result) for result in results],
        }
        for system, results in ((each.system, each.results) for each in examined)
    ]
    sections: list[Section] = []
    for compared in pairings:
        for subset in SHOWN:
            results = [
                (each.system, result)
                for each in examined
                for result in each.results
                if (result.comparison, result.subset) == (compared, subset)
            ]
            if results:
                sections += _sections(compared, subset, results)
    return {"systems": blocks, "headline": _headline(examined), "sections": plain(sections)}


def _sections(comparison: Comparison, subset: str, results: Sequence[tuple[System, Result]]) -> list[Section]:
    what = f"{comparison.first} – {comparison.second}, {subset} sentences"
    submissions = [Submission(s.name, s.task, r.assessment, r.direction) for s, r in results]
    groups = {"none": "no difference", "first": f"{comparison.first} higher"}
    groups |= {"second": f"{comparison.second} higher", "all": "all"}
    table = [
        [row.task, groups[row.group], row.submissions, exhibits.rounded(row.up), exhibits.rounded(row.down)]
        for row in bias_table(submissions)
    ]
    columns = ("task", "group", "systems", "mean of Δ > 0", "mean of Δ < 0")
    boxes = [
        Plot(
            f"Δ of all pairs, {task}",
            boxes=[
                exhibits.box(f"{plotted.system} ({groups[plotted.direction]})", plotted.box)
                for plotted in box_plot(submissions, task)
            ],
        )
        for task in dict.fromkeys(s.task for s in submissions)
    ]
    return [
        Section(what, table=Table(columns, table), plots=boxes, notes=[exhibits.DELTA]),
        Section(
            f"{what}: each system", exhibits.FALSE_ALARMS, Table(SYSTEM, [_line(s, r) for s, r in results])
        ),
    ]


SYSTEM = (
    "system",
    "task",
    "pairs",
    "mean Δ",
    "95 % interval",
    "t-test p",
    "p, clustered, Holm",
    "group",
    exhibits.FOUND,
)


def _line(system: System, result: Result) -> list[str | int | None]:
    clustered, test = result.robustness.clustered, result.assessment.test
    return [
        system.name,
        system.task,
        result.assessment.pairs,
        exhibits.number(result.assessment.mean),
        exhibits.interval(clustered),
        exhibits.chance(test.p if test else None),
        exhibits.clustered_p(result),
        result.group,
        exhibits.rounded(result.robustness.detectable_clustered),
    ]


def _headline(examined: Sequence[Examined]) -> str:
    """Say how many systems the t-test calls biased, how many of those findings hold, who lacks scores."""
    statements = []
    whole = [result for each in examined for result in each.results if result.subset == ALL]
    for attribute in dict.fromkeys(result.comparison.attribute for result in whole):
        results = [result for result in whole if result.comparison.attribute == attribute]
        biased = [result for result in results if result.group != "none"]
        robust = sum(not result.is_alarm for result in biased)
        statements.append(
            f"For {attribute}, the t-test finds a difference in {len(biased)} of {len(results)} comparisons,"
            f" {robust} of them robust to other templates and persons (p, clustered, below {ALPHA} after"
            f" Holm's correction over all {len(whole)} comparisons)."
        )
    statements += [
        f"{system.name} has scores for {len(system.scores):,} of {system.sentences:,} sentences."
        for system in (each.system for each in examined)
        if len(system.scores) < system.sentences
    ]
    return " ".join(statements)
