"""Comparison of request payloads: which fields differ, where, and by how much."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence

from harness.core import Json, JsonObject, canonical

SHOWN = 60
BEFORE, AFTER = 20, 40


def differences(left: JsonObject, right: JsonObject, names: tuple[str, str]) -> list[str]:
    """Return one line for each field in which two payloads differ, cutting long texts to the difference.

    ``names`` label the payloads.
    """
    left_fields, right_fields = flat(left), flat(right)
    lines = []
    for name in sorted(left_fields.keys() | right_fields.keys(), key=_order):
        if name not in left_fields:
            lines.append(f"{name}: absent {names[0]}, {_shown(right_fields[name])} {names[1]}")
        elif name not in right_fields:
            lines.append(f"{name}: {_shown(left_fields[name])} {names[0]}, absent {names[1]}")
        elif canonical(left_fields[name]) != canonical(right_fields[name]):
            lines.append(_difference(name, left_fields[name], right_fields[name], names))
    return lines


def flat(payload: JsonObject) -> dict[str, Json]:
    """Flatten a payload to one entry per field (``sampling.max_tokens``) and two per message."""
    fields: dict[str, Json] = {}
    for name, value in payload.items():
        if name == "messages" and isinstance(value, list):
            fields |= _turns(value)
        elif isinstance(value, Mapping):
            fields |= {f"{name}.{inner}": deeper for inner, deeper in value.items()}
        else:
            fields[name] = value
    return fields


def _turns(messages: Sequence[Sequence[Json]]) -> dict[str, Json]:
    fields: dict[str, Json] = {}
    for number, (role, content) in enumerate(messages):
        fields[f"messages[{number}].role"], fields[f"messages[{number}]"] = role, content
    return fields


def _order(name: str) -> tuple[bool, int, str]:
    number = re.match(r"messages\[(\d+)\]", name)
    return (number is not None, int(number[1]) if number else 0, name)


def _difference(name: str, left: Json, right: Json, names: tuple[str, str]) -> str:
    if isinstance(left, str) and isinstance(right, str) and max(len(left), len(right)) > SHOWN:
        at = _agreeing(left, right)
        start = max(0, at - BEFORE)
        left, right = (_around(text, start, at + AFTER) for text in (left, right))
        return f"{name} from character {at + 1}: {_shown(left)} {names[0]}, {_shown(right)} {names[1]}"
    return f"{name}: {_shown(left)} {names[0]}, {_shown(right)} {names[1]}"


def _around(text: str, start: int, end: int) -> str:
    return ("…" if start else "") + text[start:end] + ("…" if len(text) > end else "")


def _shown(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= 2 * SHOWN else f"{text[: 2 * SHOWN]}…"


def _agreeing(left: str, right: str) -> int:
    """Return the length of the common prefix of two texts."""
    length = min(len(left), len(right))
    return bisect_left(range(1, length + 1), True, key=lambda n: left[:n] != right[:n])


def distance(left: object, right: object) -> int:
    """Return how many characters of the longer text lie between the common prefix and the common suffix."""
    left, right = str(left), str(right)
    longest, shortest = max(len(left), len(right)), min(len(left), len(right))
    start = _agreeing(left, right)
    end = min(_agreeing(left[::-1], right[::-1]), shortest - start)
    return longest - start - end
