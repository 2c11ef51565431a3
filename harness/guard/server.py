"""Serves the proxy on this machine's own address until it is told to end, and then ends what was begun."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from aiohttp import web

from harness.config import RunConfig
from harness.errors import ConfigError
from harness.guard.guard import assembled
from harness.guard.proxy import ROOT, Proxy

HOST = "127.0.0.1"
BACKLOG = 1024
PARTING = 1.0
"""Seconds in which connections that clients keep are still served, once each, before they are closed."""
LOOKS = 50
LARGEST = 16 << 20
"""The most bytes of a request."""


def serve(config: RunConfig, port: int, tell: Callable[[str], None]) -> None:
    """Serve the endpoint of ``config`` on ``port`` (0: any that is free) until SIGTERM or Ctrl-C.

    ``tell`` is called with the address once requests are taken. Raises ``HarnessError``.
    """
    try:
        bound = socket.create_server((HOST, port), backlog=BACKLOG)
    except OSError as error:
        raise ConfigError(
            f"port {port} cannot be used ({error.strerror or error}): give another --port"
        ) from error
    with bound:
        asyncio.run(_serve(Proxy(assembled(config)), bound, tell))


async def _serve(proxy: Proxy, bound: socket.socket, tell: Callable[[str], None]) -> None:
    ending = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        _heard(name, ending)
    async with running(proxy, bound) as address:
        tell(address)
        await ending.wait()


@asynccontextmanager
async def running(proxy: Proxy, bound: socket.socket) -> AsyncIterator[str]:
    """Serve ``proxy`` at the socket ``bound``, and yield its address; at the end, end what was begun."""
    runner = web.AppRunner(
        _application(proxy),
        access_log=None,
        handle_signals=False,
        handler_cancellation=True,
        shutdown_timeout=proxy.settings.answer_seconds + proxy.settings.seconds,
    )
    await proxy.open()
    try:
        await runner.setup()
        site = web.SockSite(runner, bound, backlog=BACKLOG)
        await site.start()
        yield f"http://{HOST}:{bound.getsockname()[1]}{ROOT}"
        proxy.ending = True
        await site.stop()
        await _parted(runner)
    finally:
        await runner.cleanup()
        await proxy.close()


async def _parted(runner: web.AppRunner) -> None:
    """Wait until no connection is left, ``PARTING`` seconds at most."""
    for _ in range(LOOKS):
        if runner.server is None or not runner.server.connections:
            return
        await asyncio.sleep(PARTING / LOOKS)


def _heard(name: signal.Signals, ending: asyncio.Event) -> None:
    """Set ``ending`` at a signal; another one ends the process."""
    loop = asyncio.get_running_loop()

    def hear() -> None:
        """End what was begun, or the process if that is already under way."""
        with suppress(NotImplementedError):
            loop.remove_signal_handler(name)
        ending.set()

    try:
        loop.add_signal_handler(name, hear)
    except NotImplementedError:  # Windows
        signal.signal(name, lambda *_: loop.call_soon_threadsafe(ending.set))


def _application(proxy: Proxy) -> web.Application:
    application = web.Application(client_max_size=LARGEST)
    application.router.add_get("/metrics", proxy.measured)
    application.router.add_route("*", f"{ROOT}/{{rest:.*}}", proxy.handle)
    return application
