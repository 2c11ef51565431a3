"""What a run would send: every request that its flow asks for and the cache does not hold."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from harness.answering import batch_files
from harness.answering.batch_files import BatchFiles
from harness.answering.budget import Budget
from harness.answering.cache import ResponseCache
from harness.answering.runner import Answer
from harness.audit.assembly import Audit
from harness.audit.examination import Examiner, next_group
from harness.core import Case, Failure, Reply, Request
from harness.estimates import prompt_bound
from harness.models import wire
from harness.models.wire import Dialect

UNASKED = Failure("failed", "no batch job has answered this yet")


@dataclass
class Missing:
    """Stands where the runner does: answers out of the cache, and writes down what is not there.

    Left out is what ``skip`` holds, what an earlier file or job is still to bring (unless ``again``), and
    what is beyond the ``budget``. ``find_dialect`` is called once, for the first line.
    """

    audit: Audit
    cache: ResponseCache
    files: BatchFiles
    find_dialect: Callable[[Audit, ResponseCache], Awaitable[Dialect]]
    skip: Mapping[str, Failure] = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget)
    again: bool = False
    cached: int = 0
    held: int = 0
    stopped: str | None = None
    dialect: Dialect | None = None

    @property
    def url(self) -> str:
        return f"/v1{wire.path(self.dialect or Dialect())}"

    async def collect(self, cases: Iterator[Case]) -> None:
        """Write down all that examining ``cases`` asks for."""
        examiner = Examiner(self.audit, self)
        groups = ([c for c in group if c.valid] for _, group in groupby(cases, key=lambda case: case.group))
        while (group := await next_group(groups)) is not None:
            if group:
                await examiner.examine(group)

    async def replies(self, requests: Sequence[Request]) -> dict[str, Answer]:
        distinct = {request.key: request for request in requests}
        found, fresh = await self.cache.look_up(list(distinct))
        self.cached += len(fresh & found.keys())
        missing = [r for key, r in distinct.items() if key in fresh and key not in found]
        held = {} if self.again else await self.cache.expected([r.key for r in missing])
        self.held += len(held)
        await self._write([r for r in missing if r.key not in held and r.key not in self.skip])
        return {key: found.get(key, UNASKED) for key in distinct}

    async def _write(self, requests: Sequence[Request]) -> None:
        """A line is in its file before its key is expected: so each key that is expected has a line."""
        written: dict[Path, list[Request]] = {}
        for request in requests:
            if not self._affordable(request):
                break
            self.dialect = self.dialect or await self.find_dialect(self.audit, self.cache)
            body = wire.body(self.audit.model.identity["name"], request, self.dialect)
            path = self.files.add(batch_files.line(request, self.url, body))
            written.setdefault(path, []).append(request)
        self.files.flush()
        for path, some in written.items():
            await self.cache.expect(some, str(path))

    def _affordable(self, request: Request) -> bool:
        if self.stopped is None:
            self.stopped = self.budget.reserve(request)
        if self.stopped is None:
            worst = Reply(
                "",
                prompt_tokens=prompt_bound(request.messages),
                completion_tokens=int(request.sampling.get("max_tokens", 0)),
            )
            self.budget.settle(request, worst)
        return self.stopped is None
