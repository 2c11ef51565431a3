"""The lock of a folder that one process at a time may work in. It ends with the process, however that ends.

SQLite holds it, on every platform; a small file beside it says who that is.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from harness import files
from harness.errors import RunError

LOCK, HOLDER = "run.lock", "run.holder"
NAMES = (LOCK, f"{LOCK}-journal", HOLDER)
"""The files that a lock leaves in its folder."""


@contextmanager
def locked(folder: Path, instead: str = ", or use another --out") -> Iterator[None]:
    """Hold the lock of ``folder``, which must exist, while the block runs.

    A lock that its process did not release is free. Raises ``RunError``, which says who holds the lock and
    since when, and what may be done ``instead`` of waiting.
    """
    holder = folder / HOLDER
    files.private_file(folder / LOCK)
    with closing(sqlite3.connect(folder / LOCK, timeout=0, isolation_level=None)) as lock:
        try:
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise RunError(f"{folder} cannot be locked ({error}): use another --out") from error
            raise RunError(f"{folder} is in use by {_who(holder)}: wait for it to end{instead}") from error
        files.write(holder, json.dumps({"pid": os.getpid(), "since": time.time()}))
        try:
            yield
        finally:
            with suppress(OSError):
                holder.unlink()


def _who(holder: Path) -> str:
    """Return the process that holds the lock, and since when, in words."""
    try:
        held = json.loads(holder.read_text(encoding="utf-8"))
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(held["since"]))
        return f"process {held['pid']:d} since {since}"
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        return "another process"
