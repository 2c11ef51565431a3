"""All figures of one system: every comparison on every subset of the sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from harness.statistics import adjusted
from harness.suites.eec.analysis import ALPHA, Assessment, Direction, Scores, assess, differences, directions
from harness.suites.eec.corpus import Comparison, Spec
from harness.suites.eec.pairing import ASKED, SUBSETS, Pair, pairs, select
from harness.suites.eec.robustness import Robustness, robustness

Pairings = Mapping[Comparison, tuple[Pair, ...]]


@dataclass(frozen=True, slots=True)
class Result:
    """One comparison on one subset.

    ``direction`` is the paper's group, by Bonferroni; ``p_holm`` and ``p_bh`` are the t-test's p under
    the two other corrections, over the comparisons of this system on this subset.
    """

    comparison: Comparison
    subset: str
    assessment: Assessment
    direction: Direction
    p_holm: float
    p_bh: float
    robustness: Robustness


def pairings(spec: Spec) -> Pairings:
    """The pairs of every comparison, made once for however many systems."""
    return {comparison: pairs(spec, comparison) for comparison in spec.comparisons}


def examine(
    of: Pairings, scores: Scores, asked: str | None = None, family: int | None = None, seed: int = 0
) -> tuple[Result, ...]:
    """The figures of one system, subsets in the order all, emotional, neutral, asked.

    ``asked``: the emotion that was to be rated; without it that subset is left out, as is any without a
    pair that has its scores. ``family``: all assessments made, over all systems (438 in the paper); by
    default the comparisons of the corpus.
    """
    family = max(len(of), family or 0)
    found: list[Result] = []
    for subset in SUBSETS:
        if subset == ASKED and asked is None:
            continue
        chosen = {comparison: select(made, subset, asked) for comparison, made in of.items()}
        assessed = [a for c, made in chosen.items() if (a := assess(c, made, scores)) is not None]
        p_values = [1.0 if a.test is None else a.test.p for a in assessed]
        for assessment, direction, holm, bh in zip(
            assessed,
            directions(assessed, family),
            adjusted(p_values, "holm"),
            adjusted(p_values, "fdr_bh"),
            strict=True,
        ):
            compared = differences(chosen[assessment.comparison], scores)
            beside = robustness(compared, scores, family, ALPHA, seed)
            assert beside is not None  # assessed, so there are differences
            found.append(Result(assessment.comparison, subset, assessment, direction, holm, bh, beside))
    return tuple(found)
