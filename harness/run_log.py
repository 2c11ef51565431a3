"""``run.log`` of a run folder: start, settings, warnings, errors and end of each run, a line each.

It contains no secret and no text of a document. A fault of ours leaves its traceback there, or, without a run
folder, in a file of its own in the user's cache folder.
"""

from __future__ import annotations

import logging
import os
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from harness import files
from harness.disclosure import one_line, redacted
from harness.errors import HarnessError

NAME = "run.log"
LINE = "%(asctime)s %(levelname)s %(message)s"
TRACED = "the traceback is in "

_running: ContextVar[Path | None] = ContextVar("the log of the run that goes on here", default=None)


class _OneLine(logging.Formatter):
    """Formats a record as one line, whatever its message."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line."""
        return " ".join(super().format(record).split())


class RunLog(logging.Handler):
    """Appends to the file ``path`` what the run it belongs to logs, and no other run of this process."""

    def __init__(self, path: Path) -> None:
        super().__init__(logging.WARNING)
        self.path = path
        self.setFormatter(_OneLine(LINE))
        self.addFilter(lambda _: _running.get() == path)

    def emit(self, record: logging.LogRecord) -> None:
        """Append a record."""
        self.note(self.format(record))

    def line(self, message: str) -> None:
        """Append a line about the run itself."""
        self.note(self.format(logging.makeLogRecord({"levelname": "INFO", "msg": message})))

    def note(self, text: str) -> None:
        """Append ``text``. A log that cannot be written does not stop the run."""
        try:
            files.private_file(self.path)
            with self.path.open("a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(redacted(text) + "\n")
        except OSError:
            pass


@contextmanager
def logged(folder: Path, settings: str, notes: Sequence[str] = ()) -> Iterator[RunLog]:
    """Log the run in the block to ``run.log`` in ``folder``, which must exist; ``settings`` is one line,
    and so is each of the ``notes`` that follow it.

    An error that ends the block is logged. One that is not a ``HarnessError`` is logged with its traceback,
    and the exception gets a note that says where that is.
    """
    log = RunLog(folder / NAME)
    logger = logging.getLogger("harness")
    token = _running.set(log.path)
    logger.addHandler(log)
    for line in (f"started: {settings}", *notes):
        log.line(line)
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
    """Return the type and message of ``error`` in one line, fit to be shown."""
    message = one_line(error)
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def traced(error: BaseException) -> str:
    """Return where the traceback of ``error`` is: in the log of its run, or else in a new file.

    Only its owner may read that file.
    """
    for note in getattr(error, "__notes__", ()):
        if note.startswith(TRACED):
            return str(note)
    text = redacted("".join(traceback.format_exception(error)))
    for folder in (files.user_cache(), Path(tempfile.gettempdir())):
        try:
            files.private_folder(folder)
            handle, name = tempfile.mkstemp(prefix="fault-", suffix=".log", dir=folder)  # mode 0600
            with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text)
        except OSError:
            continue
        return f"{TRACED}{name}"
    return "its traceback could not be written anywhere"
