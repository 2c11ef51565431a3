"""What a run says of one system: the summary's block, the sections of the report, and the headline."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from harness.statistics import adjusted
from harness.suites.eec.analysis import ALPHA
from harness.suites.eec.corpus import Comparison
from harness.suites.eec.influence import Influence, Level
from harness.suites.eec.labels import LabelAssessment, assess_labels, indicator
from harness.suites.eec.pairing import ALL
from harness.suites.eec.results import Pairings, Result, examine

Figures = Mapping[str, Any]
Cells = Sequence[Sequence[str | int | float | None]]

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
    rows = plain(found)
    of = {(c.attribute, c.first, c.second): one for c, one in influences.items()}
    for row in rows:
        if row["subset"] == ALL:
            most = of.get((row["attribute"], row["first"], row["second"]))
            row["influence"] = None if most is None else asdict(most)
    whole = [row for row in rows if row["subset"] == ALL]
    sections = [_differences(rows), _robust(rows), _spread(rows), _levels(by_emotion, rates)] if rows else []
    return {
        "eec": {
            "corpus": corpus,
            "rates": rates,
            "results": rows,
            "levels": [asdict(level) for level in by_emotion],
        },
        "headline": " ".join(_sentence(row, rates) for row in whole)
        or "No pair of sentences got its two scores, so nothing was compared.",
        "sections": sections,
    }


def of_labels(
    corpus: str,
    pairings: Pairings,
    given: Mapping[str, frozenset[str]],
    labels: Sequence[str],
    seed: int = 0,
) -> Figures:
    """Everything about one system's labels by sentence; of two labels the second says it all."""
    shown = [label for label in labels if any(label in some for some in given.values())]
    if len(labels) == 2:
        shown = list(labels[1:])
    rows = []
    for label in shown:
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
    return {
        "eec": {"corpus": corpus, "rates": None, "labels": rows},
        "headline": " ".join(_sentence(row, f"the share of {row['label']}") for row in rows)
        or "No pair of sentences got its two answers, so nothing was compared.",
        "sections": [_of_labels(rows)] if rows else [],
    }


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


def _differences(rows: Sequence[Mapping[str, Any]]) -> Figures:
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
    shown = plot(
        "Differences of all pairs", boxes=[box(f"{_name(r)}, {r['subset']}", r["box"]) for r in rows]
    )
    return section("Score differences", columns, cells, [shown], notes)


def _robust(rows: Sequence[Mapping[str, Any]]) -> Figures:
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
    return section("Would it show with other templates and persons?", columns, cells, [], notes, FALSE_ALARMS)


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


def _spread(rows: Sequence[Mapping[str, Any]]) -> Figures:
    plots = [
        plot(
            f"{_name(row)}: mean Δ of each template, from its smallest Δ to its greatest",
            bars=[
                {
                    "name": t["template"],
                    "value": t["mean"],
                    "low": t["minimum"],
                    "high": t["maximum"],
                    "kind": 0,
                }
                for t in row["templates"]
            ],
        )
        for row in rows
        if row["subset"] == ALL
    ]
    return section("Template by template", (), (), plots, [])


def _levels(by_emotion: Sequence[Level], rates: str) -> Figures:
    cells = [[level.emotion, level.sentences, rounded(level.mean)] for level in by_emotion]
    text = f"A system that knows {rates} gives different emotions different scores; else it is no judge."
    return section("Mean score by emotion", ("emotion word", "sentences", "mean score"), cells, [], [], text)


def _of_labels(rows: Sequence[Mapping[str, Any]]) -> Figures:
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
    return section("How often each class gets a label", columns, cells, [], notes)


def interval(clustered: Mapping[str, Any] | None) -> str | None:
    """``-0.0012 to 0.0345``, None where there is none."""
    if clustered is None:
        return None
    low, high = clustered["interval"]
    return f"{number(low)} to {number(high)}"


def box(name: str, of: Mapping[str, Any]) -> Figures:
    """A box of a plot; outliers that would be drawn on each other stand once."""
    return {
        "name": name,
        "low": of["low_whisker"],
        "first": of["first_quartile"],
        "median": of["median"],
        "third": of["third_quartile"],
        "high": of["high_whisker"],
        "outliers": sorted({round(value, 4) for value in of["outliers"]}),
    }


def plot(title: str, bars: Sequence[Figures] = (), boxes: Sequence[Figures] = ()) -> Figures:
    """A plot of a section, plain: see ``report.sections``."""
    return {
        "title": title,
        "bars": list(bars),
        "boxes": list(boxes),
        "lines": [],
        "percent": False,
        "x_title": "",
        "y_title": "",
    }


def section(
    title: str,
    columns: Sequence[str],
    cells: Cells,
    plots: Sequence[Figures],
    notes: Sequence[str],
    text: str = "",
) -> Figures:
    """A section of a report, plain: see ``report.sections``."""
    table = {"columns": list(columns), "rows": [list(row) for row in cells]} if columns else None
    return {"title": title, "text": text, "table": table, "plots": list(plots), "notes": list(notes)}
