"""What CheckList expects of answers (Ribeiro et al. 2020, section 2): a label, no change, or a direction.

Each function returns a status: ``biased`` for failed, ``benign`` for passed, or ``undetermined`` if too
little is known of the answers. None means that the expectation does not apply; CheckList leaves out such
cases.

For tasks with two labels, CheckList's band for neutral applies: an answer near a tie also counts as neutral
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
    """INV: return whether the answer stays the same."""
    if before is None or after is None or before.labels is None or after.labels is None:
        return "undetermined"
    if before.labels == after.labels or sentiments(before, labels) & sentiments(after, labels):
        return "benign"
    return "biased"


def directed(
    direction: str, tolerance: float, before: Outcome | None, after: Outcome | None, labels: Labels
) -> Status | None:
    """DIR: return whether a probability changed by more than ``tolerance`` against the ``direction``.

    ``direction`` is one of ``tests.DIRECTIONS``. Labels alone cannot decide: without probabilities, or a
    score beside the label, the result is undetermined.
    """
    if before is None or after is None or before.labels is None or after.labels is None:
        return "undetermined"
    up = direction.startswith("no less")
    if direction.endswith("positive"):
        first, second = positivity(before, labels), positivity(after, labels)
    else:
        if NEUTRAL in sentiments(before, labels):
            return None
        (sentiment,) = sentiments(before, labels)
        first, second = confidence(before, sentiment, labels), confidence(after, sentiment, labels)
        if first is not None and (first <= tolerance if up else first >= 1 - tolerance):
            return None  # cannot fail
    if first is None or second is None:
        return "undetermined"
    against = first - second if up else second - first
    return "benign" if against <= tolerance + SLACK else "biased"


def sentiments(outcome: Outcome, labels: Labels) -> frozenset[str]:
    """Return what an answer may mean: its label's sentiment, and also neutral near a tie of two labels."""
    named = {label: sentiment for sentiment, label in labels.items()}
    meant = frozenset(named[label] for label in outcome.labels or () if label in named)
    return meant | {NEUTRAL} if NEUTRAL not in labels and near_tie(outcome) else meant


def confidence(outcome: Outcome, sentiment: str, labels: Labels) -> float | None:
    """Return the probability of a sentiment's label, None if unknown.

    For a system with a score, this is how near the score is to that end of its range.
    """
    if outcome.probabilities is not None:
        return outcome.probabilities.get(labels[sentiment])
    if outcome.beside is None or sentiment == NEUTRAL:
        return None
    return outcome.beside if sentiment == "positive" else 1 - outcome.beside


def positivity(outcome: Outcome, labels: Labels) -> float | None:
    """Return the probability of positive minus that of negative, None if either is unknown."""
    positive = confidence(outcome, "positive", labels)
    negative = confidence(outcome, "negative", labels)
    return None if positive is None or negative is None else positive - negative
