"""From cases to requests: what is asked about each case, in an order that keeps prefixes together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from harness.answering.render import Prompt
from harness.core import Case, Model, Request, Task

TOKENS_A_LABEL = 4
TOKENS_TO_SPARE = 60


@dataclass(frozen=True)
class Planner:
    """Makes the request of a case for one task, prompt and model."""

    task: Task
    prompt: Prompt
    model: Model
    shots: int = 0
    seed: int = 0

    def request(self, case: Case, repeat: int = 0) -> Request:
        constrained = self.model.capabilities.choices and not self.task.multi_label
        return Request(
            model=self.model.identity,
            messages=self.prompt.messages(case.text, self.shots),
            sampling=self._sampling(),
            choices=self.task.labels if constrained else (),
            repeat=repeat,
            text=case.text,
        )

    def _sampling(self) -> dict[str, Any]:
        """Every value explicit, so that no server's own defaults apply."""
        words = max(len(label.split()) for label in self.task.labels)
        several = len(self.task.labels) if self.task.multi_label else 1
        return {
            "temperature": 0.0,
            "top_p": 1.0,
            "seed": self.seed,
            "max_tokens": TOKENS_TO_SPARE + TOKENS_A_LABEL * words * min(several, 20),
            "frequency_penalty": 0.0,
            "presence_penalty": 0.0,
            "logprobs": self.model.capabilities.logprobs,
        }
