"""Tokenizers of models behind an endpoint: the server's own, or tiktoken."""

from __future__ import annotations

from collections.abc import Sequence

from harness import http_client
from harness.core import Message, Request
from harness.errors import EndpointError
from harness.estimates import LIKELY_TOKENS_A_MESSAGE
from harness.plugins import Tokenizer

SECONDS, CONNECT_SECONDS = 30.0, 3.0


async def server_tokens(base_url: str, model: str, messages: Sequence[Message]) -> int | None:
    """Count by ``/tokenize`` of vLLM (a chat) or llama.cpp (a text); None where the server lacks it."""
    import httpx2

    root = base_url.removesuffix("/v1")
    chat = [{"role": m.role, "content": m.content} for m in messages]
    body = {"model": model, "messages": chat, "content": "\n".join(m.content for m in messages)}
    timeout = httpx2.Timeout(SECONDS, connect=CONNECT_SECONDS)
    try:
        async with http_client.asynchronous(root, timeout=timeout) as client:
            answer = await http_client.ask(client, "POST", f"{root}/tokenize", body)
            counts: object = answer.json() if answer.is_success else {}
    except (httpx2.HTTPError, ValueError, EndpointError, http_client.TooLarge):
        return None
    match counts:
        case {"count": int(count)}:
            return count
        case {"tokens": list(tokens)}:
            return len(tokens) + LIKELY_TOKENS_A_MESSAGE * len(chat)
    return None


def tiktoken(model: str) -> Tokenizer | None:
    """Return tiktoken for ``model``; None where it is not installed or does not know the model."""
    try:
        import tiktoken

        encoding = tiktoken.encoding_for_model(model)
    except (ImportError, KeyError, OSError):
        return None

    async def count(request: Request) -> int:
        """Count the tokens of all messages."""
        turns = [encoding.encode(m.content, disallowed_special=()) for m in request.messages]
        return sum(len(turn) + LIKELY_TOKENS_A_MESSAGE for turn in turns)

    return Tokenizer(f"tiktoken ({encoding.name})", count)
