"""What a run says of one system: the summary's block, the sections of the report, and the headline."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from harness.sections import Figures
from harness.statistics import adjusted
from harness.suites.eec import exhibits
from harness.suites.eec.analysis import ALPHA
from harness.suites.eec.assessments import Pairings, Result, examine
from harness.suites.eec.balance import Balance
from harness.suites.eec.corpus import Comparison
from harness.suites.eec.exhibits import number
from harness.suites.eec.influence import Influence, Level
from harness.suites.eec.labels import LabelAssessment, assess_labels, indicator
from harness.suites.eec.pairing import ALL


def of_scores(
    corpus: str,
    rates: str,
    found: Sequence[Result],
    influences: Mapping[Comparison, Influence | None],
    by_emotion: Sequence[Level],
) -> Figures:
    """Everything about one system's scores; ``rates`` is what they are of."""
    rows = plain(found)
    of = {(c.attribute, c.first, c.second): one for c, one in influences.items()}
    for row in rows:
        if row["subset"] == ALL:
            most = of.get((row["attribute"], row["first"], row["second"]))
            row["influence"] = None if most is None else asdict(most)
    whole = [row for row in rows if row["subset"] == ALL]
    drawn = (
        [
            exhibits.differences(rows),
            exhibits.robust(rows),
            exhibits.spread(rows),
            exhibits.levels(by_emotion, rates),
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
    sections = [*figures.sections, exhibits.lengths(rows)]
    return replace(figures, blocks={**figures.blocks, "eec": block}, sections=sections)


def of_labels(
    corpus: str,
    pairings: Pairings,
    given: Mapping[str, frozenset[str]],
    labels: Sequence[str],
    seed: int = 0,
) -> Figures:
    """Everything about one system's labels by sentence; of two labels the second says it all."""
    told = [label for label in labels if any(label in some for some in given.values())]
    if len(labels) == 2:
        told = list(labels[1:])
    rows = []
    for label in told:
        shares = [
            row
            for row in plain(examine(pairings, indicator(given, label), seed=seed))
            if row["subset"] == ALL
        ]
        by_comparison = {(row["attribute"], row["first"], row["second"]): row for row in shares}
        for comparison, pairs in pairings.items():
            assessed = assess_labels(comparison, pairs, given, label)
            if assessed is not None:
                share = by_comparison[comparison.attribute, comparison.first, comparison.second]
                rows.append(_label_row(assessed, share))
    for row, p in zip(
        rows, adjusted([row["clustered"]["p"] if row["clustered"] else 1.0 for row in rows]), strict=True
    ):
        row["p_clustered_holm"] = p
    sentences = " ".join(_sentence(row, f"the share of {row['label']}") for row in rows)
    nothing = "No pair of sentences got its two answers, so nothing was compared."
    block = {"corpus": corpus, "rates": None, "labels": rows}
    return Figures({"eec": block}, sentences or nothing, [exhibits.shares(rows)] if rows else [])


def plain(found: Sequence[Result]) -> list[dict[str, Any]]:
    """Results as JSON values, with Holm's correction of the clustered p over the comparisons of a subset."""
    rows = [_row(result) for result in found]
    for subset in {row["subset"] for row in rows}:
        some = [row for row in rows if row["subset"] == subset]
        p_values = [row["clustered"]["p"] if row["clustered"] else 1.0 for row in some]
        for row, p in zip(some, adjusted(p_values), strict=True):
            row["p_clustered_holm"] = p
    return rows


def _row(result: Result) -> dict[str, Any]:
    assessment, beside, comparison = result.assessment, result.robustness, result.comparison
    test = assessment.test
    return {
        "attribute": comparison.attribute,
        "first": comparison.first,
        "second": comparison.second,
        "subset": result.subset,
        "pairs": assessment.pairs,
        "incomplete": assessment.incomplete,
        "partial": assessment.partial,
        "mean": assessment.mean,
        "rose": assessment.rose,
        "fell": assessment.fell,
        "up": assessment.up,
        "down": assessment.down,
        "minimum": assessment.minimum,
        "maximum": assessment.maximum,
        "spread": assessment.spread,
        "t": test.statistic if test and math.isfinite(test.statistic) else None,
        "df": test.df if test else None,
        "p": test.p if test else None,
        "p_holm": result.p_holm,
        "p_bh": result.p_bh,
        "group": group_name(comparison, result.direction),
        **{key: value for key, value in asdict(beside).items() if key != "templates"},
        "templates": [asdict(template) for template in beside.templates],
        "box": asdict(assessment.box),
    }


def group_name(comparison: Comparison, direction: str) -> str:
    """The class with the higher scores, or none."""
    return {"first": comparison.first, "second": comparison.second}.get(direction, "none")


def _label_row(assessed: LabelAssessment, share: Mapping[str, Any]) -> dict[str, Any]:
    kept = ("clustered", "p_templates", "p_persons", "detectable_clustered", "group", "p")
    return {
        "attribute": assessed.comparison.attribute,
        "first": assessed.comparison.first,
        "second": assessed.comparison.second,
        **{key: value for key, value in asdict(assessed).items() if key != "comparison"},
        **{key: share[key] for key in kept},
    }


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
