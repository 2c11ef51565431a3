"""What ``vllm serve`` is started with: the options of ``[model.vllm]``, the flags, and batch invariance."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field

from harness.core import JsonObject
from harness.errors import ModelError
from harness.models.supervisor import GRACE_SECONDS
from harness.settings import TOML_ALONE, NotNegative, Options, Positive

STARTUP_SECONDS = 1800.0
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

    def environment(self, invariant: bool) -> dict[str, str]:
        """Return what is added to the environment of vLLM."""
        quiet = {"VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1"}
        return {**quiet, "VLLM_BATCH_INVARIANT": "1"} if invariant else quiet

    def batch_command(self, requests: str, replies: str, invariant: bool) -> str:
        """Return the shell command that answers the file ``requests`` as the server would."""
        name, *arguments = self.arguments()
        files = ["-i", requests, "-o", replies]
        variables = [f"{variable}={value}" for variable, value in self.environment(invariant).items()]
        command = ["vllm", "run-batch", *files, "--model", name, *arguments]
        return " ".join([*variables, shlex.join(command)])

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
    if _is_cpu_build(executable()):
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


def executable() -> str | None:
    """Return the path of ``vllm``, on PATH or beside the running Python."""
    if os.name == "nt":
        raise ModelError("vLLM runs on Linux and macOS only: serve it there, and use --base-url")
    return shutil.which("vllm") or shutil.which("vllm", path=str(Path(sys.executable).parent))


def _is_cpu_build(executable: str | None) -> bool:
    if executable is None:
        return False
    packages = Path(executable).parent.parent.glob("lib/python*/site-packages/vllm*.dist-info")
    return any("cpu" in package.name for package in packages)


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
