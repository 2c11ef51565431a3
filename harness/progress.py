"""The callback by which long work reports its progress."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int], None]
"""Called with the number of items done and their total."""


def unwatched(done: int, total: int) -> None:
    """Show nothing."""
