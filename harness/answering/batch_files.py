"""Batch files: JSON lines that the OpenAI Batch API, ``vllm run-batch`` and others read and write.

A request line is ``{"custom_id", "method", "url", "body"}``, where ``custom_id`` is the request's key. An
answer line is ``{"custom_id", "response": {"status_code", "body"}, "error"}``, in one of three forms: a reply
or an error in ``response.body`` (OpenAI); an error without a response (OpenAI, for a request that was not
executed); a status without a body, and an ``error`` that is text or an object (vLLM).

The endpoint's dialect is up to the caller: functions passed in make a body and interpret an answer.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import IO

from harness import files
from harness.answering.cache import ResponseCache
from harness.core import Failure, Json, JsonObject, Reply, Request, canonical
from harness.errors import ConfigError

LINES_A_FILE = 50_000
BYTES_A_FILE = 200_000_000
LINES_AT_ONCE = 500
SHOWN = 5  # most unusable lines named in a message

Dialect = JsonObject
Meaning = Callable[[int | None, Json, Dialect | None], tuple[Reply | Failure, Dialect | None]]
"""Interprets a status (None: the request was not executed) and a body or error in a dialect; also returns a
better dialect where the answer calls for one."""


def line(request: Request, url: str, body: JsonObject) -> bytes:
    """Return a request as a line of a batch file."""
    entry = {"custom_id": request.key, "method": "POST", "url": url, "body": body}
    return json.dumps(entry).encode() + b"\n"


def lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file, one in memory at a time. Only a line feed ends a line."""
    with path.open("rb") as file:
        yield from file


def keys(path: Path) -> Iterator[str]:
    """Yield the request keys in a batch file of our own, ignoring a truncated last line."""
    for text in lines(path):
        if text.endswith(b"\n"):
            yield json.loads(text)["custom_id"]


class BatchFiles:
    """Writes ``path`` and, where one file may not hold all lines, ``…-2``, ``…-3``; never an empty file.

    Raises ``ConfigError`` rather than replace a file.
    """

    def __init__(self, path: Path, most_lines: int = LINES_A_FILE, most_bytes: int = BYTES_A_FILE) -> None:
        self.paths: list[Path] = []
        self.counts: list[int] = []
        self._first = path
        self._most_lines = most_lines
        self._most_bytes = most_bytes
        self._bytes = 0
        self._file: IO[bytes] | None = None

    def __enter__(self) -> BatchFiles:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, text: bytes) -> Path:
        """Write a line and return the file that holds it."""
        full = self.counts and (
            self.counts[-1] >= self._most_lines or self._bytes + len(text) > self._most_bytes
        )
        if self._file is None or full:
            self._file = self._next()
        self._file.write(text)
        self._bytes += len(text)
        self.counts[-1] += 1
        return self.paths[-1]

    def flush(self) -> None:
        """Flush the file being written."""
        if self._file is not None:
            self._file.flush()

    def _next(self) -> IO[bytes]:
        if self._file is not None:
            self._file.close()
        number = len(self.paths) + 1
        path = self._first
        if number > 1:
            path = path.with_name(f"{path.stem}-{number}{path.suffix}")
        try:
            handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, files.PRIVATE_FILE)
        except FileExistsError:
            raise ConfigError(f"{path} exists: give another name, or move it away") from None
        except OSError as error:
            raise ConfigError(f"{path}: {error.strerror or error}") from error
        self.paths.append(path)
        self.counts.append(0)
        self._bytes = 0
        return os.fdopen(handle, "wb")


