"""The log of a vLLM server: why it failed, told by the process that failed first, and what it computes with.

vLLM is several processes that write to one log. When the engine or a worker fails, its own exception comes
first; then every process above it raises an error that only points there ("See root cause above"), with a
traceback of its own. So the end of the log seldom says what happened.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

LAST_BYTES = 1 << 23
"""How much of a long log is searched, from its end."""
LONGEST = 400
"""The most characters of a cause that are shown."""
TAIL_LINES = 20
LAST_LINES, LAST_SECONDS = 10_000, 2.0
"""How many lines of a log that is passed on are kept, and how long to wait for the last of them."""

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_LINE = re.compile(
    r"(?:\((?P<process>[^()]*pid=\d+)\) ?)?"
    r"(?P<header>(?P<level>DEBUG|INFO|WARNING|ERROR|CRITICAL) [\d:. -]+ \[[^\]]*\] ?)?(?P<text>.*)"
)
_TRACEBACK = "Traceback (most recent call last):"
_LINKS = ("The above exception was the direct cause", "During handling of the above exception")
_EXCEPTION = re.compile(r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)(?:: |$)")
_POINTER = re.compile(
    r"see (?:root cause|stack trace)|enginedeaderror|engine core initialization failed"
    r"|(?:worker|executor) failed with error|workerproc initialization failed"
    r"|check the stack trace above",
    re.IGNORECASE,
)
"""An error of a process that was told of another one's."""
_TOLD = re.compile(r"failed with error '.+'")
"""A pointer that repeats what it points to."""
_AFTERMATH = re.compile(r"(?:\w+\.)*(?:CancelledError|KeyboardInterrupt|SystemExit|BrokenPipeError)\b")
"""An exception of a process that is being ended."""
_DEATH = re.compile(
    r"(?:died|exited|terminated) unexpectedly|\berror: (?:argument|unrecognized|the following|ambiguous)"
    r"|Fatal Python error|[Ss]egmentation fault|[Ss]egfault|^Killed|Bus error|Illegal instruction"
    r"|terminate called after|out of memory|not found$"
)
"""A line that is no exception and says how a process ended."""
_DTYPE = re.compile(r"\bdtype=torch\.(\w+)")


@dataclass
class _Fault:
    """What a log says of a failure, at line ``number``, and what that was caused by in the same process."""

    number: int
    process: str
    text: str
    exception: bool
    cause: str = ""

    @property
    def pointer(self) -> bool:
        """Whether it only points to an earlier failure."""
        return bool(_POINTER.search(self.text))

    @property
    def of_engine(self) -> bool:
        """Whether an engine or a worker failed; the process that answers HTTP outlives many an exception."""
        return not self.process.startswith("APIServer")

    @property
    def words(self) -> str:
        """The failure in one line."""
        told = f"{self.text} (from {self.cause})" if self.cause else self.text
        return told if len(told) <= LONGEST else f"{told[: LONGEST - 1]}…"


def root_cause(lines: Iterable[str]) -> str | None:
    """Return why a vLLM server failed, in one line, wherever in its log that stands; None if it is not told.

    That is the last exception of an engine or a worker before the first error that points to it; without
    one, the last exception of the API process, or line that tells of a sudden end, before that error.
    """
    faults = list(_faults(lines))
    pointers = [fault for fault in faults if fault.pointer]
    first = pointers[0].number if pointers else float("inf")
    own = [fault for fault in faults if not (fault.pointer or _AFTERMATH.match(fault.text))]
    for candidates in (
        [fault for fault in own if fault.number < first],
        own,  # written too late: processes do not wait for each other
        [fault for fault in pointers if _TOLD.search(fault.text)],
    ):
        engine = [fault for fault in candidates if fault.exception and fault.of_engine]
        if engine or candidates:
            return (engine or candidates)[-1].words
    return None


