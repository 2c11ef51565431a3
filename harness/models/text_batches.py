"""Batches of texts for a network: waiting texts are computed together, in a thread of their own.

A result that batching might have changed is computed again by itself, so that it does not depend on the rest
of the batch.
"""

from __future__ import annotations

import math
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Protocol

from harness.core import Failure, JsonObject
from harness.models.model_files import Encoding, Files, one_line

TEXTS_A_BATCH = 32
TOKENS_A_BATCH = TEXTS_A_BATCH * 512  # padded ones: long texts go fewer at a time
PADDING_CHANGES = 5e-4  # far more than a batch changes a number (about 1e-6 in float32)


class Network(Protocol):
    """Computes a tuple of numbers for each text."""

    @property
    def device(self) -> str:
        """The device on which the network runs."""

    def numbers(self, encodings: Sequence[Encoding]) -> list[tuple[float, ...]]:
        """Return the numbers of each text."""


@dataclass(frozen=True, slots=True)
class Computed:
    """The network's numbers for a text of ``tokens`` tokens."""

    numbers: tuple[float, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class Job:
    """A waiting text. ``stands`` decides whether its numbers are valid even though it shared a batch."""

    text: str
    stands: Callable[[Sequence[float]], bool]
    future: Future[Computed | Failure] = field(default_factory=Future)


class Batches:
    """A thread that computes waiting texts, up to ``TEXTS_A_BATCH`` at a time; the first text starts it."""

    def __init__(self, open_worker: Callable[[], Worker]) -> None:
        self._open = open_worker
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self.facts: JsonObject = {}

    def put(
        self, text: str, stands: Callable[[Sequence[float]], bool] = lambda numbers: True
    ) -> Future[Computed | Failure]:
        """Queue ``text``; the future holds its numbers, or the reason there are none."""
        job = Job(text, stands)
        self._jobs.put(job)
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="transformers", daemon=True)
            self._thread.start()
        return job.future

    def close(self) -> None:
        """Compute what is already queued, then end the thread and release the network."""
        if self._thread is not None:
            self._jobs.put(None)
            self._thread.join()
            self._thread = None

    def _run(self) -> None:
        worker: Worker | None = None
        while jobs := self._waiting():
            try:
                if worker is None:
                    worker = self._open()
                    self.facts = worker.facts
                worker.answer(jobs)
            except BaseException as error:  # report it, or the callers would wait for ever
                for job in jobs:
                    if not job.future.done():
                        job.future.set_exception(error)

    def _waiting(self) -> list[Job]:
        """Return all waiting jobs that are not cancelled, at least one; an empty list when closed."""
        jobs: list[Job] = []
        while not jobs:
            job = self._jobs.get()
            while job is not None:
                if job.future.set_running_or_notify_cancel():
                    jobs.append(job)
                try:
                    job = self._jobs.get_nowait()
                except queue.Empty:
                    break
            else:
                if jobs:
                    self._jobs.put(None)  # these first, then the end
                return jobs
        return jobs


class Worker:
    """A loaded network and its tokenizer, used by a single thread."""

    def __init__(self, network: Network, files: Files) -> None:
        self._network = network
        self._files = files
        self._at_once = 1 if files.tokenizer.pad_token_id is None else TEXTS_A_BATCH
        self._pads = self._at_once > 1 and self._may_pad()

    @property
    def facts(self) -> JsonObject:
        """The device, and whether texts of different lengths share a batch."""
        return {"device": self._network.device, "padding": self._pads}

    def answer(self, jobs: Sequence[Job]) -> None:
        """Resolve each job when its batch is done; a text that is too long or not encodable fails alone."""
        fit: list[tuple[Job, Encoding]] = []
        for job in jobs:
            try:
                encoding = self._files.encode(job.text)
            except Exception as error:  # a lone surrogate, say: the tokenizer's own kinds of error
                job.future.set_result(Failure("failed", f"the tokenizer: {one_line(error)}"))
                continue
            tokens, limit = len(encoding["input_ids"]), self._files.context
            if limit is not None and tokens > limit:
                job.future.set_result(Failure("too-long", f"{tokens} tokens, but the model accepts {limit}"))
            else:
                fit.append((job, encoding))
        for batch in self._chunks(fit):
            for (job, _), result in zip(batch, self._computed(batch), strict=True):
                job.future.set_result(result)

    def _chunks(self, jobs: list[tuple[Job, Encoding]]) -> Iterator[list[tuple[Job, Encoding]]]:
        """Group texts of similar length, longest first, or of equal length where padding changes results."""
        batch: list[tuple[Job, Encoding]] = []
        for job, encoding in sorted(jobs, key=lambda pair: -len(pair[1]["input_ids"])):
            if batch:
                width = len(batch[0][1]["input_ids"])
                full = len(batch) >= min(self._at_once, TOKENS_A_BATCH // max(1, width))
                if full or not (self._pads or len(encoding["input_ids"]) == width):
                    yield batch
                    batch = []
            batch.append((job, encoding))
        if batch:
            yield batch

    def _computed(self, batch: Sequence[tuple[Job, Encoding]]) -> list[Computed | Failure]:
        """Compute a batch; where that fails (out of memory), compute its halves, down to single texts."""
        try:
            rows = self._network.numbers([encoding for _, encoding in batch])
        except (RuntimeError, ValueError, IndexError) as error:
            if len(batch) == 1:
                return [Failure("failed", f"the model: {one_line(error)}")]
            middle = len(batch) // 2
            return [*self._computed(batch[:middle]), *self._computed(batch[middle:])]
        results: list[Computed | Failure] = []
        for (job, encoding), row in zip(batch, rows, strict=True):
            if not all(map(math.isfinite, row)):
                results.append(Failure("failed", "the model: its logits are not finite"))
            elif len(batch) > 1 and not job.stands(row):
                results += self._computed([(job, encoding)])
            else:
                results.append(Computed(row, len(encoding["input_ids"])))
        return results

    def _may_pad(self) -> bool:
        """Try a short and a long text together: some architectures read the padding as text."""
        short, long = self._files.encode("a"), self._files.encode("a b c d e f")
        try:
            alone, together = self._network.numbers([short])[0], self._network.numbers([short, long])[0]
        except (RuntimeError, ValueError, IndexError):
            return False
        return all(abs(a - b) < PADDING_CHANGES for a, b in zip(alone, together, strict=True))
