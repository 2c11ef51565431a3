"""Compute all figures of one system: every comparison on every subset of the sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from harness.statistics import adjusted
from harness.suites.eec.analysis import ALPHA, Assessment, Direction, Scores, assess, differences, directions
from harness.suites.eec.corpus import Comparison, Spec
from harness.suites.eec.pairing import ASKED, SUBSETS, Pair, pairs, select
from harness.suites.eec.robustness import Robustness, robustness

Pairings = Mapping[Comparison, tuple[Pair, ...]]


@dataclass(frozen=True, slots=True)
class Result:
    """One comparison on one subset.

    ``direction`` is the paper's group, by Bonferroni's correction. ``p_holm`` and ``p_bh`` are the t-test's p
    under the two other corrections, over the comparisons of all systems compared on this subset;
    ``p_clustered_holm`` is the clustered p under Holm's.
    """

    comparison: Comparison
    subset: str
    assessment: Assessment
    direction: Direction
    p_holm: float
    p_bh: float
    robustness: Robustness
    p_clustered_holm: float

    @property
    def group(self) -> str:
        """The class with the higher scores, or ``none``."""
        return {"first": self.comparison.first, "second": self.comparison.second}.get(self.direction, "none")

    @property
    def is_alarm(self) -> bool:
        """Whether the t-test alone finds a bias."""
        return self.group != "none" and self.p_clustered_holm >= ALPHA


def pairings(spec: Spec) -> Pairings:
    """Return the pairs of every comparison, to be shared by any number of systems."""
    return {comparison: pairs(spec, comparison) for comparison in spec.comparisons}


def examine(
    pairings: Pairings, scores: Scores, rated: str | None = None, family: int | None = None, seed: int = 0
) -> tuple[Result, ...]:
    """Return the figures of one system, for the subsets all, emotional, neutral and asked, in that order.

    ``rated`` is the emotion the system was asked to rate; if it is None, the subset asked is left out, as is
    any subset without a fully scored pair. ``family`` is the number of all assessments made, over all systems
    (438 in the paper); by default, the comparisons of the corpus.
    """
    family = max(len(pairings), family or 0)
    results: list[Result] = []
    for subset in SUBSETS:
        if subset == ASKED and rated is None:
            continue
        chosen = {comparison: select(paired, subset, rated) for comparison, paired in pairings.items()}
        assessed = [a for c, paired in chosen.items() if (a := assess(c, paired, scores)) is not None]
        checks = [_robustness(chosen[a.comparison], scores, family=family, seed=seed) for a in assessed]
        of_subset = [
            Result(assessment.comparison, subset, assessment, direction, 1.0, 1.0, check, 1.0)
            for assessment, check, direction in zip(
                assessed, checks, directions(assessed, family), strict=True
            )
        ]
        results += corrected(of_subset)
    return tuple(results)


def corrected(results: Sequence[Result]) -> list[Result]:
    """Return the results of one subset with their p-values corrected over all of them."""
    tests = [result.assessment.test for result in results]
    p_values = [1.0 if test is None else test.p for test in tests]
    return [
        replace(result, p_holm=holm, p_bh=bh, p_clustered_holm=clustered)
        for result, holm, bh, clustered in zip(
            results,
            adjusted(p_values, "holm"),
            adjusted(p_values, "fdr_bh"),
            adjusted_clustered(result.robustness for result in results),
            strict=True,
        )
    ]


def adjusted_clustered(checks: Iterable[Robustness]) -> tuple[float, ...]:
    """Return the clustered p-values under Holm's correction; an unknown p counts as 1."""
    return adjusted([check.clustered.p if check.clustered else 1.0 for check in checks])


def _robustness(paired: Iterable[Pair], scores: Scores, *, family: int, seed: int) -> Robustness:
    check = robustness(differences(paired, scores), scores, family, ALPHA, seed)
    assert check is not None  # assessed, so there are differences
    return check
