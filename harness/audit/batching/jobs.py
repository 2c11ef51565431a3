"""Jobs of the OpenAI Batch API: upload, create, await and download them.

``batch.json`` in the run folder records the state of each job before its next step. So a run that was stopped
resumes the same jobs, and no request is paid for twice.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar, cast

from harness import files
from harness.answering.batch_files import LINES_A_FILE
from harness.disclosure import one_line, redacted_bytes
from harness.errors import EndpointError, RunError, Transient
from harness.http_client import LARGEST
from harness.models import refusals
from harness.retrying import PATIENT, Policy, retry_after

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncOpenAI
    from openai.types import Batch, FileObject

    Endpoint = Literal["/v1/chat/completions", "/v1/completions"]

log = logging.getLogger(__name__)

DEADLINE = 120.0
ENDED = ("completed", "failed", "expired", "cancelled", "canceled")
CLOCK_SKEW = 60
LINE_BYTES = 1 << 20
"""The most bytes of a batch's answers for each of its requests, on average."""

T = TypeVar("T")


@dataclass
class Job:
    """A batch file and the job that answers it. ``status`` is the provider's once there is an ``id``.

    ``uploaded`` is the upload's Unix time; ``answers`` the downloaded files by kind, output or error.
    ``creating`` is set before the job is requested: if the response was lost, the job is looked for.
    ``done``: the answers are in the cache; ``settled``: and the cache expects no more of them.
    """

    file: str
    requests: int
    url: str
    input_file_id: str | None = None
    uploaded: int = 0
    creating: bool = False
    id: str | None = None
    status: str = "written"
    reason: str = ""
    answers: dict[str, str] = field(default_factory=dict)
    done: bool = False
    settled: bool = False

    @property
    def line(self) -> str:
        """The job's state, or how it ended, in one line."""
        state = f"batch job {self.id or self.file}: {self.status}"
        return f"{state}: {self.reason}" if self.reason else state


class Ledger:
    """``batch.json``: all jobs of a run, and the name of the files being written, if any.

    Raises ``RunError`` if it is damaged.
    """

    def __init__(self, folder: Path) -> None:
        self.files = folder / "batch"
        self._path = folder / "batch.json"
        self.jobs: list[Job] = []
        self.writing: str | None = None
        if self._path.exists():
            try:
                data = json.loads(self._path.read_text(encoding="utf-8"))
                self.jobs = [Job(**job) for job in data["jobs"]]
                self.writing = data["writing"]
            except (ValueError, KeyError, TypeError) as error:
                raise RunError(
                    f"{self._path} is damaged ({error}): it records which jobs were paid for"
                ) from error

    @property
    def unfinished(self) -> list[Job]:
        """The jobs whose answers are not in the cache yet."""
        return [job for job in self.jobs if not job.done]

    def save(self) -> None:
        """Write the file."""
        files.private_folder(self.files)
        data = {"schema": 1, "writing": self.writing, "jobs": [asdict(job) for job in self.jobs]}
        files.write(self._path, json.dumps(data, indent=1))


@dataclass(frozen=True)
class Pace:
    """How often a job is polled: every ``first`` seconds, growing to ``last``.

    ``policy`` says when to retry after an error; a job has at most ``lines`` requests.
    """

    first: float = 1.0
    last: float = 60.0
    policy: Policy = PATIENT
    lines: int = LINES_A_FILE


