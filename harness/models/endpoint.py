"""A base URL: its client, key, rate-limit headers and pauses.

``openai.AsyncOpenAI`` holds the configuration (address, key, headers, query) and serves the batch API; chat
requests go directly through the underlying ``httpx2.AsyncClient``, which we create.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from harness import http_client, posts
from harness.core import Failure, JsonObject, Reply
from harness.dialect import Dialect
from harness.disclosure import one_line
from harness.errors import EndpointError, Transient
from harness.http_client import Answer
from harness.keys import Key
from harness.models import refusals
from harness.models.refusals import Refused
from harness.retrying import LONGEST_WAIT, duration, retry_after

if TYPE_CHECKING:
    import httpx2
    import openai

LONGEST_PAUSE = 120.0


@dataclass
class Endpoint:
    """A base URL with its client, the number of requests under way, and the end of the pause it asked for.

    ``version`` is that of a vLLM server, where it told.
    """

    url: str
    client: openai.AsyncOpenAI
    http: httpx2.AsyncClient
    query: Mapping[str, str]
    busy: int = 0
    resume: float = 0.0
    version: str | None = None
    _addresses: dict[str, httpx2.URL] = field(default_factory=dict)

    @classmethod
    def connect(cls, url: str, key: Key, connections: int, api_version: str | None) -> Endpoint:
        """Create the client for ``url``, in Azure's manner where ``api_version`` is set."""
        secret = key.read()
        http = http_client.asynchronous(url, connections=connections)
        client = http_client.openai_client(url, secret, http, api_version)
        sent = {**client.auth_headers, **client.default_headers}
        own = {name: value for name, value in sent.items() if isinstance(value, str)}
        http.headers.update({name: value for name, value in own.items() if name.lower() != "content-type"})
        query = {name: str(value) for name, value in client.default_query.items()}
        return cls(url, client, http, query)

    async def post(self, path: str, body: JsonObject) -> Answer:
        """Send a POST request with a JSON ``body`` to ``path``. Raises ``TooLarge``."""
        return await http_client.ask(self.http, "POST", self._address(path), body)

    async def get(self, path: str) -> Answer:
        """Send a GET request to ``path``."""
        return await http_client.ask(self.http, "GET", self._address(path))

    def _address(self, path: str) -> httpx2.URL:
        """Return the address of ``path``, taken apart only once."""
        import httpx2

        if path not in self._addresses:
            self._addresses[path] = httpx2.URL(self.url + path, params=self.query or None)
        return self._addresses[path]

    def signed(self, answer: Reply | Failure) -> Reply | Failure:
        """Return ``answer`` with the server's version as its fingerprint, unless it has one of its own."""
        if isinstance(answer, Failure) or answer.fingerprint or not self.version:
            return answer
        return replace(answer, fingerprint=f"vllm-{self.version}")

    async def ready(self) -> None:
        """Wait until the endpoint's pause is over."""
        while (left := self.resume - time.monotonic()) > 0:
            posts.waiting(self.resume)
            await asyncio.sleep(left)

    def pause(self, seconds: float) -> None:
        """Send nothing for ``seconds`` from now; a longer pause stays."""
        self.resume = max(self.resume, time.monotonic() + seconds)

    def heed(self, headers: Mapping[str, str]) -> None:
        """Pause until the reset that a server announces when a rate limit is used up."""
        for kind in ("requests", "tokens"):
            if headers.get(f"x-ratelimit-remaining-{kind}") == "0":
                seconds = duration(headers.get(f"x-ratelimit-reset-{kind}", ""))
                if seconds is not None:
                    self.pause(min(seconds, LONGEST_PAUSE))


def refusal(
    endpoint: Endpoint,
    answer: Answer,
    dialect: Dialect | None,
    name: str,
    sent: JsonObject | None = None,
) -> Failure:
    """Return the failure that an unsuccessful response means, pausing the endpoint as it asks.

    ``sent`` is the body of the request. Raises as ``refusals.classify`` does, naming the model.
    """
    after = retry_after(answer.headers)
    try:
        return refusals.classify(answer.status_code, content(answer), dialect, after, sent)
    except Transient as transient:
        if transient.throttled and (after or 0.0) <= LONGEST_WAIT:
            endpoint.pause(after or 1.0)
        raise
    except Refused as refused:
        raise Refused(f"{name}: {refused}{_misaddressed(answer)}") from None
    except EndpointError as terminal:
        raise EndpointError(f"{name}: {terminal}") from None


def _misaddressed(answer: Answer) -> str:
    """Return what to change where a server does not have the address that was asked; else ""."""
    if answer.status_code not in (404, 405):
        return ""
    return f" (asked {answer.url}: --base-url goes up to and including /v1, as a rule)"


def content(response: Answer | httpx2.Response) -> object:
    """Return the JSON of an error response, or its text as an error message."""
    try:
        return response.json()
    except ValueError:
        return {"error": {"message": one_line(response.text)}}


def root(error: BaseException) -> str:
    """Return the root cause of an exception in one line."""
    while error.__cause__ is not None:
        error = error.__cause__
    return one_line(error) or type(error).__name__
