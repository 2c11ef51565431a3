"""Sends requests: each distinct one once, a bounded number at a time, storing each reply as it arrives.

First come, first served: a free slot goes to the request of the group that began first, so that groups are
finished before new ones begin. A request keeps its slot until it has ended, all its attempts included.
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
from itertools import count
from types import TracebackType
from typing import Protocol

from tenacity.wait import wait_base

from harness import posts
from harness.answering.budget import Budget, metered, worst_case
from harness.answering.cache import ResponseCache
from harness.answering.limiter import Limiter
from harness.answering.probing import Probing
from harness.core import Failure, JsonObject, Reply, Request, canonical
from harness.errors import BudgetSpent, CacheError, EndpointError, Transient
from harness.estimates import bytes_bound
from harness.plugins import Model
from harness.replies import cleaned
from harness.retrying import BACK_OFF, Losses, Policy

GRACE = 10.0
PROBE_TOKENS = 16  # the most that the answer to a probe may have

Answer = Reply | Failure


@dataclass(slots=True)
class Counts:
    """Counts of requests and tokens; ``unique = cached + sent`` once a run is complete.

    ``failed`` counts requests sent that got no reply and would get none again; ``unfinished`` those that were
    under way when the run was stopped; ``retried`` counts extra attempts; ``served`` counts
    replies by the model that the endpoint says it is, with its fingerprint. ``damaged`` replies in the cache
    were asked for again. ``probes`` are all other requests: other forms, and questions about the endpoint;
    their replies took ``probing`` tokens (prompt, completion, cached). ``unmetered`` replies did not tell
    their tokens, of which they have ``prompt_bound`` and ``completion_bound`` at most. Until ``resume``, of
    the clock ``time.monotonic``, requests wait: to be tried again, or because the server asks for it.
    """

    unique: int = 0
    cached: int = 0
    sent: int = 0
    retried: int = 0
    failed: int = 0
    unfinished: int = 0
    replies: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    served: Counter[str] = field(default_factory=Counter)
    probes: int = 0
    probing: tuple[int, int, int] = (0, 0, 0)
    resume: float = 0.0
    damaged: int = 0
    unmetered: int = 0
    prompt_bound: int = 0
    completion_bound: int = 0

    def add(self, request: Request, reply: Reply) -> None:
        """Count the tokens of a distinct reply, cached or new."""
        self.replies += 1
        self.served[" ".join(filter(None, (reply.model, reply.fingerprint)))] += 1
        if not metered(reply):
            self._add_bounds(*worst_case(request))
            return
        self.prompt_tokens += reply.prompt_tokens
        self.completion_tokens += reply.completion_tokens
        self.cached_tokens += reply.cached_tokens

    def add_probe(self, reply: Reply, size: int, tokens: int) -> None:
        """Count the tokens of a reply to a probe: a body of ``size`` bytes, for ``tokens`` at most."""
        if not metered(reply):
            self._add_bounds(bytes_bound(size), tokens)
            return
        prompt, completion, cached = self.probing
        more = (reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens)
        self.probing = (prompt + more[0], completion + more[1], cached + more[2])

    def _add_bounds(self, prompt: int, completion: int) -> None:
        self.unmetered += 1
        self.prompt_bound += prompt
        self.completion_bound += completion


class Answerer(Protocol):
    """Answers requests, whether by asking a model or from a cache."""

    async def replies(self, requests: Sequence[Request], turn: int = 0) -> dict[str, Answer]:
        """Return the answer to each request, by key; those of a lower ``turn`` go first."""


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
        self._endpoint = canonical(dict(model.identity))
        self._cache = cache
        self._limiter = limiter
        self._budget = budget or Budget()
        self._policy = Policy(back_off=back_off, on_retry=self._wait)
        self._losses = Losses(model.name)
        self._prepared: asyncio.Task[None] | None = None
        self._asked_since: float | None = None
        self._numbers = count()
        self._queue: asyncio.PriorityQueue[tuple[int, int, Request]] = asyncio.PriorityQueue()
        self._workers: list[asyncio.Task[None]] = []
        self._flights: dict[str, asyncio.Future[Answer]] = {}
        self._failures: dict[str, Failure] = {}
        self._posted: set[str] = set()
        self._busy = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._ended: Exception | None = None

    @property
    def ceiling(self) -> int:
        """The maximum number of requests under way at once."""
        return self._limiter.ceiling

    @property
    def waiting(self) -> str:
        """What is waited for before the first request, and since when; "" for nothing."""
        if not (waiting := self._model.waiting) and self._asked_since is not None:
            since = time.strftime("%H:%M:%S", time.localtime(self._asked_since))
            seconds = time.time() - self._asked_since
            return f"finding out how to ask {self._model.name} since {since} ({seconds:.0f} s)"
        return waiting

    async def __aenter__(self) -> Runner:
        if (known := await self._cache.dialect(self._endpoint)) is not None:
            self._model.recall(known)
        self._workers = [asyncio.create_task(self._work()) for _ in range(self._limiter.ceiling)]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def stop(self) -> None:
        """Send nothing more; allow what is under way, perhaps billed, ``GRACE`` seconds to finish.

        On return each request has its answer, or the error that ended the run.
        """
        self._ended = self._ended or EndpointError("the run has ended")
        if self._prepared is not None:
            self._prepared.cancel()
            await asyncio.gather(self._prepared, return_exceptions=True)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._idle.wait(), GRACE)
        for worker in self._workers:
            worker.cancel()
        await asyncio.gather(*self._workers, return_exceptions=True)
        for key in list(self._flights):
            self._land(key, self._ended)

    async def replies(self, requests: Sequence[Request], turn: int = 0) -> dict[str, Answer]:
        """Return the answer to each request, by key; those of a lower ``turn`` go first.

        Raises ``EndpointError`` where no more can succeed.
        """
        distinct = {request.key: request for request in requests}
        # A flight is registered before the cache look-up, so that no other caller sends the same request.
        unclaimed = [key for key in distinct if key not in self._flights]
        waiting = {key: self._flights.get(key) or self._take_off(key) for key in distinct}
        cached, fresh = await self._cache.look_up(unclaimed)
        self.counts.unique += len(fresh)
        self.counts.damaged = self._cache.damaged
        for key in unclaimed:
            if key in cached:
                if key in fresh:
                    self.counts.cached += 1
                    self.counts.add(distinct[key], cached[key])
                self._land(key, cached[key])
            elif key in self._failures:
                self._land(key, self._failures[key])
            elif self._ended is not None:
                self._land(key, self._ended)
            else:
                self._queue.put_nowait((turn, next(self._numbers), distinct[key]))
        return {key: await asyncio.shield(flight) for key, flight in waiting.items()}

    def _take_off(self, key: str) -> asyncio.Future[Answer]:
        self._flights[key] = asyncio.get_running_loop().create_future()
        return self._flights[key]

    def _land(self, key: str, result: Answer | Exception) -> None:
        flight = self._flights.pop(key, None)
        if flight is None or flight.done():
            return
        if isinstance(result, Exception):
            flight.set_exception(result)
            flight.exception()  # marks it as retrieved, since perhaps nobody waits for it
        else:
            flight.set_result(result)

    async def _work(self) -> None:
        """Serve one request after another: the one that is due when a slot is there."""
        while True:
            await self._limiter.acquire()
            try:
                _, _, request = await self._queue.get()
                await self._serve(request)
            finally:
                self._limiter.release()

    async def _serve(self, request: Request) -> None:
        """Ask, keep the reply and land it. Only what was posted is counted as sent, or as failed."""
        answer: Answer | None = None
        try:
            answer = await self._try(request)
            if isinstance(answer, Reply):
                self._cache.keep(request, answer)
                self.counts.add(request, answer)
            else:
                self._failures[request.key] = answer
            self._land(request.key, answer)
        except Exception as error:
            self._ended = self._ended or error
            self._land(request.key, error)
        finally:
            if request.key in self._posted:
                self._posted.discard(request.key)
                self.counts.failed += isinstance(answer, Failure)
                self.counts.unfinished += answer is None

    async def _try(self, request: Request) -> Answer:
        await self._prepare()
        try:
            answer = await self._policy.call(self._attempt, request)
        except Transient as error:
            return self._losses.lost(error)
        self._losses.answered()
        return answer

    async def _attempt(self, request: Request) -> Answer:
        """Make one attempt; its latency counts from the moment that it may be sent."""
        prompt, completion = worst_case(request)
        await self._limiter.admit(prompt + completion)
        if self._ended is not None:
            raise self._ended
        if (reason := self._budget.reserve(request)) is not None:
            raise BudgetSpent(reason)
        if request.key in self._posted:
            self.counts.retried += 1
        else:
            self._posted.add(request.key)
            self.counts.sent += 1
        answer: Answer | None = None
        try:
            answer = await self._send(request)
        finally:
            self._budget.settle(request, answer if isinstance(answer, Reply) else None)
        return answer

    async def _send(self, request: Request) -> Answer:
        started, latency, throttled = time.perf_counter(), None, False
        self._busy += 1
        self._idle.clear()
        answer: Answer | None = None
        probing = self._probing(request.token_limit, reserved=1)
        try:
            with posts.told(probing):
                answer = await self._model.answer(request)
            if not isinstance(answer, Reply):
                return answer
            latency = time.perf_counter() - started
            answer = replace(cleaned(answer), latency=latency)
            return answer if metered(answer) else unmetered(answer)
        except posts.NotAllowed as error:
            raise BudgetSpent(str(error)) from error
        except Transient as error:
            throttled = error.throttled
            raise
        finally:
            probing.settle(isinstance(answer, Reply))
            self._busy -= 1
            if not self._busy:
                self._idle.set()
            self._limiter.note(latency, throttled)

    def _probing(self, tokens: int, reserved: int = 0) -> Probing:
        return Probing(self._budget, self.counts, tokens, lambda: self._ended, reserved)

    async def _prepare(self) -> None:
        """Negotiate, once before the first request, how to ask, reusing what an earlier run learnt."""
        if self._ended is not None:
            raise self._ended
        if self._prepared is None:
            self._prepared = asyncio.create_task(self._negotiate())
        await asyncio.shield(self._prepared)

    async def _negotiate(self) -> None:
        if self._cache.read_only:  # what is asked now would be paid for and lost
            raise CacheError(
                f"cache {self._cache.path} is read-only: use another --cache for what is not in it"
            )
        dialect = await self._cache.dialect(self._endpoint)
        self._asked_since = time.time()
        probing = self._probing(PROBE_TOKENS)
        try:
            with posts.told(probing):
                learnt: JsonObject | None = await self._policy.retrying()(self._model.prepare, dialect)
        except posts.NotAllowed as error:
            raise BudgetSpent(str(error)) from error
        except Transient as error:
            raise EndpointError(f"{self._model.name}: {error}") from error
        finally:
            self._asked_since = None
            probing.settle(answered=False)
        if learnt is not None:
            await self._cache.learn(self._endpoint, learnt)

    def _wait(self, seconds: float) -> None:
        self.counts.resume = max(self.counts.resume, time.monotonic() + seconds)


def unmetered(reply: Reply) -> Reply:
    """Return ``reply`` without token counts, which were none or cannot be true."""
    return replace(reply, prompt_tokens=0, completion_tokens=0, cached_tokens=0)
