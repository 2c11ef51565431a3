"""LanguageTool over its HTTP API: how many of its rules a text breaks, per 100 words. Lower is better."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from harness import http_client
from harness.core import Failure, JsonObject
from harness.disclosure import one_line
from harness.errors import EndpointError, Transient
from harness.models.endpoint import root
from harness.models.endpoint_likelihood import CONCURRENCY, DEADLINE, PROBE
from harness.models.refusals import THROTTLED_STATUS, TRANSIENT_STATUS
from harness.plugins import Measure, Score
from harness.retrying import retry_after

if TYPE_CHECKING:
    import httpx2


class LanguageTool:
    """A LanguageTool server at ``url`` (such as http://127.0.0.1:8081) that checks texts in ``language``."""

    measure: Measure = "matches_per_100_words"
    concurrency = CONCURRENCY

    def __init__(self, url: str, language: str = "en-US") -> None:
        self.name = "languagetool"
        self._url = url.rstrip("/").removesuffix("/v2") + "/v2/check"
        self._language = language
        self._version: JsonObject = {}
        self._client: httpx2.AsyncClient | None = None

    @property
    def identity(self) -> JsonObject:
        """What decides the matches: the version and the language, not the address of the server."""
        return {"kind": "languagetool", "language": self._language, **self._version}

    async def prepare(self) -> None:
        """Ask for the version of LanguageTool. Raises ``EndpointError`` where there is none."""
        answer = await self._check(PROBE)
        software = answer.get("software") if isinstance(answer, Mapping) else None
        if not isinstance(software, Mapping) or not isinstance(software.get("version"), str):
            raise EndpointError(f"{self._url}: does not say which LanguageTool it is: is it one?")
        self._version = {"version": software["version"], "build": software.get("buildDate")}

    async def score(self, text: str) -> Score | Failure:
        """Return 100 × matches as the total, words as the units; a ``Failure`` where the text is refused."""
        words = len(text.split())
        if not words:
            return Failure("failed", "no words")
        answer = await self._check(text)
        if isinstance(answer, Failure):
            return answer
        matches = answer["matches"]
        assert isinstance(matches, list)
        return Score(100.0 * len(matches), words)

    async def close(self) -> None:
        """Close the connection."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    async def _check(self, text: str) -> JsonObject | Failure:
        """Return the server's JSON, with a list ``matches``; a ``Failure`` where the text is too long."""
        import httpx2

        if self._client is None:
            self._client = http_client.asynchronous(self._url)
        try:
            async with asyncio.timeout(DEADLINE):
                form = {"text": text, "language": self._language}
                answer = await http_client.ask(self._client, "POST", self._url, form=form)
            if not answer.is_success:
                return self._refusal(answer)
            checked: object = answer.json()
        except http_client.TooLarge as error:
            return Failure("failed", str(error))
        except (TimeoutError, httpx2.TimeoutException) as error:
            raise Transient(f"no answer within {DEADLINE:.0f} s") from error
        except httpx2.TransportError as error:
            raise Transient(f"{self._url}: {root(error)}") from error
        except (httpx2.HTTPError, ValueError) as error:
            raise Transient(f"{self._url}: not an answer of LanguageTool: {one_line(error)}") from error
        if not isinstance(checked, Mapping) or not isinstance(checked.get("matches"), list):
            raise Transient(f"{self._url}: an answer without matches")
        return checked

    def _refusal(self, answer: http_client.Answer) -> Failure:
        line = f"{self._url}: HTTP {answer.status_code}: {one_line(answer.text)}"
        if answer.status_code == 413:
            return Failure("too-long", line)
        if answer.status_code in TRANSIENT_STATUS:
            throttled = answer.status_code in THROTTLED_STATUS
            raise Transient(line, retry_after(answer.headers), throttled)
        raise EndpointError(line)
