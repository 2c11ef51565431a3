"""Progress of long operations on standard error: a bar on a terminal, else a line from time to time."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from harness.progress import Progress

PLAIN_SECONDS = 10.0


@contextmanager
def counted(noun: str) -> Iterator[Progress]:
    """Yield a callback that shows how many of the things called ``noun`` are done."""
    if not sys.stderr.isatty():
        yield _Lines(noun)
        return
    from rich import progress
    from rich.console import Console

    columns = (
        progress.TextColumn(noun),
        progress.BarColumn(bar_width=30),
        progress.MofNCompleteColumn(),
        progress.TimeRemainingColumn(),
    )
    with progress.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(noun, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


class _Lines:
    def __init__(self, noun: str) -> None:
        self._noun = noun
        self._next = time.monotonic() + PLAIN_SECONDS

    def __call__(self, done: int, total: int) -> None:
        if time.monotonic() >= self._next:
            print(f"{self._noun} {done}/{total}", file=sys.stderr, flush=True)
            self._next = time.monotonic() + PLAIN_SECONDS