class BatchApi:
    """The Batch API behind ``client``; ``name`` is the model's in error messages.

    A step that may succeed later is retried. Raises ``EndpointError``, whose message never contains the key.
    """

    def __init__(self, client: AsyncOpenAI, name: str, ledger: Ledger, pace: Pace) -> None:
        self._client = client.with_options(timeout=DEADLINE)
        self._name = name
        self._ledger = ledger
        self._pace = pace

    async def submitted(self, jobs: Sequence[Job]) -> list[Job]:
        """Upload and create ``jobs``, each from its current state; return those that are then in progress."""
        submitted: list[Job] = []
        for job in jobs:
            try:
                await self._submit(job)
                submitted.append(job)
            except EndpointError as error:
                self._trouble(job, error)
        return submitted

    async def ended(self, jobs: Sequence[Job], watch: Callable[[str], None]) -> AsyncIterator[Job]:
        """Yield each job as it ends, its answers downloaded. One that cannot be reached stays unfinished."""
        pause, running = self._pace.first, list(jobs)
        while running:
            for job in list(running):
                try:
                    batch = await self._steady(partial(self._look, job))
                    watch(self._progress(job, batch))
                    if batch.status not in ENDED:
                        continue
                    job.status, job.reason = batch.status, self._reason(batch)
                    await self._download(job, batch)
                    self._ledger.save()
                    yield job
                except EndpointError as error:
                    self._trouble(job, error)
                running.remove(job)
            if running:
                await asyncio.sleep(pause)
                pause = min(pause * 1.5, self._pace.last)

    async def _submit(self, job: Job) -> None:
        if job.input_file_id is None:
            file = await self._steady(partial(self._upload, job))
            job.input_file_id, job.uploaded = file.id, getattr(file, "created_at", None) or 0
            self._ledger.save()
        if job.id is None:
            batch = await self._steady(partial(self._create, job))
            job.id, job.status, job.reason = batch.id, batch.status, ""
            self._ledger.save()

    def _trouble(self, job: Job, error: EndpointError) -> None:
        """Record the error; the job stays as it is for the next run, and the others continue."""
        log.error("%s", error)
        job.reason = str(error)
        self._ledger.save()

    async def _create(self, job: Job) -> Batch:
        """Create the job of an uploaded file, unless an earlier request, its response lost, created it."""
        assert job.input_file_id is not None
        if job.creating and (earlier := await self._find(job)) is not None:
            return earlier
        job.creating = True
        self._ledger.save()
        endpoint = cast("Endpoint", job.url)
        created = await self._client.batches.create(
            input_file_id=job.input_file_id, endpoint=endpoint, completion_window="24h"
        )
        return _checked(created)

    async def _upload(self, job: Job) -> FileObject:
        path = self._ledger.files / job.file
        with path.open("rb") as file:  # passed as a file, so that it is not read into memory
            named = (f"hinter-{job.file}", file)
            return _checked(await self._client.files.create(file=named, purpose="batch"))

    async def _look(self, job: Job) -> Batch:
        assert job.id is not None
        return _checked(await self._client.batches.retrieve(job.id))

    async def _find(self, job: Job) -> Batch | None:
        """Find the job of ``job``'s file among the account's jobs, newest first."""
        async for batch in self._client.batches.list(limit=100):
            if batch.input_file_id == job.input_file_id:
                return _checked(batch)
            if (batch.created_at or 0) < job.uploaded - CLOCK_SKEW:
                return None
        return None

    async def _download(self, job: Job, batch: Batch) -> None:
        for kind in ("output", "error"):
            if file_id := getattr(batch, f"{kind}_file_id", None):
                path = self._ledger.files / f"{Path(job.file).stem}.{kind}.jsonl"
                if not path.exists():
                    most = LARGEST + job.requests * LINE_BYTES
                    await self._steady(partial(self._fetch, file_id, path, most))
                job.answers[kind] = path.name

    async def _fetch(self, file_id: str, path: Path, most: int) -> None:
        """Download a file of at most ``most`` bytes line by line; it appears only when it is whole.

        So memory stays flat. Raises ``EndpointError`` for a larger file, or a line above ``LARGEST`` bytes.
        """
        async with self._client.files.with_streaming_response.content(file_id) as answer:
            with files.replacing(path) as unfinished, unfinished.open("wb") as file:
                line, total = bytearray(), 0
                async for chunk in answer.iter_bytes():
                    total += len(chunk)
                    *ended, rest = chunk.split(b"\n")
                    for part in ended:
                        file.write(redacted_bytes(bytes(line + part)) + b"\n")
                        line.clear()
                    line += rest
                    if total > most or len(line) > LARGEST:
                        raise EndpointError(
                            f"{self._name}: batch file {file_id} is larger than answers to its requests are"
                        )
                file.write(redacted_bytes(bytes(line)))

    async def _steady(self, step: Callable[[], Awaitable[T]]) -> T:
        """Take one step, retried as long as that may help. Raises ``EndpointError``."""
        import httpx2
        import openai

        async def attempt() -> T:
            """Take the step once; turn the client's errors into ours, without the key."""
            try:
                return await step()
            except openai.APIStatusError as error:
                raise self._judged(error) from None
            except (openai.OpenAIError, httpx2.HTTPError, ValueError) as error:
                raise Transient(one_line(error) or type(error).__name__) from None

        try:
            return await self._pace.policy.retrying()(attempt)
        except Transient as error:
            raise EndpointError(f"{self._name}: {error}: the same command resumes the job") from None

    def _judged(self, error: APIStatusError) -> Transient | EndpointError:
        """Return what an HTTP error means for the job: retry (``Transient``) or give up."""
        from harness.models.endpoint import content

        after = retry_after(error.response.headers)
        try:
            message = refusals.classify(error.status_code, content(error.response), None, after).message
        except Transient as transient:
            return Transient(str(transient), transient.retry_after, transient.throttled)
        except EndpointError as terminal:
            message = str(terminal)
        return EndpointError(f"{self._name}: batch API: {message}")

    def _reason(self, batch: Batch) -> str:
        """Return the provider's first reason why a job failed, and the number of others."""
        errors = getattr(getattr(batch, "errors", None), "data", None) or []
        messages = [f"{e.message or e.code}" + (f" (line {e.line})" if e.line else "") for e in errors]
        more = f", and {len(messages) - 1} more" if len(messages) > 1 else ""
        return one_line(messages[0]) + more if messages else ""

    def _progress(self, job: Job, batch: Batch) -> str:
        counts = getattr(batch, "request_counts", None)
        finished = (getattr(counts, "completed", 0) or 0) + (getattr(counts, "failed", 0) or 0)
        return f"batch job {job.id}: {batch.status}, {finished} of {job.requests} requests"


def _checked(answer: T) -> T:
    """Return ``answer`` if it is a job or a file: some proxies answer 200 with a page of their own.

    Raises ``Transient`` otherwise.
    """
    if not isinstance(getattr(answer, "id", None), str) or not hasattr(answer, "status"):
        raise Transient("not a response of a batch API")
    return answer
