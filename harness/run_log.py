"""``run.log`` of a run folder: start, settings, warnings, errors and end of each run, a line each.

It holds no secret and no text that is asked about. A fault of ours leaves its traceback there; where there is
no run folder, in a file of its own in the user's cache folder.
"""

from __future__ import annotations

import logging
import os
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from harness import files
from harness.errors import HarnessError

NAME = "run.log"
LINE = "%(asctime)s %(levelname)s %(message)s"
TRACED = "the traceback is in "

_running: ContextVar[Path | None] = ContextVar("the log of the run that goes on here", default=None)


class _OneLine(logging.Formatter):
    """A record is one line, whatever its message holds."""

    def format(self, record: logging.LogRecord) -> str:
        return " ".join(super().format(record).split())


class RunLog(logging.Handler):
    """What the run that ``path`` belongs to logs, and no other run of this process, added to that file."""

    def __init__(self, path: Path) -> None:
        super().__init__(logging.WARNING)
        self.path = path
        self.setFormatter(_OneLine(LINE))
        self.addFilter(lambda _: _running.get() == path)

    def emit(self, record: logging.LogRecord) -> None:
        self.note(self.format(record))

    def line(self, message: str) -> None:
        """Add a line of the run itself."""
        self.note(self.format(logging.makeLogRecord({"levelname": "INFO", "msg": message})))

    def note(self, text: str) -> None:
        """Add ``text``. A log that cannot be written stops no run."""
        try:
            with self.path.open("a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text + "\n")
        except OSError:
            pass


@contextmanager
def logged(folder: Path, settings: str) -> Iterator[RunLog]:
    """Log the run of the block to ``run.log`` in ``folder``, which must exist; ``settings`` in one line.

    An error that ends the block is logged; one that is no ``HarnessError`` with its traceback, and the
    exception gets a note that says where this is.
    """
    log = RunLog(folder / NAME)
    logger = logging.getLogger("harness")
    token = _running.set(log.path)
    logger.addHandler(log)
    log.line(f"started: {settings}")
    try:
        yield log
    except HarnessError as error:
        log.line(f"ended: {error}")
        raise
    except Exception as error:
        log.line(f"ended by a fault of hinter's own: {summary(error)}")
        log.note("".join(traceback.format_exception(error)).rstrip())
        error.add_note(f"{TRACED}{log.path}")
        raise
    except BaseException as error:
        log.line(f"ended: {type(error).__name__}")
        raise
    finally:
        logger.removeHandler(log)
        _running.reset(token)


def summary(error: BaseException) -> str:
    """Return the kind of ``error`` and what it says, in one line without control characters."""
    said = "".join(filter(str.isprintable, " ".join(str(error).split())))
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def traced(error: BaseException) -> str:
    """Return where the traceback of ``error`` is: in the log of its run, else in a file that is made for it.

    Its owner alone may read that file.
    """
    for note in getattr(error, "__notes__", ()):
        if note.startswith(TRACED):
            return str(note)
    text = "".join(traceback.format_exception(error))
    for folder in (files.user_cache(), Path(tempfile.gettempdir())):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(prefix="fault-", suffix=".log", dir=folder)  # mode 0600
            with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text)
        except OSError:
            continue
        return f"{TRACED}{name}"
    return "its traceback could not be written anywhere"
