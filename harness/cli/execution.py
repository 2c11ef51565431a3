"""Running the pipeline from a terminal: progress, a log, and Ctrl-C that is answered at once."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Coroutine, Iterator
from typing import TypeVar

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from harness.audit import pipeline
from harness.config import RunConfig

Result = TypeVar("Result")

PLAIN_SECONDS = 10.0
REFRESH_SECONDS = 0.25


def audit(config: RunConfig, overwrite: bool, quiet: bool) -> pipeline.Finished:
    """``pipeline.audit`` with progress on standard error."""
    logging.basicConfig(level=logging.WARNING, format="hinter: %(message)s", stream=sys.stderr)
    return stoppable(_audit(config, overwrite, quiet), "answered")


def stoppable(work: Coroutine[object, object, Result], kept: str) -> Result:
    """What ``work`` gives. Ctrl-C cancels it, which is said at once; a second one ends the process.

    ``kept`` says what is on disk then. Raises ``click.Abort`` where a cancelled ``work`` gives nothing.
    """
    try:
        return asyncio.run(_interruptible(work, kept))
    except asyncio.CancelledError:
        raise click.Abort from None


async def _interruptible(work: Coroutine[object, object, Result], kept: str) -> Result:
    task = asyncio.create_task(work)

    def interrupt() -> None:
        if task.cancelling():
            os._exit(130)
        print(f"hinter: stopping; what was {kept} is kept (Ctrl-C again to quit at once)", file=sys.stderr)
        task.cancel()

    loop = asyncio.get_running_loop()
    with contextlib.suppress(NotImplementedError, RuntimeError):  # elsewhere the default handlers stand
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, interrupt)
    return await task


async def _audit(config: RunConfig, overwrite: bool, quiet: bool) -> pipeline.Finished:
    shown: list[pipeline.RunState] = []
    show = _bar if sys.stderr.isatty() else _lines
    with contextlib.nullcontext() if quiet else show(shown, asyncio.get_running_loop()):
        return await pipeline.audit(config, shown.append, overwrite)


def describe(progress: pipeline.RunState, seconds: float) -> str:
    """What was sent, at what rate, and what it has cost so far."""
    if progress.note:
        return progress.note
    counts = progress.counts
    said = f"{counts.sent} sent ({counts.sent / max(seconds, 1e-9):.1f}/s), {counts.cached} cached"
    if counts.failed:
        said += f", {counts.failed} failed"
    tokens = counts.prompt_tokens + counts.completion_tokens
    if tokens:
        said += f", {tokens / 1000:.0f}k tokens"
    cost = progress.cost()
    return said + (f", {cost:.2f} USD" if cost is not None else "")


@contextlib.contextmanager
def _every(seconds: float, loop: asyncio.AbstractEventLoop, act: Callable[[], None]) -> Iterator[None]:
    """Call ``act`` every so many seconds while the block runs."""
    handle: asyncio.TimerHandle | None = None

    def tick() -> None:
        nonlocal handle
        act()
        handle = loop.call_later(seconds, tick)

    handle = loop.call_later(seconds, tick)
    try:
        yield
    finally:
        handle.cancel()


@contextlib.contextmanager
def _bar(shown: list[pipeline.RunState], loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    started = time.monotonic()
    columns = (
        TextColumn("texts"),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TextColumn("{task.description}", markup=False),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading texts, parser and lexicon", total=None)

        def act() -> None:
            for progress in shown[:1]:
                said = describe(progress, time.monotonic() - started)
                bar.update(task, total=progress.total or None, completed=progress.documents, description=said)

        with _every(REFRESH_SECONDS, loop, act):
            yield


@contextlib.contextmanager
def _lines(shown: list[pipeline.RunState], loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """A line now and then, where nobody can see a bar."""
    started = time.monotonic()

    def act() -> None:
        for progress in shown[:1]:
            said = describe(progress, time.monotonic() - started)
            of = f"/{progress.total}" if progress.total else ""  # a suite that makes its texts has no number
            print(f"texts {progress.documents}{of}: {said}", file=sys.stderr, flush=True)

    with _every(PLAIN_SECONDS, loop, act):
        yield
