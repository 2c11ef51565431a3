"""The response cache: SQLite, one row a reply, request and reply kept as readable JSON.

One connection writes, in small batches, and no transaction is held across an await, so two runs may
share a file (write-ahead log, busy time-out). A file that is no database is set aside, not overwritten.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType

import aiosqlite

from harness.core import Reply, Request, Token, canonical
from harness.errors import CacheError

log = logging.getLogger(__name__)

DEFAULT = Path("cache") / "responses.sqlite"
BUSY_SECONDS = 30
COMMIT_SECONDS = 0.25
COMMIT_REPLIES = 100
KEYS_A_QUERY = 500
SUFFIXES = (".sqlite", ".sqlite3", ".db")
ASKED = "SELECT key FROM asked WHERE key IN (SELECT value FROM json_each(?))"
FOUND = "SELECT key, reply FROM replies WHERE key IN (SELECT value FROM json_each(?))"
ASK = "INSERT OR IGNORE INTO asked SELECT value FROM json_each(?)"
INSERT = """
    INSERT OR IGNORE INTO replies
    SELECT value ->> 0, value ->> 1, value ->> 2, ?1 FROM json_each(?2)
"""

MIGRATIONS = (
    """
    CREATE TABLE IF NOT EXISTS replies (
        key TEXT PRIMARY KEY,
        request TEXT NOT NULL,
        reply TEXT NOT NULL,
        created REAL NOT NULL
    ) WITHOUT ROWID
    """,
)


class ResponseCache:
    """``async with ResponseCache(path) as cache``; ``known`` counts the distinct keys asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._queue: asyncio.Queue[tuple[Request, Reply] | None] = asyncio.Queue()
        self._writer: asyncio.Task[None] | None = None
        self._unwritten: dict[str, Reply] = {}

    async def __aenter__(self) -> ResponseCache:
        try:
            self._db = await _open(self.path)
        except (sqlite3.Error, OSError) as error:
            raise CacheError(f"cache {self.path}: {error}") from error
        self._writer = asyncio.create_task(self._write())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._queue.put_nowait(None)
        try:
            if self._writer is not None:
                await self._writer
        finally:
            await self._db.close()

    async def look_up(self, keys: Sequence[str]) -> tuple[dict[str, Reply], set[str]]:
        """The kept replies among ``keys``, and which of the keys this run had not asked for before."""
        found = {key: self._unwritten[key] for key in keys if key in self._unwritten}
        fresh: set[str] = set()
        for start in range(0, len(keys), KEYS_A_QUERY):
            some = keys[start : start + KEYS_A_QUERY]
            listed = [json.dumps(some)]
            seen = await self._db.execute_fetchall(ASKED, listed)
            rows = await self._db.execute_fetchall(FOUND, listed)
            await self._db.execute(ASK, listed)
            fresh |= set(some) - {row[0] for row in seen}
            found |= {key: decode(text) for key, text in rows}
        return found, fresh

    def keep(self, request: Request, reply: Reply) -> None:
        """Hand a complete reply to the writer: on disk within ``COMMIT_SECONDS``."""
        if self._writer is not None and self._writer.done():
            self._writer.result()
        self._unwritten[request.key] = reply
        self._queue.put_nowait((request, reply))

    async def _write(self) -> None:
        """Commit what has come, at most ``COMMIT_REPLIES`` or ``COMMIT_SECONDS`` at a time."""
        ended = False
        while not ended:
            batch: list[tuple[Request, Reply]] = []
            deadline = None
            while len(batch) < COMMIT_REPLIES:
                try:
                    left: float | None = None if deadline is None else max(0.0, deadline - time.monotonic())
                    item = await asyncio.wait_for(self._queue.get(), left)
                except TimeoutError:
                    break
                if item is None:
                    ended = True
                    break
                batch.append(item)
                deadline = deadline or time.monotonic() + COMMIT_SECONDS
            await self._commit(batch)

    async def _commit(self, batch: Sequence[tuple[Request, Reply]]) -> None:
        if not batch:
            return
        rows = json.dumps(
            [[request.key, canonical(request.payload()), encode(reply)] for request, reply in batch]
        )
        try:
            await self._db.execute(INSERT, [time.time(), rows])
            for request, _ in batch:
                self._unwritten.pop(request.key, None)
        except sqlite3.Error as error:
            raise CacheError(f"cache {self.path}: {error}") from error


def encode(reply: Reply) -> str:
    """A reply as JSON."""
    return json.dumps(asdict(reply), ensure_ascii=False)


def decode(text: str) -> Reply:
    """A reply from its JSON."""
    data = json.loads(text)
    if data["logprobs"] is not None:
        data["logprobs"] = tuple(
            Token(t["text"], t["logprob"], tuple((a, b) for a, b in t["top"])) for t in data["logprobs"]
        )
    return Reply(**data)


async def _open(path: Path) -> aiosqlite.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        return await _connect(path)
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError as error:
        if path.suffix not in SUFFIXES:
            raise CacheError(f"cache {path} is not a cache: give --cache a *.sqlite file") from error
        aside = await asyncio.to_thread(_set_aside, path)
        log.warning("cache %s is damaged (%s): set aside as %s, starting a new one", path, error, aside.name)
        return await _connect(path)


def _set_aside(path: Path) -> Path:
    aside = path.with_name(f"{path.name}.damaged-{time.time_ns()}")
    path.rename(aside)
    for extra in ("-wal", "-shm"):
        path.with_name(path.name + extra).unlink(missing_ok=True)
    return aside


async def _connect(path: Path) -> aiosqlite.Connection:
    """Autocommit: every statement is a transaction of its own, so none is held across an await."""
    db = await aiosqlite.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    try:
        await db.execute("PRAGMA journal_mode = WAL")
        await db.execute("PRAGMA synchronous = NORMAL")
        await _migrate(db, path)
        await db.execute("CREATE TEMP TABLE asked (key TEXT PRIMARY KEY) WITHOUT ROWID")
    except BaseException:
        await db.close()
        raise
    return db


async def _migrate(db: aiosqlite.Connection, path: Path) -> None:
    while (version := await _version(db)) != len(MIGRATIONS):
        if version > len(MIGRATIONS):
            raise CacheError(
                f"cache {path} was made by a newer version of hinter: update, or use another --cache"
            )
        await db.executescript(
            f"BEGIN IMMEDIATE; {MIGRATIONS[version]}; PRAGMA user_version = {version + 1}; COMMIT;"
        )


async def _version(db: aiosqlite.Connection) -> int:
    return int(next(iter(await db.execute_fetchall("PRAGMA user_version")))[0])
