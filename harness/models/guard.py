"""A child process that ends when we do, however we do, and takes its own children with it.

Between us and the child stands a guard: a small process that leads a process group of its own, runs the
child in it, and holds the other end of a pipe from us. The pipe closes when we stop the child and when we
die, even by ``kill -9``. The guard then asks the child to end (SIGTERM), waits a little, and at the last
kills its whole group (SIGKILL), itself included. Linux and macOS.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO

GRACE_SECONDS = 15.0
POLL_SECONDS = 0.2


class Guarded:
    """``command`` under guard; it has ``grace`` seconds to end when it is asked to.

    ``output`` takes what it prints, None stands for our standard error.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        output: IO[bytes] | None = None,
        grace: float = GRACE_SECONDS,
    ) -> None:
        self._grace = grace
        self._said: str | None = None
        self._reading = threading.Lock()
        self._guard = subprocess.Popen(  # noqa: S603
            [sys.executable, "-I", "-S", __file__, str(grace), *command],  # stdlib only, whatever lies around
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=output,
            env=environment,
            start_new_session=True,
        )

    def ended(self) -> str | None:
        """How the command ended; None while it runs."""
        if self._guard.poll() is None:
            return None
        with self._reading:
            if self._said is None:
                assert self._guard.stdout is not None
                self._said = self._guard.stdout.read().decode().strip()
                self._guard.stdout.close()
                if not self._said:  # somebody killed the guard: its group is ours to end
                    with suppress(ProcessLookupError, PermissionError):
                        os.killpg(self._guard.pid, signal.SIGKILL)
        if not self._said or self._said.startswith("-"):
            return f"killed by signal {self._said[1:] or 'unknown'}"
        return f"ended with exit status {self._said}"

    def wait(self) -> None:
        self._guard.wait()

    def stop(self) -> None:
        """End the command and all its children; those that do not want to, after the grace."""
        assert self._guard.stdin is not None
        with suppress(OSError):
            self._guard.stdin.close()
        try:
            self._guard.wait(self._grace + 5)
        except subprocess.TimeoutExpired:
            os.killpg(self._guard.pid, signal.SIGKILL)
            self._guard.wait()
        self.ended()


def guard(command: Sequence[str], grace: float) -> None:
    """Run ``command`` until it ends, our parent lets go of the pipe or is gone, or a SIGTERM comes.

    Its exit status goes to standard output; then all that is left of our process group dies, and we with it.
    """
    told = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: told.set())
    parent = os.getppid()
    try:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=2, stderr=2)  # noqa: S603
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr)
        print(127)
        return
    while child.poll() is None and not told.is_set() and os.getppid() == parent:
        if select.select([0], [], [], POLL_SECONDS)[0] and not os.read(0, 1):
            break
    if child.poll() is None:
        child.terminate()
        with suppress(subprocess.TimeoutExpired):
            child.wait(grace)
    status = child.poll()
    with suppress(OSError):
        os.write(1, str(-signal.SIGKILL if status is None else status).encode())
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    guard(sys.argv[2:], float(sys.argv[1]))
