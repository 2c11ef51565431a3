"""Save what can be read of a damaged response cache, row by row, from the pages of its file.

SQLite gives up a table where a page on the way to a row is damaged. Here every page is looked at by itself:
a row that lies in it whole is found, wherever the way to it leads. What was found is checked: a request must
have its key, a reply its checksum. The format is that of https://www.sqlite.org/fileformat2.html.
"""

from __future__ import annotations

import mmap
import re
import sqlite3
import struct
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from harness.answering.cache import (
    EXPECT,
    KEEP,
    ROWS_A_STATEMENT,
    SUFFIXES,
    code,
    connect,
    locate,
    statement,
    trouble,
)
from harness.answering.rows import asked, intact
from harness.errors import CacheError

Stored = tuple[str, bytes, bytes, float, str | None]
"""Key, request, reply, seconds since 1970, checksum if there is one."""

MAGIC = b"SQLite format 3\0"
PAGE = 4096  # SQLite's own, where the header does not tell
SMALLEST_PAGE = 512
LEAVES = {0x0D: (8, 0, True), 0x0A: (8, 0, False), 0x02: (12, 4, False)}
"""The kinds of page that hold rows: the length of their header, of what stands before a cell's size, and
whether a row number follows it."""
INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
WAL_HEADER, FRAME_HEADER = 32, 24
KEY = re.compile("[0-9a-f]{64}")
BROKEN = (struct.error, IndexError, ValueError, OverflowError, RecursionError)


@dataclass(frozen=True, slots=True)
class Renewed:
    """A cache that was made anew: the number of replies in it, and where the damaged file is."""

    replies: int
    aside: Path


