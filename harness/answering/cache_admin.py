"""Administration of the response cache: statistics, explaining a miss, pruning, export and import.

Everything streams, so that memory does not grow with the file, and nothing holds the file's lock for long
except the last step of ``prune``, which reclaims the space.
"""

from __future__ import annotations

import json
import logging
import math
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import TypedDict

from harness.answering import salvage
from harness.answering.cache import (
    CHECKED,
    KEEP,
    LATER_TABLES,
    ROWS_A_STATEMENT,
    connect,
    locate,
    recognise,
    statement,
    trouble,
)
from harness.answering.payloads import distance, flat
from harness.answering.rows import Row, asked, decode, intact, rebuild, row, safe
from harness.answering.salvage import Stored
from harness.core import JsonObject, Reply, Request, Token, canonical
from harness.errors import CacheError

log = logging.getLogger(__name__)

ALL = "SELECT key, CAST(request AS BLOB), CAST(reply AS BLOB), created, {} FROM replies ORDER BY key"
REQUESTS = "SELECT key, CAST(request AS BLOB) FROM replies WHERE key <> ?"
STARTING = """
    SELECT key, CAST(request AS BLOB), 'kept' FROM replies WHERE key >= ?1 AND key < ?1 || 'g'
    UNION
    SELECT key, CAST(request AS BLOB), 'expected' FROM expected WHERE key >= ?1 AND key < ?1 || 'g'
        AND key NOT IN (SELECT key FROM replies WHERE key >= ?1 AND key < ?1 || 'g')
    LIMIT 2
"""
# In batches of rows, so that a run sharing the file never waits for more than one batch.
OLD = """
    FROM replies WHERE rowid > ? AND rowid <= ? AND created < ?
    AND (? OR ? = coalesce(json_extract(request, '$.model.name'), json_extract(request, '$.model.kind')))
"""
COUNT_OLD = "SELECT count(*)" + OLD
DELETE_OLD = "DELETE" + OLD
KEY = re.compile("[0-9a-f]{4,64}")
SHOWN = 60


class Usage(TypedDict):
    """The token counts among the fields of a stored reply."""

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int


@dataclass(slots=True)
class Tokens:
    """Token counts over replies, as reported by the servers."""

    prompt: int = 0
    completion: int = 0
    cached: int = 0

    def add(self, reply: Usage) -> None:
        """Add the counts of a reply."""
        self.prompt += reply["prompt_tokens"]
        self.completion += reply["completion_tokens"]
        self.cached += reply["cached_tokens"]


@dataclass(slots=True)
class ModelTotals:
    """Totals for one model at one endpoint; ``endpoint`` is empty for a model in this process."""

    name: str
    endpoint: str
    replies: int = 0
    tokens: Tokens = field(default_factory=Tokens)


@dataclass(slots=True)
class Stats:
    """The contents of a cache; times are seconds since 1970, and ``bytes`` includes the write-ahead log."""

    file: str
    bytes: int = 0
    replies: int = 0
    oldest: float | None = None
    newest: float | None = None
    damaged: int = 0
    expected: int = 0
    dialects: int = 0
    tokens: Tokens = field(default_factory=Tokens)
    models: list[ModelTotals] = field(default_factory=list)

    def as_dict(self) -> JsonObject:
        """Return the statistics as JSON values."""
        return asdict(self)


@contextmanager
def opened(path: Path, create: bool = False) -> Iterator[sqlite3.Connection]:
    """Open the cache at ``path``, migrated.

    Raises CacheError where there is none, unless ``create`` is true.
    """
    try:
        if not create and not path.exists():
            raise CacheError(f"cache {path}: no such file")
        uri, _ = locate(path)
    except (sqlite3.Error, OSError) as error:
        raise trouble(path, error) from error
    try:
        with closing(connect(uri)) as db:
            if recognise(db, path) < 2:  # the file cannot be written
                for table in LATER_TABLES:
                    db.execute(f"CREATE TEMP TABLE {table}")
            yield db
    except sqlite3.Error as error:
        raise trouble(path, error) from error


