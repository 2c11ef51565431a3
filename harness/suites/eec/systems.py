"""Compare many systems on one corpus, as the paper does: Tables 5 to 7 and Figures 1 and 2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from harness.errors import RunError
from harness.plugins import ScoredSystem
from harness.sections import Plot, Section, Table, plain
from harness.suites.eec import assessments, corpus, counts, exhibits
from harness.suites.eec.analysis import Scores
from harness.suites.eec.assessments import Pairings, Result, examine
from harness.suites.eec.corpus import Comparison
from harness.suites.eec.pairing import ALL, NEUTRAL
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


def compare_files(compared: Sequence[ScoredSystem], corpus_file: Path | None) -> dict[str, Any]:
    """Compare runs of the suite and score files, all on the corpus of ``corpus_file``, or else of the runs.

    Raises ``RunError`` where a run is of another corpus or a system has no pair with both scores.
    """
    suites = {one.path: one.suite for one in compared if isinstance(one.suite, Eec)}
    spec = next(iter(suites.values())).spec if suites and corpus_file is None else corpus.load(corpus_file)
    for path, suite in suites.items():
        if suite.spec != spec:
            raise RunError(f"{path} is of another corpus ({suite.spec.name}): compare runs of one corpus")
    sentences = list(corpus.sentences(spec))
    systems = []
    for one in compared:
        if one.path in suites:
            task, scores = suites[one.path].rates, one.scores or {}
        else:
            file = read_scores(one.path, sentences)
            task, scores = file.dimension, file.scores
        systems.append(System(one.name, task or "score", scores, len(sentences)))
    figures = compare(systems, assessments.pairings(spec))
    if empty := next((block["system"] for block in figures["systems"] if not block["results"]), None):
        raise RunError(f"{empty} has no pair of sentences of the corpus {spec.name!r} with both scores")
    return figures


def compare(systems: Sequence[System], pairings: Pairings) -> dict[str, Any]:
    """Return the content of ``comparison.json`` for ``systems``, including ``headline`` and ``sections``.

    Bonferroni's correction is over all assessments of a subset, systems times comparisons, as in the paper.
    """
    family = len(systems) * len(pairings)
    examined = {id(system): examine(pairings, system.scores, family=family) for system in systems}
    blocks = [
        {
            "system": system.name,
            "task": system.task,
            "sentences": system.sentences,
            "scored": len(system.scores),
            "results": counts.plain(examined[id(system)]),
        }
        for system in systems
    ]
    sections: list[Section] = []
    for comparison in pairings:
        for subset in SHOWN:
            results = [
                (system, result)
                for system in systems
                for result in examined[id(system)]
                if (result.comparison, result.subset) == (comparison, subset)
            ]
            if results:
                sections += _sections(comparison, subset, results)
    return {"systems": blocks, "headline": _headline(blocks), "sections": plain(sections)}


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
                exhibits.box(f"{plotted.system} ({groups[plotted.direction]})", asdict(plotted.box))
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
    "p, clustered",
    "group",
    "minimum detectable difference",
)


def _line(system: System, result: Result) -> list[str | int | None]:
    clustered, test = result.robustness.clustered, result.assessment.test
    return [
        system.name,
        system.task,
        result.assessment.pairs,
        exhibits.number(result.assessment.mean),
        exhibits.interval(None if clustered is None else {"interval": clustered.interval}),
        exhibits.chance(test.p if test else None),
        exhibits.chance(clustered.p if clustered else None),
        counts.group_name(result.comparison, result.direction),
        exhibits.rounded(result.robustness.detectable_clustered),
    ]


def _headline(blocks: Sequence[Mapping[str, Any]]) -> str:
    """Say how many systems the t-test calls biased, how many of those findings hold, who lacks scores."""
    statements = []
    whole = [row for block in blocks for row in block["results"] if row["subset"] == ALL]
    for attribute in dict.fromkeys(row["attribute"] for row in whole):
        rows = [row for row in whole if row["attribute"] == attribute]
        biased = [row for row in rows if row["group"] != "none"]
        held = sum(not exhibits.alarm(row) for row in biased)
        statements.append(
            f"For {attribute}, the t-test finds a difference in {len(biased)} of {len(rows)} comparisons,"
            f" {held} of them robust to other templates and persons."
        )
    statements += [
        f"{block['system']} has scores for {block['scored']:,} of {block['sentences']:,} sentences."
        for block in blocks
        if block["scored"] < block["sentences"]
    ]
    return " ".join(statements)
