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

from harness.core import Failure
from harness.errors import ModelError
from harness.models import local
from harness.models.local import CONTEXT, LlamaModel
from harness.studies.fluency.scorers.likelihood import Measure, Score


class LlamaLikelihood(LlamaModel):
    """A GGUF model as a judge of fluency; one text at a time, its scores repeat exactly."""

    measure: Measure = "log_likelihood"

    async def prepare(self, known: Mapping[str, Any] | None = None) -> None:
        return None

    async def score(self, text: str) -> Score | Failure:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._score, text)

    def _score(self, text: str) -> Score | Failure:
        tokens = self._tokens(text)
        if len(tokens) < 2:
            return Failure("failed", "a single token has nothing before it")
        if len(tokens) > CONTEXT:
            return Failure("too-long", f"{len(tokens)} tokens, the model takes {CONTEXT}")
        return read(self._open().handle_completions(forced(tokens)), tokens[1:])

    def _tokens(self, text: str) -> list[int]:
        """As the model splits ``text``, a start token first where it has one."""
        import httpx2

        with httpx2.Client(base_url=self._open().listening_address, trust_env=False) as client:
            answer = client.post("/tokenize", json={"content": text, "add_special": True})
        if not answer.is_success:
            raise ModelError(f"{self.name}: llama.cpp does not tokenize: HTTP {answer.status_code}")
        return list(answer.json()["tokens"])


def smollm2(model_file: str | None = None) -> LlamaLikelihood:
    """SmolLM2-135M-Instruct (or a GGUF of the user's own), its weights fetched on first use."""
    chosen = local.smollm2(model_file)
    return LlamaLikelihood(chosen.name, str(chosen.identity["sha256"]), chosen._file)


def forced(tokens: Sequence[int]) -> dict[str, Any]:
    """A completion that can only be ``tokens``."""
    return {
        "prompt": list(tokens[:1]),
        "grammar": "root ::= " + " ".join(f"<[{token}]>" for token in tokens[1:]),
        "max_tokens": len(tokens) - 1,
        "temperature": 0.0,
        "logprobs": 1,
    }


def read(answer: Mapping[str, Any], tokens: Sequence[int]) -> Score | Failure:
    """The log-likelihood in a completion, which must be ``tokens`` and nothing else."""
    if "error" in answer:  # a token that ends the answer stands in the middle of the text
        return Failure("failed", str(answer["error"].get("message", answer["error"])))
    given = (answer["choices"][0].get("logprobs") or {}).get("content") or []
    if [one["id"] for one in given] != list(tokens):
        return Failure("failed", "llama.cpp did not generate the text that the grammar allows")
    return Score(math.fsum(one["logprob"] for one in given), len(given))
