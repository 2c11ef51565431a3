"""What the embedded language model expects after a text: likely words, and how likely a continuation is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from harness.core import JsonObject
from harness.errors import ModelError
from harness.models import wire
from harness.models.llama import Llama
from harness.models.refusals import mapping

MOST_WORDS = 500
"""How many of the likeliest tokens are read in search of a word."""


KEPT = 1000


class Continuations:
    """The expectations of a GGUF model; they repeat exactly. Not for several threads at once."""

    def __init__(self, llama: Llama) -> None:
        self.name = llama.name
        self.identity = llama.identity
        self._llama = llama
        self._tokens = lru_cache(maxsize=KEPT)(self._split)
        self._sums = lru_cache(maxsize=KEPT)(self._sum)

    def next_words(self, before: str) -> dict[str, float]:
        """Return the words that may follow ``before`` after a space, with their log-likelihoods.

        They are words of one token, among the ``MOST_WORDS`` likeliest tokens; the beginning of a longer word
        looks like a word, too.
        """
        (step,) = self._steps(self._start(before), (), MOST_WORDS)
        found = step["top_logprobs"]
        return {token[1:]: float(item["logprob"]) for item in found if (token := item["token"])[:1] == " "}

    def log_likelihood(self, before: str, parts: Sequence[str], most: int) -> float:
        """Return the log-likelihood of ``parts``, of the last at most ``most`` tokens, after ``before``.

        Each part is split into tokens by itself and should begin with a space or a punctuation mark.
        """
        following = [token for part in parts[:-1] for token in self._tokens(part)]
        following += self._tokens(parts[-1])[:most]
        return self._sums(before, tuple(following)) if following else 0.0

    def _sum(self, before: str, following: tuple[int, ...]) -> float:
        return math.fsum(step["logprob"] for step in self._steps(self._start(before), following, 1))

    def _start(self, before: str) -> list[int]:
        return self._llama.tokens(before, special=True)

    def _split(self, text: str) -> tuple[int, ...]:
        return tuple(self._llama.tokens(text)) if text else ()

    def _steps(
        self, prompt: Sequence[int], following: Sequence[int], alternatives: int
    ) -> list[Mapping[str, Any]]:
        """Return the steps of a completion: of ``following`` and nothing else, or else of one token."""
        tokens = max(len(following), 1)
        body: JsonObject = {
            "prompt": list(prompt),
            "max_tokens": tokens,
            "temperature": 0.0,
            "logprobs": alternatives,
            **(
                {"grammar": "root ::= " + " ".join(f"<[{token}]>" for token in following)}
                if following
                else {}
            ),
        }
        answer = self._llama.complete_now(body)
        choice = wire.first_choice(answer) or {}
        steps = mapping(choice.get("logprobs")).get("content")
        if not isinstance(steps, list) or len(steps) != tokens:
            raise ModelError(
                f"{self.name}: llama.cpp gave no likelihoods: {answer.get('error', answer)!s:.200}"
            )
        return steps