def points_elsewhere(text: str) -> bool:
    """Return whether an error, as in a reply, only points to an earlier one in the log."""
    return bool(_POINTER.search(text))


def cause_in(log: Path) -> str | None:
    """Return the root cause in the file ``log``; None where it tells none or cannot be read."""
    with suppress(OSError), log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - LAST_BYTES))
        return root_cause(line.decode("utf-8", "replace") for line in file)
    return None


def tail(log: Path) -> str:
    """Return the last lines of the file ``log``; "" where it cannot be read."""
    with suppress(OSError), log.open(encoding="utf-8", errors="replace") as lines:
        return "".join(deque(lines, TAIL_LINES)).rstrip()
    return ""


def dtype_in(log: Path) -> str | None:
    """Return the type of weights and activations that the engine said it uses; None where it did not."""
    with suppress(OSError), log.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if (found := _DTYPE.search(line)) is not None:
                return found[1]
    return None


class Echo:
    """Passes on to standard error what is written to ``output``, and keeps the last lines of it."""

    def __init__(self) -> None:
        source, target = os.pipe()
        self.output = os.fdopen(target, "wb")
        self._lines: deque[str] = deque(maxlen=LAST_LINES)
        self._thread = threading.Thread(target=self._pass_on, args=(source,), name="vllm-log", daemon=True)
        self._thread.start()

    def cause(self) -> str | None:
        """Return the root cause in what was written by a process that has ended."""
        self._thread.join(LAST_SECONDS)
        return root_cause(list(self._lines))

    def _pass_on(self, source: int) -> None:
        rest = b""
        while some := os.read(source, 1 << 16):  # not by lines: a progress bar has none
            with suppress(OSError):
                os.write(sys.stderr.fileno(), some)
            *whole, rest = (rest + some).split(b"\n")
            self._lines.extend(line.decode("utf-8", "replace") for line in whole)
        self._lines.append(rest.decode("utf-8", "replace"))
        os.close(source)


def _faults(lines: Iterable[str]) -> Iterator[_Fault]:
    """Yield the failures in a log, in order; each process is followed by itself."""
    threads: dict[str, _Thread] = {}
    for number, line in enumerate(lines):
        match = _LINE.match(_COLOUR.sub("", line).rstrip())
        assert match is not None, "every part of the pattern may be empty"
        process = match["process"] or ""
        thread = threads.setdefault(process, _Thread(process))
        fault = thread.read(number, match["header"] or "", match["text"], match["level"] or "")
        if fault is not None:
            yield fault


class _Thread:
    """What one process writes, line by line."""

    def __init__(self, process: str) -> None:
        self._process = process
        self._traced = self._linked = False
        self._last: _Fault | None = None
        self._header = ""

    def read(self, number: int, header: str, text: str, level: str) -> _Fault | None:
        """Return the failure that begins on this line, if any; further lines of its message are added."""
        if text.endswith(_TRACEBACK):
            self._traced = True
            return None
        if text.startswith(_LINKS):
            self._linked = True
            return None
        if not text or (self._traced and text[0].isspace()):
            return None
        if self._continues(header, text):
            return None
        exception = self._traced or bool(_EXCEPTION.match(text))
        self._traced = False
        if not (exception or _DEATH.search(text)) or level in ("DEBUG", "INFO"):
            self._last = None
            return None
        cause = self._last if self._linked else None
        self._linked, self._header = False, header
        self._last = _Fault(number, self._process, text, exception)
        if cause is not None:
            self._last.cause = cause.cause or cause.text
        return self._last

    def _continues(self, header: str, text: str) -> bool:
        """Add an indented line, as of a pydantic error, to the message of the exception just read."""
        if self._last is None or header.strip() != self._header.strip() or not text[0].isspace():
            return False
        words = text.strip().partition(" [type=")[0]
        told = words.startswith(("File ", "For further information")) or len(self._last.text) > LONGEST
        if not told:
            self._last.text += f" {words}"
        return True
