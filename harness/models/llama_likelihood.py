"""The log-likelihood of a text under ``local:smollm2``, or another GGUF model in this process.

llama.cpp gives no log-probabilities of a prompt, but those of what it generates, and before a grammar rules
anything out. So the text is generated: the prompt is its first token, the grammar leaves at each place the
text's own next token alone, and what comes back is the probability that this token had.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from typing import Any

from harness.core import Failure, JsonObject
from harness.models.llama import CONTEXT, Llama
from harness.plugins import Measure, Score


class LlamaLikelihood:
    """A GGUF model as a judge of fluency; one text at a time, its scores repeat exactly."""

    measure: Measure = "log_likelihood"
    concurrency = 1

    def __init__(self, llama: Llama) -> None:
        self.name = llama.name
        self.identity = llama.identity
        self._llama = llama

    async def prepare(self) -> None:
        """No-op: the model loads with the first text."""

    async def score(self, text: str) -> Score | Failure:
        """Return the log-likelihood of ``text``; a ``Failure`` where it is too short or too long."""
        tokens = await asyncio.to_thread(self._llama.tokens, text, special=True)
        if len(tokens) < 2:
            return Failure("failed", "a single token has nothing before it")
        if len(tokens) > CONTEXT:
            return Failure("too-long", f"{len(tokens)} tokens, the model takes {CONTEXT}")
        return read(await self._llama.complete(forced(tokens)), tokens[1:])

    async def close(self) -> None:
        """Release the model."""
        await self._llama.close()


def forced(tokens: Sequence[int]) -> JsonObject:
    """Return a completion that can only be ``tokens``."""
    return {
        "prompt": list(tokens[:1]),
        "grammar": "root ::= " + " ".join(f"<[{token}]>" for token in tokens[1:]),
        "max_tokens": len(tokens) - 1,
        "temperature": 0.0,
        "logprobs": 1,
    }


def read(answer: Mapping[str, Any], tokens: Sequence[int]) -> Score | Failure:
    """Read the log-likelihood in a completion, which must be ``tokens`` and nothing else."""
    if "error" in answer:  # a token that ends the answer stands in the middle of the text
        return Failure("failed", str(answer["error"].get("message", answer["error"])))
    steps = (answer["choices"][0].get("logprobs") or {}).get("content") or []
    if [step["id"] for step in steps] != list(tokens):
        return Failure("failed", "llama.cpp did not generate the text that the grammar allows")
    return Score(math.fsum(step["logprob"] for step in steps), len(steps))
