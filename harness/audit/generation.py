"""Make and write cases, a chunk of documents at a time: resumable, in order, by one process or several.

The files of a chunk are complete or absent, so whatever stops a run, the same command makes only the missing
chunks. The files do not depend on which process makes a chunk.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing.context import BaseContext
from pathlib import Path

from harness.audit.assembly import Audit, make_suite
from harness.config import RunConfig
from harness.core import Case, Document, canonical
from harness.errors import RunError
from harness.folder import RunFolder
from harness.interruption import Interrupted
from harness.plugins import Suite
from harness.progress import Progress, unwatched

CHUNK_DOCUMENTS = 32
CHUNKS_AHEAD = 2
PARSING = "harness.language.parsers.preloaded"
PAUSE = 0.2  # seconds between moments at which waiting for a worker can be interrupted

Chunk = tuple[int, Iterable[Document]]
Engine = Callable[[Audit, RunFolder, int, Progress], None]
"""Writes all cases of an audit with a number of workers: ``make``, or an equivalent that writes the same."""


def cases(audit: Audit, folder: RunFolder, workers: int = 1) -> Generator[Case, None, None]:
    """Yield all cases of the audit in document order: read from disk, or else made and written."""
    if folder.complete:
        yield from folder.read_cases()
        return
    if workers == 1 or not audit.suite.by_document:
        for number, documents in chunks(audit):
            if folder.has_chunk(number):
                yield from folder.read_chunk(number)
            else:
                yield from folder.keep_chunk(number, audit.suite.cases(iter(documents)))
    else:
        for number, _ in _shared_out(audit, folder, workers):
            yield from folder.read_chunk(number)
    finish(audit, folder)


def make(audit: Audit, folder: RunFolder, workers: int = 1, progress: Progress = unwatched) -> None:
    """Write all cases of the audit to ``folder``."""
    if folder.complete:
        return
    done = 0
    if workers == 1 or not audit.suite.by_document:
        for number, documents in chunks(audit):
            texts = list(documents) if audit.suite.by_document else documents
            if not folder.has_chunk(number):
                deque(folder.keep_chunk(number, audit.suite.cases(iter(texts))), maxlen=0)
            done += len(texts) if isinstance(texts, list) else audit.total
            progress(done, audit.total)
    else:
        for _, size in _shared_out(audit, folder, workers):
            done += size
            progress(done, audit.total)
    finish(audit, folder)


def finish(audit: Audit, folder: RunFolder) -> None:
    """Write the suite's extracts of all its cases, then mark the cases as complete."""
    for name, table in audit.suite.extracts(folder).items():
        table.sink_parquet(folder.path / f"{name}.parquet")
    folder.finish()


def chunks(audit: Audit) -> Iterator[Chunk]:
    """Yield the documents in numbered chunks: a single one if the suite must see them together."""
    documents = audit.documents()
    if not audit.suite.by_document:
        yield 0, documents
        return
    number = 0
    while chunk := list(islice(documents, CHUNK_DOCUMENTS)):
        yield number, chunk
        number += 1


def _shared_out(audit: Audit, folder: RunFolder, workers: int) -> Iterator[tuple[int, int]]:
    """Yield the number and size of each chunk, in order, once ``workers`` processes have written it."""
    pending: deque[tuple[int, int, Future[None] | None]] = deque()
    pool = ProcessPoolExecutor(workers, _starting(audit), initializer=_start, initargs=(audit.config,))
    try:
        for number, documents in chunks(audit):
            texts = list(documents)
            future = None if folder.has_chunk(number) else pool.submit(_make, folder.path, number, texts)
            pending.append((number, len(texts), future))
            if len(pending) > workers * CHUNKS_AHEAD:
                yield _done(pending.popleft())
        while pending:
            yield _done(pending.popleft())
    except (Interrupted, GeneratorExit):
        for process in list((pool._processes or {}).values()):  # what is unfinished is made again
            process.terminate()
        raise
    except BrokenProcessPool as error:
        raise RunError(
            "a worker process was killed (out of memory?): run the same command again, with fewer --workers"
        ) from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _done(chunk: tuple[int, int, Future[None] | None]) -> tuple[int, int]:
    number, size, future = chunk
    while future is not None:
        try:
            future.result(PAUSE)
            break
        except TimeoutError:
            if future.done():
                raise
    return number, size


def _starting(audit: Audit) -> BaseContext:
    """Return how worker processes start: never as copies of this one, whose threads would be cut off.

    On Linux they are copies of a process that has but imported what they need, which takes each a second.
    """
    if not sys.platform.startswith("linux"):
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    parses = "spacy:" in canonical(dict(audit.suite.identity))
    context.set_forkserver_preload([__name__, *([PARSING] if parses else [])])
    return context


_suite: Suite | None = None
"""The suite of a worker process, loaded once because a parser takes seconds to load."""


def _start(config: RunConfig) -> None:
    global _suite
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent says when to stop
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _suite = make_suite(config)


def _end_with_parent() -> None:
    """End this worker when its parent dies: a killed parent cannot tell it that no more chunks will come."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _make(folder: Path, number: int, documents: list[Document]) -> None:
    assert _suite is not None
    deque(RunFolder(folder).keep_chunk(number, _suite.cases(iter(documents))), maxlen=0)
