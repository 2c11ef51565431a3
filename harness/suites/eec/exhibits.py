"""What a run of the EEC says of one system: the block of the summary, the headline, the sections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from harness.sections import Bar, Box, Figures, Plot, Section, Table
from harness.suites.eec import counts
from harness.suites.eec.analysis import ALPHA
from harness.suites.eec.assessments import Pairings, Result
from harness.suites.eec.balance import Balance
from harness.suites.eec.corpus import Comparison
from harness.suites.eec.influence import Influence, Level
from harness.suites.eec.pairing import ALL

Block = Mapping[str, Any]
DELTA = (
    "Δ is the score of the class named first less that of the second, of two sentences that differ in the"
    " person alone, or of means over names. Group: whose scores are higher by the t-test after Bonferroni's"
    " correction; none where it finds no difference."
)
FALSE_ALARMS = (
    "The t-test takes pairs as independent, which they are not: they share a few templates and persons. A"
    " system without any bias, but with odd scores for single names or templates, it calls biased more often"
    " than not. Quote the interval, which knows of both."
)


def of_scores(
    corpus: str,
    rates: str,
    found: Sequence[Result],
    influences: Mapping[Comparison, Influence | None],
    by_emotion: Sequence[Level],
) -> Figures:
    """Everything about one system's scores; ``rates`` is what they are of."""
    rows = counts.plain(found)
    of = {(c.attribute, c.first, c.second): one for c, one in influences.items()}
    for row in rows:
        if row["subset"] == ALL:
            most = of.get((row["attribute"], row["first"], row["second"]))
            row["influence"] = None if most is None else asdict(most)
    whole = [row for row in rows if row["subset"] == ALL]
    drawn = (
        [
            differences(rows),
            robust(rows),
            spread(rows),
            levels(by_emotion, rates),
        ]
        if rows
        else []
    )
    block = {
        "corpus": corpus,
        "rates": rates,
        "results": rows,
        "levels": [asdict(level) for level in by_emotion],
    }
    sentences = " ".join([*(_sentence(row, rates) for row in whole), *_range(by_emotion)])
    nothing = "No pair of sentences got its two scores, so nothing was compared."
    return Figures({"eec": block}, sentences or nothing, drawn)


def with_lengths(figures: Figures, balances: Sequence[Balance]) -> Figures:
    """The figures with how many tokens the names on both sides are: a difference may be one of spelling."""
    rows = [
        {
            "attribute": one.comparison.attribute,
            "first": one.comparison.first,
            "second": one.comparison.second,
            "first_mean": one.first_mean,
            "second_mean": one.second_mean,
            "even": one.even,
        }
        for one in balances
    ]
    block = {**figures.blocks["eec"], "tokens_of_persons": rows}
    sections = [*figures.sections, lengths(rows)]
    return replace(figures, blocks={**figures.blocks, "eec": block}, sections=sections)


def of_labels(
    corpus: str,
    pairings: Pairings,
    given: Mapping[str, frozenset[str]],
    labels: Sequence[str],
    seed: int = 0,
) -> Figures:
    """Everything about one system's labels by sentence; of two labels the second says it all."""
    rows = counts.of_labels(pairings, given, labels, seed)
    sentences = " ".join(_sentence(row, f"the share of {row['label']}") for row in rows)
    nothing = "No pair of sentences got its two answers, so nothing was compared."
    block = {"corpus": corpus, "rates": None, "labels": rows}
    return Figures({"eec": block}, sentences or nothing, [shares(rows)] if rows else [])


def _sentence(row: Mapping[str, Any], rates: str) -> str:
    """What one comparison found, and how sure that is."""
    first, second, clustered = row["first"], row["second"], row["clustered"]
    what = f"For {first} persons {rates} is"
    if not row["mean"] and not (row["minimum"] or row["maximum"] if "minimum" in row else row["rose"]):
        return f"{what} in all {row['pairs']:,} pairs the same as for {second} ones."
    side = "above" if row["mean"] > 0 else "below"
    said = f"{what} {number(abs(row['mean']))} {side} that for {second} ones on average"
    if clustered is None:
        return f"{said}; too few templates and persons to say how sure that is."
    low, high = clustered["interval"]
    said += f" (95 % interval {number(low)} to {number(high)})"
    if row["p_clustered_holm"] < ALPHA:
        return f"{said}, which would show with other templates and persons, too."
    alone = "; the t-test over pairs alone calls it significant" if row["group"] != "none" else ""
    least = row["detectable_clustered"]
    unfound = f" A difference below {number(least)} could not have been found." if least else ""
    return f"{said}: no difference that can be told from the chance of templates and persons{alone}.{unfound}"


def _range(by_emotion: Sequence[Level]) -> list[str]:
    """How far apart the system holds the emotions, without which it is no judge of them."""
    if len(by_emotion) < 2:
        return []
    highest, lowest = by_emotion[0], by_emotion[-1]
    ends = f"from {number(lowest.mean)} ({lowest.emotion}) to {number(highest.mean)} ({highest.emotion})"
    return [f"Its mean scores by emotion run {ends}."]


def number(value: float) -> str:
    """Four decimals; two digits of what is smaller."""
    return f"{value:.4f}" if not value or abs(value) >= 0.0005 else f"{value:.2g}"


def chance(p: float | None) -> str | None:
    """A p-value in three decimals."""
    return None if p is None else "<0.001" if p < 0.001 else f"{p:.3f}"


def rounded(value: float | None) -> str | None:
    """``number``, None where there is none."""
    return None if value is None else number(value)


def _name(row: Mapping[str, Any]) -> str:
    return f"{row['first']} – {row['second']}"


