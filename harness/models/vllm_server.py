"""``vllm serve`` as a child process: starting it, checking its health, diagnosing its failures."""

from __future__ import annotations

import json
import logging
import os
import socket
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from secrets import token_urlsafe
from typing import IO

from harness.errors import ModelError
from harness.models import vllm_log
from harness.models.supervisor import KILLED, Guarded
from harness.models.vllm_folder import ServerFolder
from harness.models.vllm_settings import Settings, batch_invariance, executable

log = logging.getLogger(__name__)

HOST = "127.0.0.1"
OK, ENGINE_DEAD = 200, 503
"""The statuses of /health."""
FIRST_POLL, LAST_POLL = 0.1, 2.0
LAST_WORDS_SECONDS = 5.0
"""How long a server that does not answer, or whose engine has died, may take to end and to log why."""
CHECK_SECONDS = 1.0
"""How long a server that was found alive is not looked at again."""
NOT_INSTALLED = (
    "vLLM is not installed: pip install 'hinter-harness[vllm]' for an NVIDIA GPU; on CPUs no package gives a"
    " working vllm as it is: docs/serving.md says what does; hinter needs the command vllm on PATH, from any"
    " environment"
)


class VllmServer:
    """``vllm serve`` on loopback. In the foreground it logs to standard error and has no key of ours."""

    def __init__(self, settings: Settings, port: int | None = None, foreground: bool = False) -> None:
        self.settings = settings
        self.invariance = batch_invariance(os.environ)
        self.version: str | None = None
        self.dtype = settings.dtype
        self.startup: float | None = None
        self._began: float | None = None
        self._port = port
        self._foreground = foreground
        self._folder: ServerFolder | None = None
        self._echo: vllm_log.Echo | None = None
        self._keep_log = False
        self._process: Guarded | None = None
        self._launching = threading.Lock()
        self._stopping = threading.Event()
        self._checking = threading.Lock()
        self._checked = float("-inf")
        self._failure: str | None = None

    @property
    def title(self) -> str:
        """What is run, for people."""
        return f"vllm serve {self.settings.name}"

    @property
    def waiting(self) -> str:
        """What its user waits for, and since when; "" before it is started and while it serves."""
        if self._stopping.is_set():
            return f"{self.title} is being stopped"
        if self._began is None or self.startup is not None:
            return ""
        since = time.strftime("%H:%M:%S", time.localtime(self._began))
        return f"{self.title} is loading since {since} ({time.time() - self._began:.0f} s)"

    @property
    def url(self) -> str:
        """The base URL of the OpenAI API."""
        return f"http://{HOST}:{self._port}/v1"

    @property
    def key_file(self) -> str | None:
        """The file that holds the server's key; None in the foreground."""
        return str(self._folder.key) if self._folder else None

    def start(self) -> None:
        """Start the server and wait until it is healthy. Raises ``ModelError``, which says why it is not."""
        self._began = time.time()
        began, pause = time.monotonic(), FIRST_POLL
        try:
            self._launch()
            while self._get("/health")[0] != OK:
                if (end := self.ended()) is not None and not self._stopping.is_set():
                    raise ModelError(self.fault(f"{end} before it was ready"))
                if time.monotonic() - began > self.settings.startup_seconds:
                    limit = f"{self.settings.startup_seconds:g} s (model.vllm.startup_seconds)"
                    raise ModelError(self.fault(f"not ready within {limit}"))
                if self._stopping.wait(pause):
                    raise ModelError(f"{self.title}: stopped before it was ready")
                pause = min(pause * 1.5, LAST_POLL)
        except BaseException:
            self.stop()
            raise
        self.startup = round(time.monotonic() - began, 3)
        with suppress(ValueError, KeyError, TypeError):
            self.version = str(json.loads(self._get("/version")[1])["version"])
        if self._folder is not None:
            self.dtype = vllm_log.dtype_in(self._folder.log) or self.dtype

    def wait(self) -> str:
        """Wait until the server ends and return how it ended."""
        assert self._process is not None
        self._process.wait()
        return self.ended() or ""

    def ended(self) -> str | None:
        """Return how the server ended; None while it runs."""
        return self._process.ended() if self._process else None

    def failure(self, error: str) -> str | None:
        """Return a line about the end of the server, or of its engine; None while both work.

        ``error`` is what an attempt to ask it came to. Whatever is seen first is returned ever after.
        """
        with self._checking:
            if self._failure is None and time.monotonic() - self._checked > CHECK_SECONDS:
                what = self._find_failure(error)
                self._failure = None if what is None else self.fault(what)
                self._checked = time.monotonic()
            return self._failure

    def _find_failure(self, error: str) -> str | None:
        """Return what has ended, and give it time to say why: its processes do not end all at once."""
        health, _ = self._get("/health")
        dead = health == ENGINE_DEAD or vllm_log.points_elsewhere(error)
        if health == OK and not dead:
            return None
        deadline = time.monotonic() + LAST_WORDS_SECONDS
        while (end := self.ended()) is None and time.monotonic() < deadline:
            if health == OK and time.monotonic() > deadline - LAST_WORDS_SECONDS + CHECK_SECONDS:
                break  # it seems to live on
            if self._stopping.wait(FIRST_POLL):
                return None
        if dead:
            return "its engine has died"
        return end

    def fault(self, what: str) -> str:
        """Return a line that says what is wrong, and why according to the log, which is then kept.

        A log that does not tell is quoted: its last lines follow.
        """
        self._keep_log = True
        hint = " (perhaps VLLM_BATCH_INVARIANT=0 helps)" if self.invariance.on else ""
        line = f"{self.title}: {what}{hint}"
        if self._echo is not None:
            cause = self._echo.cause()
            return f"{line}{f': {cause}' if cause else ''}; its log is above"
        assert self._folder is not None, "a server without a log was never started"
        if (cause := vllm_log.cause_in(self._folder.log)) is not None:
            return f"{line}: {cause}; its log: {self._folder.log}"
        if what.startswith(KILLED):  # it had no time to log why
            return f"{line}, by somebody or for want of memory; its log: {self._folder.log}"
        return f"{line}; its log, {self._folder.log}, ends:\n{vllm_log.tail(self._folder.log)}"

    def keep_log(self) -> None:
        """Keep the log when the server stops, and say where it is."""
        if self._folder is not None and not self._keep_log:
            self._keep_log = True
            log.warning("%s answered with errors; its log is kept: %s", self.title, self._folder.log)

    def prefix_cache(self) -> dict[str, float] | None:
        """Return the prompt tokens looked up and found in the prefix cache so far, from ``/metrics``."""
        counts = {"queries": 0.0, "hits": 0.0}
        for line in self._get("/metrics")[1].splitlines():
            for key in counts:
                if line.startswith((f"vllm:prefix_cache_{key}_total{{", f"vllm:prefix_cache_{key}_total ")):
                    counts[key] += float(line.rpartition(" ")[2])
        queries = counts["queries"]
        return {**counts, "hit_rate": round(counts["hits"] / queries, 4)} if queries else None

    def stop(self) -> None:
        """End the server and all its children. Safe at any time, from any thread, and repeatedly."""
        self._stopping.set()
        with self._launching:
            if self._process is not None:
                self._process.stop(soon=self.startup is None)
        if self._folder is not None:
            self._folder.close(self._keep_log)

    def _launch(self) -> None:
        command = executable()
        if command is None:
            raise ModelError(NOT_INSTALLED)
        self._port = _free_port(self._port)
        environment = {**os.environ, **self.settings.environment(self.invariance.on)}
        name, *arguments = self.settings.arguments()
        serve = [command, "serve", name, "--host", HOST, "--port", str(self._port), *arguments]
        if self._foreground:
            self._echo = vllm_log.Echo()
            with self._echo.output as output:
                self._spawn(serve, environment, output)
            return
        environment["VLLM_API_KEY"] = token_urlsafe()
        self._folder = ServerFolder(environment["VLLM_API_KEY"])
        with self._folder.log.open("wb") as output:
            log.warning("starting %s (its log: %s)", self.title, output.name)
            self._spawn(serve, environment, output)

    def _spawn(self, command: list[str], environment: Mapping[str, str], output: IO[bytes]) -> None:
        with self._launching:
            if self._stopping.is_set():
                raise ModelError(f"{self.title}: stopped before it was started")
            self._process = Guarded(command, environment, output, self.settings.stop_seconds)

    def _get(self, path: str) -> tuple[int | None, str]:
        """Return the status and the body of an answer, None and "" where none comes.

        Uses no proxy, because the server is on loopback.
        """
        connection = HTTPConnection(HOST, self._port, timeout=5)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode("utf-8", "replace")
        except (OSError, HTTPException):
            return None, ""
        finally:
            connection.close()


def _free_port(port: int | None) -> int:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port or 0))
        except OSError as error:
            raise ModelError(f"port {port} cannot be used ({error.strerror}): choose another") from error
        free: int = probe.getsockname()[1]
    return free
