"""Asking: every distinct request once, a bounded number at a time, each reply kept as it arrives.

One retry policy for everything (``RETRIES``): what may succeed later is tried again after
max(Retry-After, exponential back-off with jitter). What cannot succeed for one request is a ``Failure``;
what cannot succeed for any ends the run with an ``EndpointError``.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any

from tenacity import AsyncRetrying, RetryCallState, stop_after_attempt, wait_random_exponential

from harness.answering.cache import ResponseCache
from harness.core import Failure, Model, Reply, Request
from harness.errors import EndpointError, Transient

ATTEMPTS = 5
BACK_OFF = wait_random_exponential(multiplier=0.5, max=30)
LOST_IN_A_ROW = 5
QUEUE_PER_WORKER = 4

Answer = Reply | Failure


@dataclass(slots=True)
class Counts:
    """``unique = cached + sent``; ``failed`` are those sent that got no reply, ``retried`` extra attempts."""

    unique: int = 0
    cached: int = 0
    sent: int = 0
    retried: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0

    def add(self, reply: Reply) -> None:
        """Count the tokens of a distinct reply, whether it was kept or has just come."""
        self.prompt_tokens += reply.prompt_tokens
        self.completion_tokens += reply.completion_tokens
        self.cached_tokens += reply.cached_tokens


def _wait(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    asked = error.retry_after if isinstance(error, Transient) and error.retry_after else 0.0
    return max(asked, BACK_OFF(state))


class Runner:
    """``async with Runner(model, cache, concurrency) as runner``."""

    def __init__(self, model: Model, cache: ResponseCache, concurrency: int) -> None:
        self.counts = Counts()
        self._model = model
        self._cache = cache
        self._flights: dict[str, asyncio.Future[Answer]] = {}
        self._queue: asyncio.Queue[Request] = asyncio.Queue(concurrency * QUEUE_PER_WORKER)
        self._workers: list[asyncio.Task[None]] = []
        self._concurrency = concurrency
        self._lost = 0

    async def __aenter__(self) -> Runner:
        self._workers = [asyncio.create_task(self._work()) for _ in range(self._concurrency)]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self._workers:
            worker.cancel()
        await asyncio.gather(*self._workers, return_exceptions=True)
        for flight in self._flights.values():
            flight.cancel()

    async def replies(self, requests: Sequence[Request]) -> dict[str, Answer]:
        """An answer for each key. Raises ``EndpointError`` where nothing more can be asked."""
        distinct = {request.key: request for request in requests}
        found, fresh = await self._cache.look_up(list(distinct))
        self.counts.unique += len(fresh)
        self.counts.cached += len(fresh & found.keys())
        for key in fresh & found.keys():
            self.counts.add(found[key])
        answers: dict[str, Answer] = dict(found)
        waiting: dict[str, asyncio.Future[Answer]] = {}
        for key, request in distinct.items():
            if key in found:
                continue
            if key not in self._flights:
                self._flights[key] = asyncio.get_running_loop().create_future()
                await self._queue.put(request)
            waiting[key] = self._flights[key]
        for key, flight in waiting.items():
            answers[key] = await asyncio.shield(flight)
        return answers

    async def _work(self) -> None:
        while True:
            request = await self._queue.get()
            flight = self._flights[request.key]
            self.counts.sent += 1
            try:
                answer = await self._ask(request)
            except EndpointError as error:
                self._settle(request, flight, error)
            except Exception as error:
                self._settle(request, flight, error)
                raise
            else:
                self._settle(request, flight, answer)

    def _settle(self, request: Request, flight: asyncio.Future[Answer], result: Answer | Exception) -> None:
        if isinstance(result, Reply):
            self._cache.keep(request, result)
            self.counts.add(result)
        else:
            self.counts.failed += 1
        if not flight.cancelled():
            if isinstance(result, Exception):
                flight.set_exception(result)
                flight.exception()  # somebody may no longer wait for it
            else:
                flight.set_result(result)

    async def _ask(self, request: Request) -> Answer:
        policy = AsyncRetrying(
            stop=stop_after_attempt(ATTEMPTS), wait=_wait, retry=_is_transient, reraise=True
        )
        try:
            answer: Answer = await policy(self._attempt, request)
        except Transient as error:
            self._lost += 1
            if self._lost >= LOST_IN_A_ROW:
                raise EndpointError(
                    f"{self._model.name}: {self._lost} requests in a row failed: {error}"
                ) from error
            return Failure("failed", str(error))
        self._lost = 0
        return answer

    async def _attempt(self, request: Request) -> Answer:
        started = time.perf_counter()
        try:
            answer = await self._model.answer(request)
        except Transient:
            self.counts.retried += 1
            raise
        return replace(answer, latency=time.perf_counter() - started) if isinstance(answer, Reply) else answer


def _is_transient(state: RetryCallState) -> Any:
    return state.outcome is not None and isinstance(state.outcome.exception(), Transient)
