"""LanguageTool over its HTTP API: how many of its rules a text breaks, per 100 words. Lower is better."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from harness.core import Failure
from harness.errors import EndpointError, Transient
from harness.models.endpoint import LOOPBACK, retry_after, root
from harness.models.wire import THROTTLED_STATUS, TRANSIENT_STATUS, one_line
from harness.studies.fluency.scorers.likelihood import CONCURRENCY, DEADLINE, PROBE, Measure, Score


class LanguageTool:
    """A server at ``url`` (as http://127.0.0.1:8081), asked to check texts in ``language``."""

    measure: Measure = "matches_per_100_words"
    concurrency = CONCURRENCY

    def __init__(self, url: str, language: str = "en-US") -> None:
        self.name = "languagetool"
        self._url = url.rstrip("/").removesuffix("/v2") + "/v2/check"
        self._language = language
        self._version: Mapping[str, Any] = {}
        self._client: Any = None

    @property
    def identity(self) -> Mapping[str, Any]:
        """Version and language decide what is found, not where the server is."""
        return {"kind": "languagetool", "language": self._language, **self._version}

    async def prepare(self) -> None:
        software = (await self._check(PROBE)).get("software")
        if not isinstance(software, Mapping) or not isinstance(software.get("version"), str):
            raise EndpointError(f"{self._url}: does not say which LanguageTool it is: is it one?")
        self._version = {"version": software["version"], "build": software.get("buildDate")}

    async def score(self, text: str) -> Score | Failure:
        words = len(text.split())
        if not words:
            return Failure("failed", "no words")
        answer = await self._check(text)
        return answer if isinstance(answer, Failure) else Score(100.0 * len(answer["matches"]), words)

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    async def _check(self, text: str) -> Any:
        """The server's JSON, with ``matches`` in it; a ``Failure`` where the text is too long for it."""
        import httpx2

        if self._client is None:
            proxies = httpx2.URL(self._url).host not in LOOPBACK
            self._client = httpx2.AsyncClient(timeout=None, trust_env=proxies, follow_redirects=True)
        try:
            async with asyncio.timeout(DEADLINE):
                answer = await self._client.post(self._url, data={"text": text, "language": self._language})
            if not answer.is_success:
                return self._refusal(answer)
            found = answer.json()
        except (TimeoutError, httpx2.TimeoutException) as error:
            raise Transient(f"no answer within {DEADLINE:.0f} s") from error
        except httpx2.TransportError as error:
            raise Transient(f"{self._url}: {root(error)}") from error
        except (httpx2.HTTPError, ValueError) as error:
            raise Transient(f"{self._url}: not an answer of LanguageTool: {one_line(error)}") from error
        if not isinstance(found, Mapping) or not isinstance(found.get("matches"), list):
            raise Transient(f"{self._url}: an answer without matches")
        return found

    def _refusal(self, answer: Any) -> Failure:
        said = f"{self._url}: HTTP {answer.status_code}: {one_line(answer.text)}"
        if answer.status_code == 413:
            return Failure("too-long", said)
        if answer.status_code in TRANSIENT_STATUS:
            throttled = answer.status_code in THROTTLED_STATUS
            raise Transient(said, retry_after(answer.headers), throttled)
        raise EndpointError(said)
