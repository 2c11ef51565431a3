"""Turns a reply into its outcome: the single reader for runs, checks, batches and explanations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from harness.answering import margin
from harness.answering.free import FreeReader
from harness.answering.labels import offered
from harness.answering.numbers import RatingReader
from harness.answering.parse import LabelReader
from harness.answering.runner import Answer
from harness.core import Failure, Outcome, Reply, Task

Parse = Callable[[Reply], Outcome]


@dataclass(frozen=True, slots=True)
class Reading:
    """An outcome with the log-odds (natural log) of each label against all the others, where known."""

    outcome: Outcome
    log_odds: Mapping[str, float] | None = None

    def shift(self, after: Reading) -> float | None:
        """Return the increase of the log-odds of this reading's label in ``after``, flipped or not.

        None where this reading is not a single label, or where log-probabilities are missing.
        """
        label = _only_label(self.outcome)
        if label is None or self.log_odds is None or after.log_odds is None or label not in self.log_odds:
            return None
        return after.log_odds[label] - self.log_odds[label]


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads the replies of a task: what they say, and how certain the model was.

    ``exact`` means that answers were constrained to ``labels``, so that only text spelt as a label counts.
    ``favourable`` are the labels whose log-odds accompany an outcome.
    """

    parse: Parse
    labels: Sequence[str]
    multi_label: bool = False
    exact: bool = False
    favourable: Sequence[str] = ()

    @classmethod
    def of(cls, task: Task, constrained: bool, favourable: Sequence[str] = (), prompt: str = "") -> Reader:
        """Return the reader of ``task``; with ``constrained``, its requests carry the labels as choices.

        Answers may be the numbers or letters that ``prompt`` gives to the labels.
        """
        return cls(
            task.parse or _parser(task, prompt), task.labels, task.multi_label, constrained, favourable
        )

    def read(self, answer: Answer) -> Reading:
        """Return what ``answer`` says and, where log-probabilities are known, how certain the model was.

        Sets of labels have only a margin; scores have no measure of certainty. A reply that states no label
        may still have log-odds.
        """
        if isinstance(answer, Failure):
            return Reading(Outcome(reason=answer.reason))
        outcome = self.parse(answer)
        if self.multi_label and outcome.labels is not None:
            return Reading(replace(outcome, margin=margin.set_margin(answer, self.labels)))
        if self.multi_label or outcome.score is not None:
            return Reading(outcome)
        label, odds = _only_label(outcome), margin.log_odds(answer, self.labels, self.exact)
        if label is not None:
            outcome = replace(
                outcome,
                margin=margin.margin(answer, label, self.labels, self.exact),
                probabilities=margin.probabilities(answer, self.labels, self.exact),
                beside=answer.score,
                log_odds=None if odds is None else margin.together(odds, self.favourable),
                mass=margin.mass(answer, self.labels, self.exact),
            )
        return Reading(outcome, odds)

    def outcome(self, answer: Answer) -> Outcome:
        """Return what ``answer`` says, with its margin and probabilities where known."""
        return self.read(answer).outcome


def _parser(task: Task, prompt: str) -> Parse:
    """Return the default reader of a task's replies."""
    if task.measures:
        return FreeReader.of(task.measures)
    if task.rates is not None:
        return RatingReader(task.labels)
    return LabelReader(task.labels, task.multi_label, offered(prompt, task.labels))


def _only_label(outcome: Outcome) -> str | None:
    """Return the single label of ``outcome``; None where it has no or several labels."""
    if outcome.labels is None or len(outcome.labels) != 1:
        return None
    (label,) = outcome.labels
    return label
