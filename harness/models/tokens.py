"""How many tokens a request has: by the server or classifier that will read it, tiktoken, or estimated."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any

from harness.core import Message, Model, Request
from harness.errors import HarnessError
from harness.estimates import LIKELY_CHARACTERS_A_TOKEN, LIKELY_TOKENS_A_MESSAGE, likely_prompt
from harness.models.openai import DEFAULT_URL, OpenAIModel

CONNECT_SECONDS = 3.0
ASKED_OF_THE_SERVER = 100


@dataclass
class TokenCounter:
    """Counts a request's prompt tokens; ``how`` says by what.

    A server is asked about the first ``ASKED_OF_THE_SERVER`` requests; the others are estimated from their
    characters, corrected by what was counted.
    """

    how: str
    count: Callable[[Request], Awaitable[int | None]] | None = None
    _counted: int = 0
    _exact: int = 0
    _estimated: int = 0

    async def tokens(self, request: Request) -> float:
        guess = likely_prompt(request.messages)
        if self.count is not None and self._counted < ASKED_OF_THE_SERVER:
            exact = await self.count(request)
            if exact is not None:
                self._counted += 1
                self._exact += exact
                self._estimated += guess
                return exact
        return guess * (self._exact / self._estimated if self._estimated else 1.0)


async def counter(model: Model) -> TokenCounter:
    """The best way to count for ``model``. Sends no question."""
    if isinstance(model, OpenAIModel):
        if model.urls != [DEFAULT_URL] and await _of_server(model, _probe(model)) is not None:
            return TokenCounter(
                f"the server's tokenizer on the first {ASKED_OF_THE_SERVER} requests",
                lambda request: _of_server(model, request),
            )
        if (found := _tiktoken(model.name)) is not None:
            return found
    if not model.capabilities.chat and (own := getattr(model, "count_tokens", None)) is not None:
        return _of_text(own)
    return TokenCounter(f"an estimate of {LIKELY_CHARACTERS_A_TOKEN} characters a token")


async def of_words(model: Model, words: Iterable[str]) -> dict[str, int] | None:
    """How many tokens each word is behind another one; None where the model's tokenizer is out of reach."""
    count = (await counter(model)).count
    own = getattr(model, "count_tokens", None)

    async def tokens(text: str) -> int | None:
        if own is not None:
            return int(await asyncio.to_thread(own, text))
        return await count(Request(model.identity, (Message("user", text),), {})) if count else None

    try:
        alone = await tokens("a")
        found = {word: await tokens(f"a {word}") for word in words}
    except HarnessError:  # all answers were kept, and the model is not here
        return None
    if alone is None or None in found.values():
        return None
    return {word: together - alone for word, together in found.items() if together is not None}


def _of_text(own: Callable[[str], int]) -> TokenCounter:
    """A classifier's tokenizer, which reads the text without the prompt."""

    async def count(request: Request) -> int:
        return own(request.text)

    return TokenCounter(f"the classifier's tokenizer on the first {ASKED_OF_THE_SERVER} texts", count)


def _probe(model: OpenAIModel) -> Request:
    return Request(model.identity, (Message("user", "hello"),), {})


async def _of_server(model: OpenAIModel, request: Request) -> int | None:
    """By ``/tokenize`` of vLLM (a chat) or llama.cpp (a text); None where there is no such thing."""
    import httpx2

    root = model.urls[0].removesuffix("/v1")
    chat = [{"role": m.role, "content": m.content} for m in request.messages]
    body = {"model": model.name, "messages": chat, "content": "\n".join(m.content for m in request.messages)}
    try:
        async with httpx2.AsyncClient(timeout=httpx2.Timeout(30.0, connect=CONNECT_SECONDS)) as client:
            answer = await client.post(f"{root}/tokenize", json=body)
            said: Any = answer.json() if answer.is_success else {}
    except (httpx2.HTTPError, ValueError):
        return None
    if isinstance(said, dict) and isinstance(said.get("count"), int):
        return int(said["count"])
    if isinstance(said, dict) and isinstance(said.get("tokens"), list):
        return len(said["tokens"]) + LIKELY_TOKENS_A_MESSAGE * len(chat)
    return None


def _tiktoken(name: str) -> TokenCounter | None:
    """tiktoken, where it is installed and knows the model."""
    try:
        import tiktoken

        encoding = tiktoken.encoding_for_model(name)
    except (ImportError, KeyError, OSError):
        return None

    async def count(request: Request) -> int:
        encoded = (encoding.encode(m.content, disallowed_special=()) for m in request.messages)
        return sum(len(message) + LIKELY_TOKENS_A_MESSAGE for message in encoded)

    return TokenCounter(f"tiktoken ({encoding.name}) on the first {ASKED_OF_THE_SERVER} requests", count)
