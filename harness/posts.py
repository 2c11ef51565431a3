"""The POST requests that are made on behalf of a run, told to whom it may concern before each is sent.

A model may post more than its caller asked for: probes of the endpoint, and another form of a request that
was rejected. A budget must know of those, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Allow = Callable[[int], None]
"""Is called with the number of bytes of a body; raises ``NotAllowed`` where it must not be sent."""

_allow: ContextVar[Allow | None] = ContextVar("who is told of each POST request", default=None)


class NotAllowed(Exception):
    """A POST request must not be sent. Like ``Transient``, it never leaves the runner."""


@contextmanager
def told(allow: Allow) -> Iterator[None]:
    """Have ``allow`` called before each POST request that is made in the block."""
    token = _allow.set(allow)
    try:
        yield
    finally:
        _allow.reset(token)


def watched() -> bool:
    """Return whether anybody is told of the POST requests made here."""
    return _allow.get() is not None


def posting(size: int) -> None:
    """Tell that a POST request with a body of ``size`` bytes is about to be sent. Raises ``NotAllowed``."""
    if (allow := _allow.get()) is not None:
        allow(size)
