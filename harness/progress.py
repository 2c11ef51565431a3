"""What long work calls as it goes on."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int], None]
"""Called with how many are done, and of how many."""


def unwatched(done: int, total: int) -> None:
    """Show nothing."""
