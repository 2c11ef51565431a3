"""The identity of a run: the settings that its results depend on, as kept in its folder."""

from __future__ import annotations

import json
from pathlib import Path

from harness.core import JsonObject, canonical
from harness.errors import RunError

ADVICE = "use another --out, or --overwrite to replace the run"


def read(mark: Path) -> JsonObject:
    """Return the identity in the file ``mark``. Raises ``RunError`` if it is damaged."""
    try:
        identity = json.loads(mark.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise RunError(
            f"{mark}: damaged ({error}): use another --out, or --overwrite to replace the run"
        ) from error
    if not isinstance(identity, dict):
        raise RunError(
            f"{mark}: damaged (not a JSON object): use another --out, or --overwrite to replace the run"
        )
    return identity


def difference(earlier: JsonObject, identity: JsonObject, prefix: str = "") -> str:
    """Return the first setting that differs, with both values, in words."""
    for key in sorted({*earlier, *identity}):
        old, new = earlier.get(key), json.loads(canonical(identity.get(key)))
        if old == new:
            continue
        if isinstance(old, dict) and isinstance(new, dict):
            return difference(old, new, f"{prefix}{key}.")
        return f"{prefix}{key}: {_short(old)} there, {_short(new)} here"
    return "nothing"


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else text[:37] + "…"
