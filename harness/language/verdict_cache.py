"""A cache of verdicts on sentences: a SQLite file that several processes share.

A row holds a verdict and the digest of everything it depends on (parser, version, sentences). Losing the file
costs time, never a result, so nothing here stops a run: a file that cannot be written is left alone.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Collection, Mapping
from pathlib import Path

from tenacity import retry, retry_if_exception_type, stop_after_delay, wait_random

from harness import files

DEFAULT = Path("cache/verdicts.sqlite")
KEYS_AT_ONCE = 500
TIMEOUT = 30.0
OPENING = 2.0

log = logging.getLogger(__name__)


class VerdictCache:
    """The cache in the file at ``path``, created on first use."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None
        self._broken = False

    def get(self, keys: Collection[bytes]) -> dict[bytes, str]:
        """Return the cached verdicts by key; keys without one are absent."""
        verdicts: dict[bytes, str] = {}
        key_list = list(keys)
        for start in range(0, len(key_list), KEYS_AT_ONCE):
            batch = key_list[start : start + KEYS_AT_ONCE]
            marks = ",".join("?" * len(batch))
            try:
                connection = self._open()
                if connection is None:
                    return verdicts
                rows = connection.execute(f"SELECT key, verdict FROM kept WHERE key IN ({marks})", batch)  # noqa: S608
                verdicts |= dict(rows.fetchall())
            except sqlite3.Error as error:
                self._give_up(error)
        return verdicts

    def put(self, rows: Mapping[bytes, str]) -> None:
        """Store verdicts; keys already present are left as they are."""
        try:
            connection = self._open()
            if connection is not None:
                with connection:
                    connection.executemany("INSERT OR IGNORE INTO kept VALUES (?, ?)", rows.items())
        except sqlite3.Error as error:
            self._give_up(error)

    def _open(self) -> sqlite3.Connection | None:
        if self._broken or self._connection is not None:
            return self._connection
        try:
            files.private_folder(self.path.parent)
            files.private_file(self.path)
            self._connection = _connected(self.path)
        except (OSError, sqlite3.Error) as error:
            self._give_up(error)
        return self._connection

    def _give_up(self, error: Exception) -> None:
        if not self._broken:
            log.warning("%s: verdicts on sentences are not cached: %s", self.path, error)
        self._broken, self._connection = True, None


@retry(
    retry=retry_if_exception_type(sqlite3.OperationalError),
    wait=wait_random(0.01, 0.1),
    stop=stop_after_delay(OPENING),
    reraise=True,
)
def _connected(path: Path) -> sqlite3.Connection:
    """Open and initialise the file, retrying while it is locked.

    Where two processes create it at once, SQLite's own busy time-out does not cover the change to a
    write-ahead log.
    """
    connection = sqlite3.connect(path, timeout=TIMEOUT, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(
            "CREATE TABLE IF NOT EXISTS kept (key BLOB PRIMARY KEY, verdict TEXT) WITHOUT ROWID"
        )
    except sqlite3.Error:
        connection.close()
        raise
    return connection
