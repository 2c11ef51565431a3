"""How much is asked at a time: adaptive concurrency, and limits on requests and tokens a minute.

Additive increase, multiplicative decrease: one more slot after a full round of answers whose latency
held, half of them when the endpoint asks for less (429, 503, time-outs), at most once a round.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

START = 8
PATIENCE = 2.0  # a latency up to so many times the best seen counts as held
MEMORY = 0.9  # weight of the past in the moving averages


@dataclass
class Bucket:
    """A token bucket: ``rate`` a minute, bursts of at most a few seconds' worth."""

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
        return max(1.0, self.rate * self.burst_seconds / 60)

    def take(self, amount: float) -> float:
        """Take ``amount`` (it may go into debt) and return the seconds to wait before using it."""
        now = self.clock()
        self._level = min(self.burst, self._level + (now - self._at) * self.rate / 60)
        self._at = now
        self._level -= amount
        return max(0.0, -self._level * 60 / self.rate)


class Limiter:
    """``await acquire(tokens)`` before a request, ``release(…)`` after it.

    ``fixed`` slots, or from ``START`` up to ``ceiling`` as the endpoint bears it.
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

    async def acquire(self, tokens: int) -> None:
        while self._busy >= self.slots:
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            await turn
        self._busy += 1
        wait = max(
            self._requests.take(1) if self._requests else 0.0,
            self._tokens.take(tokens) if self._tokens else 0.0,
        )
        if wait:
            await asyncio.sleep(wait)

    def release(self, latency: float | None, throttled: bool = False) -> None:
        """Give the slot back: ``latency`` of an answer in seconds, None where there was none."""
        self._busy -= 1
        if self.adaptive:
            self._adapt(latency, throttled)
        self._admit(self.slots - self._busy)

    def _admit(self, free: int) -> None:
        """Wake as many of those that wait as there are slots, the first come first."""
        while free > 0 and self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                free -= 1

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
