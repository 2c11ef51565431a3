"""The figures of a run, counted from its tables: each function returns one block of the summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Literal

from harness import __version__
from harness.core import DUPLICATE, KEY_SEPARATOR, SAME_PERSON, UNREAD, JsonObject
from harness.findings.build import find, tally
from harness.findings.excess import SCORES, Strata, control, excesses
from harness.findings.likeness import likeness
from harness.findings.orders import orders
from harness.findings.outcomes import Outcomes
from harness.findings.preference import preferring
from harness.findings.unread import unread
from harness.plugins import Nouns
from harness.report import cautions, finding, incomplete
from harness.report.failures import failures
from harness.report.rates import discarded, estimated, over_controls, results
from harness.report.summary import (
    ONE_PERSON,
    SCHEMA,
    Accuracy,
    Adaptive,
    Answers,
    Cases,
    Documents,
    Judge,
    Meeting,
    Noise,
    Requests,
    ResultRow,
    Seconds,
    Summary,
    Tokens,
    parsed,
)
from harness.statistics import f1, rate, wilson

if TYPE_CHECKING:
    import polars as pl

    from harness.answering.budget import Prices
    from harness.answering.runner import Counts
    from harness.folder import RunFolder


@dataclass(frozen=True)
class Judging:
    """The facts about the judge of a run."""

    model: str
    question: str
    system: str
    digest: str
    counts: Counts
    prices: Prices | None
    facts: Mapping[str, object]


@dataclass(frozen=True)
class Facts:
    """The facts about a run that its tables do not hold; ``settings`` are those of the suite.

    ``free``: its answers are in free form, and a ``judge`` compared them.
    """

    status: Literal["complete", "partial", "interrupted"]
    suite: str
    task: str
    model: str
    parser: str
    documents: int
    shortened: int
    nouns: Nouns
    settings: JsonObject
    repeats: int
    confirm: int
    counts: Counts
    prices: Prices | None
    facts: Mapping[str, object]
    seconds: float
    controls: bool = False
    free: bool = False
    judge: Judging | None = None
    stopped: str | None = None
    answer_tokens: int | None = None
    labels: int = 0
    left_out: int = 0
    notes: tuple[str, ...] = ()
    outcomes: Outcomes = field(default_factory=lambda: Outcomes({}, directed=False))


def build(folder: RunFolder, facts: Facts, additions: Mapping[str, object] | None = None) -> Summary:
    """Return the summary of the run in ``folder``; ``additions`` are the blocks that the suite adds.

    Raises ``RunError`` if an addition or a setting has the name of a block but another form.
    """
    cases, answers, verdicts, noise_rows = (
        folder.scan(name) for name in ("cases", "answers", "verdicts", "noise")
    )
    sets = attribute_sets(verdicts, facts.settings)
    values: dict[str, object] = {
        "schema": SCHEMA,
        "version": __version__,
        "status": facts.status,
        "stopped": facts.stopped,
        "suite": facts.suite,
        "task": facts.task,
        "model": facts.model,
        "parser": facts.parser,
        "nouns": facts.nouns,
        **facts.settings,
        "documents": documents(cases, answers, facts),
        "cases": case_counts(cases),
        "requests": requests(facts.counts),
        "answers": answer_counts(answers, cases),
        "failures": failures(answers, cases),
        "accuracy": accuracy(cases, answers, facts.labels),
        **_findings(folder, facts, sets, results(verdicts, sets, facts.confirm > 0, noise_rows)),
        "judge": judge(facts.judge),
        "preference": preferring(folder),
        "one_person": one_person(verdicts, cases, sets, facts.confirm > 0),
        "venn": venn(verdicts, sets),
        "orders": orders(folder),
        "discarded": discarded(folder.scan("discarded"), cases),
        "noise": noise(noise_rows, facts.repeats),
        "tokens": tokens(facts.counts),
        "cost_usd": cost(facts.counts, facts.prices),
        "model_facts": dict(facts.facts),
        "answer_tokens": facts.answer_tokens,
        "seconds": Seconds(total=round(facts.seconds, 3)),
        **(additions or {}),
    }
    summary = parsed(values, f"suite {facts.suite!r}")
    first = incomplete.caution(summary)
    cautioned = [
        *([first] if first is not None else []),
        *cautions.of_tables(cases, answers),
        *cautions.of_cost(facts.counts.unmetered, summary.cost_usd),
        *cautions.of_cache(facts.counts.damaged),
        *cautions.of_summary(summary, facts.counts.served, facts.controls),
    ]
    summary = summary.model_copy(update={"cautions": tuple(cautioned)})
    return summary.model_copy(update={"finding": finding.find(summary)})


def _findings(
    folder: RunFolder, facts: Facts, sets: Sequence[tuple[str, ...]], rows: list[ResultRow]
) -> dict[str, object]:
    """Return the results with their excess over controls, and the findings about groups."""
    if (adaptive := facts.settings.get("adaptive")) is not None:
        return {"results": estimated(rows, Adaptive.model_validate(adaptive))}
    strata = Strata.of(folder)
    counted = tally(folder, facts.outcomes)
    controlled = strata.controls.height > 0
    compared = controlled and facts.free
    found = find(counted, facts.outcomes, others=controlled + compared)
    families = found.families + controlled + compared
    over = excesses(strata, sets, families) if controlled else {}
    return {
        "likeness": likeness(folder, sets, families) if compared else (),
        "results": over_controls(rows, over),
        "groups": found.groups,
        "changes": found.changes,
        "unread": unread(folder),
        "contrasts": found.contrasts,
        "intersections": found.intersections,
        "control": control(folder, strata, found.drift),
        "scores": facts.outcomes.scores,
        "favourable": facts.outcomes.names if facts.outcomes.directed else (),
    }


def attribute_sets(verdicts: pl.LazyFrame, settings: JsonObject) -> list[tuple[str, ...]]:
    """Return the sets of attributes changed together: all that the settings allow, or those judged."""
    import polars as pl

    attributes, order = settings.get("attributes"), settings.get("order")
    if isinstance(attributes, Sequence) and isinstance(order, int):
        names = [str(name) for name in attributes]
        return [chosen for size in range(1, order + 1) for chosen in combinations(names, size)]
    labelled = verdicts.filter(pl.col("relation") != SCORES)
    judged = labelled.select("attributes").unique().collect()["attributes"].to_list()
    return sorted(map(tuple, judged), key=lambda names: (len(names), names))


def one_person(
    verdicts: pl.LazyFrame, cases: pl.LazyFrame, sets: Sequence[tuple[str, ...]], confirmed: bool
) -> list[ResultRow]:
    """Return the results of the intersectional mutants whose attributes meet on one person, if known."""
    import polars as pl

    same = cases.filter(pl.col("traits").str.contains(f'"{SAME_PERSON}":"yes"', literal=True))
    meeting = verdicts.join(same.select(case="id"), on="case", how="semi")
    together = [names for names in sets if len(names) > 1]
    rows = results(meeting, together, confirmed)
    return [row.model_copy(update={"scope": ONE_PERSON}) for row in rows if row.tests]


def requests(counts: Counts) -> Requests:
    """Return the request counts, from the runner."""
    return Requests(
        unique=counts.unique,
        cached=counts.cached,
        sent=counts.sent,
        retried=counts.retried,
        failed=counts.failed,
        unfinished=counts.unfinished,
        kept=counts.replies,
        probes=counts.probes,
    )


def judge(judging: Judging | None) -> Judge | None:
    """Return what was asked of the judge, and what it took; None without one."""
    if judging is None:
        return None
    return Judge(
        model=judging.model,
        question=judging.question,
        system=judging.system,
        prompt_sha256=judging.digest,
        requests=requests(judging.counts),
        tokens=tokens(judging.counts),
        cost_usd=cost(judging.counts, judging.prices),
        facts=judging.facts,
    )


def tokens(counts: Counts) -> Tokens:
    """Return the tokens of all distinct replies, from the runner's counts."""
    return Tokens(
        prompt=counts.prompt_tokens, completion=counts.completion_tokens, cached=counts.cached_tokens
    )


