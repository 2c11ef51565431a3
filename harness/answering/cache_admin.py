"""Keeping the response cache: what is in it, why a request missed it, pruning, moving it elsewhere.

All of it streams, so memory is flat in the size of the file, and nothing holds the file's lock for long,
but for the last step of ``prune``, which gives the space back.
"""

from __future__ import annotations

import json
import logging
import math
import re
import sqlite3
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from harness.answering.cache import (
    KEEP,
    LATER_TABLES,
    MIGRATIONS,
    ROWS_A_STATEMENT,
    Row,
    connect,
    decode,
    encode,
    locate,
    rebuild,
    recognise,
    safe,
    statement,
    trouble,
)
from harness.core import Reply, Request, canonical
from harness.errors import CacheError

log = logging.getLogger(__name__)

ALL = "SELECT key, CAST(request AS BLOB), CAST(reply AS BLOB), created FROM replies ORDER BY key"
REQUESTS = "SELECT key, CAST(request AS BLOB) FROM replies WHERE key <> ?"
STARTING = """
    SELECT key, CAST(request AS BLOB), 'kept' FROM replies WHERE key >= ?1 AND key < ?1 || 'g'
    UNION
    SELECT key, CAST(request AS BLOB), 'expected' FROM expected WHERE key >= ?1 AND key < ?1 || 'g'
        AND key NOT IN (SELECT key FROM replies WHERE key >= ?1 AND key < ?1 || 'g')
    LIMIT 2
"""
# Some rows at a time, in one pass, so that a run which shares the file waits for no more than some.
OLD = """
    FROM replies WHERE rowid > ? AND rowid <= ? AND created < ?
    AND (? OR ? = coalesce(json_extract(request, '$.model.name'), json_extract(request, '$.model.kind')))
"""
COUNT_OLD = "SELECT count(*)" + OLD
DELETE_OLD = "DELETE" + OLD
KEY = re.compile("[0-9a-f]{4,64}")
SHOWN = 60
BEFORE, AFTER = 20, 40


@dataclass(slots=True)
class Tokens:
    """Sums over replies, as the servers counted."""

    prompt: int = 0
    completion: int = 0
    cached: int = 0

    def add(self, reply: Mapping[str, Any]) -> None:
        """Count one more reply."""
        self.prompt += reply["prompt_tokens"]
        self.completion += reply["completion_tokens"]
        self.cached += reply["cached_tokens"]


@dataclass(slots=True)
class Answered:
    """What one model at one endpoint answered; ``endpoint`` is empty for a model in this process."""

    name: str
    endpoint: str
    replies: int = 0
    tokens: Tokens = field(default_factory=Tokens)


@dataclass(slots=True)
class Stats:
    """What a cache holds; times are seconds since 1970, ``bytes`` include the write-ahead log."""

    file: str
    bytes: int = 0
    replies: int = 0
    oldest: float | None = None
    newest: float | None = None
    expected: int = 0
    dialects: int = 0
    tokens: Tokens = field(default_factory=Tokens)
    models: list[Answered] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self)


@contextmanager
def opened(path: Path, create: bool = False) -> Iterator[sqlite3.Connection]:
    """A connection to the cache at ``path``, migrated. Raises CacheError where there is none."""
    try:
        if not create and not path.exists():
            raise CacheError(f"cache {path}: no such file")
        uri, _ = locate(path)
    except (sqlite3.Error, OSError) as error:
        raise trouble(path, error) from error
    try:
        with closing(connect(uri)) as db:
            if recognise(db, path) < len(MIGRATIONS):  # it cannot be written
                for table in LATER_TABLES:
                    db.execute(f"CREATE TEMP TABLE {table}")
            yield db
    except sqlite3.Error as error:
        raise trouble(path, error) from error


