"""A bound on the requests that are answered at a time, and on those that wait."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Full(Exception):
    """As many requests wait as may."""


class Gate:
    """``async with gate.entered()``: at most ``slots`` are inside, and at most ``queue`` wait in order."""

    def __init__(self, slots: int, queue: int) -> None:
        self._slots = asyncio.Semaphore(slots)
        self._queue = queue
        self.inside = 0
        self.waiting = 0

    @asynccontextmanager
    async def entered(self) -> AsyncIterator[None]:
        """Wait for a slot and hold it. Raises ``Full``."""
        if self._slots.locked():
            if self.waiting >= self._queue:
                raise Full
            self.waiting += 1
            try:
                await self._slots.acquire()
            finally:
                self.waiting -= 1
        else:
            await self._slots.acquire()
        self.inside += 1
        try:
            yield
        finally:
            self.inside -= 1
            self._slots.release()
