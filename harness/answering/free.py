"""Reads an answer in free form: its text, measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.answering.measures import Measure, load, measured
from harness.answering.parse import spoken
from harness.core import Outcome, Reply


@dataclass(frozen=True, slots=True)
class FreeReader:
    """Measures an answer by each of ``measures``; the first is its score.

    An answer that was cut is measured as far as it goes, since all answers have the same limit; what the
    server itself calls a refusal is not read, as in any task.
    """

    measures: Mapping[str, Measure]

    @classmethod
    def of(cls, names: Sequence[str]) -> FreeReader:
        """Return the reader of the measures called ``names``. Raises ``ConfigError``."""
        return cls(load(names))

    def __call__(self, reply: Reply) -> Outcome:
        """Return the values of an answer with any text, or the reason there are none.

        Raises ``TaskError`` for a measure of the user's that fails or is not from 0 to 1.
        """
        text, reason = spoken(reply.text, reply.finish_reason)
        text = (text or "").strip()
        if not text:
            return Outcome(reason=reason or "unparsed")
        values = {name: measured(name, measure, text) for name, measure in self.measures.items()}
        return Outcome(score=next(iter(values.values())), measures=values)
