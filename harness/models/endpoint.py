"""One base URL: the client that speaks to it, its key, its rate-limit headers, its pauses.

``openai.AsyncOpenAI`` holds the configuration (address, key, headers, query) and serves the batch API; chat
requests go straight over the ``httpx2.AsyncClient`` beneath it, which is ours.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness import http_client
from harness.core import Failure, JsonObject
from harness.dialect import Dialect
from harness.errors import EndpointError, Transient
from harness.http_client import Key
from harness.models import wire
from harness.retrying import duration, retry_after

if TYPE_CHECKING:
    import httpx2
    import openai

LONGEST_PAUSE = 120.0


@dataclass
class Endpoint:
    """What one base URL is busy with, and until when it asked to be left alone."""

    url: str
    client: openai.AsyncOpenAI
    http: httpx2.AsyncClient
    headers: Mapping[str, str]
    query: Mapping[str, str]
    busy: int = 0
    resume: float = 0.0

    @classmethod
    def connect(cls, url: str, key: Key, connections: int, api_version: str | None) -> Endpoint:
        """A client for ``url``; with ``api_version`` in Azure's manner."""
        secret = key.read()
        http = http_client.asynchronous(url, connections=connections)
        client = http_client.openai_client(url, secret, http, api_version)
        sent = {**client.auth_headers, **client.default_headers}
        headers = {name: value for name, value in sent.items() if isinstance(value, str)}
        query = {name: str(value) for name, value in client.default_query.items()}
        return cls(url, client, http, headers, query)

    async def post(self, path: str, body: JsonObject) -> httpx2.Response:
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


def refusal(endpoint: Endpoint, answer: httpx2.Response, dialect: Dialect | None, name: str) -> Failure:
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


def content(response: httpx2.Response) -> object:
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
