"""A classifier's network at work: the texts that wait are taken together, in a thread of their own.

What is near a tie in a batch is computed again alone, so that a label does not depend on what else was in
the batch.
"""

from __future__ import annotations

import inspect
import math
import queue
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from harness.core import Failure
from harness.models.classifier_files import Encoding, Files, one_line

TEXTS_A_BATCH = 32
TOKENS_A_BATCH = TEXTS_A_BATCH * 512  # padded ones: long texts go fewer at a time
NEAR_TIE = 1e-3  # of logits; far more than a batch changes them (about 1e-6 in float32)


@dataclass(frozen=True, slots=True)
class Scored:
    """The classifier's output for one text: a logit for each of its labels."""

    logits: tuple[float, ...]
    tokens: int


class Batches:
    """A thread that computes what waits, up to ``TEXTS_A_BATCH`` at a time; the first text opens it."""

    def __init__(self, open_classifier: Callable[[], Classifier]) -> None:
        self._open = open_classifier
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self.facts: Mapping[str, Any] = {}

    def put(self, text: str, several: bool) -> Future[Scored | Failure]:
        job = Job(text, several)
        self._jobs.put(job)
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="transformers", daemon=True)
            self._thread.start()
        return job.future

    def close(self) -> None:
        """After what has been asked for by now; the thread and the model with it."""
        if self._thread is not None:
            self._jobs.put(None)
            self._thread.join()
            self._thread = None

    def _run(self) -> None:
        classifier: Classifier | None = None
        while jobs := self._waiting():
            try:
                if classifier is None:
                    classifier = self._open()
                    self.facts = classifier.facts
                classifier.answer(jobs)
            except BaseException as error:  # whoever waits must hear of it, or waits for ever
                for job in jobs:
                    if not job.future.done():
                        job.future.set_exception(error)

    def _waiting(self) -> list[Job]:
        """All that waits and is still wanted, at least one; nothing when closed."""
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


@dataclass(frozen=True, slots=True)
class Job:
    text: str
    several: bool
    future: Future[Scored | Failure] = field(default_factory=Future)


class Classifier:
    """A loaded network. Used by one thread."""

    def __init__(self, network: Any, files: Files) -> None:
        self._network = network
        self._files = files
        self._device = network.device
        self._accepted = inspect.signature(network.forward).parameters
        self._most = 1 if files.tokenizer.pad_token_id is None else TEXTS_A_BATCH
        self._pads = self._most > 1 and self._may_pad()

    @property
    def facts(self) -> Mapping[str, Any]:
        return {"device": str(self._device), "padding": self._pads}

    def answer(self, jobs: Sequence[Job]) -> None:
        """Each job's result, as its batch is done; a text that cannot be read or is too long costs itself."""
        fit: list[tuple[Job, Encoding]] = []
        for job in jobs:
            try:
                encoding = self._files.encode(job.text)
            except Exception as error:  # a lone surrogate, say: the tokenizer's own kinds of error
                job.future.set_result(Failure("failed", f"the tokenizer: {one_line(error)}"))
                continue
            tokens, limit = len(encoding["input_ids"]), self._files.context
            if limit is not None and tokens > limit:
                job.future.set_result(Failure("too-long", f"{tokens} tokens, the model takes {limit}"))
            else:
                fit.append((job, encoding))
        for batch in self._chunks(fit):
            for (job, _), result in zip(batch, self._scored(batch), strict=True):
                job.future.set_result(result)

    def _chunks(self, jobs: list[tuple[Job, Encoding]]) -> Iterator[list[tuple[Job, Encoding]]]:
        """Texts of like length together, the longest first; of the same one where padding changes answers."""
        jobs = sorted(jobs, key=lambda one: -len(one[1]["input_ids"]))
        batch: list[tuple[Job, Encoding]] = []
        for one in jobs:
            if batch:
                width = len(batch[0][1]["input_ids"])
                full = len(batch) >= min(self._most, TOKENS_A_BATCH // max(1, width))
                if full or not (self._pads or len(one[1]["input_ids"]) == width):
                    yield batch
                    batch = []
            batch.append(one)
        if batch:
            yield batch

    def _scored(self, batch: Sequence[tuple[Job, Encoding]]) -> list[Scored | Failure]:
        """What the network says; halves of a batch that it cannot compute (out of memory), down to one."""
        try:
            rows = self._logits([encoding for _, encoding in batch])
        except (RuntimeError, ValueError, IndexError) as error:
            if len(batch) == 1:
                return [Failure("failed", f"the model: {one_line(error)}")]
            middle = len(batch) // 2
            return [*self._scored(batch[:middle]), *self._scored(batch[middle:])]
        results: list[Scored | Failure] = []
        for (job, encoding), row in zip(batch, rows, strict=True):
            if not all(map(math.isfinite, row)):
                results.append(Failure("failed", "the model: its logits are not numbers"))
            elif len(batch) > 1 and _near_tie(row, job.several):
                results += self._scored([(job, encoding)])
            else:
                results.append(Scored(row, len(encoding["input_ids"])))
        return results

    def _logits(self, encodings: Sequence[Encoding]) -> list[tuple[float, ...]]:
        import torch

        if len(encodings) > 1:
            padded = self._files.tokenizer.pad(list(map(dict, encodings)), return_tensors="pt", verbose=False)
        else:
            padded = {key: torch.tensor([ids]) for key, ids in encodings[0].items()}
        given = {k: v.to(self._device) for k, v in padded.items() if k in self._accepted}
        with torch.inference_mode():
            logits = self._network(**given).logits
        return [tuple(row) for row in logits.float().cpu().tolist()]

    def _may_pad(self) -> bool:
        """Tried on a short and a long text: some architectures read the padding as if it were text."""
        if getattr(self._network.config, "pad_token_id", None) is None:
            self._network.config.pad_token_id = self._files.tokenizer.pad_token_id
        short, long = self._files.encode("a"), self._files.encode("a b c d e f")
        try:
            alone, together = self._logits([short])[0], self._logits([short, long])[0]
        except (RuntimeError, ValueError, IndexError):
            return False
        return all(abs(a - b) < NEAR_TIE / 2 for a, b in zip(alone, together, strict=True))


def _near_tie(logits: Sequence[float], several: bool) -> bool:
    if several:
        return min(map(abs, logits)) < NEAR_TIE
    second, first = sorted(logits)[-2:]
    return first - second < NEAR_TIE
