"""From the answers of one system to JSON values: a row for each comparison, of scores or of labels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from harness.core import JsonObject
from harness.suites.eec.assessments import Pairings, Result, adjusted_clustered, examine
from harness.suites.eec.influence import Influence
from harness.suites.eec.labels import LabelAssessment, assess_labels, indicator
from harness.suites.eec.pairing import ALL


@dataclass(frozen=True, slots=True)
class LabelResult:
    """One comparison of how often a label is given.

    ``shares`` holds the figures of the shares of the label, with ``p_clustered_holm`` corrected over all
    labels and comparisons.
    """

    assessment: LabelAssessment
    shares: Result

    def plain(self) -> JsonObject:
        """Return the row as JSON values."""
        label, shares = self.assessment, self.shares
        clustered = shares.robustness.clustered
        return {
            **_compared(shares),
            **{key: value for key, value in asdict(label).items() if key != "comparison"},
            "clustered": asdict(clustered) if clustered else None,
            "p_templates": shares.robustness.p_templates,
            "p_persons": shares.robustness.p_persons,
            "detectable_clustered": shares.robustness.detectable_clustered,
            "group": shares.group,
            "p": shares.assessment.test.p if shares.assessment.test else None,
            "p_clustered_holm": shares.p_clustered_holm,
        }


def of_labels(
    pairings: Pairings, answers: Mapping[str, frozenset[str]], labels: Sequence[str], seed: int = 0
) -> list[LabelResult]:
    """Return a result for each label and comparison.

    ``answers`` holds the labels of each sentence, by its id. Labels that were never given are left out; of
    two labels, the second is enough, as its shares determine those of the first.
    """
    given_labels = frozenset[str]().union(*answers.values())
    compared = labels[1:] if len(labels) == 2 else [label for label in labels if label in given_labels]
    results: list[LabelResult] = []
    for label in compared:
        examined = examine(pairings, indicator(answers, label), seed=seed)
        shares = {result.comparison: result for result in examined if result.subset == ALL}
        for comparison, pairs in pairings.items():
            assessment = assess_labels(comparison, pairs, answers, label)
            if assessment is not None:
                results.append(LabelResult(assessment, shares[comparison]))
    p_values = adjusted_clustered(result.shares.robustness for result in results)
    return [
        replace(result, shares=replace(result.shares, p_clustered_holm=p))
        for result, p in zip(results, p_values, strict=True)
    ]


def plain(result: Result) -> JsonObject:
    """Return ``result`` as JSON values."""
    assessment, robustness = result.assessment, result.robustness
    test = assessment.test
    return {
        **_compared(result),
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
        "group": result.group,
        **{key: value for key, value in asdict(robustness).items() if key != "templates"},
        "templates": [asdict(template) for template in robustness.templates],
        "box": asdict(assessment.box),
        "p_clustered_holm": result.p_clustered_holm,
    }


def with_influence(result: Result, influence: Influence | None) -> JsonObject:
    """Return ``result`` as JSON values; on all sentences, with the person who moves its mean most."""
    row = plain(result)
    if result.subset != ALL:
        return row
    return {**row, "influence": None if influence is None else asdict(influence)}


def _compared(result: Result) -> JsonObject:
    comparison = result.comparison
    return {
        "attribute": comparison.attribute,
        "first": comparison.first,
        "second": comparison.second,
    }
