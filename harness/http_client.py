"""Clients of HTTP servers: the only place where they are made.

The system's proxies are used, but not for servers on this machine. No client follows a redirect to another
origin, and no reply is read beyond ``LARGEST`` bytes.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from harness import posts
from harness.disclosure import one_line, redacted_bytes
from harness.errors import EndpointError

if TYPE_CHECKING:
    import aiohttp
    import httpx2
    import openai

LOOPBACK = ("127.0.0.1", "localhost", "::1")
LARGEST = 8 << 20
"""The most bytes of a reply, unpacked."""
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
PACKED = {"Accept-Encoding": "gzip"}
"""The only packing that is unpacked here, because only here its size is bounded."""


class TooLarge(Exception):
    """A reply of more than ``LARGEST`` bytes."""

    def __init__(self) -> None:
        super().__init__(f"the reply is larger than {LARGEST >> 20} MB")


def on_this_machine(url: str) -> bool:
    """Return whether ``url`` is on this machine. Raises ``EndpointError`` for an invalid address."""
    import httpx2

    try:
        return httpx2.URL(url).host in LOOPBACK
    except httpx2.InvalidURL as error:
        raise EndpointError(f"{url}: {error}") from error


def synchronous(url: str, timeout: float, headers: Mapping[str, str] | None = None) -> httpx2.Client:
    """Make a blocking client for the server at ``url``; ``timeout`` is in seconds.

    Raises ``EndpointError`` where the system's proxies or certificates cannot be used.
    """
    import httpx2

    local = _checked(url)
    try:
        return httpx2.Client(
            timeout=timeout,
            headers={**PACKED, **(headers or {})},
            transport=httpx2.HTTPTransport() if local else None,
            follow_redirects=True,
            event_hooks={"response": [_stay]},
        )
    except (OSError, ValueError, ImportError) as error:
        raise EndpointError(_not_made(error)) from error


def asynchronous(
    url: str, timeout: httpx2.Timeout | None = None, connections: int | None = None
) -> httpx2.AsyncClient:
    """Make an asynchronous client for the server at ``url``, with unlimited ``connections`` where None.

    Without a ``timeout``, callers set a deadline for each request: waiting for a connection has none. Raises
    ``EndpointError`` where the system's proxies or certificates cannot be used.
    """
    import httpx2

    from harness.transport import Transport

    async def stay(response: httpx2.Response) -> None:
        """Do as ``_stay``."""
        _stay(response)

    limits = httpx2.Limits(max_connections=connections, max_keepalive_connections=connections)
    direct = _checked(url) or not _proxies()
    try:
        return httpx2.AsyncClient(
            limits=limits,
            timeout=timeout,
            headers=PACKED,
            transport=Transport(limits, secure=url.lower().startswith("https:")) if direct else None,
            follow_redirects=True,
            event_hooks={"request": [_tell], "response": [stay]},
        )
    except (OSError, ValueError, ImportError) as error:
        raise EndpointError(_not_made(error)) from error


def forwarding(url: str) -> aiohttp.ClientSession:
    """Make a client of the running loop that sends requests on to ``url`` as they came.

    Raises ``EndpointError`` where the system's proxies or certificates cannot be used.
    """
    import httpx2

    from harness.transport import session

    local = _checked(url)
    try:
        context = httpx2.create_ssl_context() if url.lower().startswith("https:") else True
    except (OSError, ValueError) as error:
        raise EndpointError(_not_made(error)) from error
    return session(context, proxies=not local and _proxies())


def fault_of(url: str, seconds: float) -> str | None:
    """Return why no server answers at ``url`` within about ``seconds``; None where one does."""
    import httpx2

    try:
        client = synchronous(url, seconds)
    except EndpointError as error:
        return one_line(error)
    with client:
        try:
            client.head(url)
        except EndpointError:
            return None  # a redirect: somebody answers
        except httpx2.HTTPError as error:
            return one_line(error) or type(error).__name__
    return None


async def _tell(request: httpx2.Request) -> None:
    """Tell of a POST request before it is sent."""
    if request.method == "POST" and posts.watched():
        posts.posting(int(request.headers.get("content-length", 0)))


def openai_client(url: str, secret: str, http: httpx2.AsyncClient, azure: str | None) -> openai.AsyncOpenAI:
    """Make an OpenAI API client for ``url`` over ``http``; it never retries by itself.

    ``azure`` is the API version for an endpoint in Azure's manner, None for others.
    """
    import openai

    return openai.AsyncOpenAI(
        api_key=secret,
        base_url=url,
        max_retries=0,
        http_client=http,
        timeout=None,
        default_query={"api-version": azure} if azure else None,
        default_headers={"api-key": secret} if azure else None,
    )


@dataclass(frozen=True, slots=True)
class Answer:
    """The response of the server at ``url``, read, and without any secret in it."""

    status_code: int
    headers: httpx2.Headers
    content: bytes
    url: str

    @property
    def is_success(self) -> bool:
        """Whether the status is one of success."""
        return 200 <= self.status_code <= 299

    @property
    def text(self) -> str:
        """The content as text, in the encoding that its headers tell."""
        import httpx2

        told = {"content-type": self.headers.get("content-type", "")}
        return httpx2.Response(self.status_code, headers=told, content=self.content).text

    def json(self) -> Any:
        """Return the content as JSON. Raises ``ValueError``."""
        return json.loads(self.content)


async def ask(
    client: httpx2.AsyncClient,
    method: str,
    url: str | httpx2.URL,
    body: object = None,
    form: Mapping[str, str] | None = None,
) -> Answer:
    """Send a request, with ``body`` as JSON or a ``form``, and return the response without any secret in it.

    Raises ``TooLarge`` for a successful response of more than ``LARGEST`` bytes (of another, the beginning is
    enough), and ``EndpointError`` for a redirect to another origin.
    """
    import httpx2

    response = await client.send(client.build_request(method, url, json=body, data=form), stream=True)
    try:
        content = _Content(response)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        async for chunk in response.stream:  # as it comes: aiter_raw would cut and count
            if content.full(chunk):
                break
    finally:
        await response.aclose()
    return content.whole()


def ask_now(client: httpx2.Client, url: str, body: object) -> Answer:
    """Post ``body`` as JSON and return the response, as ``ask`` does, but wait for it."""
    with client.stream("POST", url, json=body) as response:
        content = _Content(response)
        for chunk in response.iter_raw():
            if content.full(chunk):
                break
    return content.whole()


class _Content:
    """The body of a response, unpacked as it comes, of which never more than ``LARGEST`` bytes are held."""

    def __init__(self, response: httpx2.Response) -> None:
        import httpx2

        packing = response.headers.get("content-encoding", "identity").strip().lower()
        if packing not in ("identity", "gzip", ""):
            raise httpx2.DecodingError(f"packed as {packing}, which was not asked for")
        self._unpacker = zlib.decompressobj(wbits=31) if packing == "gzip" else None
        self._content = bytearray()
        self._response = response

    def full(self, chunk: bytes) -> bool:
        """Take a chunk, and return whether there is more than is held."""
        import httpx2

        room = LARGEST + 1 - len(self._content)
        try:
            self._content += self._unpacker.decompress(chunk, room) if self._unpacker else chunk[:room]
        except zlib.error as error:
            raise httpx2.DecodingError(f"not gzip: {error}") from error
        return len(self._content) > LARGEST

    def whole(self) -> Answer:
        """Return the response with this body, without secrets. Raises ``TooLarge``."""
        response = self._response
        if len(self._content) > LARGEST and response.is_success:
            raise TooLarge
        content = redacted_bytes(bytes(self._content[:LARGEST]))
        return Answer(response.status_code, response.headers, content, str(response.request.url))


def _stay(response: httpx2.Response) -> None:
    """Raise ``EndpointError`` for a redirect that would take a key or text to another origin, or lose it."""
    import httpx2

    if not response.has_redirect_location:
        return
    asked = response.request.url
    try:
        target = asked.join(response.headers["location"])
    except (httpx2.InvalidURL, ValueError):
        raise EndpointError(f"{_origin(asked)} redirects to an address that is none") from None
    same = _origin(target) == _origin(asked)
    if not same or (response.status_code not in (307, 308) and response.request.method != "GET"):
        place = one_line(f"{_origin(target)}{target.path}")
        raise EndpointError(
            f"{_origin(asked)}{asked.path} redirects to {place}: keys and texts are not sent on; if that is "
            "the right server, give its address as --base-url"
        )


def _origin(url: httpx2.URL) -> str:
    return f"{url.scheme}://{url.netloc.decode('ascii', 'replace').rpartition('@')[2]}"


def _checked(url: str) -> bool:
    """Return whether ``url`` is on this machine, and so needs no proxy.

    Raises ``EndpointError`` that names the variable whose proxy or certificates cannot be used.
    """
    for name in CERTIFICATES:
        if (path := os.environ.get(name)) and not Path(path).exists():
            raise EndpointError(f"{name}: no such file or folder: {path}")
    if on_this_machine(url):
        return True
    for name in (*PROXIES, *map(str.lower, PROXIES)):
        if (value := os.environ.get(name)) and (fault := _fault_of_proxy(value)):
            raise EndpointError(f"{name}: {fault}")
    return False


def _proxies() -> bool:
    """Return whether the system has proxies, which are httpx2's to choose from and to use."""
    return bool(getproxies().keys() & {"http", "https", "all"})


def _fault_of_proxy(address: str) -> str | None:
    """Return what is wrong with a proxy's address, without the address, which may hold a password."""
    try:
        url = urlsplit(address if "://" in address else f"http://{address}")
        fine = bool(url.hostname) and url.port != 0
    except ValueError:
        fine = False
    if not fine or url.scheme not in ("http", "https", "socks5", "socks5h"):
        return "not the address of a proxy that can be used: write http://host:port, or unset it"
    if url.scheme.startswith("socks") and find_spec("socksio") is None:
        return "a SOCKS proxy needs a package: pip install socksio"
    return None


def _not_made(error: Exception) -> str:
    named = [name for name in (*CERTIFICATES, *PROXIES) if os.environ.get(name)]
    return f"{', '.join(named) or 'certificates'}: cannot be used: {one_line(error)}"
