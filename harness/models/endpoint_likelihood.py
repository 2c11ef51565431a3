"""The log-likelihood of a text under a language model behind an endpoint, as a measure of its fluency.

It is the sum, over the text's tokens, of the natural logarithm of each token's probability given those before
it. The first token counts only where the model puts a start token before it; otherwise it has no context.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping

from harness.core import Failure, JsonObject
from harness.disclosure import one_line
from harness.errors import EndpointError, Transient
from harness.http_client import TooLarge
from harness.keys import Key
from harness.models import refusals, wire
from harness.models.endpoint import Endpoint, refusal, root
from harness.plugins import Measure, Score

DEADLINE = 120.0
CONCURRENCY = 8
PROBE = "The quick brown fox jumps over the lazy dog."


class EndpointLikelihood:
    """A model called ``name`` at an endpoint whose /completions echoes a prompt with its log-probabilities.

    vLLM does. llama.cpp and most hosted APIs ignore ``echo`` and return log-probabilities of their own words,
    which ``prepare`` detects.
    """

    measure: Measure = "log_likelihood"
    concurrency = CONCURRENCY

    def __init__(self, name: str, base_url: str, key: Key, api_version: str | None = None) -> None:
        self.name = name
        self.url = base_url.rstrip("/")
        self.identity: JsonObject = {"kind": "openai", "base_url": self.url, "name": name}
        self._key = key
        self._api_version = api_version
        self._connected: Endpoint | None = None

    async def prepare(self) -> None:
        """Check that the endpoint scores a probe text. Raises ``EndpointError`` where it cannot."""
        score = await self.score(PROBE)
        if isinstance(score, Failure):
            raise EndpointError(
                f"{self.name}: {self.url} returns no log-probabilities of a prompt ({score.message}): use a "
                "server that does, such as vLLM, or transformers:NAME_OR_FOLDER"
            )

    async def score(self, text: str) -> Score | Failure:
        """Send one request that echoes the prompt with each token's probability and generates nothing."""
        import httpx2

        ask: JsonObject = {"prompt": text, "max_tokens": 0, "echo": True, "logprobs": 1, "temperature": 0.0}
        if self._connected is None:
            self._connected = Endpoint.connect(self.url, self._key, self.concurrency, self._api_version)
        endpoint = self._connected
        await endpoint.ready()
        try:
            async with asyncio.timeout(DEADLINE):
                answer = await endpoint.post("/completions", {"model": self.name, **ask})
            if answer.is_success:
                endpoint.heed(answer.headers)
                return read(answer.json(), text)
        except TooLarge as error:
            return Failure("failed", str(error))
        except (TimeoutError, httpx2.TimeoutException) as error:
            raise Transient(f"no answer within {DEADLINE:.0f} s", throttled=True) from error
        except httpx2.TransportError as error:
            raise Transient(f"{endpoint.url}: {root(error)}") from error
        except (httpx2.HTTPError, ValueError) as error:
            raise Transient(f"{endpoint.url}: not a completion: {one_line(error)}") from error
        return refusal(endpoint, answer, None, self.name)

    async def close(self) -> None:
        """Close the client."""
        if self._connected is not None:
            await self._connected.client.close()
            self._connected = None


def read(answer: object, text: str) -> Score | Failure:
    """Return the log-likelihood of ``text`` from a completion that echoes it.

    A server that must generate something appends tokens of its own to those of the prompt, which ``usage``
    counts. Raises ``Transient`` where the response is not a completion.
    """
    if not isinstance(answer, Mapping):
        raise Transient("the reply is not a JSON object")
    if answer.get("error"):
        return refusals.classify(200, answer)
    choice = wire.first_choice(answer)
    echo = choice.get("text") if choice is not None else None
    if choice is None or not isinstance(echo, str):
        raise Transient("the reply has no text")
    if not echo.startswith(text):
        return Failure("failed", "echo is ignored")
    logprobs, usage = choice.get("logprobs"), answer.get("usage")
    values = logprobs.get("token_logprobs") if isinstance(logprobs, Mapping) else None
    count = usage.get("prompt_tokens") if isinstance(usage, Mapping) else None
    if not isinstance(values, list) or not isinstance(count, int) or not 0 < count <= len(values):
        return Failure("failed", "the prompt is echoed without log-probabilities")
    counted = values[1:count] if values[0] is None else values[:count]
    if not counted:
        return Failure("failed", "a single token has no preceding context")
    if not all(isinstance(value, int | float) and math.isfinite(value) for value in counted):
        return Failure("failed", "some log-probabilities are missing")
    return Score(math.fsum(counted), len(counted))
