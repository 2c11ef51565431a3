"""The POST requests that are made on behalf of a run, told to whom it may concern, and the replies to them.

A model may post more than its caller asked for: probes of the endpoint, and another form of a request that
was rejected. A budget must know of those, too, and of what they cost.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from harness.core import Reply


class Teller(Protocol):
    """Whoever is told of POST requests."""

    def posting(self, size: int) -> None:
        """Hear that a body of ``size`` bytes is about to be sent. Raises ``NotAllowed`` if it must not be."""

    def replied(self, reply: Reply) -> None:
        """Hear of the reply to the last request."""

    def waiting(self, until: float) -> None:
        """Hear that the server wants nothing sent ``until`` then, of the clock ``time.monotonic``."""


_teller: ContextVar[Teller | None] = ContextVar("who is told of each POST request", default=None)


class NotAllowed(Exception):
    """A POST request must not be sent. Like ``Transient``, it never leaves the runner."""


@contextmanager
def told(teller: Teller) -> Iterator[None]:
    """Have ``teller`` told of the POST requests that are made in the block."""
    token = _teller.set(teller)
    try:
        yield
    finally:
        _teller.reset(token)


def watched() -> bool:
    """Return whether anybody is told of the POST requests made here."""
    return _teller.get() is not None


def posting(size: int) -> None:
    """Tell that a POST request with a body of ``size`` bytes is about to be sent. Raises ``NotAllowed``."""
    if (teller := _teller.get()) is not None:
        teller.posting(size)


def waiting(until: float) -> None:
    """Tell that the server wants nothing sent ``until`` then, of the clock ``time.monotonic``."""
    if (teller := _teller.get()) is not None:
        teller.waiting(until)


def replied(reply: Reply) -> None:
    """Tell of the reply to the last POST request."""
    if (teller := _teller.get()) is not None:
        teller.replied(reply)
