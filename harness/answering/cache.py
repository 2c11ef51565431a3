"""The response cache: SQLite, one row per reply, with request and reply stored as readable JSON.

A single connection writes in small batches. Every statement is a transaction of its own, so that none is held
across an await and several runs may share a file (write-ahead log, busy time-out). A damaged row
counts as absent and is replaced; a damaged file is an error, since buying its replies again is not for us to
decide (``harness.answering.salvage``). A file of another program is refused, and a file that cannot be
written is only read.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import aiosqlite

from harness import files
from harness.answering.rows import Row, intact, rebuild, row, safe
from harness.core import JsonObject, Reply, Request, canonical
from harness.errors import CacheError
from harness.replies import cleaned

log = logging.getLogger(__name__)

DEFAULT = Path("cache") / "responses.sqlite"
SUFFIXES = (".sqlite", ".sqlite3", ".db")
BUSY_SECONDS = 60
BUSY_TRIES = 10
COMMIT_SECONDS = 0.25
COMMIT_REPLIES = 100
ROWS_A_STATEMENT = 500
APPLICATION_ID = 0x484E5452  # "HNTR", the owner in the file's SQLite header
PRIMARY_CODE = 0xFF  # the low byte of SQLite's extended result codes

ASK = "INSERT OR IGNORE INTO asked SELECT value FROM json_each(?) RETURNING key"
# Cast to a blob, since rows of older versions may hold half a surrogate pair, which is not UTF-8.
FOUND = "SELECT key, CAST(reply AS BLOB), checksum FROM replies WHERE key IN (SELECT value FROM json_each(?))"
KEEP = "INSERT OR IGNORE INTO replies VALUES "
DISCARD = "DELETE FROM replies WHERE key IN (SELECT value FROM json_each(?))"
DIALECT = "SELECT dialect FROM dialects WHERE endpoint = ?"
LEARN = "INSERT OR REPLACE INTO dialects VALUES (?, ?, ?)"
EXPECT = "INSERT OR REPLACE INTO expected VALUES "
EXPECTED = "SELECT key, CAST(request AS BLOB) FROM expected WHERE key IN (SELECT value FROM json_each(?))"
JOBS = "SELECT DISTINCT job FROM expected WHERE key IN (SELECT value FROM json_each(?))"
AWAITED = "SELECT job, count(*) FROM expected WHERE job IN (SELECT value FROM json_each(?)) GROUP BY job"
SETTLE = "DELETE FROM expected WHERE key IN (SELECT value FROM json_each(?))"
DAMAGED = (
    "is damaged, and what cannot be read would have to be bought again: give run --buy-again to keep every"
    " reply that can be read and ask for the others; hinter cache export writes them to a file"
)
CHECKED = 3  # the first version whose rows have a checksum

LATER_TABLES = (
    "dialects (endpoint TEXT PRIMARY KEY, dialect TEXT NOT NULL, learnt REAL NOT NULL) WITHOUT ROWID",
    "expected (key TEXT PRIMARY KEY, request TEXT NOT NULL, job TEXT NOT NULL, created REAL NOT NULL) "
    "WITHOUT ROWID",
)
MIGRATIONS = (
    (
        """CREATE TABLE replies (
            key TEXT PRIMARY KEY, request TEXT NOT NULL, reply TEXT NOT NULL, created REAL NOT NULL
        ) WITHOUT ROWID""",
    ),
    (
        # With row ids the index of keys is narrow: a look-up reads two pages instead of nine.
        "ALTER TABLE replies RENAME TO replies_1",
        """CREATE TABLE replies (
            key TEXT NOT NULL PRIMARY KEY, request TEXT NOT NULL, reply TEXT NOT NULL, created REAL NOT NULL
        )""",
        "INSERT INTO replies SELECT key, request, reply, created FROM replies_1",
        "DROP TABLE replies_1",
        *(f"CREATE TABLE {table}" for table in LATER_TABLES),
    ),
    ("ALTER TABLE replies ADD COLUMN checksum TEXT",),
)
COLUMNS = ["key", "request", "reply", "created"]

T = TypeVar("T")


class ResponseCache:
    """``async with ResponseCache(path) as cache``: replies, learnt dialects, requests handed to batch jobs.

    Where the file cannot be written, ``read_only`` is true: look-ups work, but ``keep`` raises. Every method
    raises ``CacheError`` where the file fails.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.read_only = False
        self._rows: list[Row] = []
        self._unwritten: dict[str, Reply] = {}
        self._damaged: set[str] = set()
        self._found = FOUND
        self._learnt: dict[str, JsonObject] = {}
        self._some = asyncio.Event()
        self._enough = asyncio.Event()
        self._due = 0.0
        self._ended = False
        self._writer: asyncio.Task[None] | None = None

    async def __aenter__(self) -> ResponseCache:
        try:
            uri, self.read_only = await asyncio.to_thread(locate, self.path)
            self._db = await aiosqlite.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
        except (sqlite3.Error, OSError) as error:
            raise trouble(self.path, error) from error
        try:
            await self._set_up()
        except BaseException:
            await self._db.close()
            raise
        self._writer = asyncio.create_task(self._write())
        return self

    async def _set_up(self) -> None:
        await self._all("PRAGMA synchronous = NORMAL")
        await self._all("CREATE TEMP TABLE asked (key TEXT PRIMARY KEY) WITHOUT ROWID")
        if self.read_only:
            log.warning("cache %s cannot be written: it is only read, nothing new is stored", self.path)
            version = (await self._all("PRAGMA user_version"))[0][0]
            if version < CHECKED:
                self._found = FOUND.replace("checksum", "NULL")
            if version < 2:
                for table in LATER_TABLES:
                    await self._all(f"CREATE TEMP TABLE {table}")

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended = True
        self._some.set()
        self._enough.set()
        try:
            if self._writer is not None:
                await self._writer
        finally:
            await self._db.close()

    @property
    def damaged(self) -> int:
        """The number of replies that were looked up and are damaged: they count as absent."""
        return len(self._damaged)

    async def look_up(self, keys: Sequence[str]) -> tuple[dict[str, Reply], set[str]]:
        """Return the cached replies by key, and the keys that this run looks up for the first time."""
        replies: dict[str, Reply] = {}
        fresh: set[str] = set()
        for batch in pieces(keys):
            listed = [json.dumps(batch)]
            fresh.update(row[0] for row in await self._all(ASK, listed))
            unwritten = {key: self._unwritten[key] for key in batch if key in self._unwritten}
            for key, text, check in await self._all(self._found, listed):
                if (reply := intact(key, text, check)) is not None:
                    replies[key] = cleaned(reply)
                else:
                    self._damaged.add(key)
            replies |= unwritten
        return replies, fresh

    def keep(self, request: Request, reply: Reply) -> None:
        """Hand a complete reply to the writer, which stores it within ``COMMIT_SECONDS``."""
        self._must_write()
        if self._writer is not None and self._writer.done():
            self._writer.result()
        if not self._rows:
            self._due = asyncio.get_running_loop().time() + COMMIT_SECONDS
        self._rows.append(row(request, reply, time.time()))
        self._unwritten[request.key] = reply
        self._some.set()
        if len(self._rows) >= COMMIT_REPLIES:
            self._enough.set()

    async def dialect(self, endpoint: str) -> JsonObject | None:
        """Return the dialect learnt of ``endpoint`` by this run or an earlier one, or None."""
        if endpoint in self._learnt:
            return self._learnt[endpoint]
        rows = await self._all(DIALECT, [endpoint])
        dialect: JsonObject | None = json.loads(rows[0][0]) if rows else None
        return dialect

    async def learn(self, endpoint: str, dialect: JsonObject) -> None:
        """Store the dialect of ``endpoint``, replacing any earlier one."""
        self._learnt[endpoint] = dict(dialect)
        if not self.read_only:
            await self._all(LEARN, [endpoint, json.dumps(dialect, sort_keys=True), time.time()])

    async def expect(self, requests: Sequence[Request], job: str) -> None:
        """Record that ``job`` was handed these requests; a key held by another job moves to this one."""
        self._must_write()
        for batch in pieces(requests):
            rows = [
                (r.key, safe(canonical({**r.payload(), "text": r.text})), job, time.time()) for r in batch
            ]
            await self._all(*statement(EXPECT, rows))

    async def expected(self, keys: Sequence[str]) -> dict[str, Request]:
        """Return the requests among ``keys`` that were handed to a job and are not settled."""
        requests: dict[str, Request] = {}
        for batch in pieces(keys):
            for key, text in await self._all(EXPECTED, [json.dumps(batch)]):
                requests[key] = rebuild(json.loads(text))
                if requests[key].key != key:
                    raise CacheError(f"cache {self.path}: the expected request {key} does not match its key")
        return requests

    async def jobs(self, keys: Sequence[str]) -> set[str]:
        """Return the jobs that were handed the requests among ``keys`` that are not settled."""
        return {row[0] for batch in pieces(keys) for row in await self._all(JOBS, [json.dumps(list(batch))])}

    async def awaited(self, jobs: Sequence[str]) -> dict[str, int]:
        """Return the number of requests that are not settled, by job, for ``jobs`` that have any."""
        return dict(await self._all(AWAITED, [json.dumps(list(jobs))]))

    async def settle(self, keys: Sequence[str]) -> None:
        """Remove ``keys`` from the expected requests: they were answered, or never will be."""
        self._must_write()
        for batch in pieces(keys):
            await self._all(SETTLE, [json.dumps(batch)])

    def _must_write(self) -> None:
        if self.read_only:
            raise CacheError(
                f"cache {self.path} is read-only, but new data must be stored: make it writable, or "
                "give --cache a copy of it"
            )

    async def _write(self) -> None:
        """Commit pending rows when there are enough of them, or when the oldest is due."""
        while self._rows or not self._ended:
            await self._some.wait()
            with suppress(TimeoutError):
                async with asyncio.timeout_at(self._due):
                    await self._enough.wait()
            self._some.clear()
            self._enough.clear()
            rows, self._rows = self._rows, []
            for batch in pieces(rows):
                if again := [key for key, *_ in batch if key in self._damaged]:
                    await self._all(DISCARD, [json.dumps(again)])
                await self._all(*statement(KEEP, batch))
                for key, *_ in batch:
                    self._unwritten.pop(key, None)

    async def _all(self, sql: str, values: Sequence[object] = ()) -> list[Any]:
        """Run one statement to its end, waiting for a locked file: a run is worth the wait."""
        for tries in range(1, BUSY_TRIES + 1):
            try:
                return list(await self._db.execute_fetchall(sql, values))
            except sqlite3.Error as error:
                if code(error) != sqlite3.SQLITE_BUSY or tries == BUSY_TRIES:
                    raise trouble(self.path, error) from error
                log.warning("cache %s is locked by another process: waiting for it", self.path)
        raise AssertionError


