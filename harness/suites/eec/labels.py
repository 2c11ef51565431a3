"""The same comparison for systems that answer with labels: no scores, so no t-test.

A label scores 1 if the system chose it and 0 if it chose another; names are compared by their shares.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.statistics import mcnemar, sign_test
from harness.suites.eec.analysis import Scores, differences
from harness.suites.eec.corpus import Comparison
from harness.suites.eec.pairing import Pair


@dataclass(frozen=True, slots=True)
class LabelAssessment:
    """How much more often one label goes to the first class.

    ``mean`` is the mean difference of its share. ``only_first`` and ``only_second`` count counterparts of
    which only one got the label; ``agree`` counts those of which both or neither did. ``p_mcnemar`` is
    McNemar's test on these, None without counterparts. ``rose`` and ``fell`` count all pairs, names by their
    shares, for the sign test.
    """

    comparison: Comparison
    label: str
    pairs: int
    incomplete: int
    mean: float
    only_first: int
    only_second: int
    agree: int
    p_mcnemar: float | None
    rose: int
    fell: int
    p_sign: float


def indicator(labels: Mapping[str, frozenset[str]], label: str) -> Scores:
    """Return scores of 1 and 0 by sentence id, for ``assess`` and ``robustness`` too."""
    return {sentence: float(label in answer) for sentence, answer in labels.items()}


def assess_labels(
    comparison: Comparison, pairs: Sequence[Pair], labels: Mapping[str, frozenset[str]], label: str
) -> LabelAssessment | None:
    """Return the figures for one ``label``, None if no pair has both its answers."""
    compared = differences(pairs, indicator(labels, label))
    if not compared:
        return None
    counterparts = Counter(d.delta for d in compared if d.pair.persons)
    rose, fell = sum(d.delta > 0 for d in compared), sum(d.delta < 0 for d in compared)
    return LabelAssessment(
        comparison=comparison,
        label=label,
        pairs=len(compared),
        incomplete=len(pairs) - len(compared),
        mean=sum(d.delta for d in compared) / len(compared),
        only_first=counterparts[1.0],
        only_second=counterparts[-1.0],
        agree=counterparts[0.0],
        p_mcnemar=mcnemar(counterparts[1.0], counterparts[-1.0]) if counterparts else None,
        rose=rose,
        fell=fell,
        p_sign=sign_test(rose, fell),
    )
