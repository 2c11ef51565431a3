"""Serves the page on this machine's own address until it is interrupted."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable
from pathlib import Path

import uvicorn

from harness.errors import ConfigError
from harness.view.access import PARAMETER
from harness.view.app import app
from harness.view.runs import Runs

HOST = "127.0.0.1"
GRACE = 1
"""Seconds that a page which is being served has at the end."""


def serve(folder: Path, port: int, cache: Path | None, tell: Callable[[str], None]) -> None:
    """Serve the runs of ``folder`` on ``port`` (0: any that is free) until Ctrl-C or SIGTERM.

    ``tell`` is called with the address, which holds the token, once the port is bound. Raises
    ``ConfigError`` if the port is taken, and ``KeyboardInterrupt`` on Ctrl-C.
    """
    try:
        bound = socket.create_server((HOST, port))
    except OSError as error:
        raise ConfigError(
            f"port {port} cannot be used ({error.strerror or error}): give another --port"
        ) from error
    with bound:
        token, number = secrets.token_urlsafe(24), bound.getsockname()[1]
        settings = uvicorn.Config(
            app(Runs(folder), token, number, cache),
            log_config=None,
            access_log=False,
            server_header=False,
            http="h11",
            ws="none",
            loop="asyncio",
            lifespan="on",
            timeout_graceful_shutdown=GRACE,
        )
        tell(f"http://{HOST}:{number}/?{PARAMETER}={token}")
        uvicorn.Server(settings).run(sockets=[bound])