def stats(path: Path) -> Stats:
    """Count the contents of the cache, by model and endpoint."""
    counted = Stats(str(path))
    answered: dict[tuple[str, str], ModelTotals] = {}
    with opened(path) as db:
        for key, request, reply, created, check in _all(db, path):
            if not _whole(key, request, reply, check):
                counted.damaged += 1
                continue
            name, endpoint = _who(json.loads(request)["model"])
            totals = answered.setdefault((name, endpoint), ModelTotals(name, endpoint))
            totals.replies += 1
            counts = json.loads(reply)
            totals.tokens.add(counts)
            counted.tokens.add(counts)
            counted.replies += 1
            counted.oldest = min(created, counted.oldest or created)
            counted.newest = max(created, counted.newest or created)
        counted.expected = db.execute("SELECT count(*) FROM expected").fetchone()[0]
        counted.dialects = db.execute("SELECT count(*) FROM dialects").fetchone()[0]
        files = [path, path.with_name(path.name + "-wal")]
        counted.bytes = sum(file.stat().st_size for file in files if file.exists())
    counted.models = sorted(answered.values(), key=lambda a: (-a.replies, a.name, a.endpoint))
    return counted


def _who(model: JsonObject) -> tuple[str, str]:
    return str(model.get("name") or model.get("kind") or "?"), str(model.get("base_url") or "")


def prune(path: Path, before: float, model: str | None = None, dry: bool = False) -> int:
    """Delete replies stored before ``before`` and reclaim the space; return the number of replies deleted.

    ``before`` is in seconds since 1970. With ``model``, delete the replies of that model only; with ``dry``,
    only count them.
    """
    with opened(path) as db:
        last = db.execute("SELECT coalesce(max(rowid), 0) FROM replies").fetchone()[0]
        if dry:
            return int(db.execute(COUNT_OLD, [0, last, before, model is None, model]).fetchone()[0])
        deleted = sum(
            db.execute(DELETE_OLD, [start, start + ROWS_A_STATEMENT, before, model is None, model]).rowcount
            for start in range(0, last, ROWS_A_STATEMENT)
        )
        if deleted:
            _shrink(db, path)
        return deleted


def _shrink(db: sqlite3.Connection, path: Path) -> None:
    try:
        db.execute("VACUUM")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.OperationalError as error:
        log.warning(
            "cache %s: freed space is reused, but could not be reclaimed: %s",
            path,
            error,
        )


@dataclass(slots=True)
class Read:
    """Counts of the rows of a cache: those that can be read, and those that are damaged.

    ``salvaged`` says that the file itself is damaged, so that nobody knows how many rows it had.
    """

    whole: int = 0
    damaged: int = 0
    salvaged: bool = False


def export(path: Path, read: Read | None = None) -> Iterator[bytes]:
    """Yield every reply with its request as a JSON line, in key order, and count them in ``read``.

    From a damaged file, every row that can be read, in no order. Nothing is yielded of damaged rows.
    """
    read = Read() if read is None else read
    rows: Iterator[Stored]
    if salvage.is_damaged(path):
        read.salvaged = True
        rows = salvage.replies(path)
    else:
        rows = _rows_of(path)
    for key, request, reply, created, check in rows:
        if not _whole(key, request, reply, check):
            read.damaged += 1
            continue
        read.whole += 1
        yield (
            f'{{"key": "{key}", "request": {_text(request)}, "reply": {_text(reply)}, '
            f'"created": {json.dumps(created)}}}\n'
        ).encode()


def _rows_of(path: Path) -> Iterator[Stored]:
    with opened(path) as db:
        yield from _all(db, path)


def _all(db: sqlite3.Connection, path: Path) -> Iterator[Stored]:
    return db.execute(ALL.format("checksum" if recognise(db, path) >= CHECKED else "NULL"))


def _whole(key: str, request: bytes, reply: bytes, check: str | None) -> bool:
    return intact(key, reply, check) is not None and asked(key, request) is not None


def _text(stored: bytes) -> str:
    return safe(stored.decode("utf-8", "surrogatepass"))


def import_(path: Path, lines: Iterable[bytes], source: str) -> tuple[int, int]:
    """Add the replies of an export that are not in the cache; return the numbers added and read.

    Every line is checked before any is added. Raises CacheError naming the faulty line.
    """
    with closing(sqlite3.connect("", isolation_level=None)) as staged:  # SQLite's own temporary file
        staged.execute(
            "CREATE TABLE rows (key TEXT PRIMARY KEY, request, reply, created, checksum) WITHOUT ROWID"
        )
        staged.execute("BEGIN")
        try:
            staged.executemany("INSERT OR IGNORE INTO rows VALUES (?, ?, ?, ?, ?)", _rows(lines, source))
        except sqlite3.Error as error:
            raise CacheError(f"{source}: no room to check it: {error}") from error
        total = staged.execute("SELECT count(*) FROM rows").fetchone()[0]
        added = 0
        with opened(path, create=True) as db:
            rows = staged.execute("SELECT * FROM rows ORDER BY key")
            while batch := list(islice(rows, ROWS_A_STATEMENT)):
                added += db.execute(*statement(KEEP, batch)).rowcount
        return added, total


