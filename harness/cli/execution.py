"""Run the pipeline from a terminal, with progress, logging and an immediate response to Ctrl-C."""

from __future__ import annotations

import asyncio
import contextlib
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
from harness.disclosure import visible

Result = TypeVar("Result")

PLAIN_SECONDS = 10.0
REFRESH_SECONDS = 0.25
LONG_SECONDS = 5.0
"""The wait from which on it is told."""


def audit(config: RunConfig, overwrite: bool, quiet: bool, buy_again: bool) -> pipeline.Finished:
    """Run ``pipeline.audit`` with progress on standard error, unless ``quiet``."""
    return stoppable(_audit(config, overwrite, quiet, buy_again), "answered")


def stoppable(work: Coroutine[object, object, Result], progress: str) -> Result:
    """Run ``work`` and return its result, its warnings on standard error.

    Ctrl-C cancels it, and a second one ends the process.

    ``progress`` is a participle for what is on disk by then, such as ``answered``. Raises ``click.Abort`` if
    the cancelled ``work`` returns nothing.
    """
    try:
        return asyncio.run(_interruptible(work, progress))
    except asyncio.CancelledError:
        raise click.Abort from None


async def _interruptible(work: Coroutine[object, object, Result], progress: str) -> Result:
    task = asyncio.create_task(work)

    def interrupt() -> None:
        """Cancel the work, or end the process if that is already under way."""
        if task.cancelling():
            os._exit(130)
        print(
            f"hinter: stopping; everything {progress} so far is saved (Ctrl-C again to quit at once)",
            file=sys.stderr,
        )
        task.cancel()

    loop = asyncio.get_running_loop()
    with contextlib.suppress(NotImplementedError, RuntimeError):  # elsewhere the default handlers stand
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, interrupt)
    return await task


async def _audit(config: RunConfig, overwrite: bool, quiet: bool, buy_again: bool) -> pipeline.Finished:
    states: list[pipeline.RunState] = []
    show = _bar if sys.stderr.isatty() else _lines
    with contextlib.nullcontext() if quiet else show(states, asyncio.get_running_loop()):
        try:
            return await pipeline.audit(config, states.append, overwrite, buy_again)
        except asyncio.CancelledError:
            if states and states[0].finished is not None:
                return states[0].finished
            raise


def describe(progress: pipeline.RunState, seconds: float) -> str:
    """Return the numbers of requests, their rate and their cost so far, ``seconds`` after the start.

    While there are none, what is waited for.
    """
    if note := progress.note or progress.waiting():
        return visible(note)
    counts = progress.counts
    line = f"{counts.sent} sent ({counts.sent / max(seconds, 1e-9):.1f}/s), {counts.cached} cached"
    if counts.failed:
        line += f", {counts.failed} failed"
    if (left := counts.resume - time.monotonic()) >= LONG_SECONDS:
        line += f", waiting {left:.0f} s to ask again"
    tokens = counts.prompt_tokens + counts.completion_tokens
    if tokens:
        line += f", {tokens / 1000:.0f}k tokens"
    cost = progress.cost()
    return line + (f", {cost:.2f} USD" if cost is not None else "")


@contextlib.contextmanager
def _every(seconds: float, loop: asyncio.AbstractEventLoop, act: Callable[[], None]) -> Iterator[None]:
    """Call ``act`` every ``seconds`` while the block runs."""
    handle: asyncio.TimerHandle | None = None

    def tick() -> None:
        """Act, and schedule the next call."""
        nonlocal handle
        act()
        handle = loop.call_later(seconds, tick)

    handle = loop.call_later(seconds, tick)
    try:
        yield
    finally:
        handle.cancel()


@contextlib.contextmanager
def _bar(states: list[pipeline.RunState], loop: asyncio.AbstractEventLoop) -> Iterator[None]:
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
            """Move the bar."""
            for state in states[:1]:
                line = describe(state, time.monotonic() - started)
                bar.update(task, total=state.total or None, completed=state.documents, description=line)

        with _every(REFRESH_SECONDS, loop, act):
            yield


@contextlib.contextmanager
def _lines(states: list[pipeline.RunState], loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Print a line from time to time, where a bar cannot be shown."""
    started = time.monotonic()

    def act() -> None:
        """Print one line."""
        for state in states[:1]:
            line = describe(state, time.monotonic() - started)
            total = f"/{state.total}" if state.total else ""  # unknown if the suite makes its own texts
            print(f"texts {state.documents}{total}: {line}", file=sys.stderr, flush=True)

    with _every(PLAIN_SECONDS, loop, act):
        yield
