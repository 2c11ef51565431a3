"""Clients of HTTP servers, and their keys: the only place where either is made.

The system's proxies are used, but not for servers on this machine.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness import posts
from harness.errors import EndpointError

if TYPE_CHECKING:
    import httpx2
    import openai

DEFAULT_KEY_VARIABLE = "OPENAI_API_KEY"
LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class Key:
    """Where to find a key: an environment variable or a file; not ``needed`` for a user's own endpoint."""

    variable: str | None = None
    file: str | None = None
    needed: bool = True

    def read(self) -> str:
        """Return the key. Raises ``EndpointError``, which names the variable or file and never the key."""
        if self.file is not None:
            try:
                return Path(self.file).read_text(encoding="utf-8").strip()
            except UnicodeDecodeError:
                raise EndpointError(f"key file {self.file}: not text") from None
            except OSError as error:
                raise EndpointError(f"key file {self.file}: {error.strerror or 'not text'}") from None
        name = self.variable or DEFAULT_KEY_VARIABLE
        key = os.environ.get(name, "").strip()
        if not key and (self.needed or self.variable is not None):
            raise EndpointError(
                f"no API key: set the environment variable {name}, or name another with --api-key-env"
            )
        return key or "none"


def on_this_machine(url: str) -> bool:
    """Return whether ``url`` is on this machine. Raises ``EndpointError`` for an invalid address."""
    import httpx2

    try:
        return httpx2.URL(url).host in LOOPBACK
    except httpx2.InvalidURL as error:
        raise EndpointError(f"{url}: {error}") from error


def synchronous(url: str, timeout: float, headers: Mapping[str, str] | None = None) -> httpx2.Client:
    """Make a blocking client for the server at ``url``; ``timeout`` is in seconds."""
    import httpx2

    proxies = not on_this_machine(url)
    return httpx2.Client(timeout=timeout, headers=headers, trust_env=proxies, follow_redirects=True)


def asynchronous(
    url: str, timeout: httpx2.Timeout | None = None, connections: int | None = None
) -> httpx2.AsyncClient:
    """Make an asynchronous client for the server at ``url``, with unlimited ``connections`` where None.

    Without a ``timeout``, callers set a deadline for each request: waiting for a connection has none.
    """
    import httpx2

    limits = httpx2.Limits(max_connections=connections, max_keepalive_connections=connections)
    proxies = not on_this_machine(url)
    return httpx2.AsyncClient(
        limits=limits,
        timeout=timeout,
        trust_env=proxies,
        follow_redirects=True,
        event_hooks={"request": [_tell]},
    )


async def _tell(request: httpx2.Request) -> None:
    """Tell of a POST request before it is sent."""
    if request.method == "POST" and posts.watched():
        posts.posting(len(request.content))


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
