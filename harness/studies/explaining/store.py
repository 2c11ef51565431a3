"""``explanations.json`` of a run folder: what was explained, and with which settings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness import files
from harness.errors import RunError

SCHEMA = 1
NAME = "explanations.json"


def read(folder: Path) -> dict[str, Any]:
    """What the file holds: ``settings`` and ``cases``; empty where there is none. Raises ``RunError``."""
    file = folder / NAME
    if not file.exists():
        return {"schema": SCHEMA, "settings": {}, "cases": []}
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        whole = found["schema"] == SCHEMA and isinstance(found["cases"], list)
    except (ValueError, KeyError, TypeError) as error:
        raise RunError(f"{file}: not what hinter explain writes: delete it") from error
    if not whole:
        raise RunError(f"{file}: schema {found['schema']!r}, not {SCHEMA}: delete it")
    return dict(found)


def write(folder: Path, settings: Mapping[str, Any], cases: list[Mapping[str, Any]]) -> None:
    """Replace the file, which is never half."""
    made = {"schema": SCHEMA, "settings": dict(settings), "cases": cases}
    files.write(folder / NAME, json.dumps(made, indent=1, ensure_ascii=False) + "\n")
