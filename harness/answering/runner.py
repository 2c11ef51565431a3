"""Sends requests: each distinct one once, a bounded number at a time, storing each reply as it arrives.

Transient errors are retried by the policy of ``harness.retrying``. What cannot succeed for one request is a
``Failure``; what cannot succeed for any ends the run with an ``EndpointError``.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Protocol

from tenacity.wait import wait_base

from harness.answering.budget import Budget
from harness.answering.cache import ResponseCache
from harness.answering.limiter import Limiter
from harness.core import Failure, JsonObject, Reply, Request, canonical
from harness.errors import BudgetSpent, CacheError, EndpointError, Transient
from harness.estimates import prompt_bound
from harness.plugins import Model
from harness.replies import cleaned
from harness.retrying import BACK_OFF, Losses, Policy

QUEUE_PER_WORKER = 4
GRACE = 10.0

Answer = Reply | Failure


@dataclass(slots=True)
class Counts:
    """Counts of requests and tokens, where ``unique = cached + sent``.

    ``failed`` counts requests sent that got no reply; ``retried`` counts extra attempts; ``served`` counts
    replies by the model that the endpoint says it is, with its fingerprint. Until ``resume``, of the clock
    ``time.monotonic``, the last of the requests to be tried again waits.
    """

    unique: int = 0
    cached: int = 0
    sent: int = 0
    retried: int = 0
    failed: int = 0
    replies: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    served: Counter[str] = field(default_factory=Counter)
    resume: float = 0.0

    def add(self, reply: Reply) -> None:
        """Count the tokens of a distinct reply, cached or new."""
        self.replies += 1
        self.served[" ".join(filter(None, (reply.model, reply.fingerprint)))] += 1
        self.prompt_tokens += reply.prompt_tokens
        self.completion_tokens += reply.completion_tokens
        self.cached_tokens += reply.cached_tokens


class Answerer(Protocol):
    """Answers requests, whether by asking a model or from a cache."""

    async def replies(self, requests: Sequence[Request]) -> dict[str, Answer]:
        """Return the answer to each request, by key."""


class Runner:
    """Answers from the cache or the model: ``async with Runner(model, cache, limiter) as runner``."""

    def __init__(
        self,
        model: Model,
        cache: ResponseCache,
        limiter: Limiter,
        budget: Budget | None = None,
        back_off: wait_base = BACK_OFF,
    ) -> None:
        self.counts = Counts()
        self._model = model
        self._cache = cache
        self._limiter = limiter
        self._budget = budget or Budget()
        self._prepared: asyncio.Task[None] | None = None
        self._queue: asyncio.Queue[Request] = asyncio.Queue(limiter.ceiling * QUEUE_PER_WORKER)
        self._line = asyncio.Lock()
        self._workers: list[asyncio.Task[None]] = []
        self._flights: dict[str, asyncio.Future[Answer]] = {}
        self._failures: dict[str, Failure] = {}
        self._losses = Losses(model.name)
        self._busy = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._ended: Exception | None = None
        self._policy = Policy(back_off=back_off, on_retry=self._count_retry)

    @property
    def ceiling(self) -> int:
        """The maximum number of requests under way at once."""
        return self._limiter.ceiling

    async def __aenter__(self) -> Runner:
        self._workers = [asyncio.create_task(self._work()) for _ in range(self._limiter.ceiling)]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Accept no new requests; allow those under way, perhaps billed, ``GRACE`` seconds to finish."""
        self._ended = self._ended or EndpointError("the run has ended")
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._idle.wait(), GRACE)
        for worker in self._workers:
            worker.cancel()
        await asyncio.gather(*self._workers, return_exceptions=True)
        for flight in self._flights.values():
            flight.cancel()

    async def replies(self, requests: Sequence[Request]) -> dict[str, Answer]:
        """Return the answer to each request, by key. Raises ``EndpointError`` where no more can succeed."""
        distinct = {request.key: request for request in requests}
        # A flight is registered before the cache look-up, so that no other caller sends the same request.
        unclaimed = [key for key in distinct if key not in self._flights]
        waiting = {key: self._flights.get(key) or self._take_off(key) for key in distinct}
        cached, fresh = await self._cache.look_up(unclaimed)
        self.counts.unique += len(fresh)
        async with self._line:  # one caller's requests stay next to each other: they share prefixes
            for key in unclaimed:
                if key in cached:
                    if key in fresh:
                        self.counts.cached += 1
                        self.counts.add(cached[key])
                    self._land(key, cached[key])
                elif key in self._failures:
                    self._land(key, self._failures[key])
                else:
                    await self._queue.put(distinct[key])
        return {key: await asyncio.shield(flight) for key, flight in waiting.items()}

    def _take_off(self, key: str) -> asyncio.Future[Answer]:
        self._flights[key] = asyncio.get_running_loop().create_future()
        return self._flights[key]

    def _land(self, key: str, result: Answer | Exception) -> None:
        flight = self._flights.pop(key)
        if flight.cancelled():
            return
        if isinstance(result, Exception):
            flight.set_exception(result)
            flight.exception()  # marks it as retrieved, since perhaps nobody waits for it
        else:
            flight.set_result(result)

    async def _work(self) -> None:
        while True:
            request = await self._queue.get()
            if self._ended is not None:
                self._land(request.key, self._ended)
                continue
            try:
                answer = await self._ask(request)
                if isinstance(answer, Reply):
                    self._cache.keep(request, answer)
            except Exception as error:
                self._ended = self._ended or error
                self._land(request.key, error)
                continue
            if isinstance(answer, Reply):
                self.counts.add(answer)
            else:
                self._failures[request.key] = answer
                self.counts.failed += 1
            self._land(request.key, answer)

    async def _ask(self, request: Request) -> Answer:
        await self._prepare()
        if (reason := self._budget.reserve(request)) is not None:
            raise BudgetSpent(reason)
        self.counts.sent += 1
        answer: Answer | None = None
        try:
            answer = await self._try(request)
        except Exception:
            self.counts.failed += 1
            raise
        finally:
            self._budget.settle(request, answer if isinstance(answer, Reply) else None)
        return answer

    async def _try(self, request: Request) -> Answer:
        try:
            answer: Answer = await self._policy.retrying()(self._attempt, request)
        except Transient as error:
            return self._losses.lost(error)
        self._losses.answered()
        return answer

    async def _attempt(self, request: Request) -> Answer:
        """Make one attempt within the limiter; latency counts from the moment that it may be sent."""
        most = prompt_bound(request.messages) + request.token_limit
        await self._limiter.acquire(most)
        started, latency, throttled = time.perf_counter(), None, False
        self._busy += 1
        self._idle.clear()
        try:
            if self._ended is not None:
                raise self._ended
            answer = await self._model.answer(request)
            latency = time.perf_counter() - started
            return replace(cleaned(answer), latency=latency) if isinstance(answer, Reply) else answer
        except Transient as error:
            throttled = error.throttled
            raise
        finally:
            self._busy -= 1
            if not self._busy:
                self._idle.set()
            self._limiter.release(latency, throttled)

    async def _prepare(self) -> None:
        """Negotiate, once before the first request, how to ask, reusing what an earlier run learnt."""
        if self._prepared is None:
            self._prepared = asyncio.create_task(self._negotiate())
        await asyncio.shield(self._prepared)

    async def _negotiate(self) -> None:
        if self._cache.read_only:  # what is asked now would be paid for and lost
            raise CacheError(
                f"cache {self._cache.path} is read-only: use another --cache for what is not in it"
            )
        endpoint = canonical(dict(self._model.identity))
        dialect = await self._cache.dialect(endpoint)
        try:
            learnt: JsonObject | None = await self._policy.retrying()(self._model.prepare, dialect)
        except Transient as error:
            raise EndpointError(f"{self._model.name}: {error}") from error
        if learnt is not None:
            await self._cache.learn(endpoint, learnt)

    def _count_retry(self, seconds: float) -> None:
        self.counts.retried += 1
        self.counts.resume = max(self.counts.resume, time.monotonic() + seconds)
