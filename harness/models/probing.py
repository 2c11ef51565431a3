"""What an endpoint is asked before the first text: what it is, and whether it enforces labels."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from harness import http_client
from harness.core import Failure, JsonObject, Message, Reply, Request
from harness.dialect import Choices, Dialect
from harness.disclosure import one_line
from harness.errors import EndpointError, Transient
from harness.http_client import TooLarge
from harness.models.refusals import Rejected

if TYPE_CHECKING:
    from harness.models.endpoint import Endpoint

SECONDS = 10.0
LONGEST_VERSION = 40
PROBE_LABELS = ("Zebra", "Quartz")
PROBE = "Reply with the single word hello."
SAMPLING: JsonObject = {"temperature": 0.0, "top_p": 1.0, "seed": 0, "max_tokens": 16, "logprobs": True}
CONSTRAINTS: Mapping[str, Sequence[Choices]] = {
    "vllm": ("structured_outputs",),
    "llamacpp": ("grammar",),
    "": ("json_schema",),
}

Send = Callable[[Request, Dialect], Awaitable[Reply | Failure]]


async def server(endpoint: Endpoint, name: str, deadline: float) -> str:
    """Return the kind of server by its list of models; "" where that does not come or tell.

    Raises ``EndpointError`` where the server is vLLM or llama.cpp and does not have the model ``name``.
    """
    import httpx2

    try:
        async with asyncio.timeout(deadline):
            models = (await endpoint.get("/models")).json()["data"]
        owners = {str(m.get("owned_by", "")) for m in models}
        names = [str(m.get("id")) for m in models]
    except (httpx2.HTTPError, TimeoutError, ValueError, KeyError, TypeError, AttributeError):
        return ""
    except (EndpointError, TooLarge):  # what that means is seen from the first answer
        return ""
    kind = next((kind for kind in ("vllm", "llamacpp") if kind in owners), "")
    if kind and name not in names:
        raise EndpointError(f"unknown model {name!r}: {endpoint.url} has {', '.join(names)}")
    return kind


async def version(endpoint: Endpoint, deadline: float) -> str | None:
    """Return the version of the vLLM server at ``endpoint``; None where it does not tell."""
    import httpx2

    url = f"{endpoint.url.removesuffix('/v1')}/version"
    try:
        async with asyncio.timeout(min(deadline, SECONDS)):
            answer = await http_client.ask(endpoint.http, "GET", url)
        told = answer.json()["version"] if answer.is_success else None
    except (httpx2.HTTPError, TimeoutError, ValueError, KeyError, TypeError, EndpointError, TooLarge):
        return None
    return one_line(told, LONGEST_VERSION) if isinstance(told, str) and told else None


def plain(identity: JsonObject, like: Request | None = None) -> Request:
    """Return a plain question, with the parameters of the request ``like``, else with the usual ones."""
    message = (Message("user", PROBE),)
    if like is not None:
        return replace(like, messages=message, text="")
    return Request(identity, message, SAMPLING, PROBE_LABELS)


async def constrained(dialect: Dialect, probe: Request, send: Send) -> Dialect:
    """Return a dialect that constrains answers to labels, or ``dialect`` where no way to do so is obeyed.

    The probe asks for one of two words that no unconstrained model would say.
    """
    for way in CONSTRAINTS[dialect.server]:
        better = replace(dialect, choices=way)
        try:
            answer = await send(probe, better)
        except Transient as error:
            if error.throttled:
                raise
            continue
        except (EndpointError, Rejected):
            continue
        if isinstance(answer, Reply) and any(label in answer.text for label in PROBE_LABELS):
            return better
    return dialect