@dataclass
class Taken:
    """The results of reading answers to batch files, over all files read.

    ``answered`` holds keys whose reply is in the cache, ``failures`` those without a reply; a key is in only
    one of them. ``new`` counts replies new to the cache, ``already`` those it held before. ``unknown`` and
    ``unreadable`` name the lines that could not be used, ``contradicting`` those with another reply than the
    one that is kept. ``absent`` counts the requests without a line, by the file or job that they were in.
    ``served`` counts the replies by the model, with its fingerprint, that they say they are from; ``asked``
    holds the models that were asked.
    """

    new: int = 0
    already: int = 0
    answered: set[str] = field(default_factory=set)
    failures: dict[str, Failure] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    contradicting: list[str] = field(default_factory=list)
    absent: dict[str, int] = field(default_factory=dict)
    served: Counter[tuple[str, str]] = field(default_factory=Counter)
    asked: set[str] = field(default_factory=set)

    def reply(self, key: str, new: bool, reply: Reply) -> None:
        """Record a ``reply`` to ``key``, ``new`` to the cache or not."""
        if key not in self.answered:
            self.new += new
            self.already += not new
            if reply.model:
                self.served[reply.model, reply.fingerprint or ""] += 1
        self.answered.add(key)
        self.failures.pop(key, None)

    def failure(self, key: str, failure: Failure) -> None:
        """Record a failure of ``key``, unless it has a reply or an earlier failure."""
        if key not in self.answered:
            self.failures.setdefault(key, failure)

    def add(self, other: Taken) -> None:
        """Add the counts of another job, without holding on to its answered keys."""
        self.new += other.new
        self.already += other.already
        self.failures |= other.failures
        self.unknown += other.unknown
        self.unreadable += other.unreadable
        self.contradicting += other.contradicting
        self.served += other.served
        self.asked |= other.asked

    def notes(self) -> list[str]:
        """Return a line where replies are from several models, or from another one than was asked."""
        names = {name for name, _ in self.served}
        strange = [name for name in names if self.asked and not any(_same(name, one) for one in self.asked)]
        if len(self.served) <= 1 and not strange:
            return []
        by_model = ", ".join(
            f"{' '.join(filter(None, model))} ({number:,})" for model, number in sorted(self.served.items())
        )
        asked = f", but {' and '.join(sorted(self.asked))} was asked" if strange else ""
        several = "more than one model" if len(self.served) > 1 else "another model"
        return [f"the replies are from {several}: {by_model}{asked}"]

    def problems(self) -> list[str]:
        """Return what went wrong, one line for each kind, with its count and first instance."""
        counts = Counter(failure.reason for failure in self.failures.values())
        first: dict[str, str] = {}
        for failure in self.failures.values():
            first.setdefault(failure.reason, failure.message)
        problems = [f"{number} {reason}: {first[reason]}" for reason, number in counts.items()]
        problems += [f"{number} requests of {job} have no line here" for job, number in self.absent.items()]
        for what, places in (
            ("unknown custom_id", self.unknown),
            ("unreadable line", self.unreadable),
            ("other reply than the one that is kept", self.contradicting),
        ):
            if places:
                more = f" and {len(places) - SHOWN} more" if len(places) > SHOWN else ""
                problems.append(f"{len(places)} {what}: {', '.join(places[:SHOWN])}{more}")
        return problems

    def to_json(self) -> JsonObject:
        """Return the counts and messages as JSON values."""
        failed = Counter(failure.reason for failure in self.failures.values())
        return {
            "kept": self.new,
            "already_cached": self.already,
            "failed": {kind: failed.get(kind, 0) for kind in ("filtered", "too-long", "failed")},
            "unknown": len(self.unknown),
            "unreadable": len(self.unreadable),
            "contradicting": len(self.contradicting),
            "absent": sum(self.absent.values()),
            "served": {" ".join(filter(None, model)): number for model, number in self.served.items()},
            "messages": self.problems(),
            "notes": self.notes(),
        }


def _same(served: str, asked: str) -> bool:
    """Return whether ``served`` is the model ``asked``, perhaps with a date or without its organization."""
    one, other = served.lower().rpartition("/")[2], asked.lower().rpartition("/")[2]
    return one == other or one.startswith((f"{other}-", f"{other}@", f"{other}:"))


async def take_in(
    cache: ResponseCache, answers: Iterable[bytes], source: str, meaning: Meaning, taken: Taken
) -> None:
    """Store every complete reply among the lines of ``source`` in the cache and record the rest in ``taken``.

    A line that cannot be used affects no other. Requests are not settled here, but once all replies are on
    disk.
    """
    dialects: dict[str, Dialect | None] = {}
    numbered = enumerate(answers, 1)
    while numbered_lines := list(islice(numbered, LINES_AT_ONCE)):
        parsed = []
        for number, text in numbered_lines:
            if (answer := _parse(text)) is not None:
                parsed.append((f"{source} line {number}", *answer))
            elif text.strip():
                taken.unreadable.append(f"{source} line {number}")
        answer_keys = list({key for _, key, _, _ in parsed})
        cached, _ = await cache.look_up(answer_keys)
        requests = await cache.expected([key for key in answer_keys if key not in cached])
        for key in cached.keys() - taken.answered:
            taken.reply(key, False, cached[key])
        for place, key, status, body in parsed:
            if key in taken.answered:
                if _contradicts(status, body, cached.get(key), meaning):
                    taken.contradicting.append(place)
                continue
            if key not in requests:
                taken.unknown.append(place)
                continue
            endpoint = canonical(dict(requests[key].model))
            if endpoint not in dialects:
                dialects[endpoint] = await cache.dialect(endpoint)
            meant, better = meaning(status, body, dialects[endpoint])
            if better is not None:
                dialects[endpoint] = better
                await cache.learn(endpoint, better)
            if isinstance(meant, Reply):
                cache.keep(requests[key], meant)
                cached[key] = meant
                taken.asked.add(str(requests[key].model.get("name", "")))
                taken.reply(key, True, meant)
            else:
                taken.failure(key, meant)


def _contradicts(status: int | None, body: Json, kept: Reply | None, meaning: Meaning) -> bool:
    """Return whether a line has another reply than ``kept``; an error beside a reply is none."""
    meant, _ = meaning(status, body, None)
    return isinstance(meant, Reply) and kept is not None and meant.text != kept.text


def _parse(text: bytes) -> tuple[str, int | None, Json] | None:
    """Return the key of an answer, its status (None: not executed) and its body or error; None if invalid."""
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(answer, dict) or not isinstance(key := answer.get("custom_id"), str):
        return None
    response, error = answer.get("response"), answer.get("error")
    if not isinstance(response, dict):
        return (key, None, error) if error or response is None else None
    status = response.get("status_code", 200)
    if not isinstance(status, int):
        return None
    body = response if "choices" in response else response.get("body")  # some tools omit the envelope
    return (key, None if error and status < 400 else status, error or body)
