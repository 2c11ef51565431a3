"""What a completion says: its words, whether it is a refusal, and its log-probabilities.

Everything but JSON is in doubt here: a field of an unexpected type counts as absent, never as an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite

from harness.core import Failure, Reply, Token
from harness.disclosure import one_line, redacted
from harness.models.refusals import mapping
from harness.replies import cleaned, finish, whole

SPOKEN = (None, "text", "output_text")
"""Types of content parts that are the answer; others are thoughts, citations, refusals."""
CERTAIN = 1e-3
"""The largest logarithm of a probability that rounding explains."""


def first_choice(answer: Mapping[str, object]) -> Mapping[str, object] | None:
    """Return the first choice of a completion; None where it has none."""
    choices = answer.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    return choice if isinstance(choice, Mapping) else None


def speaks(choice: Mapping[str, object]) -> bool:
    """Return whether a choice has a message, or the text of a plain completion."""
    return isinstance(choice.get("message"), Mapping) or isinstance(choice.get("text"), str)


def said(answer: Mapping[str, object], choice: Mapping[str, object], most: int | None) -> Reply | Failure:
    """Return the reply in ``choice`` with its first ``most`` log-probabilities, or why there is none."""
    reason = _reason(choice)
    ended = finish(reason)
    if choice.get("error"):
        return Failure("failed", f"an error in the reply: {_error(choice['error'])}")
    if ended == "filter":
        return Failure("filtered", f"stopped by the content filter ({_text(reason)[:100]})")
    if ended == "failure":
        return Failure("failed", f"finish reason {_text(reason)[:100]!r}")
    message = choice.get("message")
    parts = mapping(message)
    refusal = _refusal(parts)
    refused = refusal is not None or ended == "refusal"
    usage = mapping(answer.get("usage"))
    reply = Reply(
        text=redacted(refusal or (_words(parts.get("content")) if parts else _words(choice.get("text")))),
        finish_reason="refusal" if refused else _text(reason)[:100] or "stop",
        prompt_tokens=count(usage.get("prompt_tokens")),
        completion_tokens=count(usage.get("completion_tokens")),
        cached_tokens=count(mapping(usage.get("prompt_tokens_details")).get("cached_tokens")),
        logprobs=tokens(choice.get("logprobs"), most),
        model=redacted(_text(answer.get("model"))),
        fingerprint=redacted(_text(answer.get("system_fingerprint"))) or None,
    )
    return cleaned(reply)


def tokens(logprobs: object, most: int | None) -> tuple[Token, ...] | None:
    """Return the first tokens with their alternatives, in the chat form; None where any is malformed."""
    content = mapping(logprobs).get("content")
    if not isinstance(content, list) or not content:
        return None
    try:
        return tuple(map(_token, content[:most]))
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError):
        return None


def count(value: object) -> int:
    """Return a number of tokens; 0 where ``value`` is none."""
    return value if type(value) is int and value >= 0 else 0


def _reason(choice: Mapping[str, object]) -> str:
    """Return the finish reason: the provider's own where it tells more than the gateway's "stop"."""
    reason, native = (_name(choice.get(key)) for key in ("finish_reason", "native_finish_reason"))
    return native if finish(reason) == "stop" and finish(native) not in ("stop", "unknown") else reason


def _name(value: object) -> str:
    return redacted(value) if isinstance(value, str) else "" if value is None else "unknown"


def _refusal(message: Mapping[str, object]) -> str | None:
    """Return the refusal in a message, in its field or in a part of its content; None where it has none."""
    found = [message.get("refusal")]
    content = message.get("content")
    if isinstance(content, list):
        found += [
            part.get("refusal") or "refused" for part in content if mapping(part).get("type") == "refusal"
        ]
    words = [value if isinstance(value, str) else "refused" for value in found if value]
    return "\n".join(words) if words else None


def _words(content: object) -> str:
    if isinstance(content, list):
        return "".join(
            _text(part) or _text(mapping(part).get("text"))
            for part in content
            if isinstance(part, str) or mapping(part).get("type") in SPOKEN
        )
    if isinstance(content, int | float) and not isinstance(content, bool):
        return str(content)
    return _text(content) or _text(mapping(content).get("text"))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _error(error: object) -> str:
    words = mapping(error).get("message") if isinstance(error, Mapping) else error
    return one_line(whole(str(words)[:1000]))


def _token(entry: Mapping[str, object]) -> Token:
    top = entry.get("top_logprobs")
    if top is not None and not isinstance(top, list):
        raise ValueError("no list of alternatives")
    return Token(*_listed(entry), tuple(map(_listed, top or ())))


def _listed(entry: Mapping[str, object]) -> tuple[str, float]:
    text, logprob = entry["token"], entry["logprob"]
    if not isinstance(text, str) or isinstance(logprob, bool) or not isinstance(logprob, int | float):
        raise ValueError("no token")
    if not isfinite(logprob) or logprob > CERTAIN:
        raise ValueError("no logarithm of a probability")
    return redacted(text), logprob
