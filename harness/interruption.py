"""Work in threads that can be ended from outside, rather than only waited for."""

from __future__ import annotations

import asyncio
import ctypes
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent import futures
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

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


def blocking(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Return the result of the coroutine that ``work`` makes, run in an event loop and a thread of its own.

    If the caller is interrupted, the coroutine is cancelled and awaited; if that is interrupted, too, it is
    left to end by itself. The interruption, such as ``KeyboardInterrupt``, is raised.
    """
    result: Future[T] = Future()
    tasks: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = []

    async def step() -> T:
        """Make it known how to cancel the work, and do it."""
        task = asyncio.current_task()
        assert task is not None
        tasks.append((asyncio.get_running_loop(), task))
        return await work()

    def body() -> None:
        """Run the loop, and keep how it ends."""
        try:
            result.set_result(asyncio.run(step()))
        except BaseException as error:
            result.set_exception(error)

    thread = threading.Thread(target=body, name="harness", daemon=True)
    try:
        thread.start()
        _awaited(result)
    except BaseException:
        for loop, task in tasks:
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(task.cancel)
        _awaited(result)
        raise
    return result.result()


def _awaited(result: Future[T]) -> None:
    """Wait for ``result`` in steps: on Windows, Ctrl-C comes only between them.

    (Not for its thread: before Python 3.13, one that was interrupted while joined counts as ended.)
    """
    while not result.done():
        futures.wait([result], EVERY)


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
