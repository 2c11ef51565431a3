"""Decide mutants with the parsers that must pass them: none, one, or two that must agree.

Each parser decides as it would alone, with its own sentences and its own cached verdicts. A mutant that one
passes and the other does not is told apart from one that neither passes, because its verdict is a property of
the parser and not of the text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.core import Span
from harness.suites.hinter.conformity import Conformity
from harness.suites.hinter.invariant import DocumentInvariant
from harness.suites.hinter.mutation import Mutation, Variations

FIRST_ONLY = "first-parser-only"
SECOND_ONLY = "second-parser-only"
"""The reasons to discard a mutant that only the first parser passes, or only the second."""


@dataclass(frozen=True, slots=True)
class AgreedInvariant:
    """The invariant of one document's mutants, by each parser in turn; without any, it holds."""

    by_parser: tuple[DocumentInvariant, ...]

    def reason(self, mutation: Mutation, mutant: str) -> str | None:
        """Return None if every parser passes the mutant, else the reason to discard it.

        Where none passes it, the reason is the first parser's.
        """
        reasons = [invariant.reason(mutation, mutant) for invariant in self.by_parser]
        if not any(reasons):
            return None
        if all(reasons):
            return reasons[0]
        return SECOND_ONLY if reasons[0] else FIRST_ONLY


@dataclass(frozen=True, slots=True)
class Agreement:
    """The checks of sentences by the parsers that must pass a mutant."""

    checks: tuple[Conformity, ...]

    @property
    def parsers(self) -> tuple[str, ...]:
        """The names of the parsers."""
        return tuple(check.parser.name for check in self.checks)

    def invariant(
        self, text: str, split: Callable[[Conformity], Sequence[Span]], variations: Variations, order: int
    ) -> AgreedInvariant:
        """Return the invariant, still to be decided, of the mutants of ``text`` up to ``order``.

        ``split`` gives the sentences of the text by the parser of a check.
        """
        return AgreedInvariant(
            tuple(DocumentInvariant(text, split(check), variations, order, check) for check in self.checks)
        )

    def decide(self, invariants: Sequence[AgreedInvariant]) -> None:
        """Decide the sentences of a batch of documents, with one parser after the other."""
        for number, check in enumerate(self.checks):
            _decide(check, [invariant.by_parser[number] for invariant in invariants])


def _decide(check: Conformity, invariants: Sequence[DocumentInvariant]) -> None:
    """Decide the sentences of a batch of documents in rounds, all sentences of a round at once."""
    asking = list(invariants)
    while asking:
        needed = [invariant.needed() for invariant in asking]
        asking = [invariant for invariant in asking if not invariant.done]
        reasons = check.reasons(pair for pairs in needed for pair in pairs)
        for invariant in asking:
            invariant.take(reasons)
