"""The temporary folder of a vLLM server: its key and its log, for their owner alone.

Whoever holds the lock in it uses it. A run that was killed leaves a folder that nobody holds; the next start
removes it. A log that was kept for the user to read has no key beside it, and stays.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO

from harness import files
from harness.errors import ModelError

PREFIX = "hinter-vllm-"
KEY, LOG, LOCK = "key", "server.log", "lock"


class ServerFolder:
    """A new temporary folder with ``key`` in a file; those that killed runs left are removed.

    Raises ``ModelError`` where it cannot be made.
    """

    def __init__(self, key: str) -> None:
        place = Path(os.environ.get("TMPDIR") or tempfile.gettempdir())
        for left in place.glob(f"{PREFIX}*"):
            with suppress(OSError):
                _clear(left)
        try:
            self.path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=place))  # mode 0700
            lock = _locked(self.path / LOCK)
            assert lock is not None, "nobody else knows the folder"
            self._lock = lock
            files.write(self.key, key)  # after the lock: what has a key and no holder was left
            files.private_file(self.log)
        except OSError as error:
            raise ModelError(f"{place}: {error.strerror}: give TMPDIR a folder for vLLM's log") from error

    @property
    def key(self) -> Path:
        """The file with the server's key."""
        return self.path / KEY

    @property
    def log(self) -> Path:
        """The server's log."""
        return self.path / LOG

    def close(self, keep_log: bool) -> None:
        """Remove the folder, or all but the log. Safe to call repeatedly, from any thread."""
        for name in (KEY, LOCK):
            (self.path / name).unlink(missing_ok=True)
        if not keep_log:
            shutil.rmtree(self.path, ignore_errors=True)
        self._lock.close()


def _clear(folder: Path) -> None:
    """Remove ``folder`` if it is ours, has a key, and nobody holds it."""
    if folder.is_symlink() or folder.stat().st_uid != os.getuid() or not (folder / KEY).exists():
        return
    if (folder / LOCK).exists() and (lock := _locked(folder / LOCK)) is not None:
        shutil.rmtree(folder, ignore_errors=True)
        lock.close()


def _locked(file: Path) -> IO[bytes] | None:
    """Return ``file`` open and locked, at most until this process ends; None if another one holds it."""
    import fcntl  # where vLLM runs

    lock = os.fdopen(os.open(file, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, files.PRIVATE_FILE), "r+b")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        return None
    return lock
