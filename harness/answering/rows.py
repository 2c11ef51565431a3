"""The rows of the response cache: requests and replies as JSON, with a checksum that shows damage."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from harness.core import Message, Reply, Request, Token, canonical

Row = tuple[str, str, str, float, str]
"""Key, request, reply, seconds since 1970, checksum."""


def row(request: Request, reply: Reply, created: float) -> Row:
    """Return the row of a reply."""
    text = encode(reply)
    return (
        request.key,
        safe(canonical(request.payload())),
        text,
        created,
        checksum(request.key, text.encode()),
    )


def checksum(key: str, reply: bytes) -> str:
    """Return the checksum of a reply's JSON under its request's key."""
    return blake2b(reply, digest_size=8, key=key.encode()[:64]).hexdigest()


def intact(key: str, reply: bytes, check: str | None) -> Reply | None:
    """Return the reply of a row, None if it is damaged. Rows of older versions have no checksum."""
    if check is not None and check != checksum(key, reply):
        return None
    try:
        found = decode(reply)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    return found if isinstance(found.text, str) else None


def asked(key: str, request: bytes) -> Request | None:
    """Return the request of a row, None if it is damaged."""
    try:
        found = rebuild(json.loads(request))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    return found if found.key == key else None


def encode(reply: Reply) -> str:
    """Return a reply as JSON, with fields in declaration order."""
    data = {name: getattr(reply, name) for name in Reply.__slots__}
    if reply.logprobs is not None:
        data["logprobs"] = [{"text": t.text, "logprob": t.logprob, "top": t.top} for t in reply.logprobs]
    return safe(json.dumps(data, ensure_ascii=False))


def decode(text: str | bytes) -> Reply:
    """Return the reply of its JSON."""
    data = json.loads(text if isinstance(text, str) else text.decode())
    if data["logprobs"] is not None:
        data["logprobs"] = tuple(
            [Token(t["text"], t["logprob"], tuple([(a, b) for a, b in t["top"]])) for t in data["logprobs"]]
        )
    return Reply(**data)


def rebuild(payload: Mapping[str, Any]) -> Request:
    """Return the request of a payload. Raises KeyError, TypeError or ValueError for an invalid one."""
    messages = tuple(Message(role, content) for role, content in payload["messages"])
    return Request(**{**payload, "messages": messages, "choices": tuple(payload["choices"])})


def safe(text: str) -> str:
    """Return the same JSON text, escaped only if it holds half a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(json.loads(text))
    return text
