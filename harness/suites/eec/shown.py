"""The sections of the report, plain, and how their figures are written: see ``report.sections``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.suites.eec.analysis import ALPHA
from harness.suites.eec.influence import Level
from harness.suites.eec.pairing import ALL

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


def differences(rows: Sequence[Mapping[str, Any]]) -> Figures:
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
    boxes = plot(
        "Differences of all pairs", boxes=[box(f"{_name(r)}, {r['subset']}", r["box"]) for r in rows]
    )
    return section("Score differences", columns, cells, [boxes], notes)


def robust(rows: Sequence[Mapping[str, Any]]) -> Figures:
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


def spread(rows: Sequence[Mapping[str, Any]]) -> Figures:
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


def levels(by_emotion: Sequence[Level], rates: str) -> Figures:
    cells = [[level.emotion, level.sentences, rounded(level.mean)] for level in by_emotion]
    text = f"A system that knows {rates} gives different emotions different scores; else it is no judge."
    return section("Mean score by emotion", ("emotion word", "sentences", "mean score"), cells, [], [], text)


def shares(rows: Sequence[Mapping[str, Any]]) -> Figures:
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
