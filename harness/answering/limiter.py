"""Limits on sending: adaptive concurrency, and rate limits on requests and tokens per minute.

Additive increase, multiplicative decrease: one slot more after a full round of answers without a rise in
latency; half the slots, at most once a round, when the endpoint pushes back (429, 503, time-outs).
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

START = 8
PATIENCE = 2.0  # latency has not risen while it is at most this multiple of the best
MEMORY = 0.9  # weight of the past in the moving averages


@dataclass
class Bucket:
    """A token bucket: ``rate`` per minute, with bursts of up to ``burst_seconds`` worth."""

    rate: float
    clock: Callable[[], float] = time.monotonic
    burst_seconds: float = 2.0
    _level: float = field(init=False)
    _at: float = field(init=False)

    def __post_init__(self) -> None:
        self._level = self.burst
        self._at = self.clock()

    @property
    def burst(self) -> float:
        """The capacity of the bucket."""
        return max(1.0, self.rate * self.burst_seconds / 60)

    def spare(self, amount: float) -> bool:
        """Return whether ``amount`` is there, and take it if so."""
        if self.take(amount):
            self._level += amount
            return False
        return True

    def take(self, amount: float) -> float:
        """Take ``amount``, going into debt if need be, and return the seconds to wait before using it."""
        now = self.clock()
        self._level = min(self.burst, self._level + (now - self._at) * self.rate / 60)
        self._at = now
        self._level -= amount
        return max(0.0, -self._level * 60 / self.rate)


class Limiter:
    """Call ``await acquire()``, then ``await admit(tokens)`` before each attempt, and at last ``release()``.

    Has ``fixed`` slots, or between 1 and ``ceiling``, starting with ``START``, as the endpoint can bear. A
    slot that becomes free goes to the one that has waited longest.
    """

    def __init__(
        self,
        ceiling: int,
        fixed: int | None = None,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
    ) -> None:
        self.ceiling = fixed or ceiling
        self.slots = fixed or min(START, ceiling)
        self.adaptive = fixed is None
        self._busy = 0
        self._round = 0
        self._halved_at = 0
        self._answered = 0
        self._best = float("inf")
        self._recent = 0.0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._requests = Bucket(requests_per_minute) if requests_per_minute else None
        self._tokens = Bucket(tokens_per_minute) if tokens_per_minute else None

    async def acquire(self) -> None:
        """Wait for a slot."""
        if self._busy < self.slots and not self._waiting:
            self._busy += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # the slot was handed over in the same moment
                self.release()
            raise

    async def admit(self, tokens: int) -> None:
        """Wait until the rate limits admit a request of ``tokens`` tokens."""
        wait = max(
            self._requests.take(1) if self._requests else 0.0,
            self._tokens.take(tokens) if self._tokens else 0.0,
        )
        if wait:
            await asyncio.sleep(wait)

    def release(self) -> None:
        """Free the slot."""
        self._busy -= 1
        self._hand_over()

    def note(self, latency: float | None, throttled: bool = False) -> None:
        """Adapt to an attempt; ``latency`` is that of its answer in seconds, None where there was none."""
        if self.adaptive:
            self._adapt(latency, throttled)
            self._hand_over()

    def _hand_over(self) -> None:
        """Hand free slots to those that wait, in order of arrival: nobody can take one in between."""
        while self._busy < self.slots and self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                self._busy += 1
                turn.set_result(None)

    def _adapt(self, latency: float | None, throttled: bool) -> None:
        self._answered += 1
        if throttled:
            if self._answered > self._halved_at:
                self.slots = max(1, self.slots // 2)
                self._halved_at = self._answered + self.slots
            self._round = 0
            return
        if latency is None:
            return
        self._recent = MEMORY * self._recent + (1 - MEMORY) * latency if self._recent else latency
        self._best = min(self._best, self._recent)
        self._round += 1
        if self._round >= self.slots and self._recent <= PATIENCE * self._best:
            self._round = 0
            self.slots = min(self.ceiling, self.slots + 1)
