"""What a reader must know before believing the figures of a run, each with a code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from harness.findings.records import Caution
from harness.numerals import count, counted, percent, share
from harness.report.summary import Summary
from harness.report.wording import MORE_TOKENS

if TYPE_CHECKING:
    import polars as pl

FORCED = 0.1
"""The mean probability of all labels together below which answers count as forced."""
FEW = 20
"""The number of originals below which intervals and tests are rough."""
UNREAD = 0.2
"""The share of unread answers above which the read ones may be a selection."""
UNSTABLE = 0.5
"""The share of unstable and unread pairs above which a judge says little."""
SAME = 10
"""The number of answers above which it is remarkable that all are the same."""


def of_tables(cases: pl.LazyFrame, answers: pl.LazyFrame) -> Iterator[Caution]:
    """Yield what the answers themselves show: that they never vary, are forced, or no better than chance."""
    import polars as pl

    read = answers.filter(pl.col("outcome") == "read")
    written = pl.when(pl.col("measures").is_not_null()).then("reply")  # a measure is not the whole answer
    answer = pl.struct(pl.col("labels").list.join("\x1f"), "score", written)
    number, distinct, mass = read.select(pl.len(), answer.n_unique(), pl.col("mass").mean()).collect().row(0)
    if distinct == 1 and number >= SAME:
        yield Caution(
            code="constant-answers",
            text=f"All {count(number)} answers are the same: whatever the texts say, nothing could be found.",
        )
    if mass is not None and mass < FORCED:
        yield Caution(
            code="forced-labels",
            text=f"The model gave all labels together a mean probability of {percent(mass)}: it was made to"
            " choose among answers that it would not have given.",
        )
    yield from _by_chance(cases, read)


def _by_chance(cases: pl.LazyFrame, read: pl.LazyFrame) -> Iterator[Caution]:
    """Yield a caution if answers are right no more often than the commonest gold label would be."""
    import polars as pl

    from harness.statistics import wilson

    gold = cases.filter((pl.col("role") == "original") & pl.col("expected").is_not_null())
    key = pl.col("expected").list.sort().list.join("\x1f")
    both = gold.join(read, left_on="id", right_on="case").select(
        key.alias("gold"), right=key == pl.col("labels").list.sort().list.join("\x1f")
    )
    rows = both.collect()
    if rows.height < FEW:
        return
    right, most = int(rows["right"].sum()), max(Counter(rows["gold"].to_list()).values())
    interval = wilson(right, rows.height)
    if interval is not None and interval[0] <= most / rows.height:
        yield Caution(
            code="accuracy-near-chance",
            text=f"The model is right on {count(right)} of {counted(rows.height, 'original')}"
            f" ({share(right, rows.height)}), not clearly more than the {share(most, rows.height)} that the"
            " commonest label alone would give.",
        )


def of_cost(unmetered: int, cost: float | None) -> Iterator[Caution]:
    """Yield a caution if ``cost`` rests on replies that did not tell their tokens."""
    if unmetered and cost is not None:
        replies = "1 reply" if unmetered == 1 else f"{count(unmetered)} replies"
        yield Caution(
            code="cost-not-known",
            text=f"The cost is not known exactly: {replies} did not tell the tokens, and the most that"
            " this may have cost is counted.",
        )


def of_cache(damaged: int) -> Iterator[Caution]:
    """Yield a caution if replies in the cache were damaged."""
    if damaged:
        replies = "1 reply was" if damaged == 1 else f"{count(damaged)} replies were"
        yield Caution(
            code="damaged-replies",
            text=f"In the response cache, {replies} damaged and asked for again: look after the disk.",
        )


def of_summary(summary: Summary, served: Mapping[str, int], controls_asked: bool) -> Iterator[Caution]:
    """Yield what the figures show: unread answers, few originals, a model that changed, no controls."""
    answers = summary.answers
    unread = answers.total - answers.read
    if unread > UNREAD * answers.total:
        yield Caution(
            code="unread-answers",
            text=f"{count(unread)} of {counted(answers.total, 'answer')} ({share(unread, answers.total)})"
            " could not be read: the others may be a selection.",
        )
    if answers.truncated and summary.answer_tokens:
        yield Caution(
            code="cut-answers",
            text=f"{count(answers.truncated)} of {counted(answers.total, 'answer')} were cut off at"
            f" {counted(summary.answer_tokens, 'token')}: {MORE_TOKENS}.",
        )
    tested = [row for row in summary.results if row.decided]
    few = [row for row in tested if row.originals < FEW]
    if few:
        names = ", ".join(f"{row.name} ({row.originals})" for row in few)
        sources = "originals" if summary.documents.read else f"{summary.nouns.source}s"
        yield Caution(
            code="few-originals",
            text=f"Fewer than {FEW} {sources}: {names}. Their intervals and tests are rough.",
        )
    named = {name: number for name, number in served.items() if name}
    if len(named) > 1:
        parts = ", ".join(f"{name} ({count(number)})" for name, number in sorted(named.items()))
        yield Caution(
            code="model-changed",
            text=f"More than one model answered: {parts}. Differences between texts may be between models.",
        )
    if near := sum(row.near_ties or 0 for row in summary.results):
        flips = sum(row.biased for row in tested if row.near_ties is not None)
        are = "is" if near == 1 else "are"
        yield Caution(
            code="near-ties",
            text=f"{count(near)} of {counted(flips, 'flip')} {are} near a tie: one of the two answers was"
            " nearly tied.",
        )
    uncontrolled = [
        row.name
        for row in tested
        if row.control_rate is None and frozenset(row.attributes) not in summary.estimated_excesses
    ]
    if controls_asked and uncontrolled:
        names = ", ".join(uncontrolled)
        yield Caution(
            code="no-controls",
            text=f"No control mutants to compare with: {names}. What editing does by itself is not known.",
        )
    if summary.control is not None and summary.control.originals < FEW:
        texts = counted(summary.control.originals, "text")
        yield Caution(
            code="few-controls",
            text=f"Only {texts} with control mutants: what editing does by itself is known roughly.",
        )
    yield from _of_judge(summary)
    yield from _of_settings(summary)


def _of_judge(summary: Summary) -> Iterator[Caution]:
    """Yield a caution if the judge of answers seldom holds to a preference when their order is turned."""
    said = summary.preference
    if said is None:
        return
    lost = said.unread.count + said.unstable.count
    if lost > UNSTABLE * said.unread.of:
        yield Caution(
            code="unstable-judge",
            text=f"The judge has no opinion that holds in both orders on {count(lost)} of"
            f" {counted(said.unread.of, 'pair')} of answers ({share(lost, said.unread.of)}): these count as"
            " ties, so that a difference may be missed.",
        )


def _of_settings(summary: Summary) -> Iterator[Caution]:
    """Yield what the settings and the endpoint imply."""
    facts = summary.model_facts
    if facts.get("temperature_zero") is False:
        yield Caution(
            code="temperature",
            text="The endpoint does not accept temperature 0, so its answers vary by themselves: trust no"
            " flip without --repeats and --confirm.",
        )
    if (summary.consistency, summary.meaning) == ("word", "off"):
        yield Caution(
            code="as-published",
            text="Each word pair was exchanged by itself wherever it occurs, as published: many of these"
            " mutants change a word that describes nobody, or contradict themselves.",
        )
    if facts.get("system") is False:
        yield Caution(
            code="no-system-role",
            text="The endpoint has no system role: the system prompt precedes each text.",
        )
    if facts.get("chat") is False:
        yield Caution(
            code="no-chat-template", text="The model has no chat template: it completed a plain prompt."
        )
    if facts.get("chat_template") is False:
        yield Caution(
            code="no-chat-template",
            text="The model file has no chat template, so it was asked in ChatML's, which it may not know.",
        )
