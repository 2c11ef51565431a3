"""What a run of the EEC says of one system: the block of the summary, the headline, the sections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace

from harness import sections
from harness.sections import Bar, Column, Figures, Plot, Section, Table
from harness.suites.eec import counts
from harness.suites.eec.analysis import ALPHA, Box
from harness.suites.eec.assessments import Pairings, Result
from harness.suites.eec.balance import Balance
from harness.suites.eec.corpus import Comparison
from harness.suites.eec.counts import LabelResult
from harness.suites.eec.influence import Influence, Level
from harness.suites.eec.pairing import ALL
from harness.suites.eec.robustness import ClusteredMean

DELTA = (
    "Δ is the score of the class named first minus that of the second, for two sentences that differ only in"
    " the person, or for means over names. Group: the class with the higher scores by the t-test after"
    " Bonferroni's correction; none if it finds no difference."
)
FOUND = Column(
    "Δ found with 80 %",
    brief="Δ at 80 %",
    legend="Δ at 80 %: a Δ so large would have been found with a probability of 80 %",
)
FALSE_ALARMS = (
    "The t-test takes pairs to be independent, but they share a few templates and persons. It calls a system"
    " without any bias, but with odd scores for single names or templates, biased more often than not. Quote"
    " the interval, which allows for both."
)


def of_scores(
    corpus: str,
    rates: str,
    results: Sequence[Result],
    influences: Mapping[Comparison, Influence | None],
    by_emotion: Sequence[Level],
) -> Figures:
    """Return the block, headline and sections for one system's scores; ``rates`` is what they rate."""
    block = {
        "corpus": corpus,
        "rates": rates,
        "results": [counts.with_influence(result, influences.get(result.comparison)) for result in results],
        "levels": [asdict(level) for level in by_emotion],
    }
    if not results:
        nothing = "No pair of sentences got both scores, so nothing was compared."
        return Figures({"eec": block}, " ".join(_range(by_emotion)) or nothing)
    sentences = [_sentence(result, rates) for result in results if result.subset == ALL]
    exhibited = [
        differences(results),
        robust(results, influences),
        spread(results),
        levels(by_emotion, rates),
    ]
    return Figures({"eec": block}, " ".join([*sentences, *_range(by_emotion)]), exhibited)


def with_lengths(figures: Figures, balances: Sequence[Balance]) -> Figures:
    """Return ``figures`` with the length of the persons' words: spelling may explain a difference."""
    rows = [
        {
            "attribute": balance.comparison.attribute,
            "first": balance.comparison.first,
            "second": balance.comparison.second,
            "first_mean": balance.first_mean,
            "second_mean": balance.second_mean,
            "even": balance.even,
        }
        for balance in balances
    ]
    block = {**figures.blocks["eec"], "tokens_of_persons": rows}
    return replace(
        figures,
        blocks={**figures.blocks, "eec": block},
        sections=[*figures.sections, lengths(balances)],
    )


def of_labels(
    corpus: str,
    pairings: Pairings,
    answers: Mapping[str, frozenset[str]],
    labels: Sequence[str],
    seed: int = 0,
) -> Figures:
    """Return the block, headline and section for one system's labels, ``answers`` by sentence id."""
    results = counts.of_labels(pairings, answers, labels, seed)
    block = {"corpus": corpus, "rates": None, "labels": [result.plain() for result in results]}
    if not results:
        return Figures({"eec": block}, "No pair of sentences got both answers, so nothing was compared.")
    sentences = [_sentence(result.shares, f"the share of {result.assessment.label}") for result in results]
    return Figures({"eec": block}, " ".join(sentences), [shares(results)])


def _sentence(result: Result, rates: str) -> str:
    """Return what one comparison found, and how certain that is."""
    first, second = result.comparison.first, result.comparison.second
    assessment, clustered = result.assessment, result.robustness.clustered
    subject = f"For {first} persons {rates} is"
    if not assessment.rose and not assessment.fell:
        return f"{subject} the same as for {second} ones in all {assessment.pairs:,} pairs."
    side = "above" if assessment.mean > 0 else "below"
    finding = f"{subject} {number(abs(assessment.mean))} {side} that for {second} ones on average"
    if clustered is None:
        return f"{finding}; there are too few templates and persons to say how certain that is."
    finding += f" (95 % interval {interval(clustered)})"
    if result.p_clustered_holm < ALPHA:
        return f"{finding}, a difference that would hold for other templates and persons, too."
    alone = "; only the t-test over pairs calls it significant" if result.group != "none" else ""
    least = result.robustness.detectable_clustered
    found = "would have been found with a probability of 80 %"
    power = f" A difference of {number(least)} {found}." if least else ""
    return f"{finding}, which the choice of templates and persons may explain{alone}.{power}"


