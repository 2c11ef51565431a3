"""Replies as servers write them, made safe to read: why they end, and text that no file can hold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from math import isfinite
from typing import Literal

from harness.core import Reply, Token

Finish = Literal["stop", "length", "filter", "refusal", "failure", "unknown"]

_SYNONYMS: dict[Finish, str] = {
    # OpenAI, Claude, Cohere, TGI, Bedrock, watsonx; servers that leave the field empty.
    "stop": "stop none null eos eostoken endturn stopsequence complete completed endoftext done finished",
    # OpenAI, Claude, Gemini, Mistral, Cohere, Bedrock, watsonx.
    "length": (
        "length maxtokens modellength maxlength maxoutputtokens tokenlimit errorlimit maxcontextlength"
        " modelcontextwindowexceeded contextlengthexceeded contextwindowexceeded maxcompletiontokens"
        " lengthlimit"
    ),
    # Azure, Gemini and Vertex, Cohere, Bedrock, Zhipu.
    "filter": (
        "contentfilter contentfiltered safety recitation blocklist prohibitedcontent spii imagesafety"
        " imageprohibitedcontent imagerecitation errortoxic guardrailintervened guardrail sensitive"
        " modelarmor jailbreak contentblocked blocked moderation contentpolicy contentpolicyviolation"
    ),
    "refusal": "refusal refused",
    # OpenRouter, vLLM, SGLang, DeepSeek, Zhipu, Cohere, watsonx, Ollama.
    "failure": (
        "error failed failure abort aborted cancel canceled cancelled usercancel timeout timelimit"
        " networkerror insufficientsystemresource load unload language internalerror serviceerror"
    ),
}
_BY_NAME = {name: finish for finish, names in _SYNONYMS.items() for name in names.split()}


def finish(reason: str | None) -> Finish:
    """Return what a server's ``reason`` means, in whatever case and with whatever separators."""
    return _named((reason or "stop")[:200])


@lru_cache(maxsize=256)
def _named(reason: str) -> Finish:
    name = re.sub(r"[\W_]+", "", reason.lower()).removeprefix("finishreason")
    return _BY_NAME.get(name, "unknown")


def cleaned(reply: Reply) -> Reply:
    """Return ``reply`` without halves of surrogate pairs, and without log-probabilities that are none."""
    logprobs = reply.logprobs
    if logprobs is not None and not all(map(isfinite, _logprobs(logprobs))):
        reply = replace(reply, logprobs=None)
    try:
        "".join(_texts(reply)).encode()
    except UnicodeEncodeError:
        tokens = reply.logprobs and tuple(
            Token(whole(t.text), t.logprob, tuple((whole(text), value) for text, value in t.top))
            for t in reply.logprobs
        )
        fingerprint = reply.fingerprint and whole(reply.fingerprint)
        text, model = whole(reply.text), whole(reply.model)
        return replace(reply, text=text, model=model, fingerprint=fingerprint, logprobs=tokens)
    return reply


def whole(text: str) -> str:
    """Return ``text`` with U+FFFD for each lone half of a surrogate pair."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _logprobs(tokens: tuple[Token, ...]) -> Iterator[float]:
    for token in tokens:
        for value in (token.logprob, *(logprob for _, logprob in token.top)):
            number = isinstance(value, int | float) and not isinstance(value, bool)
            yield value if number else float("nan")


def _texts(reply: Reply) -> Iterator[str]:
    yield from (reply.text, reply.model, reply.fingerprint or "")
    for token in reply.logprobs or ():
        yield token.text
        yield from (text for text, _ in token.top)
