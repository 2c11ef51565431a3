"""The log of a guard: a line of JSON for each check, without the text and its answers unless asked for."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from harness import files
from harness.core import Json
from harness.disclosure import redacted
from harness.errors import ConfigError
from harness.guard.records import Checked

log = logging.getLogger(__name__)


class Journal:
    """Appends to the file ``path``; with ``texts``, what was asked and answered as well. None: nowhere.

    A line is written whole. A file that can no longer be written stops nothing and is said once.
    """

    def __init__(self, path: Path | None, texts: bool = False) -> None:
        self._path = path
        self._texts = texts
        self._file: TextIO | None = None
        self._lost = False

    def open(self) -> None:
        """Open the file. Raises ``ConfigError``."""
        if self._path is None:
            return
        try:
            files.private_folder(self._path.absolute().parent)
            files.private_file(self._path)
            self._file = self._path.open("a", encoding="utf-8", buffering=1)
        except OSError as error:
            raise ConfigError(f"guard.log: {self._path}: {error.strerror or error}") from error

    def add(self, text: str, checked: Checked) -> None:
        """Add a line about the check of ``text``."""
        if self._file is None:
            return
        told: dict[str, Json] = {"time": datetime.now(UTC).isoformat(timespec="milliseconds")}
        told |= {"groups": {name: list(groups) for name, groups in checked.groups.items()}}
        told |= checked.to_json(self._texts) | ({"text": text} if self._texts else {})
        try:
            self._file.write(redacted(json.dumps(told, ensure_ascii=False)) + "\n")
        except OSError as error:
            if not self._lost:
                log.warning("%s: checks are no longer logged: %s", self._path, error.strerror or error)
            self._lost = True

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
