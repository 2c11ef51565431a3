"""What an endpoint's error means: for this request alone, for the way of asking, for now, or for good."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from harness.core import Failure
from harness.dialect import Dialect
from harness.disclosure import one_line
from harness.errors import EndpointError, Transient
from harness.models.parameters import adapted

TRANSIENT_STATUS = {408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529}
THROTTLED_STATUS = {429, 503, 529}
TERMINAL_STATUS = {401, 402, 407}
TERMINAL_CODES = {"insufficient_quota", "billing_hard_limit_reached", "invalid_api_key", "model_not_found"}
TOO_LONG_STATUS, FILTERED_STATUS, NOT_IMPLEMENTED = 413, 451, 501
TOO_LONG = re.compile(
    r"context_length_exceeded|exceed_context_size|maximum context length|context (?:size|window|limit)"
    r"|too long|too many (?:input )?tokens|reduce the length|max_new_tokens|must have less than"
    r"|token count .{0,30}exceeds|max_model_len|string_above_max_length|request(?: entity)? too large"
)
FILTERED = re.compile(
    r"content[ _-]?(?:filter|polic|management polic|exists risk|safety)|responsibleaipolicyviolation"
    r"|moderation|data_?inspection_?failed|inappropriate content|invalid_prompt"
    r"|(?:prompt|input|request|content|response|output)\b.{0,40}\b(?:blocked|flagged)"
    r"|usage polic|due to safety|safety (?:system|reasons|filter)|prohibited content|敏感|不安全|违规"
)
WORDS = 4000
"""The characters of an error that are searched for what it means."""


class Rejected(Exception):
    """The endpoint refused the form of the request: ask again in ``dialect``."""

    def __init__(self, dialect: Dialect, message: str) -> None:
        super().__init__(message)
        self.dialect = dialect


class Refused(EndpointError):
    """The endpoint refused the request for no known reason.

    Whether it refuses every request, or this one alone, is seen from whether it answers another.
    """


def classify(
    status: int,
    answer: object,
    dialect: Dialect | None = None,
    retry_after: float | None = None,
    sent: Mapping[str, object] | None = None,
) -> Failure:
    """Return the ``Failure`` that an error means for this request alone.

    Raises ``Rejected`` where another dialect than ``dialect`` may work, ``Transient`` where a later attempt
    may, ``Refused`` where the error does not tell, and another ``EndpointError`` where nothing will work.
    ``sent`` is the body of the request.
    """
    error = _inside(answer)
    named = (error.get("code"), error.get("type"), mapping(error.get("innererror")).get("code"))
    codes = {str(code or "").lower() for code in named}
    message = _message(error, status)
    words = " ".join(_leaves(error))[:WORDS].lower()
    fault = f"HTTP {status}: {message}"
    if status in TERMINAL_STATUS or codes & TERMINAL_CODES:
        raise EndpointError(fault)
    if status == FILTERED_STATUS or FILTERED.search(words):
        return Failure("filtered", message)
    if status == TOO_LONG_STATUS or (status < 500 and TOO_LONG.search(words)):
        return Failure("too-long", message)
    lasting = status == NOT_IMPLEMENTED or (400 <= status < 500 and status not in TRANSIENT_STATUS)
    if dialect is not None and lasting:
        better = adapted(dialect, str(error.get("param") or ""), words, sent)
        if better is not None:
            raise Rejected(better, message)
    if lasting:
        raise Refused(fault)
    if status >= 400 and status not in TRANSIENT_STATUS:
        raise EndpointError(fault)
    raise Transient(fault, retry_after, throttled=status in THROTTLED_STATUS)


def mapping(value: object) -> Mapping[str, object]:
    """Return ``value`` where it is a JSON object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def _inside(answer: object) -> Mapping[str, object]:
    """Return the error in a response, whether that is the error itself, holds it, or lists it."""
    if isinstance(answer, list) and answer:
        answer = answer[0]
    inside = answer.get("error") or answer if isinstance(answer, Mapping) else answer
    return inside if isinstance(inside, Mapping) else {"message": str(inside)}


def _message(error: Mapping[str, object], status: int) -> str:
    """Return the words of an error, with those of the provider that a router has asked."""
    raw = mapping(error.get("metadata")).get("raw")
    words = error.get("message") or error.get("detail") or error.get("error") or f"HTTP {status}"
    return one_line(f"{words}: {raw}" if raw else words)


def _leaves(value: object) -> Iterator[str]:
    """Yield all texts in a JSON value."""
    if isinstance(value, Mapping):
        for part in value.values():
            yield from _leaves(part)
    elif isinstance(value, list):
        for part in value:
            yield from _leaves(part)
    elif value is not None:
        yield str(value)
