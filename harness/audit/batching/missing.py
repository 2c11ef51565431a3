"""Find what a run would send: every request of its flow that is not answered in the cache."""

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
from harness.audit.examination import Examiner
from harness.core import Case, Failure, Reply, Request
from harness.dialect import Dialect
from harness.estimates import prompt_bound
from harness.models import wire

UNASKED = Failure("failed", "no batch job has answered this yet")


async def examine(audit: Audit, answerer: Answerer, cases: Iterable[Case]) -> None:
    """Pass ``answerer`` every request that the flow of ``audit`` makes about ``cases``; drop the verdicts."""
    examiner = Examiner(audit, answerer)
    groups = asking.groups(cases, audit.suite.include_discarded)
    while (group := await asking.next_group(groups)) is not None:
        await examiner.examine(group)


@dataclass
class Missing:
    """An answerer that answers from the cache and passes missing requests to ``write``.

    Left out are the requests in ``skip`` and, unless ``again``, those awaited from an earlier file or job.
    ``cached`` counts the requests answered in the cache, ``held`` those awaited.
    """

    cache: ResponseCache
    write: Callable[[Sequence[Request]], Awaitable[None]]
    skip: Mapping[str, Failure] = field(default_factory=dict)
    again: bool = False
    cached: int = 0
    held: int = 0

    async def replies(self, requests: Sequence[Request], turn: int = 0) -> dict[str, Answer]:
        """Return the answers in the cache by key, ``UNASKED`` for those that are missing."""
        distinct = {request.key: request for request in requests}
        replies, fresh = await self.cache.look_up(list(distinct))
        self.cached += len(fresh & replies.keys())
        missing = [r for key, r in distinct.items() if key in fresh and key not in replies]
        held = {} if self.again else await self.cache.expected([r.key for r in missing])
        self.held += len(held)
        await self.write([r for r in missing if r.key not in held and r.key not in self.skip])
        return {key: replies.get(key, UNASKED) for key in distinct}


@dataclass
class Lines:
    """Writes requests as lines of ``files`` while the ``budget`` lasts; the cache then expects the answers.

    ``find_dialect`` is called once, for the first line. ``stopped`` says which limit ended the writing.
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
        """The path that the lines are sent to."""
        return f"/v1{wire.path(self.dialect or Dialect())}"

    async def write(self, requests: Sequence[Request]) -> None:
        """Write ``requests``, then have the cache expect them: so every expected key has a line."""
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
        for path, lines in written.items():
            await self.cache.expect(lines, str(path))

    def _affordable(self, request: Request) -> bool:
        """Return whether the budget covers the worst case of ``request``, and deduct that."""
        if self.stopped is None:
            self.stopped = self.budget.reserve(request)
        if self.stopped is None:
            worst = Reply(
                "",
                prompt_tokens=prompt_bound(request.messages),
                completion_tokens=request.token_limit,
            )
            self.budget.settle(request, worst)
        return self.stopped is None