def is_damaged(path: Path) -> bool:
    """Return whether the cache at ``path`` is damaged as a file. Raises ``CacheError`` for other faults."""
    if not path.is_file():
        return False
    try:
        uri, _ = locate(path)
        with closing(connect(uri)) as db:
            return bool(db.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",))
    except sqlite3.DatabaseError as error:
        corrupt = code(error) == sqlite3.SQLITE_CORRUPT
        if corrupt or (code(error) == sqlite3.SQLITE_NOTADB and path.suffix in SUFFIXES):
            return True
        raise trouble(path, error) from error
    except OSError as error:
        raise trouble(path, error) from error


def renew(path: Path) -> Renewed | None:
    """Put a new cache with every row that can be read in the place of a damaged one, which is set aside.

    Return None where it is not damaged. Raises ``CacheError``.
    """
    before = _inode(path)
    if not is_damaged(path) or _inode(path) != before:  # or another run has just made it anew
        return None
    aside = path.with_name(f"{path.name}.damaged-{time.time_ns()}")
    try:
        path.rename(aside)
        for extra in ("-wal", "-shm"):
            with suppress(FileNotFoundError):
                path.with_name(path.name + extra).rename(aside.with_name(aside.name + extra))
        with closing(connect(locate(path)[0])) as db:
            found, kept = whole(aside), 0
            while batch := list(islice(found, ROWS_A_STATEMENT)):
                rows = [(key, text(a), text(b), created, check) for key, a, b, created, check in batch]
                kept += db.execute(*statement(KEEP, rows)).rowcount
            for key, request, job, created in expected(aside):
                if not db.execute("SELECT 1 FROM replies WHERE key = ?", [key]).fetchone():
                    db.execute(*statement(EXPECT, [(key, text(request), job, created)]))
        return Renewed(kept, aside)
    except (sqlite3.Error, OSError) as error:
        raise trouble(path, error) from error


def _inode(path: Path) -> int | None:
    return path.stat().st_ino if path.exists() else None


def text(stored: bytes) -> str:
    """Return the text of a row."""
    return stored.decode("utf-8", "surrogatepass")


def whole(path: Path) -> Iterator[Stored]:
    """Yield the rows of replies that are not damaged."""
    for row in replies(path):
        if intact(row[0], row[2], row[4]) is not None and asked(row[0], row[1]) is not None:
            yield row


def replies(path: Path) -> Iterator[Stored]:
    """Yield the rows that look like replies, the best one of each key."""
    seen: set[str] = set()
    for key, request, reply, created, *check in _records(path):
        if not reply.startswith(b"{") or key in seen:
            continue
        checksum = check[0].decode() if check and isinstance(check[0], bytes) else None
        if intact(key, reply, checksum) is not None and asked(key, request) is not None:
            seen.add(key)
        yield key, request, reply, created, checksum


def expected(path: Path) -> Iterator[tuple[str, bytes, str, float]]:
    """Yield the rows of requests that were handed to a job."""
    for key, request, job, created, *_ in _records(path):
        if not job.startswith(b"{") and asked(key, request) is not None:
            yield key, request, text(job), created


def _records(path: Path) -> Iterator[tuple[str, bytes, bytes, float, *tuple[object, ...]]]:
    """Yield the records of the form of our rows: a key, two texts, a time, and perhaps more."""
    for record in _Pages(path).records():
        match record:
            case [bytes(key), bytes(request), bytes(other), float() | int() as created, *more] if (
                KEY.fullmatch(key.decode("latin-1"))
            ):
                yield key.decode(), request, other, float(created), *more


class _Pages:
    """The pages of an SQLite file and of its write-ahead log."""

    def __init__(self, path: Path) -> None:
        self._file = _bytes(path)
        log = _bytes(path.with_name(path.name + "-wal"))
        self._size, reserved = PAGE, 0
        if self._file[:16] == MAGIC:
            size = int.from_bytes(self._file[16:18], "big")
            size = 65536 if size == 1 else size
            if size >= SMALLEST_PAGE and size & (size - 1) == 0:
                self._size, reserved = size, self._file[20]
        self._usable = self._size - reserved
        self._logged: dict[int, bytes] = {}
        for start in range(WAL_HEADER, len(log) - FRAME_HEADER, FRAME_HEADER + self._size):
            page = log[start + FRAME_HEADER : start + FRAME_HEADER + self._size]
            self._logged[int.from_bytes(log[start : start + 4], "big")] = page

    def records(self) -> Iterator[list[object]]:
        """Yield every record that can be read, those of the log first, which are newer."""
        for page in self._logged.values():
            yield from self._of(page)
        for start in range(0, len(self._file), self._size):
            yield from self._of(self._file[start : start + self._size])

    def _page(self, number: int) -> bytes:
        start = (number - 1) * self._size
        return self._logged.get(number) or self._file[start : start + self._size]

    def _of(self, page: bytes) -> Iterator[list[object]]:
        if not page or page[0] not in LEAVES:
            return
        header, before, numbered = LEAVES[page[0]]
        for index in range(int.from_bytes(page[3:5], "big")):
            place = header + 2 * index
            start = int.from_bytes(page[place : place + 2], "big") + before
            try:
                yield _record(self._payload(page, start, numbered))
            except BROKEN:
                continue

    def _payload(self, page: bytes, start: int, numbered: bool) -> bytes:
        """Return the payload of the cell at ``start``, with what overflows to other pages."""
        size, start = _varint(page, start)
        if numbered:
            _, start = _varint(page, start)
        least = (self._usable - 12) * 32 // 255 - 23
        most = self._usable - 35 if numbered else (self._usable - 12) * 64 // 255 - 23
        if size <= most:
            return _exactly(page[start : start + size], size)
        local = least + (size - least) % (self._usable - 4)
        local = local if local <= most else least
        parts, left = [_exactly(page[start : start + local], local)], size - local
        if left > len(self._file) + len(self._logged) * self._size:
            raise ValueError("more than there is")
        following = int.from_bytes(page[start + local : start + local + 4], "big")
        while left > 0:
            overflow = self._page(following)
            part = _exactly(overflow[4 : 4 + min(left, self._usable - 4)], min(left, self._usable - 4))
            parts.append(part)
            left -= len(part)
            following = int.from_bytes(overflow[:4], "big")
        return b"".join(parts)


def _bytes(path: Path) -> bytes | mmap.mmap:
    try:
        with path.open("rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (FileNotFoundError, ValueError):  # none, or an empty one
        return b""
    except OSError as error:
        raise CacheError(f"cache {path}: {error.strerror or error}") from error


def _exactly(part: bytes, size: int) -> bytes:
    if len(part) != size:
        raise ValueError("cut off")
    return part


def _varint(data: bytes, start: int) -> tuple[int, int]:
    """Return the variable-length integer at ``start``, and the place after it."""
    value = 0
    for length in range(9):
        byte = data[start + length]
        if length == 8:
            return value << 8 | byte, start + 9
        value = value << 7 | byte & 0x7F
        if not byte & 0x80:
            return value, start + length + 1
    raise AssertionError


def _record(payload: bytes) -> list[object]:
    """Return the values of a record: texts and blobs as bytes."""
    length, place = _varint(payload, 0)
    kinds = []
    while place < length:
        kind, place = _varint(payload, place)
        kinds.append(kind)
    values: list[object] = []
    for kind in kinds:
        if kind >= 12:
            size = (kind - 12) // 2
            values.append(_exactly(payload[place : place + size], size))
        elif kind == 7:
            size = 8
            values.append(struct.unpack(">d", payload[place : place + 8])[0])
        else:
            size = INTEGERS.get(kind, 0)
            number = int.from_bytes(payload[place : place + size], "big", signed=True)
            values.append({0: None, 8: 0, 9: 1}.get(kind, number))
        place += size
    return values
