"""The transport of asynchronous clients: what is sent and read, and what goes wrong, is as httpx2 has it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpx2
import pytest

from harness import http_client
from harness.transport import Transport

FINE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nSet-Cookie: a=b\r\n\r\n{}"
Script = Callable[[int], bytes | None]


@dataclass
class Heard:
    """A server's address, the requests it has read, and the number of connections that were made."""

    url: str = ""
    requests: list[bytes] = field(default_factory=list)
    connections: int = 0


@asynccontextmanager
async def serving(script: Script) -> AsyncIterator[Heard]:
    """A server that answers the request of each number, from 1, with the bytes of ``script``.

    It closes the connection where they do not begin with ``FINE``'s first line, and answers nothing to None.
    """
    heard = Heard()
    waiting = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.connections += 1
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0] or 0)
                body = await reader.readexactly(length)
                if b"transfer-encoding: chunked" in head.lower():
                    body = await reader.readuntil(b"\r\n0\r\n\r\n")
                heard.requests.append(head + body)
                answer = script(len(heard.requests))
                if answer is None:
                    await waiting.wait()
                    return
                writer.write(answer)
                await writer.drain()
                if answer != FINE:
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    heard.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield heard
    finally:
        waiting.set()
        server.close()
        await asyncio.sleep(0.01)


async def post(client: httpx2.AsyncClient, url: str) -> httpx2.Response:
    return await client.post(url, json={"a": "é"}, headers={"Authorization": "Bearer k"})


def test_what_is_sent_is_what_httpx2_itself_sends() -> None:
    async def sent(transport: httpx2.AsyncBaseTransport) -> list[bytes]:
        async with serving(lambda _: FINE) as heard, httpx2.AsyncClient(transport=transport) as client:
            for _ in range(2):  # with a cookie from the second on
                await post(client, heard.url)
            await client.get(heard.url)
        host = heard.url.split("/")[2].encode()
        return [request.replace(host, b"HOST").lower() for request in heard.requests]

    ours = asyncio.run(sent(Transport(httpx2.Limits())))
    theirs = asyncio.run(sent(httpx2.AsyncHTTPTransport()))
    assert [sorted(request.splitlines()) for request in ours] == [sorted(r.splitlines()) for r in theirs]


def test_a_stream_of_unknown_length_arrives() -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"one"
        yield b"two"

    async def run() -> bytes:
        async with serving(lambda _: FINE) as heard, http_client.asynchronous(heard.url) as client:
            await client.post(heard.url, content=pieces())
            return heard.requests[0]

    assert b"one" in asyncio.run(run()).partition(b"\r\n\r\n")[2]
    assert b"two" in asyncio.run(run()).partition(b"\r\n\r\n")[2]


def test_a_connection_is_kept_and_no_more_are_made_than_are_allowed() -> None:
    async def run() -> int:
        async with serving(lambda _: FINE) as heard:
            async with http_client.asynchronous(heard.url, connections=3) as client:
                for _ in range(5):
                    await asyncio.gather(*(post(client, heard.url) for _ in range(10)))
            assert len(heard.requests) == 50
            return heard.connections

    assert asyncio.run(run()) == 3


def test_a_body_that_is_left_takes_its_connection_with_it() -> None:
    large = b"HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\n" + b"x" * 9_000_000

    async def run() -> bytes:
        async with (
            serving(lambda number: large if number == 1 else FINE) as heard,
            http_client.asynchronous(heard.url, connections=1) as client,
        ):
            with pytest.raises(http_client.TooLarge):
                await http_client.ask(client, "GET", heard.url)
            return (await http_client.ask(client, "GET", heard.url)).content

    assert asyncio.run(run()) == b"{}"


async def unknown(client: httpx2.AsyncClient, url: str) -> None:
    await client.get("http://nowhere.invalid/v1")


async def refused(client: httpx2.AsyncClient, url: str) -> None:
    await client.get("http://127.0.0.1:9/v1")


async def asked(client: httpx2.AsyncClient, url: str) -> None:
    await client.post(url, json={})


@pytest.mark.parametrize(
    ("act", "answer", "error"),
    [
        (unknown, b"", httpx2.ConnectError),
        (refused, b"", httpx2.ConnectError),
        (asked, b"", httpx2.RemoteProtocolError),
        (asked, b"SSH-2.0-OpenSSH\r\n\r\n", httpx2.RemoteProtocolError),
        (asked, b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{}", httpx2.RemoteProtocolError),
        (asked, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", httpx2.RemoteProtocolError),
        (asked, b"HTTP/1.1 200 OK\r\nX: " + b"y" * 200_000 + b"\r\n\r\n", httpx2.RemoteProtocolError),
        (asked, None, httpx2.ReadTimeout),
    ],
)
def test_what_goes_wrong_is_an_error_of_httpx2(
    act: Callable[[httpx2.AsyncClient, str], Awaitable[None]],
    answer: bytes | None,
    error: type[httpx2.TransportError],
) -> None:
    async def run() -> None:
        timeout = httpx2.Timeout(None, read=0.2)
        async with (
            serving(lambda _: answer) as heard,
            http_client.asynchronous(heard.url, timeout=timeout) as client,
        ):
            await act(client, heard.url)

    with pytest.raises(error):
        asyncio.run(run())


def test_a_server_that_hangs_up_between_requests_is_no_error() -> None:
    once = FINE.replace(b"Set-Cookie: a=b", b"Connection: close")

    async def run() -> list[int]:
        async with serving(lambda _: once) as heard, http_client.asynchronous(heard.url) as client:
            return [(await post(client, heard.url)).status_code for _ in range(3)]

    assert asyncio.run(run()) == [200, 200, 200]


def test_a_header_that_cannot_be_sent_is_an_error_of_httpx2() -> None:
    async def run() -> None:
        async with serving(lambda _: FINE) as heard, http_client.asynchronous(heard.url) as client:
            await client.get(heard.url, headers={"X-Own": "a\nb"})

    with pytest.raises(httpx2.LocalProtocolError):
        asyncio.run(run())
