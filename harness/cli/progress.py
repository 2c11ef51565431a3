"""How far a long count has come, on standard error: a bar for people, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PLAIN_SECONDS = 10.0

Watcher = Callable[[int, int], None]
"""Told how many are done, of how many."""


@contextmanager
def counted(noun: str) -> Iterator[Watcher]:
    """Shows what the watcher it gives is told."""
    if not sys.stderr.isatty():
        yield _Lines(noun)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(noun), BarColumn(bar_width=30), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
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