def cost(counts: Counts, prices: Prices | None) -> float | None:
    """Return the price of all distinct replies, and those to probes, in USD; None if prices are unknown.

    Replies that did not tell their tokens count at their worst case.
    """
    if prices is None:
        return None
    told = prices.of(counts.prompt_tokens, counts.completion_tokens, counts.cached_tokens)
    return told + prices.of(*counts.probing) + prices.of(counts.prompt_bound, counts.completion_bound)


def case_counts(cases: pl.LazyFrame) -> Cases:
    """Count the cases generated, valid, discarded (by reason) and duplicate: no originals, no controls."""
    import polars as pl

    mutants = cases.filter(~pl.col("role").is_in(["original", "control"]))
    rows = mutants.group_by("reason").len().collect().rows()
    by_reason = {str(reason): count for reason, count in rows if reason not in (None, DUPLICATE)}
    valid = sum(count for reason, count in rows if reason is None)
    duplicate = sum(count for reason, count in rows if reason == DUPLICATE)
    invalid = sum(by_reason.values())
    return Cases(
        generated=valid + invalid + duplicate,
        valid=valid,
        discarded=invalid,
        discarded_by_reason=dict(sorted(by_reason.items())),
        duplicate=duplicate,
    )


def documents(cases: pl.LazyFrame, answers: pl.LazyFrame, facts: Facts) -> Documents:
    """Count the documents read, those with a case, and those of them whose answers were judged."""
    judged = cases.join(answers.select(id="case"), on="id", how="semi")
    return Documents(
        read=facts.documents,
        eligible=eligible(cases),
        judged=eligible(judged),
        shortened=facts.shortened,
        left_out=facts.left_out,
        notes=facts.notes,
    )


def eligible(cases: pl.LazyFrame) -> int:
    """Count the documents with at least one case."""
    import polars as pl

    return int(cases.select(pl.col("document").n_unique()).collect(engine="streaming").item())


