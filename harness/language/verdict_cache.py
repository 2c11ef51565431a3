"""Verdicts on sentences, kept on disk: a SQLite file that several processes share.

A row is the digest of what a verdict depends on (parser, version, sentences) and the verdict. Losing the
file costs time, never a result, so nothing here stops a run: a file that cannot be written is left alone.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Collection, Mapping
from pathlib import Path

from tenacity import retry, retry_if_exception_type, stop_after_delay, wait_random

DEFAULT = Path("cache/verdicts.sqlite")
KEYS_AT_ONCE = 500
TIMEOUT = 30.0
OPENING = 2.0

log = logging.getLogger(__name__)


class VerdictCache:
    """The file at ``path``, made when first used."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None
        self._broken = False

    def get(self, keys: Collection[bytes]) -> dict[bytes, str]:
        """Those of ``keys`` that are kept, with their verdicts."""
        found: dict[bytes, str] = {}
        wanted = list(keys)
        for start in range(0, len(wanted), KEYS_AT_ONCE):
            some = wanted[start : start + KEYS_AT_ONCE]
            marks = ",".join("?" * len(some))
            try:
                connection = self._open()
                if connection is None:
                    return found
                rows = connection.execute(f"SELECT key, verdict FROM kept WHERE key IN ({marks})", some)  # noqa: S608
                found |= dict(rows.fetchall())
            except sqlite3.Error as error:
                self._give_up(error)
        return found

    def put(self, rows: Mapping[bytes, str]) -> None:
        """Keep verdicts; one that is there already is the same."""
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
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = _connected(self.path)
        except (OSError, sqlite3.Error) as error:
            self._give_up(error)
        return self._connection

    def _give_up(self, error: Exception) -> None:
        if not self._broken:
            log.warning("%s: verdicts on sentences are not kept: %s", self.path, error)
        self._broken, self._connection = True, None


@retry(
    retry=retry_if_exception_type(sqlite3.OperationalError),
    wait=wait_random(0.01, 0.1),
    stop=stop_after_delay(OPENING),
    reraise=True,
)
def _connected(path: Path) -> sqlite3.Connection:
    """Opened and made ready; tried again, for where two processes make the file at one time SQLite's own
    patience does not cover the change to a write-ahead log."""
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
