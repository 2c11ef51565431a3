"""Have the missing requests of a run answered by jobs of the OpenAI Batch API, before its flow begins."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from harness.answering import batch_files
from harness.answering.batch_files import BatchFiles, Taken
from harness.answering.budget import Budget
from harness.answering.cache import ResponseCache
from harness.audit import generation
from harness.audit.assembly import Audit
from harness.audit.batching.files import keep, settle
from harness.audit.batching.jobs import BatchApi, Job, Ledger, Pace
from harness.audit.batching.missing import UNASKED, Lines, Missing, examine
from harness.config import RunConfig
from harness.core import Failure, JsonObject, Reply, Request, canonical
from harness.dialect import Dialect
from harness.errors import CacheError, ConfigError, EndpointError
from harness.folder import RunFolder
from harness.plugins import Model, Tokenizer
from harness.settings import BudgetLimits

if TYPE_CHECKING:
    import openai

log = logging.getLogger(__name__)


async def answered(
    audit: Audit, folder: RunFolder, watch: Callable[[str], None] = lambda _: None, pace: Pace | None = None
) -> Audit:
    """Send the missing requests in batch jobs; return the audit with a model that sends no more.

    Jobs that an earlier run of this folder left come first. A further round of jobs follows only if answers
    call for more requests (``--confirm``). Raises ``EndpointError`` if no job brought any answer.
    """
    access = audit.model.batch
    if access is None or access.connect is None:
        raise ConfigError(f"--batch needs an endpoint with a batch API, not {audit.model.name}")
    work = Batches(audit, access.connect, folder, audit.budget, pace or Pace())
    await work.tidy()
    await work.do(watch)
    bad = [job for job in work.jobs if job.reason or job.status != "completed"]
    if bad and not work.taken.new + work.taken.already:
        raise EndpointError(bad[0].line)
    return replace(
        audit,
        config=_without_limits(audit),
        model=Unsent(
            audit.model,
            work.ledger.jobs,
            work.taken,
            Failure("failed", work.stopped) if work.stopped else UNASKED,
        ),
    )


def outstanding(folder: Path) -> int:
    """Return the number of requests in batch jobs of ``folder`` whose answers have not been imported."""
    return sum(job.requests for job in Ledger(folder).unfinished)


class Batches:
    """The batch jobs of one run folder: ``jobs`` are those of this run, ``taken`` the answers they brought.

    ``connect`` opens the client of the model's batch API; it is called only if there is a job. ``stopped``
    says which limit of the budget ended the writing of requests.
    """

    def __init__(
        self,
        audit: Audit,
        connect: Callable[[], openai.AsyncOpenAI],
        folder: RunFolder,
        budget: Budget,
        pace: Pace,
    ) -> None:
        self.ledger = Ledger(folder.path)
        self.jobs: list[Job] = []
        self.taken = Taken()
        self.stopped: str | None = None
        self._audit = audit
        self._connect = connect
        self._folder = folder
        self._budget = budget
        self._pace = pace

    async def do(self, watch: Callable[[str], None]) -> None:
        """Run jobs until every missing request was answered or has failed in one."""
        while True:
            resumed = bool(self.ledger.unfinished)
            if not resumed:
                await self.write()
            if not self.ledger.unfinished:
                return
            await self.go_through(watch)
            if self.ledger.unfinished or self.stopped or not (resumed or self._audit.config.confirm):
                return

    async def tidy(self) -> None:
        """Clean up after a run that was stopped: delete files never uploaded, settle jobs that are done."""
        ledger = self.ledger
        for job in ledger.jobs:
            if job.done and not job.settled:
                await self._settle(job)
        if ledger.writing is not None:
            for path in sorted(ledger.files.glob(f"{ledger.writing}*.jsonl")):
                await settle(self._audit.cache, list(batch_files.keys(path)))
                path.unlink()
            ledger.writing = None
            ledger.save()

    async def write(self) -> None:
        """Write all missing requests to batch files, each a job in the ledger."""
        audit, ledger = self._audit, self.ledger
        ledger.writing = f"{len(ledger.jobs) + 1:03d}"
        ledger.save()
        generated = generation.cases(audit, self._folder, audit.config.workers)
        async with ResponseCache(audit.cache) as cache:
            first = ledger.files / f"{ledger.writing}.jsonl"
            with closing(generated) as cases, BatchFiles(first, self._pace.lines) as files:
                lines = Lines(audit, cache, files, _learnt_dialect, self._budget)
                missing = Missing(cache, lines.write, self.taken.failures)
                await examine(audit, missing, cases)
        counts = zip(files.paths, files.counts, strict=True)
        ledger.jobs += [Job(path.name, number, lines.url) for path, number in counts]
        ledger.writing = None
        ledger.save()
        self.stopped = lines.stopped
        if missing.held:
            log.warning(
                "%d requests await answers from earlier batch files: hinter import-batch imports these,"
                " a run without --batch sends the requests now",
                missing.held,
            )

    async def go_through(self, watch: Callable[[str], None]) -> None:
        """Take every unfinished job from its current state to its answers in the cache."""
        async with ResponseCache(self._audit.cache) as cache:
            await _learnt_dialect(self._audit, cache)
        api = BatchApi(self._connect(), self._audit.model.name, self.ledger, self._pace)
        todo = self.ledger.unfinished
        self.jobs += todo
        async for job in api.ended(await api.submitted(todo), watch):
            await self._finish(job)

    async def _finish(self, job: Job) -> None:
        """Import the answers of a job, and count the requests it left unanswered as failures."""
        if job.status != "completed" or job.reason:
            log.error("%s", job.line)
        taken, ledger = Taken(), self.ledger
        await keep(self._audit.cache, [(ledger.files / name, name) for name in job.answers.values()], taken)
        if taken.unknown and not taken.answered and not taken.failures:
            raise CacheError(
                f"cache {self._audit.cache} expects no answers of batch job {job.id}: give the --cache of the"
                f" run that created it (its answers are in {ledger.files})"
            )
        for key in batch_files.keys(ledger.files / job.file):
            taken.failure(key, Failure("failed", f"no answer: {job.line}"))
        job.done = True
        ledger.save()
        await self._settle(job)
        if taken.failures:
            log.warning("batch job %s: %d of %d requests failed", job.id, len(taken.failures), job.requests)
        for problem in taken.problems():
            log.warning("batch job %s: %s", job.id, problem)
        self.taken.add(taken)

    async def _settle(self, job: Job) -> None:
        await settle(self._audit.cache, list(batch_files.keys(self.ledger.files / job.file)))
        job.settled = True
        self.ledger.save()


class Unsent(Model):
    """A model whose requests were all sent in batch jobs: those not answered in the cache failed there.

    ``jobs`` are all jobs of the run folder, ``taken`` the answers this run imported, and ``default`` the
    answer to a request that was in no job.
    """

    def __init__(self, model: Model, jobs: Sequence[Job], taken: Taken, default: Failure) -> None:
        self.name = model.name
        self.identity = model.identity
        self.capabilities = model.capabilities
        self.concurrency = model.concurrency
        self.rates = model.rates
        self._model = model
        self._jobs = jobs
        self._taken = taken
        self._default = default

    @property
    def context(self) -> int | None:
        """The context of the model."""
        return self._model.context

    @property
    def facts(self) -> JsonObject:
        """The facts of the model, and the batch jobs under ``batch``."""
        jobs = [
            {"id": job.id, "status": job.status, "requests": job.requests, "reason": job.reason}
            for job in self._jobs
        ]
        return {**self._model.facts, "batch": {"jobs": jobs, **self._taken.to_json()}}

    def count_tokens(self, text: str) -> int | None:
        """Count the tokens of ``text`` as the model does."""
        return self._model.count_tokens(text)

    async def tokenizer(self) -> Tokenizer | None:
        """Return the tokenizer of the model."""
        return await self._model.tokenizer()

    def recall(self, known: JsonObject) -> None:
        """Have the model recall what an earlier run recorded."""
        self._model.recall(known)

    async def answer(self, request: Request) -> Reply | Failure:
        """Return the failure of ``request`` in its batch job."""
        return self._taken.failures.get(request.key, self._default)

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()


def _without_limits(audit: Audit) -> RunConfig:
    """Return the configuration without limits, which were applied when the jobs were written."""
    model = audit.config.model.model_copy(update={"requests_per_minute": None, "tokens_per_minute": None})
    return audit.config.model_copy(update={"budget": BudgetLimits(), "model": model})


async def _learnt_dialect(audit: Audit, cache: ResponseCache) -> Dialect:
    """Return the dialect of the endpoint, found out over the network if no run has learnt it yet."""
    endpoint = canonical(dict(audit.model.identity))
    learnt = await audit.model.prepare(await cache.dialect(endpoint))
    if learnt is not None:
        await cache.learn(endpoint, learnt)
    assert audit.model.batch is not None, "checked before a job is made"
    return audit.model.batch.dialect