def pieces(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """Yield slices that fit into one statement."""
    for start in range(0, len(items), ROWS_A_STATEMENT):
        yield items[start : start + ROWS_A_STATEMENT]


def statement(
    insert: str, rows: Sequence[Sequence[str | float | None]]
) -> tuple[str, list[str | float | None]]:
    """Return a single statement, hence a single transaction, for all ``rows``, and its values."""
    places = f"({', '.join('?' * len(rows[0]))})"
    return insert + ", ".join([places] * len(rows)), [value for row in rows for value in row]


def locate(path: Path) -> tuple[str, bool]:
    """Return the URI to connect to and whether it is read-only, creating or migrating a writable file.

    Raises sqlite3.Error, OSError, or CacheError for a file that is not a cache.
    """
    if path.is_dir():
        raise CacheError(f"cache {path} is a folder: give --cache a *.sqlite file")
    if path.exists() and not (_writable(path) and _writable(path.parent)):
        return _readable(path), True
    files.private_folder(path.parent)
    files.private_file(path)
    with closing(connect(_uri(path, "rwc"))) as db:
        if recognise(db, path) < len(MIGRATIONS):
            db.execute("BEGIN IMMEDIATE")
            for migration in MIGRATIONS[recognise(db, path) :]:
                for sql in migration:
                    db.execute(sql)
            db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            db.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
            db.execute("COMMIT")
        db.execute("PRAGMA journal_mode = WAL")
    return _uri(path, "rw"), False


def connect(uri: str) -> sqlite3.Connection:
    """Connect in autocommit mode: every statement is a transaction of its own."""
    return sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None)


