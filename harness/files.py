"""Files: the folders of bundled data, reading text and TOML with clear errors, and atomic writing."""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any

from harness.errors import HarnessError

DATA = Path(__file__).parent / "data"
"""The bundled lexicons, names, templates and samples."""
PRIVATE_FOLDER, PRIVATE_FILE = 0o700, 0o600
"""The permissions of what is made here: it holds texts and answers."""
PROMPTS = Path(__file__).parent / "prompts"


def read_text(path: str | Path, error: type[HarnessError]) -> str:
    """Return the UTF-8 text of the file at ``path``. Raises ``error``, which names the file."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as fault:
        raise error(f"{path}: {fault.strerror or fault}") from fault
    except UnicodeDecodeError as fault:
        raise error(f"{path}: not UTF-8 at byte {fault.start}") from fault
    except ValueError as fault:  # a null character
        raise error(f"{str(path)!r}: {fault}") from fault


def read_toml(path: str | Path, error: type[HarnessError]) -> dict[str, Any]:
    """Return the TOML document at ``path``. Raises ``error``, which names the file."""
    return parse_toml(read_text(path, error), str(path), error)


def parse_toml(text: str, source: str, error: type[HarnessError]) -> dict[str, Any]:
    """Return the TOML document written in ``text``. Raises ``error``, which names ``source``."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as fault:
        raise error(f"{source}: not valid TOML: {fault}") from fault
    except RecursionError as fault:
        raise error(f"{source}: not valid TOML: nested too deeply") from fault


def private_folder(path: Path) -> None:
    """Make the folder ``path`` and those above it, each for its owner alone, unless they exist."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(PRIVATE_FOLDER, exist_ok=True)
    path.mkdir(exist_ok=True)  # what exists must be a folder


def private_file(path: Path) -> None:
    """Make an empty file for its owner alone, unless ``path`` exists; what is then written to it stays so."""
    os.close(os.open(path, os.O_CREAT | os.O_RDONLY, PRIVATE_FILE))


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside ``path``, which replaces ``path`` when the block ends without an error.

    A reader sees the old file or the new one, never part of either; its owner alone may read it. A path that
    is not a regular file (a pipe, a device) is written to directly. An ``OSError`` in the block (a full disk)
    that names no file is made to name ``path``.
    """
    if path.exists() and not path.is_file():
        yield path
        return
    unfinished = path.with_name(f"{path.name}.{token_hex(4)}.tmp")
    try:
        private_file(unfinished)
        yield unfinished
        unfinished.replace(path)
    except OSError as fault:
        if fault.filename is None:
            fault.filename = str(path)
        raise
    finally:
        unfinished.unlink(missing_ok=True)


def write(path: Path, content: str | bytes) -> None:
    """Write ``content`` (text as UTF-8, line ends unchanged) to ``path``, completely or not at all."""
    with replacing(path) as unfinished:
        unfinished.write_bytes(content.encode() if isinstance(content, str) else content)


def user_cache() -> Path:
    """Return the folder for data that outlives a run: ``HINTER_CACHE_DIR``, else the user's cache folder."""
    if folder := os.environ.get("HINTER_CACHE_DIR"):
        return Path(folder)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "hinter"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "hinter" / "Cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hinter"