def stats(path: Path) -> Stats:
    """Count what the cache holds, by who answered."""
    counted = Stats(str(path))
    answered: dict[tuple[str, str], Answered] = {}
    with opened(path) as db:
        for _, request, reply, created in db.execute(ALL):
            name, endpoint = _who(json.loads(request)["model"])
            one = answered.setdefault((name, endpoint), Answered(name, endpoint))
            one.replies += 1
            kept = json.loads(reply)
            one.tokens.add(kept)
            counted.tokens.add(kept)
            counted.replies += 1
            counted.oldest = min(created, counted.oldest or created)
            counted.newest = max(created, counted.newest or created)
        counted.expected = db.execute("SELECT count(*) FROM expected").fetchone()[0]
        counted.dialects = db.execute("SELECT count(*) FROM dialects").fetchone()[0]
        files = [path, path.with_name(path.name + "-wal")]
        counted.bytes = sum(file.stat().st_size for file in files if file.exists())
    counted.models = sorted(answered.values(), key=lambda a: (-a.replies, a.name, a.endpoint))
    return counted


def _who(model: Mapping[str, Any]) -> tuple[str, str]:
    return str(model.get("name") or model.get("kind") or "?"), str(model.get("base_url") or "")


def prune(path: Path, before: float, model: str | None = None, dry: bool = False) -> int:
    """Delete the replies kept before a time (of one model), give the space back; how many they are."""
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
        log.warning("cache %s: the space of what was deleted is used again, not given back: %s", path, error)


def export(path: Path) -> Iterator[bytes]:
    """Every reply with its request as a JSON line, in the order of keys."""
    with opened(path) as db:
        for key, request, reply, created in db.execute(ALL):
            yield (
                f'{{"key": "{key}", "request": {_text(request)}, "reply": {_text(reply)}, '
                f'"created": {json.dumps(created)}}}\n'
            ).encode()


def _text(stored: bytes) -> str:
    return safe(stored.decode("utf-8", "surrogatepass"))


def import_(path: Path, lines: Iterable[bytes], source: str) -> tuple[int, int]:
    """Add the replies of an export that are not kept yet: how many were added, and how many given.

    Every line is checked before anything is added. Raises CacheError that names the line.
    """
    with closing(sqlite3.connect("", isolation_level=None)) as staged:  # a temporary file of SQLite's own
        staged.execute("CREATE TABLE rows (key TEXT PRIMARY KEY, request, reply, created) WITHOUT ROWID")
        staged.execute("BEGIN")
        try:
            staged.executemany("INSERT OR IGNORE INTO rows VALUES (?, ?, ?, ?)", _rows(lines, source))
        except sqlite3.Error as error:
            raise CacheError(f"{source}: no room to check it: {error}") from error
        given = staged.execute("SELECT count(*) FROM rows").fetchone()[0]
        added = 0
        with opened(path, create=True) as db:
            rows = staged.execute("SELECT * FROM rows ORDER BY key")
            while some := list(islice(rows, ROWS_A_STATEMENT)):
                added += db.execute(*statement(KEEP, some)).rowcount
        return added, given


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
            yield request.key, safe(canonical(request.payload())), encode(reply), float(created)
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


RIGHT: dict[str, Callable[[Any], bool]] = {
    "text": _is_text,
    "finish_reason": _is_text,
    "prompt_tokens": _is_count,
    "completion_tokens": _is_count,
    "cached_tokens": _is_count,
    "logprobs": lambda tokens: all(_is_text(t.text) and _is_number(t.logprob) for t in tokens or ()),
    "score": lambda value: value is None or _is_number(value),
    "model": _is_text,
    "fingerprint": lambda value: value is None or _is_text(value),
    "latency": _is_number,
}


def _checked(data: Mapping[str, Any]) -> Reply:
    """A reply whose fields are of their types. Raises ValueError, TypeError or KeyError."""
    reply = decode(json.dumps(data))
    for name, right in RIGHT.items():
        value = getattr(reply, name)
        if not right(value):
            raise ValueError(f"reply.{name} is {value!r:.{SHOWN}}")
    return reply


@dataclass(frozen=True, slots=True)
class Found:
    """A request of the cache: ``state`` says whether it was answered or is expected of a batch job."""

    key: str
    payload: dict[str, Any]
    state: str = "asked"


def find(db: sqlite3.Connection, path: Path, key: str) -> Found:
    """The request whose key begins with ``key``. Raises CacheError where that is none or several."""
    if not KEY.fullmatch(key):
        raise CacheError(f"{key!r} is neither a file nor a key: a key has 4 to 64 of 0-9 and a-f")
    rows = db.execute(STARTING, [key]).fetchall()
    if not rows:
        raise CacheError(f"cache {path}: no request has a key that begins with {key}")
    if len(rows) > 1:
        raise CacheError(f"cache {path}: several keys begin with {key}: give more of it")
    payload = json.loads(rows[0][1])
    payload.pop("text", None)
    return Found(rows[0][0], payload, rows[0][2])


