"""Lines of data files: compressed or not, in any Unicode encoding, or from standard input."""

from __future__ import annotations

import atexit
import bz2
import gzip
import io
import json
import lzma
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from harness.errors import DocumentError

PACKED = (".gz", ".bz2", ".xz", ".zst")
"""Suffixes of compressed files, after that of what is in them: ``reviews.csv.gz``."""
EXTRA = "pip install 'hinter-harness[files]'"
BINARY = {b"PAR1": ".parquet", b"PK\x03\x04": ".xlsx"}
"""How files that are no lines begin, by the suffix that they should have."""
HEAD = 64
UNREADABLE = (OSError, EOFError, zlib.error, lzma.LZMAError)

Opener = Callable[[Path], IO[bytes]]


def standard_input() -> Path:
    """Return a temporary file with all that stands on standard input, since texts are read more than once."""
    return _copied(sys.stdin.buffer)


@cache
def _copied(stream: IO[bytes]) -> Path:
    with tempfile.NamedTemporaryFile(prefix="hinter-", delete=False) as copy:  # only its owner may read it
        atexit.register(Path(copy.name).unlink, missing_ok=True)
        shutil.copyfileobj(stream, copy)
    return Path(copy.name)


def start(path: Path, name: str) -> bytes:
    """Return the first bytes of the file at ``path``, unpacked. Raises ``DocumentError``."""
    with _readable(path, name) as stream:
        return stream.read(HEAD)


def lines(path: Path, name: str) -> Iterator[str]:
    """Yield the lines of the file at ``path``, their ends unchanged.

    UTF-8, UTF-16 and UTF-32 are told apart by a byte order mark or by the zero bytes of ASCII in the latter.
    Raises ``DocumentError``, which calls the file ``name``.
    """
    first = start(path, name)
    suffix = next((suffix for magic, suffix in BINARY.items() if first.startswith(magic)), None)
    if suffix is not None:
        raise DocumentError(f"{name}: this looks like a {suffix} file: give it that suffix")
    encoding = json.detect_encoding(first)
    try:
        with _readable(path, name) as stream, io.TextIOWrapper(stream, encoding, newline="") as text:
            yield from text
    except UnicodeError as error:
        if not encoding.startswith("utf-8"):
            raise DocumentError(f"{name}: not {encoding.upper()}, as it begins: {error}") from error
        place = f"at line {_undecodable(path, name)} ({getattr(error, 'reason', error)})"
        raise DocumentError(f"{name}: not UTF-8 {place}: convert it first") from error


@contextmanager
def _readable(path: Path, name: str) -> Iterator[IO[bytes]]:
    """Open the file at ``path``, unpacked. A fault while it is read in the block is a ``DocumentError``."""
    try:
        with path.open("rb") as file:
            first = file.read(HEAD)
        opener = next((opener for magic, opener in _openers().items() if first.startswith(magic)), None)
        with opener(path) if opener else path.open("rb") as stream:
            yield stream
    except ImportError as error:
        raise DocumentError(f"{name}: unpacking .zst needs an extra: {EXTRA}") from error
    except UNREADABLE as error:
        raise DocumentError(f"{name}: {getattr(error, 'strerror', None) or error}") from error
    except Exception as error:
        if type(error).__name__ != "ZstdError":
            raise
        raise DocumentError(f"{name}: {error}") from error


def _openers() -> Mapping[bytes, Opener]:
    """Return the functions that open a compressed file, by how it begins."""
    return {b"\x1f\x8b": _gzip, b"BZh": bz2.open, b"\xfd7zXZ\x00": lzma.open, b"\x28\xb5\x2f\xfd": _zstandard}


def _gzip(path: Path) -> IO[bytes]:
    return gzip.open(path, "rb")  # type: ignore[return-value]


def _zstandard(path: Path) -> IO[bytes]:
    zstd: Any = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    stream: IO[bytes] = zstd.open(path)
    return stream


def _undecodable(path: Path, name: str) -> int:
    """Return the number of the first line that is not UTF-8.

    Text is decoded in blocks, so that decoding fails long before that line is reached.
    """
    number = 0
    with _readable(path, name) as stream:
        for number, line in enumerate(stream, 1):  # noqa: B007
            try:
                line.decode()
            except UnicodeDecodeError:
                break
    return number
