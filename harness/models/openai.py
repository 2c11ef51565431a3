"""Any OpenAI-compatible chat endpoint: ``openai.AsyncOpenAI`` over an ``httpx2.AsyncClient`` of ours.

Its own retries are off (the runner has the one policy). The key comes from the environment and is
neither in the model's identity nor in any error.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from harness.core import Capabilities, Failure, Reply, Request, Token
from harness.errors import EndpointError, Transient

DEFAULT_URL = "https://api.openai.com/v1"
DEFAULT_KEY_VARIABLE = "OPENAI_API_KEY"
DEADLINE = 120.0
CONCURRENCY = 16
TRANSIENT_STATUS = {408, 409, 429, 500, 502, 503, 504, 529}
TERMINAL_CODES = {"insufficient_quota", "billing_hard_limit_reached", "invalid_api_key", "model_not_found"}
TOO_LONG = ("context_length_exceeded", "exceed_context_size", "maximum context length", "context size")


class OpenAIModel:
    """A model called ``name`` at ``base_url``."""

    def __init__(
        self,
        name: str,
        base_url: str | None = None,
        api_key_env: str | None = None,
        concurrency: int | None = None,
    ) -> None:
        self.name = name
        self.base_url = (base_url or DEFAULT_URL).rstrip("/")
        self.concurrency = concurrency or CONCURRENCY
        self.capabilities = Capabilities(choices=False, logprobs=False)
        self.identity: Mapping[str, Any] = {"kind": "openai", "base_url": self.base_url, "name": name}
        self._key_variable = api_key_env
        self._own_endpoint = base_url is not None
        self._client: Any = None

    async def answer(self, request: Request) -> Reply | Failure:
        import openai

        if self._client is None:  # a run answered from the cache needs no key
            self._client = _client(
                self.base_url, _key(self._key_variable, self._own_endpoint), self.concurrency
            )
        try:
            completion = await self._client.chat.completions.create(**_body(self.name, request))
        except openai.APIStatusError as error:
            return _classify(error, self.name)
        except openai.APITimeoutError as error:
            raise Transient(f"no answer within {DEADLINE:.0f} s") from error
        except openai.APIConnectionError as error:
            raise Transient(f"{self.base_url}: {_root(error)}") from error
        except (openai.OpenAIError, ValueError) as error:
            raise Transient(f"{self.base_url}: not a chat completion: {error}") from error
        return _reply(completion)

    @property
    def facts(self) -> Mapping[str, Any]:
        return {}

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()


def _client(base_url: str, key: str, concurrency: int) -> Any:
    import httpx2
    import openai

    limits = httpx2.Limits(max_connections=concurrency * 2, max_keepalive_connections=concurrency * 2)
    # The clock starts when the request is sent: waiting for a free connection has no limit.
    timeout = httpx2.Timeout(DEADLINE, pool=None)
    http = httpx2.AsyncClient(limits=limits, timeout=timeout, trust_env=True, follow_redirects=True)
    return openai.AsyncOpenAI(
        api_key=key, base_url=base_url, max_retries=0, http_client=http, timeout=timeout
    )


def _key(variable: str | None, own_endpoint: bool) -> str:
    key = os.environ.get(variable or DEFAULT_KEY_VARIABLE, "")
    if key or (own_endpoint and variable is None):
        return key or "none"
    name = variable or DEFAULT_KEY_VARIABLE
    raise EndpointError(
        f"no API key: set the environment variable {name}, or name another with --api-key-env"
    )


def _body(name: str, request: Request) -> dict[str, Any]:
    return {
        "model": name,
        "messages": [{"role": m.role, "content": m.content} for m in request.messages],
        **request.sampling,
    }


def _classify(error: Any, name: str) -> Failure:
    """A ``Failure`` for this request; raises ``Transient`` or ``EndpointError`` for the others."""
    code = str(getattr(error, "code", "") or "")
    kind = str(getattr(error, "type", "") or "")
    message = _one_line(getattr(error, "message", "") or str(error))
    said = f"{code} {kind} {message}".lower()
    if code == "content_filter" or "content_filter" in said:
        return Failure("filtered", message)
    if any(word in said for word in TOO_LONG):
        return Failure("too-long", message)
    terminal = code in TERMINAL_CODES or kind in TERMINAL_CODES
    if error.status_code in TRANSIENT_STATUS and not terminal:
        raise Transient(f"HTTP {error.status_code}: {message}", _retry_after(error)) from error
    raise EndpointError(f"{name}: HTTP {error.status_code}: {message}") from error


def _reply(completion: Any) -> Reply | Failure:
    """The reply in a completion; an error or nothing inside a 200 may be better next time."""
    if getattr(completion, "error", None):
        raise Transient(f"an error inside a 200: {_one_line(str(completion.error))}")
    if not getattr(completion, "choices", None):
        raise Transient("a reply without choices")
    choice = completion.choices[0]
    message = getattr(choice, "message", None)
    if choice.finish_reason == "content_filter":
        return Failure("filtered", "content filter")
    if message is None:
        raise Transient("a reply without a message")
    text = message.content if message.content is not None else (getattr(message, "refusal", None) or "")
    usage = completion.usage
    details = getattr(usage, "prompt_tokens_details", None)
    return Reply(
        text=text,
        finish_reason=choice.finish_reason or "stop",
        prompt_tokens=getattr(usage, "prompt_tokens", 0) or 0,
        completion_tokens=getattr(usage, "completion_tokens", 0) or 0,
        cached_tokens=getattr(details, "cached_tokens", 0) or 0,
        logprobs=_logprobs(getattr(choice, "logprobs", None)),
        model=completion.model or "",
        fingerprint=getattr(completion, "system_fingerprint", None),
    )


def _logprobs(logprobs: Any) -> tuple[Token, ...] | None:
    content = getattr(logprobs, "content", None)
    if not content:
        return None
    return tuple(
        Token(t.token, t.logprob, tuple((o.token, o.logprob) for o in t.top_logprobs or ())) for t in content
    )


def _retry_after(error: Any) -> float | None:
    try:
        return float(error.response.headers.get("retry-after", ""))
    except ValueError:
        return None


def _root(error: BaseException) -> str:
    while error.__cause__ is not None:
        error = error.__cause__
    return _one_line(str(error)) or type(error).__name__


def _one_line(text: str) -> str:
    return " ".join(text.split())[:300]