def _rows(lines: Iterable[bytes], source: str) -> Iterator[Row]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            data = json.loads(line)
            request, reply, created = rebuild(data["request"]), _checked(data["reply"]), data["created"]
            if type(created) not in (int, float) or not math.isfinite(created):
                raise ValueError(f"created is {created!r}, not a time")
            if request.key != data["key"]:
                raise ValueError(f"the key {data['key']!r} is not the request's, {request.key}")
            yield row(request, reply, float(created))
        except KeyError as error:
            raise CacheError(f"{source}: line {number}: no {error}: not a line of an export") from error
        except (ValueError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            raise CacheError(f"{source}: line {number}: {error}") from error


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0


def _is_number(value: object) -> bool:
    return type(value) in (int, float)


def _are_tokens(value: object) -> bool:
    return isinstance(value, tuple) and all(
        isinstance(token, Token) and _is_text(token.text) and _is_number(token.logprob) for token in value
    )


RIGHT: dict[str, Callable[[object], bool]] = {
    "text": _is_text,
    "finish_reason": _is_text,
    "prompt_tokens": _is_count,
    "completion_tokens": _is_count,
    "cached_tokens": _is_count,
    "logprobs": lambda value: value is None or _are_tokens(value),
    "score": lambda value: value is None or _is_number(value),
    "model": _is_text,
    "fingerprint": lambda value: value is None or _is_text(value),
    "latency": _is_number,
}


def _checked(data: JsonObject) -> Reply:
    """Return a reply whose fields have the right types. Raises ValueError, TypeError or KeyError."""
    reply = decode(json.dumps(data))
    for name, right in RIGHT.items():
        value = getattr(reply, name)
        if not right(value):
            raise ValueError(f"reply.{name} is {value!r:.{SHOWN}}")
    return reply


@dataclass(frozen=True, slots=True)
class CachedRequest:
    """A request and its key.

    ``state`` is ``kept`` (answered), ``expected`` (of a batch job) or ``asked`` (not looked up in the cache).
    """

    key: str
    payload: JsonObject
    state: str = "asked"


def find(db: sqlite3.Connection, path: Path, key: str) -> CachedRequest:
    """Return the request whose key begins with ``key``. Raises CacheError where there is none or several."""
    if not KEY.fullmatch(key):
        raise CacheError(f"{key!r} is neither a file nor a key: a key has 4 to 64 of 0-9 and a-f")
    rows = db.execute(STARTING, [key]).fetchall()
    if not rows:
        raise CacheError(f"cache {path}: no request has a key that begins with {key}")
    if len(rows) > 1:
        raise CacheError(f"cache {path}: several keys begin with {key}: give more characters")
    payload = json.loads(rows[0][1])
    payload.pop("text", None)
    return CachedRequest(rows[0][0], payload, rows[0][2])


def parse_request(text: bytes, source: str) -> CachedRequest:
    """Parse a request from JSON: its payload, or a line of an export. Raises CacheError."""
    try:
        data = json.loads(text)
        request: Request = rebuild(data.get("request", data))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        says = f"no {error}" if isinstance(error, KeyError) else error
        raise CacheError(f"{source}: not the JSON of a request: {says}") from error
    return CachedRequest(request.key, json.loads(canonical(request.payload())))


def nearest(db: sqlite3.Connection, request: CachedRequest) -> CachedRequest | None:
    """Return the cached request most similar to ``request``, or None for an empty cache.

    In order of weight: the same last message, the fewest differing fields, the fewest differing characters.
    """
    fields = flat(request.payload)
    last = _last(request.payload)
    best: CachedRequest | None = None
    least: tuple[bool, int, int] | None = None
    for key, text in db.execute(REQUESTS, [request.key]):
        payload = json.loads(text)
        other = flat(payload)
        differing = [name for name in fields.keys() | other.keys() if fields.get(name) != other.get(name)]
        apart = (_last(payload) != last, len(differing))
        if least is None or apart <= least[:2]:  # otherwise skip counting characters
            difference = (*apart, sum(distance(fields.get(name), other.get(name)) for name in differing))
            if least is None or difference < least:
                best, least = CachedRequest(key, payload, "kept"), difference
    return best


def _last(payload: JsonObject) -> object:
    messages = payload["messages"]
    return messages[-1] if isinstance(messages, list) and messages else None
