"""Batch files: JSON lines that the OpenAI Batch API, ``vllm run-batch`` and others read and write.

A line asks ``{"custom_id", "method", "url", "body"}``, where ``custom_id`` is the request's key. A line
answers ``{"custom_id", "response": {"status_code", "body"}, "error"}``, in one of three forms: a reply or an
error in ``response.body`` (OpenAI); an error and no response (OpenAI, where a request was not executed); a
status without a body, and an ``error`` that is a text or holds an object (vLLM).

The dialect of an endpoint is the caller's: how a body is made and what an answer means come in as functions.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from harness.answering.cache import ResponseCache
from harness.core import Failure, Reply, Request, canonical
from harness.errors import ConfigError

LINES_A_FILE = 50_000
BYTES_A_FILE = 200_000_000
LINES_AT_ONCE = 500
SHOWN = 5  # places that are named of what could not be used

Dialect = Mapping[str, Any]
Meaning = Callable[[int | None, Any, Dialect | None], tuple[Reply | Failure, Dialect | None]]
"""What a status (None: the request was not executed) and a body or error mean in a dialect, and the better
dialect where the answer asks for one."""


def line(request: Request, url: str, body: Mapping[str, Any]) -> bytes:
    """A request as a line of a batch file."""
    asked = {"custom_id": request.key, "method": "POST", "url": url, "body": body}
    return json.dumps(asked).encode() + b"\n"


def lines(path: Path) -> Iterator[bytes]:
    """The lines of a file, one in memory at a time. Only a line feed ends one."""
    with path.open("rb") as file:
        yield from file


def keys(path: Path) -> Iterator[str]:
    """The keys that a batch file of ours asks for; a last line that was cut off is left out."""
    for text in lines(path):
        if text.endswith(b"\n"):
            yield json.loads(text)["custom_id"]


class BatchFiles:
    """``path``, and ``…-2``, ``…-3`` where one file may not hold all; none is made without a line.

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
        """Write a line; the file that holds it."""
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
            file = path.open("xb")
        except FileExistsError:
            raise ConfigError(f"{path} exists: give another name, or move it away") from None
        except OSError as error:
            raise ConfigError(f"{path}: {error.strerror or error}") from error
        self.paths.append(path)
        self.counts.append(0)
        self._bytes = 0
        return file


@dataclass
class Taken:
    """What was found in the answers to batch files, over all that were read.

    ``answered`` are keys whose reply is in the cache, ``failures`` those that got none; a key is in one of
    the two. ``unknown`` and ``unreadable`` are the places of lines that could not be used.
    """

    kept: int = 0
    already: int = 0
    answered: set[str] = field(default_factory=set)
    failures: dict[str, Failure] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)

    def reply(self, key: str, new: bool) -> None:
        if key not in self.answered:
            self.kept += new
            self.already += not new
        self.answered.add(key)
        self.failures.pop(key, None)

    def failure(self, key: str, failure: Failure) -> None:
        if key not in self.answered:
            self.failures.setdefault(key, failure)

    def add(self, other: Taken) -> None:
        """Count what another job brought; its answered keys are not held on to."""
        self.kept += other.kept
        self.already += other.already
        self.failures |= other.failures
        self.unknown += other.unknown
        self.unreadable += other.unreadable

    def told(self) -> list[str]:
        """What went wrong, a line a kind: how many, and the first of them."""
        counts = Counter(failure.reason for failure in self.failures.values())
        first: dict[str, str] = {}
        for failure in self.failures.values():
            first.setdefault(failure.reason, failure.message)
        said = [f"{number} {reason}: {first[reason]}" for reason, number in counts.items()]
        for what, places in (("unknown custom_id", self.unknown), ("unreadable line", self.unreadable)):
            if places:
                more = f" and {len(places) - SHOWN} more" if len(places) > SHOWN else ""
                said.append(f"{len(places)} {what}: {', '.join(places[:SHOWN])}{more}")
        return said

    def to_json(self) -> dict[str, Any]:
        failed = Counter(failure.reason for failure in self.failures.values())
        return {
            "kept": self.kept,
            "already_cached": self.already,
            "failed": {kind: failed.get(kind, 0) for kind in ("filtered", "too-long", "failed")},
            "unknown": len(self.unknown),
            "unreadable": len(self.unreadable),
            "messages": self.told(),
        }


async def take_in(
    cache: ResponseCache, answers: Iterable[bytes], source: str, meaning: Meaning, taken: Taken
) -> None:
    """Keep every complete reply among the lines of ``source``, count the rest in ``taken``.

    A line that cannot be used loses only itself. Nothing is settled: that is for when all are on disk.
    """
    dialects: dict[str, Dialect | None] = {}
    numbered = enumerate(answers, 1)
    while some := list(islice(numbered, LINES_AT_ONCE)):
        parsed = []
        for number, text in some:
            if (answer := _parse(text)) is not None:
                parsed.append((f"{source} line {number}", *answer))
            elif text.strip():
                taken.unreadable.append(f"{source} line {number}")
        asked = list({key for _, key, _, _ in parsed})
        found, _ = await cache.look_up(asked)
        requests = await cache.expected([key for key in asked if key not in found])
        for key in found.keys() - taken.answered:
            taken.reply(key, new=False)
        for place, key, status, body in parsed:
            if key in taken.answered:
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
                taken.reply(key, new=True)
            else:
                taken.failure(key, meant)


def _parse(text: bytes) -> tuple[str, int | None, Any] | None:
    """The key of an answer, its status (None: not executed), and its body or error; None where it is none."""
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
    body = response if "choices" in response else response.get("body")  # some tools leave the envelope out
    return (key, None if error and status < 400 else status, error or body)
