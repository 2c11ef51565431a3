"""The outcomes that findings compare: what is good for the person spoken of, or each answer by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.core import Task
from harness.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The outcomes of a run, by name.

    ``wanted`` holds the labels of each outcome: an answer has the outcome if it has any of them. An empty
    tuple stands for the score of a task that rates, or for the measure of that name. ``directed``: to have
    the outcome is better than not to. ``several``: an answer may have several labels.
    """

    wanted: dict[str, tuple[str, ...]]
    directed: bool
    several: bool = False

    @classmethod
    def of(cls, task: Task, favourable: Sequence[str] | None = None) -> Outcomes:
        """Return the outcomes of ``task``: its favourable labels, or those given; else each label by itself.

        Raises ``ConfigError`` for a favourable answer that the task does not have.
        """
        good = tuple(task.favourable if favourable is None else favourable)
        scored = task.measures or (() if task.rates is None else (task.rates,))
        known = scored or task.labels
        for name in good:
            if name not in known:
                answers = ", ".join(known)
                raise ConfigError(f"favourable: {name!r} is no answer of task {task.name!r}: {answers}")
        if scored:
            return cls(dict.fromkeys(good or scored, ()), directed=bool(good))
        if not good:
            return cls({label: (label,) for label in task.labels}, False, task.multi_label)
        if task.multi_label:
            return cls({label: (label,) for label in good}, True, several=True)
        if set(good) == set(task.labels):
            raise ConfigError("favourable: leave out the answers that are not good, or all answers are alike")
        return cls({" or ".join(good): good}, directed=True)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the outcomes."""
        return tuple(self.wanted)

    @property
    def scores(self) -> tuple[str, ...]:
        """The names of the outcomes that are scores, not labels."""
        return tuple(name for name, labels in self.wanted.items() if not labels)

    @property
    def partial(self) -> bool:
        """Whether no outcome is the whole answer: the labels of an answer are compared one by one."""
        return () not in self.wanted.values() and (self.several or len(self.wanted) > 1)

    @property
    def favourable(self) -> tuple[str, ...]:
        """The labels that are good for the person spoken of; empty where none is, or scores are compared."""
        return tuple(label for labels in self.wanted.values() for label in labels) if self.directed else ()

    def values(
        self,
        labels: Sequence[str] | None,
        score: float | None,
        measures: Mapping[str, float] | None = None,
    ) -> tuple[float, ...] | None:
        """Return the value of each outcome in an answer that was read: 0 or 1, or the score from 0 to 1.

        With ``measures``, each outcome has its own score.

        None where the answer has neither labels nor a score.
        """
        if score is not None and () in self.wanted.values():
            return (score,) if measures is None else tuple(measures[name] for name in self.wanted)
        if labels is None:
            return None
        return tuple(float(any(label in labels for label in wanted)) for wanted in self.wanted.values())
