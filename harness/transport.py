"""The transport of asynchronous clients: httpx2's requests, sent by aiohttp.

httpx2's own pool asks every idle connection at each request whether it is still there, which at 64
connections costs several times as much as the request itself. Redirects, hooks, cookies, packing and what a
client adds to a request stay httpx2's: aiohttp sends the bytes that it is given, and hands back those that
come.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from functools import cached_property
from ssl import SSLContext

import aiohttp
import httpx2
from yarl import URL

LARGEST_HEAD = 100 * 1024
"""The most bytes of a header, as many as httpx2 takes."""
KEPT = 5.0
"""The seconds for which an idle connection is kept."""
CHUNKED = b"transfer-encoding"
"""The header that aiohttp alone writes, where a body's length is not known."""
ADDED = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")
"""The headers that aiohttp would add by itself."""

ERRORS: tuple[tuple[type[Exception], type[httpx2.TransportError]], ...] = (
    (aiohttp.ConnectionTimeoutError, httpx2.ConnectTimeout),
    (aiohttp.ServerTimeoutError, httpx2.ReadTimeout),
    (aiohttp.ClientConnectorError, httpx2.ConnectError),
    (aiohttp.ServerDisconnectedError, httpx2.RemoteProtocolError),
    (aiohttp.ClientConnectionResetError, httpx2.WriteError),
    (aiohttp.ClientConnectionError, httpx2.ReadError),
    (aiohttp.InvalidURL, httpx2.UnsupportedProtocol),
    (aiohttp.ClientError, httpx2.RemoteProtocolError),
    (OSError, httpx2.ReadError),
    (ValueError, httpx2.LocalProtocolError),
)
"""What each error of aiohttp is to httpx2; the first row that fits counts."""
FAULTS = tuple(theirs for theirs, _ in ERRORS)


def session(
    ssl: SSLContext | bool, connections: int = 0, kept: float | None = KEPT, proxies: bool = False
) -> aiohttp.ClientSession:
    """Return a session of the running loop that sends and hands back bytes as they are.

    ``connections`` 0 is any number; idle ones are ``kept`` for so many seconds. With ``proxies``, those of
    the system are used.
    """
    connector = aiohttp.TCPConnector(
        limit=connections, keepalive_timeout=kept, ssl=ssl, resolver=aiohttp.ThreadedResolver()
    )
    return aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        skip_auto_headers=ADDED,
        auto_decompress=False,
        max_line_size=LARGEST_HEAD,
        max_field_size=LARGEST_HEAD,
        trust_env=proxies,
    )


class Transport(httpx2.AsyncBaseTransport):
    """Connections to servers without a proxy: at most ``limits`` of them, kept for the next request.

    Where it is ``secure``, the certificates are read at once, by httpx2's rules (``SSL_CERT_FILE``).
    """

    def __init__(self, limits: httpx2.Limits, secure: bool = True) -> None:
        self._limits = limits
        self._ssl = httpx2.create_ssl_context() if secure else True

    @cached_property
    def _session(self) -> aiohttp.ClientSession:
        """The session, which belongs to the loop of the first request."""
        return session(self._ssl, self._limits.max_connections or 0, self._limits.keepalive_expiry)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send ``request`` and return the response, its body unread. Raises ``httpx2.TransportError``."""
        try:
            response = await self._session.request(
                request.method,
                URL(str(request.url), encoded=True),
                headers=[(k.decode(), v.decode()) for k, v in request.headers.raw if k.lower() != CHUNKED],
                data=_body(request),
                allow_redirects=False,
                timeout=_timeout(request.extensions.get("timeout", {})),
            )
        except FAULTS as error:
            raise translated(error) from error
        return httpx2.Response(
            response.status,
            headers=list(response.raw_headers),
            stream=Body(response),
            extensions={"http_version": b"HTTP/1.1", "reason_phrase": (response.reason or "").encode()},
        )

    async def aclose(self) -> None:
        """Close the connections."""
        if "_session" in vars(self):
            await self._session.close()


class Body(httpx2.AsyncByteStream):
    """The body of a response as it comes; closed before its end, it takes its connection with it."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._response.content.iter_any():
                yield chunk
        except FAULTS as error:
            raise translated(error) from error

    async def aclose(self) -> None:
        """Give the connection back."""
        self._response.release()


def translated(error: Exception) -> httpx2.TransportError:
    """Return httpx2's error for one of aiohttp's."""
    kind = next(ours for theirs, ours in ERRORS if isinstance(error, theirs))
    return kind(str(error))


def _body(request: httpx2.Request) -> bytes | httpx2.AsyncByteStream | None:
    try:
        return request.content or None
    except httpx2.RequestNotRead:
        assert isinstance(request.stream, httpx2.AsyncByteStream)
        return request.stream


def _timeout(seconds: Mapping[str, float | None]) -> aiohttp.ClientTimeout:
    """Return the limits of a request; a whole request has none of its own, as in httpx2."""
    return aiohttp.ClientTimeout(
        total=None,
        connect=seconds.get("pool"),
        sock_connect=seconds.get("connect"),
        sock_read=seconds.get("read"),
    )
