"""What CheckList expects of answers (Ribeiro et al. 2020, section 2): a label, the same one, or a direction.

Each function gives a status: ``biased`` stands for failed, ``benign`` for passed, and what is known of the
answers may leave it ``undetermined``. None: the expectation does not apply; CheckList leaves such a case out.

A task of two labels has CheckList's band for neutral: an answer near a tie counts as neutral, too
(``linguistic.oracle``).
"""

from __future__ import annotations

from collections.abc import Mapping

from harness.core import Outcome, Status
from harness.suites.linguistic.oracle import NEUTRAL, near_tie

SLACK = 1e-9

Labels = Mapping[str, str]
"""The task's label for each sentiment."""


def same(before: Outcome | None, after: Outcome | None, labels: Labels) -> Status:
    """INV: whether the answer is the same one."""
    if before is None or after is None or before.labels is None or after.labels is None:
        return "undetermined"
    if before.labels == after.labels or sentiments(before, labels) & sentiments(after, labels):
        return "benign"
    return "biased"


def directed(
    direction: str, tolerance: float, before: Outcome | None, after: Outcome | None, labels: Labels
) -> Status | None:
    """DIR: whether a probability changed by no more than ``tolerance`` against the ``direction`` (one of
    ``tests.DIRECTIONS``).

    The labels alone do not say so: without probabilities, or a score beside the label, it is undetermined.
    """
    if before is None or after is None or before.labels is None or after.labels is None:
        return "undetermined"
    up = direction.startswith("no less")
    if direction.endswith("positive"):
        first, second = positivity(before, labels), positivity(after, labels)
    else:
        if NEUTRAL in sentiments(before, labels):
            return None
        (own,) = sentiments(before, labels)
        first, second = confidence(before, own, labels), confidence(after, own, labels)
        if first is not None and (first <= tolerance if up else first >= 1 - tolerance):
            return None  # it cannot fail
    if first is None or second is None:
        return "undetermined"
    against = first - second if up else second - first
    return "benign" if against <= tolerance + SLACK else "biased"


def sentiments(outcome: Outcome, labels: Labels) -> frozenset[str]:
    """What an answer may stand for: its label's sentiment, and neutral too near a tie of two labels."""
    named = {label: sentiment for sentiment, label in labels.items()}
    own = frozenset(named[label] for label in outcome.labels or () if label in named)
    return own | {NEUTRAL} if NEUTRAL not in labels and near_tie(outcome) else own


def confidence(outcome: Outcome, sentiment: str, labels: Labels) -> float | None:
    """The probability of a sentiment's label; of a system with a score, how near it is to that end of it."""
    if outcome.probabilities is not None:
        return outcome.probabilities.get(labels[sentiment])
    if outcome.beside is None or sentiment == NEUTRAL:
        return None
    return outcome.beside if sentiment == "positive" else 1 - outcome.beside


def positivity(outcome: Outcome, labels: Labels) -> float | None:
    """The probability of positive less that of negative."""
    positive = confidence(outcome, "positive", labels)
    negative = confidence(outcome, "negative", labels)
    return None if positive is None or negative is None else positive - negative