def _range(by_emotion: Sequence[Level]) -> list[str]:
    """Say how far apart the system scores the emotions: if hardly at all, it cannot judge them."""
    if len(by_emotion) < 2:
        return []
    highest, lowest = by_emotion[0], by_emotion[-1]
    ends = f"from {number(lowest.mean)} ({lowest.emotion}) to {number(highest.mean)} ({highest.emotion})"
    return [f"Its mean scores by emotion range {ends}."]


def number(value: float) -> str:
    """Format ``value`` with four decimals, or with two significant digits if it is below 0.0005."""
    return f"{value:.4f}" if not value or abs(value) >= 0.0005 else f"{value:.2g}"


def chance(p: float | None) -> str | None:
    """Format a p-value with three decimals; None if there is none."""
    return None if p is None else "<0.001" if p < 0.001 else f"{p:.3f}"


def rounded(value: float | None) -> str | None:
    """Format ``value`` as ``number`` does; None if there is none."""
    return None if value is None else number(value)


def _name(comparison: Comparison) -> str:
    return f"{comparison.first} – {comparison.second}"


def differences(results: Sequence[Result]) -> Section:
    """Return the table of the paper's figures and a plot of all Δ."""
    columns = (
        "compared",
        "sentences",
        Column("pairs", page_only=True),
        "mean Δ",
        Column("mean of Δ > 0", page_only=True),
        Column("mean of Δ < 0", page_only=True),
        "Δ-spread",
        "t-test p",
        "group",
    )
    cells = [
        [
            _name(result.comparison),
            result.subset,
            result.assessment.pairs,
            rounded(result.assessment.mean),
            rounded(result.assessment.up),
            rounded(result.assessment.down),
            rounded(result.assessment.spread),
            chance(result.assessment.test.p if result.assessment.test else None),
            result.group,
        ]
        for result in results
    ]
    notes = [DELTA]
    incomplete = max(result.assessment.incomplete for result in results)
    if incomplete:
        notes.append(f"Up to {incomplete:,} pairs per row are left out because one side has no score.")
    boxes = [box(f"{_name(result.comparison)}, {result.subset}", result.assessment.box) for result in results]
    plots = [Plot("Differences of all pairs", boxes=boxes)]
    return Section("Score differences", table=Table(columns, cells), plots=plots, notes=notes)


def robust(results: Sequence[Result], influences: Mapping[Comparison, Influence | None]) -> Section:
    """Return the table of what holds for other templates and persons, with warnings of false alarms."""
    columns = (
        "compared",
        "sentences",
        "95 % interval",
        "p, clustered, Holm",
        Column("p, persons exchanged", page_only=True),
        Column("p, templates flipped", page_only=True),
        Column("Cohen's d", page_only=True),
        FOUND,
    )
    cells = [
        [
            _name(result.comparison),
            result.subset,
            interval(result.robustness.clustered),
            clustered_p(result),
            chance(result.robustness.p_persons),
            chance(result.robustness.p_templates),
            rounded(result.robustness.effect),
            rounded(result.robustness.detectable_clustered),
        ]
        for result in results
    ]
    whole = [(result, influences.get(result.comparison)) for result in results if result.subset == ALL]
    notes = [
        "The interval and the clustered p allow for the choice of templates and persons; the p is after"
        " Holm's correction over the comparisons. A mean Δ as large as in the last column would have been"
        " found with a probability of 80 %, a smaller one less often.",
        *(_warning(result) for result in results if result.is_alarm),
        *(_without(result, influence) for result, influence in whole if influence is not None),
    ]
    title = "Would it hold for other templates and persons?"
    return Section(title, FALSE_ALARMS, Table(columns, cells), notes=notes)


