"""How many tokens a request has: counted by the model where it can, estimated from characters elsewhere."""

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
    """Counts a request's prompt tokens by ``tokenizer``, or estimates them where that is None.

    A tokenizer is asked about the first ``COUNTED`` requests; the others are estimated from their
    characters, corrected by what was counted.
    """

    tokenizer: Tokenizer | None = None
    _counted: int = 0
    _exact: int = 0
    _estimated: int = 0

    @property
    def how(self) -> str:
        """What counts, for people."""
        if self.tokenizer is None:
            return f"an estimate of {LIKELY_CHARACTERS_A_TOKEN} characters a token"
        return f"{self.tokenizer.name} on the first {COUNTED} {self.tokenizer.unit}"

    async def tokens(self, request: Request) -> float:
        """Return the tokens of ``request``'s prompt."""
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
    """Return the best way to count for ``model``. Sends no question."""
    return TokenCounter(await model.tokenizer())


async def of_words(model: Model, words: Iterable[str]) -> dict[str, int] | None:
    """Return how many tokens each word is behind another one; None where no tokenizer is in reach."""
    tokenizer = await model.tokenizer()

    async def tokens(text: str) -> int | None:
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