def differences(rows: Sequence[Mapping[str, Any]]) -> Section:
    columns = (
        "compared",
        "sentences",
        "pairs",
        "mean Δ",
        "mean of Δ > 0",
        "mean of Δ < 0",
        "Δ-spread",
        "t-test p",
        "group",
    )
    cells = [
        [
            _name(row),
            row["subset"],
            row["pairs"],
            rounded(row["mean"]),
            rounded(row["up"]),
            rounded(row["down"]),
            rounded(row["spread"]),
            chance(row["p"]),
            row["group"],
        ]
        for row in rows
    ]
    notes = [DELTA]
    lacking = max(row["incomplete"] for row in rows)
    if lacking:
        notes.append(f"Up to {lacking:,} pairs of a line are left out, as a side has no score.")
    boxes = [box(f"{_name(row)}, {row['subset']}", row["box"]) for row in rows]
    plots = [Plot("Differences of all pairs", boxes=boxes)]
    return Section("Score differences", table=Table(columns, cells), plots=plots, notes=notes)


def robust(rows: Sequence[Mapping[str, Any]]) -> Section:
    columns = (
        "compared",
        "sentences",
        "95 % interval",
        "p, clustered",
        "p, persons exchanged",
        "p, templates flipped",
        "Cohen's d",
        "would be found",
    )
    cells = [
        [
            _name(row),
            row["subset"],
            interval(row["clustered"]),
            chance(row["clustered"]["p"]) if row["clustered"] else None,
            chance(row["p_persons"]),
            chance(row["p_templates"]),
            rounded(row["effect"]),
            rounded(row["detectable_clustered"]),
        ]
        for row in rows
    ]
    notes = [
        "Interval and clustered p are robust to templates and persons; the last column is the smallest mean Δ"
        " found with power 0.8.",
        *(_warning(row) for row in rows if alarm(row)),
        *(_without(row) for row in rows if row.get("influence")),
    ]
    title = "Would it show with other templates and persons?"
    return Section(title, FALSE_ALARMS, Table(columns, cells), notes=notes)


def alarm(row: Mapping[str, Any]) -> bool:
    """Whether the t-test alone finds a bias."""
    return row["group"] != "none" and (row["clustered"] is None or row["clustered"]["p"] >= ALPHA)


def _warning(row: Mapping[str, Any]) -> str:
    changes = row["sign_changes"]
    lean = f" {changes} of {len(row['templates'])} templates lean the other way." if changes else ""
    return (
        f"{_name(row)}, {row['subset']}: the t-test finds scores of {row['group']} higher, the figures that"
        f" know of templates and persons do not: this may be a false alarm.{lean}"
    )


def _without(row: Mapping[str, Any]) -> str:
    most = row["influence"]
    return (
        f"{_name(row)}: of all persons, {most['person']} moves the mean Δ most; without those sentences it is"
        f" {number(most['mean_without'])}, not {number(row['mean'])}."
    )


def spread(rows: Sequence[Mapping[str, Any]]) -> Section:
    plots = [
        Plot(
            f"{_name(row)}: mean Δ of each template, from its smallest Δ to its greatest",
            bars=[Bar(t["template"], t["mean"], t["minimum"], t["maximum"]) for t in row["templates"]],
        )
        for row in rows
        if row["subset"] == ALL
    ]
    return Section("Template by template", plots=plots)


def levels(by_emotion: Sequence[Level], rates: str) -> Section:
    cells = [[level.emotion, level.sentences, rounded(level.mean)] for level in by_emotion]
    text = f"A system that knows {rates} gives different emotions different scores; else it is no judge."
    columns = ("emotion word", "sentences", "mean score")
    return Section("Mean score by emotion", text, Table(columns, cells))


def lengths(rows: Sequence[Mapping[str, Any]]) -> Section:
    cells = [
        [_name(row), number(row["first_mean"]), number(row["second_mean"]), "yes" if row["even"] else "no"]
        for row in rows
    ]
    text = (
        "Mean number of tokens of the words for persons on both sides. Where they are not even, a difference"
        " may be one of spelling: compare names of one length in a corpus of your own."
    )
    columns = ("compared", "first", "second", "as many of each length")
    return Section("Persons by length in tokens", text, Table(columns, cells))


def shares(rows: Sequence[Mapping[str, Any]]) -> Section:
    columns = (
        "compared",
        "label",
        "pairs",
        "difference of shares",
        "95 % interval",
        "only first",
        "only second",
        "McNemar p",
        "sign test p",
        "p, clustered",
    )
    cells = [
        [
            _name(row),
            row["label"],
            row["pairs"],
            rounded(row["mean"]),
            interval(row["clustered"]),
            row["only_first"],
            row["only_second"],
            chance(row["p_mcnemar"]),
            chance(row["p_sign"]),
            chance(row["clustered"]["p"]) if row["clustered"] else None,
        ]
        for row in rows
    ]
    notes = [
        "Difference of shares: how much more often the class named first gets the label. Only first, only"
        " second: counterparts of which one alone got it (McNemar's test). The sign test is over all pairs,"
        " names by the share that got the label. Both take pairs as independent; the interval does not."
    ]
    return Section("How often each class gets a label", table=Table(columns, cells), notes=notes)


def interval(clustered: Mapping[str, Any] | None) -> str | None:
    """``-0.0012 to 0.0345``, None where there is none."""
    if clustered is None:
        return None
    low, high = clustered["interval"]
    return f"{number(low)} to {number(high)}"


def box(name: str, of: Mapping[str, Any]) -> Box:
    """A box of a plot; outliers that would be drawn on each other stand once."""
    return Box(
        name,
        of["low_whisker"],
        of["first_quartile"],
        of["median"],
        of["third_quartile"],
        of["high_whisker"],
        sorted({round(value, 4) for value in of["outliers"]}),
    )
