"""The oracle: is the answer among the labels that the capability expects? (S²LCT, sections 3 and 5.1.)

Status ``biased`` means that a case failed, ``benign`` that it passed. For a failed expansion, ``hidden`` says
whether its seed passed (*pass-to-fail*), so that the seed alone would not have shown the failure.

**Tasks with two labels** cannot say *neutral*. An answer then also counts as neutral if the model's margin
shows a near tie, its own label being less than twice as likely as the other (CheckList's band: a probability
of the positive label from 1/3 to 2/3). Without a margin that tells, a case that expects only *neutral* is
undetermined, since no answer could be right, and one that expects *positive or neutral* accepts *positive*.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from harness.core import Case, Outcome, Status, Ternary, Verdict
from harness.errors import ConfigError
from harness.suites.linguistic.sentiment import SENTIMENTS

RELATION = "expected"
NEUTRAL = "neutral"
BAND = math.log(2)
"""Natural-log units: the margin of a label that is twice as likely as the other one."""
_ALIASES = {"pos": "positive", "neg": "negative", "neu": "neutral"}


def labels(of_task: Iterable[str], suite: str = "linguistic") -> dict[str, str]:
    """Return a task's label for each sentiment, ``neutral`` only if the task has it.

    Raises ``ConfigError`` if its labels are not sentiments.
    """
    of_task = tuple(of_task)
    by_sentiment = {_ALIASES.get(label.lower(), label.lower()): label for label in of_task}
    if not {"positive", "negative"} <= by_sentiment.keys() <= set(SENTIMENTS) or len(by_sentiment) != len(
        of_task
    ):
        raise ConfigError(
            f"suite {suite} needs a task with the labels positive, negative and, better, neutral (sst);"
            f" this one has {', '.join(of_task[:3])}{f', … ({len(of_task)} in all)' if of_task[3:] else ''}"
        )
    return by_sentiment


def expected(sentiments: Iterable[str], labels: Mapping[str, str]) -> frozenset[str]:
    """Return the labels that are right; ``neutral`` stays as it is if the task has no such label."""
    return frozenset(labels.get(sentiment, sentiment) for sentiment in sentiments)


def judge(
    group: Sequence[Case], outcomes: Mapping[str, Outcome], labels: Mapping[str, str]
) -> Iterator[Verdict]:
    """Yield a verdict for the seed and each expansion of one group."""
    statuses = {case.id: status(case, outcomes.get(case.id), NEUTRAL in labels) for case in group}
    seed = next((case.id for case in group if case.role == "seed"), None)
    for case in group:
        outcome = outcomes.get(case.id)
        yield Verdict(
            case=case.id,
            relation=RELATION,
            status=statuses[case.id],
            hidden=pass_to_fail(statuses[case.id], statuses.get(seed or "")) if case.id != seed else None,
            attributes=(case.traits["capability"],),
            margin=outcome.margin if outcome else None,
            other=seed if case.id != seed else None,
        )


def status(case: Case, outcome: Outcome | None, has_neutral: bool) -> Status:
    """Return whether one answer is as expected."""
    if outcome is None or not outcome.read or outcome.labels is None or case.expected is None:
        return "undetermined"
    if outcome.labels and outcome.labels <= case.expected:
        return "benign"
    if has_neutral or NEUTRAL not in case.expected:
        return "biased"
    tie = near_tie(outcome)
    if tie is None:
        return "undetermined" if len(case.expected) == 1 else "biased"
    return "benign" if tie else "biased"


def near_tie(outcome: Outcome) -> bool | None:
    """Return whether one of two labels was less than twice as likely as the other (CheckList's band).

    None where that is not known: there is no margin, or no more than a bound within the band.
    """
    margin = outcome.margin
    if margin is None or (margin.is_bound and margin.value < BAND):
        return None
    return margin.value < BAND


def pass_to_fail(expansion: Status, seed: Status | None) -> Ternary | None:
    """Return whether a failed expansion's seed passed; None if the expansion did not fail."""
    if expansion != "biased":
        return None
    if seed is None or seed == "undetermined":
        return "undetermined"
    return "yes" if seed == "benign" else "no"
