"""The single retry policy: transient errors are retried after the longer of the server's own request and an
exponential back-off with jitter.

What cannot succeed for one request is a ``Failure``. What cannot succeed for any ends the run with an
``EndpointError``, as do ``LOST_IN_A_ROW`` consecutive requests that failed for good. (SQLite's wait for a
file held by another process is separate: it has its own busy time-out.)
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from tenacity import (
    AsyncRetrying,
    RetryCallState,
    Retrying,
    retry_if_exception_type,
    stop_after_attempt,
    wait_random_exponential,
)
from tenacity.wait import wait_base

from harness.core import Failure
from harness.errors import EndpointError, Transient

ATTEMPTS = 5
BACK_OFF = wait_random_exponential(multiplier=0.5, max=30)
LOST_IN_A_ROW = 5
_RESET = re.compile(
    r"(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?"
)


@dataclass(frozen=True)
class PoliteWait(wait_base):
    """The wait in seconds: what the server asked for, or the back-off where that is longer."""

    back_off: wait_base

    def __call__(self, retry_state: RetryCallState) -> float:
        """Return the seconds to wait before the next attempt."""
        error = retry_state.outcome.exception() if retry_state.outcome else None
        requested = error.retry_after if isinstance(error, Transient) else None
        return max(requested or 0.0, self.back_off(retry_state))


@dataclass(frozen=True)
class Policy:
    """Makes at most ``attempts`` attempts at an act that raises ``Transient``, and reraises the last error.

    A ``retrying()`` serves one act: ``await policy.retrying()(act, …)``. ``on_retry`` is called before each
    wait.
    """

    attempts: int = ATTEMPTS
    back_off: wait_base = BACK_OFF
    on_retry: Callable[[], None] = lambda: None

    def retrying(self) -> AsyncRetrying:
        """Return a retrier of coroutine functions."""
        return AsyncRetrying(
            stop=stop_after_attempt(self.attempts),
            wait=PoliteWait(self.back_off),
            retry=retry_if_exception_type(Transient),
            before_sleep=lambda _: self.on_retry(),
            reraise=True,
        )

    def blocking(self) -> Retrying:
        """Return a retrier of plain functions, which sleeps in its thread."""
        return Retrying(
            stop=stop_after_attempt(self.attempts),
            wait=PoliteWait(self.back_off),
            retry=retry_if_exception_type(Transient),
            before_sleep=lambda _: self.on_retry(),
            reraise=True,
        )


PATIENT = Policy(attempts=8, back_off=wait_random_exponential(multiplier=1, max=60))
"""For a job that was paid for as a whole, and is awaited for hours."""


class Losses:
    """Counts consecutive requests to the system called ``name`` that failed for good."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._in_a_row = 0

    def answered(self) -> None:
        """Record that a request was answered."""
        self._in_a_row = 0

    def lost(self, error: Transient) -> Failure:
        """Return the failure of a request that is not retried.

        Raises ``EndpointError`` where too many consecutive requests failed.
        """
        self._in_a_row += 1
        if self._in_a_row >= LOST_IN_A_ROW:
            message = f"{self._name}: {self._in_a_row} requests in a row failed: {error}"
            raise EndpointError(message) from error
        return Failure("failed", str(error))


def duration(text: str) -> float | None:
    """Return the seconds in ``12``, ``1m30s`` or ``250ms``; None for any other text."""
    try:
        return float(text)
    except ValueError:
        pass
    match = _RESET.fullmatch(text.strip())
    if match is None or not any(match.groups()):
        return None
    return sum(
        float(part or 0) * unit for part, unit in zip(match.groups(), (3600, 60, 1, 0.001), strict=True)
    )


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds requested by ``retry-after-ms`` or ``retry-after`` (seconds or an HTTP date)."""
    try:
        if (milliseconds := headers.get("retry-after-ms")) is not None:
            return float(milliseconds) / 1000
    except ValueError:
        pass
    value = headers.get("retry-after", "")
    if (seconds := duration(value)) is not None:
        return seconds
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError):
        return None
