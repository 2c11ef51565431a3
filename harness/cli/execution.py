"""Running the pipeline from a terminal: a progress bar, a log, and Ctrl-C that is answered at once."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from harness import pipeline
from harness.config import RunConfig

PLAIN_SECONDS = 10.0


def audit(config: RunConfig, overwrite: bool, quiet: bool) -> dict[str, Any]:
    """``pipeline.run`` with progress on standard error."""
    logging.basicConfig(level=logging.WARNING, format="hinter: %(message)s", stream=sys.stderr)
    watch, stop = _bar() if sys.stderr.isatty() and not quiet else (_lines() if not quiet else _silent())
    try:
        return asyncio.run(_interruptible(config, watch, overwrite))
    finally:
        stop()


async def _interruptible(config: RunConfig, watch: pipeline.Watcher, overwrite: bool) -> dict[str, Any]:
    task = asyncio.create_task(pipeline.run(config, watch, overwrite))

    def interrupt() -> None:
        if task.cancelling():
            os._exit(130)
        print("hinter: stopping; what was answered is kept (Ctrl-C again to quit at once)", file=sys.stderr)
        task.cancel()

    loop = asyncio.get_running_loop()
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, interrupt)
    except (NotImplementedError, RuntimeError):  # no such handlers here: the default ones stand
        pass
    return await task


def describe(progress: pipeline.Progress) -> str:
    counts = progress.counts
    return f"{counts.sent} sent, {counts.cached} cached, {counts.failed} failed"


def _bar() -> tuple[pipeline.Watcher, Callable[[], None]]:
    bar = Progress(
        TextColumn("texts"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.description}"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    bar.start()
    task = bar.add_task("reading texts and models", total=None)

    def watch(progress: pipeline.Progress) -> None:
        bar.update(task, total=progress.total, completed=progress.documents, description=describe(progress))

    return watch, bar.stop


def _lines() -> tuple[pipeline.Watcher, Callable[[], None]]:
    """A line now and then, where nobody can see a bar."""
    last = time.monotonic()

    def watch(progress: pipeline.Progress) -> None:
        nonlocal last
        if time.monotonic() - last >= PLAIN_SECONDS:
            last = time.monotonic()
            print(f"texts {progress.documents}/{progress.total}: {describe(progress)}", file=sys.stderr)

    return watch, lambda: None


def _silent() -> tuple[pipeline.Watcher, Callable[[], None]]:
    return (lambda _: None), (lambda: None)