def recognise(db: sqlite3.Connection, path: Path) -> int:
    """Return the version of the cache, 0 for an empty file. Raises CacheError where the file is not ours."""
    owner, version = (
        db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
    )
    if owner == 0 and version == 1:
        ours = [row[1] for row in db.execute("PRAGMA table_info(replies)")] == COLUMNS
    elif owner == 0 and version == 0:
        ours = db.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
    else:
        ours = owner == APPLICATION_ID
    if not ours:
        raise CacheError(f"cache {path} is another program's SQLite file: give --cache a file of its own")
    if version > len(MIGRATIONS):
        raise CacheError(
            f"cache {path} was made by a newer version of hinter: update, or use another --cache"
        )
    return int(version)


def trouble(path: Path, error: sqlite3.Error | OSError) -> CacheError:
    """Return an error that says in one line what is wrong with the file and what to do."""
    if isinstance(error, OSError):
        reason = error.strerror or str(error)
        return CacheError(f"cache {path}: {reason}: give --cache a place that can be written")
    advice = {
        sqlite3.SQLITE_NOTADB: (
            DAMAGED if path.suffix in SUFFIXES else "is not a cache: give --cache a *.sqlite file"
        ),
        sqlite3.SQLITE_CORRUPT: DAMAGED,
        sqlite3.SQLITE_BUSY: "is locked by another process: wait for it, then give the same command again",
        sqlite3.SQLITE_FULL: "is on a full disk: make room, then give the same command again",
        sqlite3.SQLITE_READONLY: "is read-only: make it and its folder writable, or use a copy of it",
        sqlite3.SQLITE_CANTOPEN: "cannot be opened: give --cache a place that can be read and written",
    }
    return CacheError(f"cache {path} {advice.get(code(error), 'failed')} ({error})")


def code(error: sqlite3.Error) -> int:
    """Return SQLite's primary result code, or -1 for an error of Python's own."""
    extended = getattr(error, "sqlite_errorcode", None)
    return -1 if extended is None else int(extended) & PRIMARY_CODE


def _readable(path: Path) -> str:
    """Return the URI of a read-only file; without a log, one that is read without an index beside it."""
    with_log = path.with_name(path.name + "-wal")
    for uri in (_uri(path, "ro"), _uri(path, "ro&immutable=1")):
        try:
            with closing(connect(uri)) as db:
                if recognise(db, path) == 0:
                    raise CacheError(
                        f"cache {path} is empty and cannot be written: give --cache another place"
                    )
                return uri
        except sqlite3.OperationalError:
            if "immutable" in uri or (with_log.exists() and with_log.stat().st_size):
                raise
    raise AssertionError


def _uri(path: Path, mode: str) -> str:
    return f"{path.resolve().as_uri()}?mode={mode}"


def _writable(path: Path) -> bool:
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)
