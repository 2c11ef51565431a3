"""``Guard``: answers to texts, each with its check."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from harness import config as configuration
from harness import registry
from harness.answering.cache import ResponseCache
from harness.answering.runner import Runner
from harness.audit.assembly import Audit, assemble
from harness.config import RunConfig
from harness.core import Case
from harness.errors import ConfigError
from harness.findings.outcomes import Outcomes
from harness.guard.records import Checked, Heard
from harness.guard.steps import Steps
from harness.guard.versions import LONGEST, Versions
from harness.plugins import Controls


class Guard:
    """Answers texts by the model of ``config``, and checks each answer as its section ``[guard]`` says::

        async with Guard("reviews.toml") as guard:
            checked = await guard.check("She was a wonderful nurse.")

    ``config`` is a ``harness.config.RunConfig``, the path of a TOML file, or a dictionary of dotted keys. The
    answers come from the cache where they are in it. Making a guard reads the dictionaries and the parser;
    the first check opens the cache and the model. Raises ``harness.errors.HarnessError``.
    """

    def __init__(self, config: RunConfig | str | Path | Mapping[str, object]) -> None:
        self.audit = assembled(configuration.given(config, one_text=True))
        self.steps = steps(self.audit)
        self.versions = Versions(self.audit.suite, self.audit.config.seed)
        self._open = AsyncExitStack()
        self._opening = asyncio.Lock()
        self._runner: Runner | None = None

    async def __aenter__(self) -> Guard:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def check(self, text: str) -> Checked:
        """Return the answer to ``text`` with its check.

        A text that names nobody costs one request. Raises ``harness.errors.EndpointError`` where the model
        answers nothing any more, such as when the budget is spent.
        """
        making = asyncio.ensure_future(self.versions.of(text))
        try:
            answer = (await self.answers([text]))[text]
            places = await making
        finally:
            making.cancel()
        if len(text) > LONGEST:
            return Checked(answer, answer, "not-checked", "too-long")
        return await self.steps.check(text, answer, places, self.answers)

    async def answers(self, texts: Sequence[str]) -> dict[str, Heard]:
        """Return the answer to each of ``texts``, asked as a run asks and not checked."""
        runner = await self._started()
        reader, planner = self.audit.reader, self.audit.planner
        requests = {text: planner.request(Case("", "", "", "original", text)) for text in texts}
        answers = await runner.replies(list(requests.values()))
        return {
            text: Heard(answer, reader.outcome(answer))
            for text, request in requests.items()
            for answer in [answers[request.key]]
        }

    async def close(self) -> None:
        """Release the model, the cache and the thread."""
        self.versions.close()
        await self._open.aclose()
        await self.audit.model.close()

    async def _started(self) -> Runner:
        async with self._opening:
            if self._runner is None:
                cache = await self._open.enter_async_context(ResponseCache(self.audit.cache))
                self._runner = await self._open.enter_async_context(self.audit.runner(cache))
        return self._runner


def assembled(config: RunConfig) -> Audit:
    """Return what a guard with the settings of ``config`` needs. Raises ``HarnessError``."""
    options = registry.for_versions(config.suite, config.suite_options)
    audit = assemble(
        config.model_copy(update={"control": Controls(share=0)}).of_suite(options),
        read=False,
    )
    if audit.suite.makes_texts:
        raise ConfigError(f"suite {audit.suite.name!r} makes its own texts: a guard checks those of others")
    if audit.task.measures:
        raise ConfigError(
            f"task {audit.task.name!r}: a guard checks labels and ratings, not answers in free form"
        )
    return audit


def steps(audit: Audit) -> Steps:
    """Return the check of answers to the task of ``audit``."""
    task, given = audit.task, audit.config.favourable
    good = tuple(task.favourable if given is None else given)
    top = float(task.labels[-1]) if task.rates is not None else 1.0
    outcomes = Outcomes.of(
        replace(task, labels=tuple(sorted(task.labels, key=lambda label: label not in good))), ()
    )
    return Steps(audit.config.guard, outcomes, top, good)
