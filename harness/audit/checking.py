"""One text at a time: its versions, what asking about them would take, and the answers as they come."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.answering.cache import ResponseCache
from harness.answering.runner import Answer, Answerer
from harness.audit import asking
from harness.audit.assembly import Audit, assemble
from harness.audit.examination import Examiner
from harness.audit.planning import Needs
from harness.config import RunConfig
from harness.core import Case, Document, Examined, Outcome, Request, Verdict
from harness.errors import ConfigError
from harness.interruption import in_thread
from harness.models import tokens
from harness.plugins import Controls


@dataclass(frozen=True)
class Checked:
    """The cases of one text, including discarded ones, with their outcomes and verdicts by case id."""

    cases: Sequence[Case]
    outcomes: dict[str, Outcome]
    verdicts: dict[str, Verdict]

    def add(self, group: Examined) -> None:
        """Add the outcomes and verdicts of one group."""
        self.outcomes.update(group.outcomes)
        self.verdicts.update({verdict.case: verdict for verdict in (*group.verdicts, *group.discarded)})


Hear = Callable[[str, Outcome], None]
"""Takes a case's id and the outcome of its answer."""


class Checker:
    """Checks texts as ``config`` says, without controls; ``close`` it at the end."""

    def __init__(self, audit: Audit) -> None:
        self._audit = audit

    @classmethod
    async def of(cls, config: RunConfig) -> Checker:
        """Load what is needed. Raises ``HarnessError``."""
        audit = await in_thread(lambda: assemble(config.model_copy(update={"control": Controls(share=0)})))
        if audit.suite.makes_texts:
            raise ConfigError(
                f"suite {audit.suite.name!r} makes its own texts: check one of yours with another"
            )
        if config.judge.name:
            raise ConfigError("judge: one text is checked without one: leave the measure preference out")
        return cls(audit)

    async def close(self) -> None:
        """Release the model."""
        await self._audit.model.close()

    async def cases(self, text: str) -> list[Case]:
        """Return the versions of ``text``, including discarded ones."""
        return await in_thread(lambda: list(self._audit.suite.cases(iter([Document("text", text)]))))

    async def needs(self, cases: Sequence[Case]) -> Needs:
        """Return what asking about ``cases`` takes. Asks the model nothing."""
        needs = Needs(self._audit, await tokens.counter(self._audit.model))
        async with ResponseCache(self._audit.cache) as cache:
            for group in self._groups(cases):
                await needs.add(group, cache)
        return needs

    async def ask(self, cases: Sequence[Case], hear: Hear = lambda case, outcome: None) -> Checked:
        """Ask about ``cases`` and judge the answers; ``hear`` is called with each when it comes.

        Raises ``HarnessError``.
        """
        checked = Checked(cases, {}, {})
        async with ResponseCache(self._audit.cache) as cache, self._audit.runner(cache) as runner:
            for group in self._groups(cases):
                examiner = Examiner(self._audit, self._telling(runner, group, hear))
                checked.add(await examiner.examine(group))
        return checked

    def _groups(self, cases: Sequence[Case]) -> list[asking.Group]:
        return [*filter(None, asking.groups(cases, self._audit.suite.include_discarded))]

    def _telling(self, runner: Answerer, group: Sequence[Case], hear: Hear) -> Answerer:
        """Return ``runner`` such that the outcomes of ``group`` are heard when they come."""
        by_key: dict[str, list[str]] = {}
        for case in group:
            by_key.setdefault(self._audit.planner.request(case).key, []).append(case.id)

        def tell(key: str, answer: Answer) -> None:
            for case in by_key.get(key, ()):
                hear(case, self._audit.reader.outcome(answer))

        return _Telling(runner, tell)


class _Telling:
    """Answers as ``answerer`` does, and tells each answer at once."""

    def __init__(self, answerer: Answerer, tell: Callable[[str, Answer], None]) -> None:
        self._answerer = answerer
        self._tell = tell

    async def replies(self, requests: Sequence[Request], turn: int = 0) -> dict[str, Answer]:
        """Return the answer to each request, by key."""

        async def one(request: Request) -> tuple[str, Answer]:
            answer = (await self._answerer.replies([request], turn))[request.key]
            self._tell(request.key, answer)
            return request.key, answer

        tasks = [asyncio.create_task(one(request)) for request in requests]
        try:
            return dict(await asyncio.gather(*tasks))
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def check(config: RunConfig, text: str) -> Checked:
    """Ask about one text and all its mutants. Raises ``HarnessError``."""
    checker = await Checker.of(config)
    try:
        return await checker.ask(await checker.cases(text))
    finally:
        await checker.close()
