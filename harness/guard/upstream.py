"""The endpoint behind the proxy, asked with the headers and the key of the client who asks."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from harness import http_client
from harness.answering.limiter import Limiter
from harness.answering.runner import Answer
from harness.core import Reply
from harness.disclosure import one_line
from harness.errors import Transient
from harness.models import refusals, wire
from harness.replies import cleaned
from harness.retrying import BACK_OFF, Policy

HOP = frozenset(
    [
        *("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te"),
        *("trailer", "transfer-encoding", "upgrade", "host", "content-length", "expect"),
    ]
)
"""Headers that concern one connection, or that are written anew."""
PLAIN = "identity"
ATTEMPTS = 2
LARGEST = 8 << 20
"""The most bytes of an answer that is checked."""
CONNECTING = 10.0
"""Seconds."""

Headers = CIMultiDict[str]


class Unreachable(Exception):
    """The endpoint gives no answer: ``status`` is what a gateway says of that."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Whole:
    """A response that was read whole; ``seconds`` is what it took."""

    status: int
    headers: Headers
    content: bytes
    seconds: float

    @property
    def plain(self) -> bool:
        """Whether the content is not packed."""
        return self.headers.get("Content-Encoding", PLAIN).lower() in (PLAIN, "")


class Upstream:
    """The endpoint at ``url`` (up to ``/v1``), which may take ``seconds`` to begin an answer.

    ``limiter`` bounds the versions that are asked about at a time, for all clients together.
    """

    def __init__(self, url: str, seconds: float, limiter: Limiter) -> None:
        self._url = url.rstrip("/")
        self._seconds = seconds
        self._limiter = limiter
        self._policy = Policy(ATTEMPTS, BACK_OFF, longest=seconds)
        self._session: aiohttp.ClientSession | None = None

    async def open(self) -> None:
        """Make the client. Raises ``EndpointError``."""
        self._session = http_client.forwarding(self._url)

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()

    @asynccontextmanager
    async def sent(
        self, method: str, path: str, query: str, headers: Headers, body: bytes
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Send a request on to ``path``, and yield the response once it begins. Raises ``Unreachable``."""
        assert self._session is not None
        address = URL(f"{self._url}{path}" + (f"?{query}" if query else ""), encoded=True)
        limit = aiohttp.ClientTimeout(total=None, sock_connect=CONNECTING, sock_read=self._seconds)
        try:
            async with self._session.request(
                method, address, headers=headers, data=body or None, allow_redirects=False, timeout=limit
            ) as response:
                yield response
        except (aiohttp.ServerTimeoutError, TimeoutError) as error:
            if isinstance(error, aiohttp.ConnectionTimeoutError):
                raise Unreachable(502, "the endpoint cannot be reached") from error
            raise Unreachable(504, f"the endpoint gave no answer within {self._seconds:g} s") from error
        except (aiohttp.ClientError, OSError) as error:
            raise Unreachable(502, f"the endpoint gave no answer: {one_line(error)}") from error

    async def whole(self, path: str, query: str, headers: Headers, body: bytes) -> Whole:
        """Post ``body`` and return the whole response. Raises ``Unreachable``."""
        started = time.perf_counter()
        unpacked = Headers(headers)
        unpacked["Accept-Encoding"] = PLAIN
        async with self.sent("POST", path, query, unpacked, body) as response:
            content = await _content(response)
        return Whole(response.status, kept(response.headers), content, time.perf_counter() - started)

    async def answer(self, path: str, query: str, headers: Headers, body: Mapping[str, Any]) -> Answer:
        """Return the answer to ``body``, asked again once where that may help.

        Raises ``Transient`` and ``EndpointError`` where there is none.
        """
        sent = json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass")
        await self._limiter.acquire()
        try:
            return await self._policy.call(self._attempt, path, query, headers, sent)
        finally:
            self._limiter.release()

    async def _attempt(self, path: str, query: str, headers: Headers, body: bytes) -> Answer:
        latency, throttled = None, False
        try:
            whole = await self.whole(path, query, headers, body)
            answer = said(whole)
            latency = whole.seconds
            return answer
        except Unreachable as error:
            throttled = error.status == 504
            raise Transient(str(error), throttled=throttled) from error
        except Transient as error:
            throttled = error.throttled
            raise
        finally:
            self._limiter.note(latency, throttled)


async def _content(response: aiohttp.ClientResponse) -> bytes:
    """Return the body of a response. Raises ``Unreachable`` where it is larger than ``LARGEST``."""
    content = bytearray()
    async for chunk in response.content.iter_any():
        content += chunk
        if len(content) > LARGEST:
            raise Unreachable(502, f"the answer is larger than {LARGEST >> 20} MB")
    return bytes(content)


def said(whole: Whole) -> Answer:
    """Return what a response says. Raises ``Transient`` and ``EndpointError`` where it says nothing."""
    try:
        answer = json.loads(whole.content)
    except ValueError as error:
        if whole.status == 200:
            raise Transient("not a chat completion") from error
        answer = {"error": {"message": one_line(whole.content.decode("utf-8", "replace"))}}
    if whole.status != 200:
        return refusals.classify(whole.status, answer, retry_after=_seconds(whole.headers))
    read = wire.read(answer)
    return cleaned(read) if isinstance(read, Reply) else read


def _seconds(headers: Headers) -> float | None:
    """Return the seconds that a server asks to wait, where it says so in seconds."""
    told = headers.get("Retry-After", "")
    return float(told) if told.isdecimal() else None


def kept(headers: CIMultiDictProxy[str] | CIMultiDict[str]) -> Headers:
    """Return the headers that are sent on."""
    return Headers((name, value) for name, value in headers.items() if name.lower() not in HOP)
