"""The single retry policy: transient errors are retried after the longer of the server's own request and an
exponential back-off with jitter.

What cannot succeed for one request is a ``Failure``. What cannot succeed for any ends the run with an
``EndpointError``, as do ``LOST_IN_A_ROW`` consecutive requests that failed for good. (SQLite's wait for a
file held by another process is separate: it has its own busy time-out.)
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import ParamSpec, TypeVar

from tenacity import (
    AsyncRetrying,
    RetryCallState,
    Retrying,
    retry_if_exception,
    stop_after_attempt,
    wait_random_exponential,
)
from tenacity.wait import wait_base

from harness.core import Failure
from harness.errors import EndpointError, Transient

P = ParamSpec("P")
T = TypeVar("T")

ATTEMPTS = 5
BACK_OFF = wait_random_exponential(multiplier=0.5, max=30)
LOST_IN_A_ROW = 5
LONGEST_WAIT = 600.0
"""The seconds that a run waits for a server that asks it to; asked for longer, it ends."""
EPOCH = 1e9
"""From this number on, seconds are a time (since 1970), and from a thousand times as many milliseconds."""
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

    ``await policy.call(act, …)`` makes them; so does a ``retrying()``, which serves one act: ``await
    policy.retrying()(act, …)``. ``on_retry`` is called before each wait with its seconds. An error that asks
    for more than ``longest`` seconds is reraised at once.
    """

    attempts: int = ATTEMPTS
    back_off: wait_base = BACK_OFF
    on_retry: Callable[[float], None] = lambda seconds: None
    longest: float = LONGEST_WAIT

    async def call(self, act: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
        """Return what ``act`` returns; where the first attempt succeeds, this costs next to nothing."""
        try:
            return await act(*args, **kwargs)
        except Transient as error:
            failed: list[Transient] = [error]

        async def again() -> T:
            """Fail as the first attempt did, then attempt anew."""
            if failed:
                raise failed.pop()
            return await act(*args, **kwargs)

        result: T = await self.retrying()(again)
        return result

    def retrying(self) -> AsyncRetrying:
        """Return a retrier of coroutine functions."""
        return AsyncRetrying(
            stop=stop_after_attempt(self.attempts),
            wait=PoliteWait(self.back_off),
            retry=retry_if_exception(self._passes),
            before_sleep=self._tell,
            reraise=True,
        )

    def blocking(self) -> Retrying:
        """Return a retrier of plain functions, which sleeps in its thread."""
        return Retrying(
            stop=stop_after_attempt(self.attempts),
            wait=PoliteWait(self.back_off),
            retry=retry_if_exception(self._passes),
            before_sleep=self._tell,
            reraise=True,
        )

    def _passes(self, error: BaseException) -> bool:
        return isinstance(error, Transient) and (error.retry_after or 0.0) <= self.longest

    def _tell(self, state: RetryCallState) -> None:
        self.on_retry(state.next_action.sleep if state.next_action else 0.0)


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

        Raises ``EndpointError`` where too many consecutive requests failed, or where the server asks for a
        longer wait than a run makes.
        """
        if (seconds := error.retry_after or 0.0) > LONGEST_WAIT:
            raise EndpointError(f"{self._name}: {error}: {_far(seconds)}") from error
        self._in_a_row += 1
        if self._in_a_row >= LOST_IN_A_ROW:
            message = f"{self._name}: {self._in_a_row} requests in a row failed: {error}"
            raise EndpointError(message) from error
        return Failure("failed", str(error))


def duration(text: str) -> float | None:
    """Return the seconds in ``12``, ``1m30s`` or ``250ms``, or until an epoch; None for any other text."""
    try:
        return _ahead(float(text))
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
            wait = float(milliseconds) / 1000
            return max(0.0, wait) if math.isfinite(wait) else None
    except ValueError:
        pass
    value = headers.get("retry-after", "")
    if (seconds := duration(value)) is not None:
        return seconds
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def _ahead(number: float) -> float | None:
    """Return the seconds that ``number`` says: a span, or an epoch in seconds or milliseconds.

    None where it is not finite or no time that could be meant.
    """
    if not math.isfinite(number) or number > 1e4 * EPOCH:
        return None
    if number >= 1e3 * EPOCH:
        number /= 1000
    return max(0.0, number - time.time() if number >= EPOCH else number)


def _far(seconds: float) -> str:
    until = time.strftime("%Y-%m-%d %H:%M", time.localtime(time.time() + min(seconds, EPOCH)))
    return (
        f"it asks for a wait of {min(seconds, EPOCH) / 60:,.0f} minutes, more than the "
        f"{LONGEST_WAIT / 60:.0f} that a run makes: repeat the command after {until}"
    )
