"""The log-likelihood of a text under ``local:smollm2`` or another GGUF model in this process.

llama.cpp returns no log-probabilities of a prompt, only of generated tokens, taken before a grammar rules any
out. The text is therefore generated: its first token is the prompt, the grammar allows at each position only
the text's next token, and the reply contains the probability that this token had.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence

from harness.core import Failure, JsonObject
from harness.models import refusals, wire
from harness.models.llama import CONTEXT, Llama
from harness.plugins import Measure, Score


class LlamaLikelihood:
    """A GGUF model as a measure of fluency, one text at a time; its scores repeat exactly."""

    measure: Measure = "log_likelihood"
    concurrency = 1

    def __init__(self, llama: Llama) -> None:
        self.name = llama.name
        self.identity = llama.identity
        self._llama = llama

    async def prepare(self) -> None:
        """Do nothing: the model loads with the first text."""

    async def score(self, text: str) -> Score | Failure:
        """Return the log-likelihood of ``text``; a ``Failure`` where it is too short or too long."""
        tokens = await asyncio.to_thread(self._llama.tokens, text, special=True)
        if len(tokens) < 2:
            return Failure("failed", "a single token has no preceding context")
        if len(tokens) > CONTEXT:
            return Failure("too-long", f"{len(tokens)} tokens, but the model accepts {CONTEXT}")
        return read(await self._llama.complete(forced(tokens)), tokens[1:])

    async def close(self) -> None:
        """Release the model."""
        await self._llama.close()


def forced(tokens: Sequence[int]) -> JsonObject:
    """Return the body of a completion request whose only possible answer is ``tokens``."""
    return {
        "prompt": list(tokens[:1]),
        "grammar": "root ::= " + " ".join(f"<[{token}]>" for token in tokens[1:]),
        "max_tokens": len(tokens) - 1,
        "temperature": 0.0,
        "logprobs": 1,
    }


def read(answer: Mapping[str, object], tokens: Sequence[int]) -> Score | Failure:
    """Return the log-likelihood in a completion, which must be exactly ``tokens``."""
    if "error" in answer:  # a token that ends the answer stands in the middle of the text
        return Failure("failed", str(refusals.mapping(answer["error"]).get("message", answer["error"])))
    choice = wire.first_choice(answer) or {}
    steps = refusals.mapping(choice.get("logprobs")).get("content")
    if not isinstance(steps, list) or [step["id"] for step in steps] != list(tokens):
        return Failure("failed", "llama.cpp did not generate the text that the grammar allows")
    return Score(math.fsum(step["logprob"] for step in steps), len(steps))
