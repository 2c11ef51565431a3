"""A child process that ends when we do, however we end, together with its own children.

Between us and the child stands a guard: a small process that starts the child in a process group of its own
and holds the other end of a pipe from us. The pipe closes when we stop the child and when we die, even by
``kill -9``. The guard then terminates the child, then its group, and kills whatever is left. For Linux and
macOS.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO

GRACE_SECONDS = 15.0
SOON_SECONDS = 1.0
"""The grace period of a command that has nothing to finish, and then that of the rest of its group."""
REST_SECONDS = 3.0
"""The grace period of the rest of the group of a command that had something to finish."""
KILLED = "killed by signal"
POLL_SECONDS = 0.2
PR_SET_CHILD_SUBREAPER = 36


class Guarded:
    """A guarded ``command``, which has ``grace`` seconds to end when terminated.

    ``output`` receives what it prints; None stands for our standard error.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        output: IO[bytes] | None = None,
        grace: float = GRACE_SECONDS,
    ) -> None:
        self._grace = grace
        self._status: str | None = None
        self._reading = threading.Lock()
        self._guard = subprocess.Popen(  # noqa: S603
            [sys.executable, "-I", "-S", __file__, str(grace), *command],  # stdlib only, whatever lies around
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=output,
            env=environment,
            start_new_session=True,
        )
        assert self._guard.stdout is not None
        self._group = int(self._guard.stdout.readline() or 0)

    def ended(self) -> str | None:
        """Return how the command ended; None while it runs."""
        if self._guard.poll() is None:
            return None
        with self._reading:
            if self._status is None:
                assert self._guard.stdout is not None
                self._status = self._guard.stdout.read().decode().strip()
                self._guard.stdout.close()
                if not self._status and self._group:  # somebody killed the guard
                    _signal(self._group, signal.SIGKILL)
        if not self._status or self._status.startswith("-"):
            return f"{KILLED} {self._status[1:] or 'unknown'}"
        return f"ended with exit status {self._status}"

    def wait(self) -> None:
        """Wait until the command and all its children have ended."""
        self._guard.wait()

    def stop(self, soon: bool = False) -> None:
        """End the command and all its children, killing those that remain after the grace period.

        With ``soon``, for a command that has nothing to finish, all are asked to end at once.
        """
        assert self._guard.stdin is not None
        with suppress(OSError, ValueError):
            if soon:
                self._guard.stdin.write(b"!")
            self._guard.stdin.close()
        try:
            self._guard.wait(self._grace + 2 * REST_SECONDS)
        except subprocess.TimeoutExpired:
            self._guard.kill()
            self._guard.wait()
        self.ended()


def guard(command: Sequence[str], grace: float) -> None:
    """Run ``command`` until it ends, our parent closes the pipe or dies, or a SIGTERM arrives.

    Prints the process group at once and, when the whole group has ended, the exit status.
    """
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    parent = os.getppid()
    if sys.platform == "linux":  # orphans of the command become our children: we can see them end
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=2, stderr=2, process_group=0)  # noqa: S603
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr)
        print("0\n127")
        return
    print(child.pid, flush=True)
    rest = REST_SECONDS
    while child.poll() is None and not stop.is_set() and os.getppid() == parent:
        if select.select([0], [], [], POLL_SECONDS)[0]:
            if os.read(0, 1):
                grace = rest = min(grace, SOON_SECONDS)
                _signal(child.pid, signal.SIGTERM)
            break
    child.terminate()
    with suppress(subprocess.TimeoutExpired):
        child.wait(grace)
    child.kill()
    status = child.wait()
    _end_group(child.pid, rest)
    with suppress(OSError):
        print(status, flush=True)


def _end_group(group: int, seconds: float) -> None:
    """Terminate the rest of the group, wait for ``seconds``, and kill what remains.

    The wait gives Python's resource tracker, which ends last, time to free shared memory.
    """
    deadline = time.monotonic() + seconds
    alive = _signal(group, signal.SIGTERM)
    while alive and time.monotonic() < deadline:
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.02)
        alive = _signal(group, 0)
    if alive:
        _signal(group, signal.SIGKILL)


def _signal(group: int, number: int) -> bool:
    """Signal the group and return whether it had any processes."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):  # macOS: not permitted for a group of zombies
        return False
    return True


if __name__ == "__main__":
    guard(sys.argv[2:], float(sys.argv[1]))
