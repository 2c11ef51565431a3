"""The one retry policy: what may succeed later is tried again, after the longer of what the server asked for
and an exponential back-off with jitter.

What cannot succeed for one request is a ``Failure``; what cannot succeed for any ends the run with an
``EndpointError``, as do ``LOST_IN_A_ROW`` requests in a row that failed for good. (That SQLite waits for a
file which another process holds is no such thing: it has a busy timeout of its own.)
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
    """What the server asked for, or the back-off where that is longer, in seconds."""

    back_off: wait_base

    def __call__(self, retry_state: RetryCallState) -> float:
        error = retry_state.outcome.exception() if retry_state.outcome else None
        asked = error.retry_after if isinstance(error, Transient) else None
        return max(asked or 0.0, self.back_off(retry_state))


@dataclass(frozen=True)
class Policy:
    """At most ``attempts`` of an act that raises ``Transient``, which is raised where none succeeded.

    ``retrying()`` is for one act: ``await policy.retrying()(act, …)``. ``on_retry`` is called before a wait.
    """

    attempts: int = ATTEMPTS
    back_off: wait_base = BACK_OFF
    on_retry: Callable[[], None] = lambda: None

    def retrying(self) -> AsyncRetrying:
        """Return what tries a coroutine function."""
        return AsyncRetrying(
            stop=stop_after_attempt(self.attempts),
            wait=PoliteWait(self.back_off),
            retry=retry_if_exception_type(Transient),
            before_sleep=lambda _: self.on_retry(),
            reraise=True,
        )

    def blocking(self) -> Retrying:
        """Return what tries a plain function, sleeping in its thread."""
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
    """Counts requests in a row that failed for good, of the system called ``name``."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._in_a_row = 0

    def answered(self) -> None:
        """Note that a request was answered."""
        self._in_a_row = 0

    def lost(self, error: Transient) -> Failure:
        """Return the failure of a request that is not tried again. Raises ``EndpointError`` where too many in
        a row came to that."""
        self._in_a_row += 1
        if self._in_a_row >= LOST_IN_A_ROW:
            message = f"{self._name}: {self._in_a_row} requests in a row failed: {error}"
            raise EndpointError(message) from error
        return Failure("failed", str(error))


def duration(text: str) -> float | None:
    """Return the seconds in ``12``, ``1m30s`` or ``250ms``; None where it is none of these."""
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
    """Return the seconds that ``retry-after-ms`` or ``retry-after`` (seconds or an HTTP date) asks for."""
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
