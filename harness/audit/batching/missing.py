"""What a run would send: every request that its flow asks for and the cache does not hold."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.answering import batch_files
from harness.answering.batch_files import BatchFiles
from harness.answering.budget import Budget
from harness.answering.cache import ResponseCache
from harness.answering.runner import Answer, Answerer
from harness.audit import asking
from harness.audit.assembly import Audit
from harness.audit.examination import Examiner, next_group
from harness.core import Case, Failure, Reply, Request
from harness.dialect import Dialect
from harness.estimates import prompt_bound
from harness.models import wire

UNASKED = Failure("failed", "no batch job has answered this yet")


async def examine(audit: Audit, answerer: Answerer, cases: Iterable[Case]) -> None:
    """Ask ``answerer`` all that the flow of ``audit`` asks about ``cases``; what it finds is left."""
    examiner = Examiner(audit, answerer)
    groups = asking.groups(cases, audit.suite.include_discarded)
    while (group := await next_group(groups)) is not None:
        await examiner.examine(group)


@dataclass
class Missing:
    """Answers out of the cache, and hands on what is missing there to ``write``.

    Left out is what ``skip`` holds and what an earlier file or job is still to bring (unless ``again``).
    ``cached`` and ``held`` count the requests that are in the cache, and those that are still to be brought.
    """

    cache: ResponseCache
    write: Callable[[Sequence[Request]], Awaitable[None]]
    skip: Mapping[str, Failure] = field(default_factory=dict)
    again: bool = False
    cached: int = 0
    held: int = 0

    async def replies(self, requests: Sequence[Request]) -> dict[str, Answer]:
        """Return the answers kept, ``UNASKED`` in place of those that are missing."""
        distinct = {request.key: request for request in requests}
        found, fresh = await self.cache.look_up(list(distinct))
        self.cached += len(fresh & found.keys())
        missing = [r for key, r in distinct.items() if key in fresh and key not in found]
        held = {} if self.again else await self.cache.expected([r.key for r in missing])
        self.held += len(held)
        await self.write([r for r in missing if r.key not in held and r.key not in self.skip])
        return {key: found.get(key, UNASKED) for key in distinct}


@dataclass
class Lines:
    """Writes requests as lines of ``files``, as long as the ``budget`` lasts; the cache then expects them.

    ``find_dialect`` is called once, for the first line. ``stopped`` says which limit ended it.
    """

    audit: Audit
    cache: ResponseCache
    files: BatchFiles
    find_dialect: Callable[[Audit, ResponseCache], Awaitable[Dialect]]
    budget: Budget
    stopped: str | None = None
    dialect: Dialect | None = None

    @property
    def url(self) -> str:
        """Where the lines are to be sent."""
        return f"/v1{wire.path(self.dialect or Dialect())}"

    async def write(self, requests: Sequence[Request]) -> None:
        """Write ``requests``, each line before its key is expected: so each expected key has a line."""
        written: dict[Path, list[Request]] = {}
        for request in requests:
            if not self._affordable(request):
                break
            self.dialect = self.dialect or await self.find_dialect(self.audit, self.cache)
            access = self.audit.model.batch
            assert access is not None, "a model without batches has no dialect"
            body = wire.body(access.model, request, self.dialect)
            path = self.files.add(batch_files.line(request, self.url, body))
            written.setdefault(path, []).append(request)
        self.files.flush()
        for path, some in written.items():
            await self.cache.expect(some, str(path))

    def _affordable(self, request: Request) -> bool:
        """Return whether the budget has room for ``request`` at its worst, and take that from it."""
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