def answer_counts(answers: pl.LazyFrame, cases: pl.LazyFrame) -> Answers:
    """Count the cases by outcome, without the controls."""
    import polars as pl

    controls = cases.filter(pl.col("role") == "control").select(case="id")
    rows = dict(answers.join(controls, on="case", how="anti").group_by("outcome").len().collect().rows())
    return Answers.model_validate({name: int(rows.get(name, 0)) for name in ("read", *UNREAD)})


def first_reply(answers: pl.LazyFrame, outcome: str) -> str | None:
    """Return the first reply with this ``outcome``, or why it is missing; None if there is none."""
    import polars as pl

    replies = answers.filter(pl.col("outcome") == outcome).select("reply").head(1).collect()["reply"]
    return None if replies.is_empty() else replies[0]


def accuracy(cases: pl.LazyFrame, answers: pl.LazyFrame, labels: int = 0) -> Accuracy | None:
    """Return the accuracy on originals whose answers were read (HINTER, Table 5); None without gold labels.

    ``rate`` is the share of answers that equal the gold set exactly. ``micro_f1`` is over all labels
    together, ``macro_f1_all`` the mean over all ``labels`` of the task (None where they are not known), and
    ``macro_f1`` over those that occur in gold labels or answers.
    """
    import polars as pl

    gold = cases.filter((pl.col("role") == "original") & pl.col("expected").is_not_null()).select(
        "id", "expected"
    )
    both = gold.join(answers.select("case", "outcome", "labels"), left_on="id", right_on="case")
    read = both.filter(pl.col("outcome") == "read").with_columns(
        hit=pl.col("expected").list.set_intersection("labels"),
        missed=pl.col("expected").list.set_difference("labels"),
        wrong=pl.col("labels").list.set_difference("expected"),
    )
    exact = (pl.col("missed").list.len() == 0) & (pl.col("wrong").list.len() == 0)
    total, correct = read.select(pl.len(), exact.sum().alias("correct")).collect().row(0)
    if not total:
        return None
    micro, by_label = _f1(read)
    summed = sum(by_label)
    return Accuracy(
        originals=int(total),
        correct=int(correct),
        rate=rate(int(correct), int(total)),
        ci95=wilson(int(correct), int(total)),
        micro_f1=micro,
        macro_f1_all=summed / labels if by_label and labels else None,
        macro_f1=summed / len(by_label) if by_label else None,
        labels=labels or None,
        occurring=len(by_label),
    )


def _f1(read: pl.LazyFrame) -> tuple[float | None, list[float]]:
    """Return micro-F1 and each occurring label's F1, from the labels hit, missed and wrongly assigned."""
    import polars as pl

    kinds = ("hit", "missed", "wrong")
    rows = [
        read.select(label=kind).explode("label").drop_nulls().with_columns(kind=pl.lit(kind))
        for kind in kinds
    ]
    counts: dict[str, dict[str, int]] = {}
    for label, kind, number in pl.concat(rows).group_by("label", "kind").len().collect().rows():
        counts.setdefault(label, dict.fromkeys(kinds, 0))[kind] = number
    if not counts:
        return (None, [])
    sums = {kind: sum(by_kind[kind] for by_kind in counts.values()) for kind in kinds}
    return (f1(**sums), [f1(**by_kind) for _, by_kind in sorted(counts.items())])


def venn(verdicts: pl.LazyFrame, sets: Sequence[tuple[str, ...]]) -> list[Meeting]:
    """Count, for each pair of attributes, the originals biased by each kind alone or several (RQ4.2)."""
    import polars as pl

    biased = verdicts.filter(pl.col("status") == "biased")
    pairs = []
    for first, second in (names for names in sets if len(names) == 2):
        kinds = {first: [first], second: [second], f"{first}+{second}": [first, second]}
        key = pl.col("attributes").list.join(KEY_SEPARATOR)
        shows = [(key == KEY_SEPARATOR.join(k)).any().alias(name) for name, k in kinds.items()]
        rows = biased.group_by("document").agg(shows).select(*kinds).collect().rows()
        regions: dict[str, int] = {}
        for flags in rows:
            name = " & ".join(kind for kind, biased_on in zip(kinds, flags, strict=True) if biased_on)
            if name:
                regions[name] = regions.get(name, 0) + 1
        pairs.append(Meeting(attributes=(first, second), regions=dict(sorted(regions.items()))))
    return pairs


def noise(rows: pl.LazyFrame, repeats: int) -> Noise:
    """Return the self-flip rate: how often an original's repeated answer differs from the first.

    ``rate`` is per repeated answer that was read, the same unit as a flip of a mutant.
    """
    import polars as pl

    total = rows.select("asked", "read", "flips").sum().collect().row(0, named=True)
    read, flips = int(total["read"] or 0), int(total["flips"] or 0)
    return Noise(
        repeats=repeats,
        originals=int(rows.filter(pl.col("read") > 0).select(pl.len()).collect().item()),
        answers=read,
        flips=flips,
        rate=rate(flips, read),
        ci95=wilson(flips, read),
    )
