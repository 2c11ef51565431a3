"""Charges and counts what a model posts beyond the requests of a run: other forms, and plain questions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from harness.answering.budget import Budget
from harness.core import Reply
from harness.posts import NotAllowed


class Counter(Protocol):
    """Counts probes."""

    probes: int
    resume: float

    def add_probe(self, reply: Reply, size: int, tokens: int) -> None:
        """Count the tokens of a reply to a body of ``size`` bytes, of at most ``tokens``."""


@dataclass
class Probing:
    """The posts made while one request is answered, or an endpoint is explored, as ``posts.Teller``.

    The first ``reserved`` of them are charged already. The reply to each has ``tokens`` at most. ``ended``
    returns the error after which nothing is sent any more.
    """

    budget: Budget
    counts: Counter
    tokens: int
    ended: Callable[[], Exception | None]
    reserved: int = 0
    _size: int | None = None
    _replies: list[tuple[Reply, int | None]] = field(default_factory=list)

    def posting(self, size: int) -> None:
        """Charge a post at its worst, unless it is reserved. Raises ``NotAllowed``."""
        if self.reserved:
            self.reserved -= 1
            self._size = None
            return
        if (error := self.ended()) is not None:
            raise NotAllowed(str(error))
        if (reason := self.budget.post(size, self.tokens)) is not None:
            raise NotAllowed(reason)
        self.counts.probes += 1
        self._size = size

    def replied(self, reply: Reply) -> None:
        """Keep the reply to the last post."""
        self._replies.append((reply, self._size))

    def waiting(self, until: float) -> None:
        """Note the wait, to be shown."""
        self.counts.resume = max(self.counts.resume, until)

    def settle(self, answered: bool) -> None:
        """Count what the replies cost; where ``answered``, the last one is the answer and no probe's."""
        for number, (reply, size) in enumerate(self._replies, 1):
            answer = answered and number == len(self._replies)
            if size is not None:
                self.budget.refund(size, self.tokens, None if answer else reply)
            if not answer:
                self.counts.add_probe(reply, size or 0, self.tokens)
