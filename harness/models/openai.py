"""Any OpenAI-compatible endpoint: ``openai.AsyncOpenAI`` over an ``httpx2.AsyncClient`` of ours.

The client's own retries are off (the runner has the one policy). The key comes from the environment or a
file and is neither in the model's identity nor in any error. Several base URLs are replicas of one model.
Before the first request ``prepare`` finds out how the endpoint wants to be asked: what server it is, which
parameters it rejects, whether it can be held to the labels. What was found is kept in the response cache,
so that a run that is taken up goes on in the same dialect.
"""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.core import Capabilities, Failure, Message, Reply, Request
from harness.errors import EndpointError, Transient
from harness.models import wire
from harness.models.wire import Choices, Dialect, Rejected

DEFAULT_URL = "https://api.openai.com/v1"
DEFAULT_KEY_VARIABLE = "OPENAI_API_KEY"
HOSTS_WITH_NEW_LIMIT = ("openai.com", "azure.com")
DEADLINE = 120.0
CEILING = 64
REJECTIONS = 12
LOOPBACK = ("127.0.0.1", "localhost", "::1")
PROBE_LABELS = ("Zebra", "Quartz")
PROBE = "Reply with the single word hello."
CONSTRAINTS: Mapping[str, Sequence[Choices]] = {
    "vllm": ("structured_outputs",),
    "llamacpp": ("grammar",),
    "": ("json_schema",),
}
_RESET = re.compile(
    r"(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?"
)


@dataclass
class Endpoint:
    """One base URL: its client, what it is busy with, and until when it asked to be left alone."""

    url: str
    client: Any
    busy: int = 0
    resume: float = 0.0

    def pause(self, seconds: float) -> None:
        self.resume = max(self.resume, time.monotonic() + seconds)

    async def ready(self) -> None:
        while (left := self.resume - time.monotonic()) > 0:  # noqa: ASYNC110
            await asyncio.sleep(left)


