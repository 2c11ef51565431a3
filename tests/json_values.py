"""Values inside JSON, for tests that know what is there."""

from __future__ import annotations

from typing import Any

from harness.core import Json


def inside(value: Json, *path: str | int) -> Any:
    """Return what is at ``path`` in ``value``."""
    part: Any = value
    for key in path:
        part = part[key]
    return part