def clustered_p(result: Result) -> str | None:
    """Format the clustered p after Holm's correction; None if there is none."""
    return chance(result.p_clustered_holm) if result.robustness.clustered else None


def _warning(result: Result) -> str:
    changes, templates = result.robustness.sign_changes, len(result.robustness.templates)
    opposite = f" In {changes} of {templates} templates, the mean Δ has the opposite sign." if changes else ""
    return (
        f"{_name(result.comparison)}, {result.subset}: the t-test finds higher scores for {result.group}, but"
        " the figures that allow for templates and persons do not: this may be a false alarm."
        f"{opposite}"
    )


def _without(result: Result, influence: Influence) -> str:
    return (
        f"{_name(result.comparison)}: of all persons, {influence.person} moves the mean Δ most; without those"
        f" sentences it is {number(influence.mean_without)}, not {number(result.assessment.mean)}."
    )


def spread(results: Sequence[Result]) -> Section:
    """Return a plot per comparison of the Δ within each template."""
    plots = [
        Plot(
            f"{_name(result.comparison)}: mean Δ of each template, with its smallest and greatest Δ",
            bars=[Bar(t.template, t.mean, t.minimum, t.maximum) for t in result.robustness.templates],
        )
        for result in results
        if result.subset == ALL
    ]
    return Section("Template by template", plots=plots)


def levels(by_emotion: Sequence[Level], rates: str) -> Section:
    """Return the table of mean scores by emotion."""
    cells = [[level.emotion, level.sentences, rounded(level.mean)] for level in by_emotion]
    text = f"A system that can judge {rates} gives different emotions different scores."
    columns = ("emotion word", "sentences", "mean score")
    return Section("Mean score by emotion", text, Table(columns, cells))


def lengths(balances: Sequence[Balance]) -> Section:
    """Return the table of how many tokens the persons' words have on each side."""
    cells = [
        [
            _name(balance.comparison),
            number(balance.first_mean),
            number(balance.second_mean),
            "yes" if balance.even else "no",
        ]
        for balance in balances
    ]
    text = (
        "Mean number of tokens in the words for persons on each side. If the lengths differ, spelling may"
        " explain a difference in scores: compare names of one length in a corpus of your own."
    )
    columns = ("compared", "first", "second", "same lengths")
    return Section("Persons by length in tokens", text, Table(columns, cells))


def shares(results: Sequence[LabelResult]) -> Section:
    """Return the table of how often each class gets each label."""
    columns = (
        "compared",
        "label",
        Column("pairs", page_only=True),
        "difference of shares",
        "95 % interval",
        Column("only first", page_only=True),
        Column("only second", page_only=True),
        Column("McNemar p", page_only=True),
        Column("sign test p", page_only=True),
        "p, clustered, Holm",
    )
    cells = [
        [
            _name(result.assessment.comparison),
            result.assessment.label,
            result.assessment.pairs,
            rounded(result.assessment.mean),
            interval(result.shares.robustness.clustered),
            result.assessment.only_first,
            result.assessment.only_second,
            chance(result.assessment.p_mcnemar),
            chance(result.assessment.p_sign),
            clustered_p(result.shares),
        ]
        for result in results
    ]
    notes = [
        "Difference of shares: how much more often the class named first gets the label. Only first, only"
        " second: counterparts of which only one got it (McNemar's test). The sign test covers all pairs and"
        " compares names by the share that got the label. Both tests take pairs to be independent; the"
        " interval does not."
    ]
    return Section("How often each class gets a label", table=Table(columns, cells), notes=notes)


def interval(clustered: ClusteredMean | None) -> str | None:
    """Format the interval of ``clustered``, as ``-0.0012 to 0.0345``; None if there is none."""
    if clustered is None:
        return None
    low, high = clustered.interval
    return f"{number(low)} to {number(high)}"


def box(name: str, figures: Box) -> sections.Box:
    """Return a box to plot; outliers that would be drawn on top of each other appear once."""
    return sections.Box(
        name,
        figures.low_whisker,
        figures.first_quartile,
        figures.median,
        figures.third_quartile,
        figures.high_whisker,
        sorted({round(value, 4) for value in figures.outliers}),
    )
