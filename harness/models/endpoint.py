"""One base URL: the client that speaks to it, its key, its rate-limit headers, its pauses.

``openai.AsyncOpenAI`` holds the configuration (address, key, headers, query) and serves the batch API; chat
requests go straight over the ``httpx2.AsyncClient`` beneath it, which is ours.
"""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.core import Failure
from harness.errors import EndpointError, Transient
from harness.models import wire

if TYPE_CHECKING:
    import httpx2

DEFAULT_KEY_VARIABLE = "OPENAI_API_KEY"
LOOPBACK = ("127.0.0.1", "localhost", "::1")
LONGEST_PAUSE = 120.0
_RESET = re.compile(
    r"(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?"
)


@dataclass(frozen=True, slots=True)
class Key:
    """Where the key is: an environment variable or a file; ``needed`` unless the endpoint is one's own."""

    variable: str | None = None
    file: str | None = None
    needed: bool = True

    def read(self) -> str:
        """The key. Raises ``EndpointError``, which names the variable or file and never the key."""
        if self.file is not None:
            try:
                return Path(self.file).read_text(encoding="utf-8").strip()
            except (OSError, UnicodeDecodeError) as error:
                why = getattr(error, "strerror", None) or "not text"
                raise EndpointError(f"key file {self.file}: {why}") from None
        name = self.variable or DEFAULT_KEY_VARIABLE
        key = os.environ.get(name, "").strip()
        if not key and (self.needed or self.variable is not None):
            raise EndpointError(
                f"no API key: set the environment variable {name}, or name another with --api-key-env"
            )
        return key or "none"


@dataclass
class Endpoint:
    """What one base URL is busy with, and until when it asked to be left alone."""

    url: str
    client: Any
    http: httpx2.AsyncClient
    headers: Mapping[str, str]
    query: Mapping[str, str]
    busy: int = 0
    resume: float = 0.0

    @classmethod
    def connect(cls, url: str, key: Key, connections: int, api_version: str | None) -> Endpoint:
        """A client for ``url``; with ``api_version`` in Azure's manner."""
        import httpx2
        import openai

        secret = key.read()
        limits = httpx2.Limits(max_connections=connections, max_keepalive_connections=connections)
        # The system's proxies, but not for this machine's own servers. Each request has its deadline from
        # the moment it is sent; waiting for a connection has none.
        proxies = httpx2.URL(url).host not in LOOPBACK
        http = httpx2.AsyncClient(limits=limits, timeout=None, trust_env=proxies, follow_redirects=True)
        azure: dict[str, Any] = {}
        if api_version:
            azure = {"default_query": {"api-version": api_version}, "default_headers": {"api-key": secret}}
        client = openai.AsyncOpenAI(
            api_key=secret, base_url=url, max_retries=0, http_client=http, timeout=None, **azure
        )
        said = {**client.auth_headers, **client.default_headers}
        headers = {name: value for name, value in said.items() if isinstance(value, str)}
        query = {name: str(value) for name, value in client.default_query.items()}
        return cls(url, client, http, headers, query)

    async def post(self, path: str, body: Mapping[str, Any]) -> httpx2.Response:
        return await self.http.post(
            self.url + path, json=body, headers=self.headers, params=self.query or None
        )

    async def get(self, path: str) -> httpx2.Response:
        return await self.http.get(self.url + path, headers=self.headers, params=self.query or None)

    async def ready(self) -> None:
        while (left := self.resume - time.monotonic()) > 0:  # noqa: ASYNC110
            await asyncio.sleep(left)

    def pause(self, seconds: float) -> None:
        self.resume = max(self.resume, time.monotonic() + seconds)

    def heed(self, headers: Mapping[str, str]) -> None:
        """Wait for the reset that a server announces when it has nothing left to give."""
        for kind in ("requests", "tokens"):
            if headers.get(f"x-ratelimit-remaining-{kind}") == "0":
                seconds = duration(headers.get(f"x-ratelimit-reset-{kind}", ""))
                if seconds is not None:
                    self.pause(min(seconds, LONGEST_PAUSE))


def duration(text: str) -> float | None:
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


def refusal(endpoint: Endpoint, answer: Any, dialect: wire.Dialect | None, name: str) -> Failure:
    """What an answer that is no success means; the endpoint is left alone as long as it asks for.

    Raises ``Transient`` for what may pass, ``EndpointError``, which names the model, for what cannot.
    """
    after = retry_after(answer.headers)
    try:
        return wire.classify(answer.status_code, content(answer), dialect, after)
    except Transient as transient:
        if transient.throttled:
            endpoint.pause(after or 1.0)
        raise
    except EndpointError as terminal:
        raise EndpointError(f"{name}: {terminal}") from None


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds from ``retry-after-ms`` or ``retry-after`` (seconds or an HTTP date)."""
    try:
        if (milliseconds := headers.get("retry-after-ms")) is not None:
            return float(milliseconds) / 1000
    except ValueError:
        pass
    value = headers.get("retry-after", "")
    if (seconds := duration(value)) is not None:
        return seconds
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def content(response: Any) -> Any:
    """The JSON of an error, or its text as an error's message."""
    try:
        return response.json()
    except ValueError:
        return {"error": {"message": wire.one_line(response.text)}}


def root(error: BaseException) -> str:
    """What an exception came from, in one line."""
    while error.__cause__ is not None:
        error = error.__cause__
    return wire.one_line(error) or type(error).__name__
