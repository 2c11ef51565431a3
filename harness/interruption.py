"""Work in a thread that a cancelled task can end, within a step of Python, rather than wait for."""

from __future__ import annotations

import asyncio
import ctypes
import sys
import threading
import time
from collections.abc import Callable
from typing import TypeVar

EVERY = 0.2
"""Seconds after which a thread is told again, which was in a long call of a library, or passed over it."""

IMPORTING = "<frozen importlib"
"""How the file of a frame begins that imports a module."""

T = TypeVar("T")


class Interrupted(BaseException):
    """Raised in a thread whose task was cancelled."""


async def in_thread(work: Callable[[], T]) -> T:
    """Return what ``work`` returns, called in a thread.

    If cancelled, ``Interrupted`` is raised in ``work``, and the task waits until it has ended.
    """
    thread = _Thread()
    step = asyncio.ensure_future(asyncio.to_thread(thread.run, work))
    try:
        return await asyncio.shield(step)
    except asyncio.CancelledError:
        while not step.done():
            thread.interrupt()
            await asyncio.wait([step], timeout=EVERY)
        if not step.cancelled():
            step.exception()  # marks it as retrieved
        raise


def _importing(ident: int) -> bool:
    """Return whether a thread is importing a module, which would be left half made."""
    frame = sys._current_frames().get(ident)
    while frame is not None:
        if frame.f_code.co_filename.startswith(IMPORTING):
            return True
        frame = frame.f_back
    return False


class _Thread:
    """A thread that works for one task."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ident: int | None = None
        self._told = False

    def run(self, work: Callable[[], T]) -> T:
        try:
            self._ident = threading.get_ident()
            return work()
        finally:
            with self._lock:
                self._ident = None
            self._let_it_come()

    def interrupt(self) -> None:
        """Raise ``Interrupted`` in the thread if it is at work; never in the middle of an import."""
        with self._lock:
            if self._ident is not None and not _importing(self._ident):
                self._told = True
                set_exception = ctypes.pythonapi.PyThreadState_SetAsyncExc
                set_exception(ctypes.c_ulong(self._ident), ctypes.py_object(Interrupted))

    def _let_it_come(self) -> None:
        """Wait for an exception that is under way, which must not meet the next user of this thread."""
        if self._told:
            try:
                for _ in range(10):
                    time.sleep(0.001)
            except Interrupted:
                pass
