"""The number of tokens in a request: counted by the model's tokenizer, or estimated from characters."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

from harness.core import Message, Request
from harness.errors import HarnessError
from harness.estimates import LIKELY_CHARACTERS_A_TOKEN, likely_prompt
from harness.plugins import Model, Tokenizer

COUNTED = 100


@dataclass
class TokenCounter:
    """Counts a request's prompt tokens with ``tokenizer``, or estimates them where it is None.

    The tokenizer counts the first ``COUNTED`` requests; later ones are estimated from their characters,
    corrected by the counts.
    """

    tokenizer: Tokenizer | None = None
    _counted: int = 0
    _exact: int = 0
    _estimated: int = 0

    @property
    def how(self) -> str:
        """The method of counting, for people."""
        if self.tokenizer is None:
            return f"an estimate of {LIKELY_CHARACTERS_A_TOKEN} characters a token"
        return f"{self.tokenizer.name} on the first {COUNTED} {self.tokenizer.unit}"

    async def tokens(self, request: Request) -> float:
        """Return the number of tokens in the prompt of ``request``."""
        guess = likely_prompt(request.messages)
        if self.tokenizer is not None and self._counted < COUNTED:
            exact = await self.tokenizer.count(request)
            if exact is not None:
                self._counted += 1
                self._exact += exact
                self._estimated += guess
                return exact
        return guess * (self._exact / self._estimated if self._estimated else 1.0)


async def counter(model: Model) -> TokenCounter:
    """Return the best token counter for ``model``. Sends no request for an answer."""
    return TokenCounter(await model.tokenizer())


async def of_words(model: Model, words: Iterable[str]) -> dict[str, int] | None:
    """Return the number of tokens in each word after another word; None where no tokenizer is available."""
    tokenizer = await model.tokenizer()

    async def tokens(text: str) -> int | None:
        """Count in this process if possible, else by the tokenizer of whole prompts."""
        count = await asyncio.to_thread(model.count_tokens, text)
        if count is not None or tokenizer is None:
            return count
        return await tokenizer.count(Request(model.identity, (Message("user", text),), {}))

    try:
        alone = await tokens("a")
        together = {word: await tokens(f"a {word}") for word in words}
    except HarnessError:  # all answers were kept, and the model is not here
        return None
    if alone is None or None in together.values():
        return None
    return {word: count - alone for word, count in together.items() if count is not None}
