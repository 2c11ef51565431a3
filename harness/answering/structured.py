"""Takes the answer out of JSON, a tag such as ``<answer>``, or ``\\boxed{…}``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

LABEL_KEYS = frozenset(
    [
        *("answer", "final_answer", "label", "labels", "sentiment", "classification", "prediction", "class"),
        *("category", "categories", "topic", "topics", "concept", "concepts", "output", "result", "verdict"),
        *("article", "articles", "violated_articles", "final", "choice", "response", "decision"),
    ]
)
NUMBER_KEYS = frozenset(
    ["score", "rating", "valence", "intensity", "answer", "value", "final_score", "final_answer", "result"]
)
_OBJECTS = 20  # most tried in a text, so that reading takes linear time
_TAGS = "|".join(sorted((LABEL_KEYS | NUMBER_KEYS) - {"article", "articles"}, key=len, reverse=True))
_TAG = re.compile(rf"<({_TAGS})>([^<>]{{0,2000}})</\1>", re.IGNORECASE)
_BOXED = re.compile(r"\\boxed\s?\{((?:[^{}]|\{[^{}]{0,200}\}){0,400})\}")
_TEXT = re.compile(r"\\(?:text|mathrm|textbf|textit|mathbf)\s?\{([^{}]{0,200})\}")
_SIGNS = ("{", "[", "<", '"')
_FENCE = re.compile(r"^\s*```(?:json)?|```\s*$")


def taken_out(text: str, keys: frozenset[str] = LABEL_KEYS, boxed: bool = True) -> tuple[str, bool]:
    """Return the answer in a structured reply, and whether it was in a whole structure.

    The answer is empty where the structures in the text disagree, and ``text`` itself where it has none.
    Without ``boxed``, a box does not count: in a reply that was cut another one may follow.
    """
    if not any(sign in text for sign in _SIGNS):
        return text, False
    bare = _FENCE.sub("", text).strip()
    if bare[:1] in ('"', "[", "{"):
        try:
            return _plain(json.loads(bare), keys), True
        except (ValueError, RecursionError):
            pass
    found: tuple[set[str], ...] = (
        {
            _plain(value, keys)
            for value in _objects(text)
            if any(isinstance(key, str) and key.lower() in keys for key in value)
        },
        {match[2].strip() for match in _TAG.finditer(text)},
        {_TEXT.sub(r"\1", match[1]).strip() for match in _BOXED.finditer(text) if boxed},
    )
    for answers in found:
        if answers:
            return (answers.pop() if len(answers) == 1 else ""), True
    return text, False


def _objects(text: str) -> Iterator[dict[str, object]]:
    """Yield the outermost JSON objects in a text."""
    decoder, at = json.JSONDecoder(), text.find("{")
    for _ in range(_OBJECTS):
        if at < 0:
            return
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield value
        at = text.find("{", end)


def _plain(value: object, keys: frozenset[str]) -> str:
    """Return a JSON value as text, or "" if it is ambiguous.

    Such are a string, a number, a list, the answer (or only) field of an object, and its true fields.
    """
    if isinstance(value, list):
        parts = [_plain(v, keys) for v in value]
        return (", ".join(parts) if value else "none") if all(parts) else ""
    if isinstance(value, dict):
        named = {_plain(v, keys) for k, v in value.items() if k.lower() in keys}
        if not named and value and all(isinstance(v, bool) for v in value.values()):
            return ", ".join(k for k, v in value.items() if v)
        only = {_plain(v, keys) for v in value.values()} if len(value) == 1 else set()
        return (named or only).pop() if len(named or only) == 1 else ""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, str | int | float) else ""
