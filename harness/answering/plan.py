"""Turns cases into requests."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from harness.answering.render import Prompt
from harness.core import Case, JsonObject, Request, Task
from harness.estimates import answer_bound
from harness.plugins import Model


@dataclass(frozen=True)
class Planner:
    """Makes the request of a case for one task, prompt and model.

    ``extra`` are parameters for the model beside those of every request.
    """

    task: Task
    prompt: Prompt
    model: Model
    shots: int = 0
    seed: int = 0
    answer_tokens: int | None = None
    extra: JsonObject = field(default_factory=dict)

    @cached_property
    def token_limit(self) -> int:
        """The most tokens of an answer: as configured or as the task says, or enough for the labels."""
        known = self.answer_tokens or self.task.answer_tokens
        return known or answer_bound(self.task.labels, self.task.multi_label)

    @property
    def constrained(self) -> bool:
        """Whether requests carry the labels as the only answers allowed."""
        return self.model.capabilities.choices and bool(self.task.labels) and not self.task.multi_label

    def request(self, case: Case, repeat: int = 0) -> Request:
        """Return the request that asks about ``case``; each ``repeat`` is a request of its own."""
        return Request(
            model=self.model.identity,
            messages=self.prompt.messages(case.text, self.shots),
            sampling=self._sampling,
            choices=self.task.labels if self.constrained else (),
            repeat=repeat,
            text=case.text,
        )

    @cached_property
    def _sampling(self) -> JsonObject:
        """Return every sampling value explicitly, so that no server default applies."""
        return {
            "temperature": 0.0,
            "top_p": 1.0,
            "seed": self.seed,
            "max_tokens": self.token_limit,
            "frequency_penalty": 0.0,
            "presence_penalty": 0.0,
            "logprobs": self.model.capabilities.logprobs and bool(self.task.labels),
            **self.extra,
        }
