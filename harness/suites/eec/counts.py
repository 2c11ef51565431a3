"""From the answers of one system to JSON values: a row for each comparison, of scores or of labels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from harness.statistics import adjusted
from harness.suites.eec.assessments import Pairings, Result, examine
from harness.suites.eec.corpus import Comparison
from harness.suites.eec.labels import LabelAssessment, assess_labels, indicator
from harness.suites.eec.pairing import ALL


def of_labels(
    pairings: Pairings, given: Mapping[str, frozenset[str]], labels: Sequence[str], seed: int = 0
) -> list[dict[str, Any]]:
    """Return a row for each label and comparison, from the labels by sentence; of two labels the second says
    it all."""
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
    return rows


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