def asked(text: bytes, source: str) -> Found:
    """A request from its JSON: the payload, or a line of an export."""
    try:
        data = json.loads(text)
        request: Request = rebuild(data.get("request", data))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        says = f"no {error}" if isinstance(error, KeyError) else error
        raise CacheError(f"{source}: not the JSON of a request: {says}") from error
    return Found(request.key, json.loads(canonical(request.payload())))


def nearest(db: sqlite3.Connection, request: Found) -> Found | None:
    """The kept request that is most like another: the same last message, the fewest fields that differ,
    the fewest characters that differ, in this order of weight."""
    own = _flat(request.payload)
    last = _last(request.payload)
    best: Found | None = None
    least: tuple[bool, int, int] | None = None
    for key, text in db.execute(REQUESTS, [request.key]):
        payload = json.loads(text)
        flat = _flat(payload)
        differing = [name for name in own.keys() | flat.keys() if own.get(name) != flat.get(name)]
        apart = (_last(payload) != last, len(differing))
        if least is None or apart <= least[:2]:  # else its characters need not be counted
            distance = (*apart, sum(_apart(own.get(name), flat.get(name)) for name in differing))
            if least is None or distance < least:
                best, least = Found(key, payload, "kept"), distance
    return best


def _last(payload: Mapping[str, Any]) -> object:
    return payload["messages"][-1] if payload["messages"] else None


def differences(kept: Mapping[str, Any], wanted: Mapping[str, Any], names: tuple[str, str]) -> list[str]:
    """The fields that differ between two payloads, one a line, with the first differing place of texts."""
    one, other = _flat(kept), _flat(wanted)
    lines = []
    for name in sorted(one.keys() | other.keys(), key=_order):
        if name not in one:
            lines.append(f"{name}: absent {names[0]}, {_shown(other[name])} {names[1]}")
        elif name not in other:
            lines.append(f"{name}: {_shown(one[name])} {names[0]}, absent {names[1]}")
        elif canonical(one[name]) != canonical(other[name]):
            lines.append(_difference(name, one[name], other[name], names))
    return lines


def _flat(payload: Mapping[str, Any]) -> dict[str, Any]:
    """``sampling.max_tokens`` and the like: one entry a field; two a message."""
    flat: dict[str, Any] = {}
    for name, value in payload.items():
        if name == "messages":
            for number, (role, content) in enumerate(value):
                flat[f"messages[{number}].role"], flat[f"messages[{number}]"] = role, content
        elif isinstance(value, Mapping):
            flat |= {f"{name}.{inner}": deeper for inner, deeper in value.items()}
        else:
            flat[name] = value
    return flat


def _order(name: str) -> tuple[bool, int, str]:
    number = re.match(r"messages\[(\d+)\]", name)
    return (number is not None, int(number[1]) if number else 0, name)


def _difference(name: str, one: Any, other: Any, names: tuple[str, str]) -> str:
    if isinstance(one, str) and isinstance(other, str) and max(len(one), len(other)) > SHOWN:
        at = _agreeing(one, other)
        start = max(0, at - BEFORE)
        one, other = (_around(text, start, at + AFTER) for text in (one, other))
        return f"{name} from character {at + 1}: {_shown(one)} {names[0]}, {_shown(other)} {names[1]}"
    return f"{name}: {_shown(one)} {names[0]}, {_shown(other)} {names[1]}"


def _around(text: str, start: int, end: int) -> str:
    return ("…" if start else "") + text[start:end] + ("…" if len(text) > end else "")


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= 2 * SHOWN else f"{text[: 2 * SHOWN]}…"


def _agreeing(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    length = min(len(one), len(other))
    return bisect_left(range(1, length + 1), True, key=lambda n: one[:n] != other[:n])


def _apart(one: Any, other: Any) -> int:
    """How many characters of the longer text lie between what both begin and what both end with."""
    one, other = str(one), str(other)
    longest, shortest = max(len(one), len(other)), min(len(one), len(other))
    start = _agreeing(one, other)
    end = min(_agreeing(one[::-1], other[::-1]), shortest - start)
    return longest - start - end