class OpenAIModel:
    """A model called ``name`` at one or more base URLs."""

    def __init__(
        self,
        name: str,
        base_url: str | Sequence[str] | None = None,
        api_key_env: str | None = None,
        *,
        api_key_file: str | None = None,
        api_version: str | None = None,
        choices: str = "auto",
        deadline: float = DEADLINE,
        ceiling: int = CEILING,
        identity: Mapping[str, Any] | None = None,
    ) -> None:
        urls = [base_url] if isinstance(base_url, str) else list(base_url or [DEFAULT_URL])
        self.name = name
        self.urls = [url.rstrip("/") for url in urls]
        self.concurrency = ceiling
        self.capabilities = Capabilities(choices=True, logprobs=True)
        self.identity: Mapping[str, Any] = identity or {
            "kind": "openai",
            "base_url": ",".join(sorted(self.urls)),
            "name": name,
            **({"api_version": api_version} if api_version else {}),
        }
        self.dialect = Dialect(token_limit=self._limit_name(), choices=_wanted(choices))
        self._keys = (api_key_env, api_key_file, base_url is not None)
        self._api_version = api_version
        self._deadline = deadline
        self._endpoints: list[Endpoint] = []

    @property
    def facts(self) -> Mapping[str, Any]:
        return {**self.dialect.to_json(), "temperature_zero": self.dialect.greedy}

    async def prepare(self, known: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        """Take up the dialect that is ``known``, or find it out; what is returned is to be remembered."""
        self._endpoints = self._endpoints or self._connect()
        if known is not None:
            self.dialect = Dialect.from_json(known)
            return None
        await self._look()
        if self.dialect.choices == "unknown":
            await self._try_constraints()
        return self.dialect.to_json()

    async def answer(self, request: Request) -> Reply | Failure:
        self._endpoints = self._endpoints or self._connect()
        for _ in range(REJECTIONS):
            try:
                return await self._send(request, self.dialect)
            except Rejected as error:
                self.dialect = error.dialect
        raise EndpointError(f"{self.name}: rejects every form of the request")

    async def close(self) -> None:
        for endpoint in self._endpoints:
            await endpoint.client.close()
        self._endpoints = []

    async def _send(self, request: Request, dialect: Dialect) -> Reply | Failure:
        """One attempt at the least busy endpoint; its clock starts when the request is sent."""
        import httpx2
        import openai

        now = time.monotonic()
        endpoint = min(self._endpoints, key=lambda e: (max(0.0, e.resume - now), e.busy))
        await endpoint.ready()
        endpoint.busy += 1
        try:
            async with asyncio.timeout(self._deadline):
                answer = await endpoint.client.post(
                    wire.path(dialect), cast_to=httpx2.Response, body=wire.body(self.name, request, dialect)
                )
            _heed(endpoint, answer.headers)
            return wire.read(answer.json())
        except openai.APIStatusError as error:
            after = _retry_after(error.response.headers)
            try:
                return wire.classify(error.status_code, _json(error.response), dialect, after)
            except Transient as transient:
                if transient.throttled:
                    endpoint.pause(after or 1.0)
                raise
            except EndpointError as terminal:
                raise EndpointError(f"{self.name}: {terminal}") from None
        except (TimeoutError, openai.APITimeoutError) as error:
            raise Transient(f"no answer within {self._deadline:.0f} s", throttled=True) from error
        except openai.APIConnectionError as error:
            raise Transient(f"{endpoint.url}: {_root(error)}") from error
        except (openai.OpenAIError, httpx2.HTTPError, ValueError) as error:
            raise Transient(f"{endpoint.url}: not a chat completion: {wire.one_line(error)}") from error
        finally:
            endpoint.busy -= 1

    async def _look(self) -> None:
        """What server this is, by its list of models; that a local one knows the model at all."""
        import httpx2
        import openai

        try:
            async with asyncio.timeout(self._deadline):
                answer = await self._endpoints[0].client.get("/models", cast_to=httpx2.Response)
            models = answer.json()["data"]
            owners = {str(m.get("owned_by", "")) for m in models}
        except (
            openai.OpenAIError,
            httpx2.HTTPError,
            TimeoutError,
            ValueError,
            KeyError,
            TypeError,
            AttributeError,
        ):
            return
        server = next((kind for kind in ("vllm", "llamacpp") if kind in owners), "")
        names = [str(m.get("id")) for m in models]
        if server and self.name not in names:
            raise EndpointError(f"unknown model {self.name!r}: {self.urls[0]} has {', '.join(names)}")
        self.dialect = replace(self.dialect, server=server)

    async def _try_constraints(self) -> None:
        """Ask for one of two words that no model would say: only a server that obeys gives one of them."""
        sampling = {"temperature": 0.0, "top_p": 1.0, "seed": 0, "max_tokens": 16, "logprobs": True}
        probe = Request(self.identity, (Message("user", PROBE),), sampling, PROBE_LABELS)
        for way in CONSTRAINTS[self.dialect.server]:
            self.dialect = replace(self.dialect, choices=way)
            try:
                answer = await self.answer(probe)
            except (Transient, EndpointError):
                continue
            if isinstance(answer, Reply) and any(label in answer.text for label in PROBE_LABELS):
                return
        constraints = {"structured_outputs", "grammar", "response_format"}
        kept = tuple(name for name in self.dialect.dropped if name not in constraints)
        self.dialect = replace(self.dialect, choices="none", dropped=kept)

    def _connect(self) -> list[Endpoint]:
        key = _key(*self._keys)
        return [Endpoint(url, _client(url, key, self.concurrency, self._api_version)) for url in self.urls]

    def _limit_name(self) -> str:
        new = any(host in url for url in self.urls for host in HOSTS_WITH_NEW_LIMIT)
        return "max_completion_tokens" if new else "max_tokens"


def _client(base_url: str, key: str, concurrency: int, api_version: str | None) -> Any:
    import httpx2
    import openai

    limits = httpx2.Limits(max_connections=concurrency * 2, max_keepalive_connections=concurrency * 2)
    # Each request has its deadline from the moment it is sent; waiting for a connection has none.
    # The system's proxies, but not for this machine's own servers; its certificates either way.
    proxies = httpx2.URL(base_url).host not in LOOPBACK
    http = httpx2.AsyncClient(limits=limits, timeout=None, trust_env=proxies, follow_redirects=True)
    azure = (
        {"default_query": {"api-version": api_version}, "default_headers": {"api-key": key}}
        if api_version
        else {}
    )
    return openai.AsyncOpenAI(
        api_key=key,
        base_url=base_url,
        max_retries=0,
        http_client=http,
        timeout=None,
        **azure,  # type: ignore[arg-type]
    )


def _key(variable: str | None, file: str | None, own_endpoint: bool) -> str:
    if file is not None:
        try:
            return Path(file).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise EndpointError(
                f"key file {file}: {getattr(error, 'strerror', None) or 'not text'}"
            ) from None
    key = os.environ.get(variable or DEFAULT_KEY_VARIABLE, "").strip()
    if key or (own_endpoint and variable is None):
        return key or "none"
    name = variable or DEFAULT_KEY_VARIABLE
    raise EndpointError(
        f"no API key: set the environment variable {name}, or name another with --api-key-env"
    )


def _wanted(choices: str) -> Choices:
    known: dict[str, Choices] = {
        "auto": "unknown",
        "structured_outputs": "structured_outputs",
        "grammar": "grammar",
        "json_schema": "json_schema",
        "none": "none",
    }
    return known[choices]


def _heed(endpoint: Endpoint, headers: Mapping[str, str]) -> None:
    """Wait for the reset that a server announces when it has nothing left to give."""
    for kind in ("requests", "tokens"):
        if headers.get(f"x-ratelimit-remaining-{kind}") == "0":
            seconds = _duration(headers.get(f"x-ratelimit-reset-{kind}", ""))
            if seconds is not None:
                endpoint.pause(min(seconds, DEADLINE))


def _duration(text: str) -> float | None:
    """Seconds in ``12``, ``1m30s`` or ``250ms``; None where it is none of these."""
    try:
        return float(text)
    except ValueError:
        pass
    match = _RESET.fullmatch(text.strip())
    if match is None or not any(match.groups()):
        return None
    return sum(
        float(part or 0) * unit for part, unit in zip(match.groups(), (3600, 60, 1, 0.001), strict=True)
    )


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds from ``retry-after-ms`` or ``retry-after`` (seconds or an HTTP date)."""
    from email.utils import parsedate_to_datetime

    try:
        if (milliseconds := headers.get("retry-after-ms")) is not None:
            return float(milliseconds) / 1000
    except ValueError:
        pass
    value = headers.get("retry-after", "")
    if (seconds := _duration(value)) is not None:
        return seconds
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def _json(response: Any) -> Any:
    try:
        return response.json()
    except ValueError:
        return {"error": {"message": wire.one_line(response.text)}}


def _root(error: BaseException) -> str:
    while error.__cause__ is not None:
        error = error.__cause__
    return wire.one_line(error) or type(error).__name__
