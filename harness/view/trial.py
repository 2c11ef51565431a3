"""One text tried live: what would change, what asking takes, and the answers as they come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from harness.audit.checking import Checker
from harness.config import RunConfig
from harness.core import Case, Json, Outcome, Verdict
from harness.disclosure import redacted
from harness.errors import HarnessError
from harness.report import versions

LONGEST = 20_000
"""The most characters of a text."""


@dataclass(frozen=True)
class Wish:
    """A text, and the settings to try it with."""

    text: str
    config: RunConfig


class Trials:
    """Tries one text after another, and keeps what the last settings need: a parser, a model."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._checker: Checker | None = None
        self._config: RunConfig | None = None

    async def versions(self, wish: Wish) -> dict[str, Json]:
        """Return the versions of the text, its words, and what asking about them takes.

        Asks the model nothing. Raises ``HarnessError``.
        """
        async with self._lock:
            checker = await self._of(wish.config)
            cases = await checker.cases(wish.text)
            needs = await checker.needs(cases)
        return {
            "versions": [_row(case) for case in versions.shown(cases)],
            "words": [asdict(word) for word in versions.words(cases)],
            "requests": needs.unique,
            "cached": needs.cached,
            "to_send": needs.to_send,
            "tokens": needs.prompt_tokens + needs.completion_tokens,
            "tokens_by": needs.tokens_by,
            "cost_usd": needs.cost_usd,
        }

    async def answers(self, wish: Wish) -> AsyncIterator[dict[str, Json]]:
        """Yield each answer when it comes, by ``case``, and at the end all verdicts, or the ``error``."""
        news: asyncio.Queue[dict[str, Json] | None] = asyncio.Queue()

        def hear(case: str, outcome: Outcome) -> None:
            news.put_nowait({"case": case, "answer": versions.answered(outcome)})

        async def work() -> None:
            try:
                async with self._lock:
                    checker = await self._of(wish.config)
                    checked = await checker.ask(await checker.cases(wish.text), hear)
                shown = versions.shown(checked.cases)
                rows = [_row(case, checked.outcomes, checked.verdicts) for case in shown]
                news.put_nowait({"versions": rows})
            except HarnessError as error:
                news.put_nowait({"error": told(error)})
            finally:
                news.put_nowait(None)

        task = asyncio.create_task(work())
        try:
            while (item := await news.get()) is not None:
                yield item
            await task
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def close(self) -> None:
        """Release the model."""
        if self._checker is not None:
            await self._checker.close()
        self._checker = self._config = None

    async def _of(self, config: RunConfig) -> Checker:
        if self._checker is None or config != self._config:
            await self.close()
            self._checker, self._config = await Checker.of(config), config
        return self._checker


def _row(
    case: Case, outcomes: Mapping[str, Outcome] = {}, verdicts: Mapping[str, Verdict] = {}
) -> dict[str, Json]:
    return {"case": case.id, "valid": case.valid, **asdict(versions.version(case, outcomes, verdicts))}


def told(error: HarnessError) -> str:
    """Return the first line of an error, which says it all, without secrets; others are a server's log."""
    return redacted(str(error)).partition("\n")[0]


def checked_text(text: object) -> str:
    """Return a text that can be tried. Raises ``HarnessError``."""
    if not isinstance(text, str) or not text.strip():
        raise HarnessError("the text is empty")
    if len(text) > LONGEST:
        raise HarnessError(f"the text has {len(text):,} characters: {LONGEST:,} are the most here")
    return text


def names(values: object) -> Sequence[str]:
    """Return the names in what a page sent."""
    return [value for value in values if isinstance(value, str)] if isinstance(values, list) else []
