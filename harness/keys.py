"""Keys of servers: read from a variable or a file, checked, and never shown."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from harness.disclosure import keep_secret
from harness.errors import EndpointError

log = logging.getLogger(__name__)

DEFAULT_VARIABLE = "OPENAI_API_KEY"
OF_OTHERS = 0o044
"""The permission bits with which others can read a file."""


@dataclass(frozen=True, slots=True)
class Key:
    """Where to find a key: an environment variable or a file; not ``needed`` for a user's own endpoint."""

    variable: str | None = None
    file: str | None = None
    needed: bool = True

    def read(self) -> str:
        """Return the key, which is hidden from then on wherever text leaves the process.

        Raises ``EndpointError``, which names the variable or file and never the key.
        """
        if self.file is not None:
            key = _checked(_text(self.file), f"key file {self.file}")
            _caution(self.file)
        else:
            name = self.variable or DEFAULT_VARIABLE
            value = os.environ.get(name, "").strip()
            if not value and (self.needed or self.variable is not None):
                raise EndpointError(
                    f"no API key: set the environment variable {name}, or name another with --api-key-env"
                )
            key = _checked(value, f"environment variable {name}") if value else "none"
        keep_secret(key)
        return key


def _text(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8").strip()
    except UnicodeDecodeError:
        raise EndpointError(f"key file {file}: not text") from None
    except OSError as error:
        raise EndpointError(f"key file {file}: {error.strerror or 'not text'}") from None


def _checked(key: str, where: str) -> str:
    """Return ``key`` if it can be sent. Raises ``EndpointError``, which says why not, without the key."""
    if not key:
        fault = "is empty"
    elif len(key.splitlines()) > 1:
        fault = "has more than one line: it must hold the key alone"
    elif "\ufeff" in key:
        fault = "begins with a byte order mark: save it as plain text"
    elif any(mark in key for mark in "“”‘’„«»"):
        fault = "has curly quotation marks: leave them out"
    elif len(key) > 1 and key[0] == key[-1] and key[0] in "'\"`":
        fault = "has quotation marks around the key: leave them out"
    elif len(key.split()) > 1:
        fault = "has a space inside the key"
    elif not (key.isascii() and key.isprintable()):
        fault = "has a character that no key has"
    else:
        return key
    raise EndpointError(f"{where} {fault}")


@cache
def _caution(file: str) -> None:
    """Say once that others can read a file with a key."""
    if os.name == "posix" and Path(file).stat().st_mode & OF_OTHERS:
        log.warning("key file %s can be read by others: chmod 600 it", file)
