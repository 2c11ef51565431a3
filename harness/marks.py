"""Marks that say that files are all there and whole: they hold the size of each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from harness import files


def write(mark: Path, paths: Sequence[Path]) -> None:
    """Mark ``paths``, which are in the folder of ``mark``, as whole."""
    files.write(mark, json.dumps({"bytes": _sizes(paths)}))


def hold(mark: Path, paths: Sequence[Path]) -> bool:
    """Return whether ``paths`` are the files that ``mark`` was written for, none missing, none cut."""
    try:
        return bool(json.loads(mark.read_text(encoding="utf-8"))["bytes"] == _sizes(paths))
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _sizes(paths: Sequence[Path]) -> dict[str, int]:
    return {path.name: path.stat().st_size for path in paths}


def number(mark: Path) -> int | None:
    """Return the number in ``mark``, None where there is none."""
    try:
        found = json.loads(mark.read_text(encoding="utf-8"))["number"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if type(found) is int else None


def write_number(mark: Path, amount: int) -> None:
    """Write ``amount`` to ``mark``."""
    files.write(mark, json.dumps({"number": amount}))
