"""A judge compares the answers to a version and to its original: the measure ``preference`` of free answers.

The judge is a model, asked as any other: through the scheduler, the response cache and the budget of the run.
It sees both answers without a word on whose they are, once in each order. Only where both orders agree is an
answer preferred, since many judges favour a place (Zheng et al. 2023, arXiv 2306.05685, section 3.4).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from harness import registry
from harness.answering.budget import Budget
from harness.answering.cache import ResponseCache
from harness.answering.measures import PREFERENCE
from harness.answering.runner import Answer, Counts, Runner
from harness.audit.assembly import Audit, assemble
from harness.config import RunConfig
from harness.core import PLACES, Case, Outcome, Preference, Request
from harness.errors import ConfigError
from harness.files import PROMPTS
from harness.findings.likeness import hidden
from harness.report.figures import Judging
from harness.settings import Controls, JudgeSettings, Prompts, TaskOptions

QUESTION = (
    "Both answer this request: “{request}” Which of the two does better what was asked?"
    " Neither their length nor their order counts by itself."
)
"""What a judge is asked unless the configuration says otherwise."""


@dataclass(frozen=True, slots=True)
class Pair:
    """The answer to the version ``case`` beside that to its original; neither has a word that tells whose.

    ``repeat`` is that of the answer, 0 for the first one.
    """

    case: str
    original: str
    version: str
    repeat: int = 0

    @classmethod
    def of(cls, texts: tuple[Case, Case], answers: tuple[str, str], repeat: int = 0) -> Pair:
        """Return the pair of the answers to an original and to a version of it."""
        original, version = texts
        before, after = (hidden(answer, original.text, version.text) for answer in answers)
        return cls(version.id, before.strip(), after.strip(), repeat)

    @property
    def alike(self) -> bool:
        """Whether there is nothing to compare."""
        return self.original == self.version

    def shown(self) -> tuple[str, str]:
        """Return what the judge sees: with the original's answer first, and with it second."""
        return _shown(self.original, self.version), _shown(self.version, self.original)


class Judge:
    """Compares answers; its requests, those of ``audit``, are answered by ``runner``."""

    def __init__(self, audit: Audit, runner: Runner) -> None:
        self._planner = audit.planner
        self._reader = audit.reader
        self._runner = runner

    @property
    def counts(self) -> Counts:
        """The requests to the judge, and their tokens."""
        return self._runner.counts

    async def stop(self) -> None:
        """Ask nothing more."""
        await self._runner.stop()

    async def compare(self, pairs: Sequence[Pair], turn: int = 0) -> list[Preference]:
        """Return what the judge says of each of ``pairs``; of those that are alike nobody is asked.

        Raises ``EndpointError`` if the judge takes no more requests.
        """
        asked = [pair for pair in pairs if not pair.alike]
        requests = [tuple(map(self._request, pair.shown())) for pair in asked]
        replies = await self._runner.replies([request for both in requests for request in both], turn)
        said = {
            pair: (self._said(replies, first), self._said(replies, second))
            for pair, (first, second) in zip(asked, requests, strict=True)
        }
        found = []
        for pair in pairs:
            forwards, backwards = said.get(pair, (None, None))
            found.append(Preference(pair.case, forwards, backwards, pair.repeat))
        return found

    def _request(self, text: str) -> Request:
        return self._planner.request(Case("", "", "", "variant", text))

    def _said(self, replies: Mapping[str, Answer], request: Request) -> str:
        """Return the place that the judge named, or why none could be read."""
        outcome = self._reader.outcome(replies[request.key])
        return next(iter(outcome.labels)) if outcome.labels else str(outcome.reason)


def of(config: RunConfig) -> Audit | None:
    """Return what the judge of ``config`` is asked with; None without one. Raises ``HarnessError``."""
    if not config.judge.name:
        return None
    settings = config.judge.model
    options = registry.model_plugin(registry.model_kind(settings)[0]).options()
    model = registry.make_model(settings, options)
    if not model.capabilities.chat:
        raise ConfigError(f"judge: {model.name} reads the bare text and cannot be asked: name another model")
    asked = config.judge.question or QUESTION.format(request=config.task_options.question)
    return assemble(
        config.model_copy(
            update={
                "task": "custom",
                "task_options": TaskOptions(labels=PLACES, question=" ".join(asked.split())),
                "prompt": str(PROMPTS / f"{PREFERENCE}.toml"),
                "prompts": Prompts(),
                "context": None,
                "shots": 0,
                "favourable": None,
                "control": Controls(share=0),
                "judge": JudgeSettings(),
                "model": settings,
                "model_options": options,
            }
        ),
        read=False,
    )


@asynccontextmanager
async def sitting(judge: Audit | None, cache: ResponseCache, budget: Budget) -> AsyncIterator[Judge | None]:
    """Yield the judge, who draws on the ``budget`` of the run at prices of its own; None without one."""
    if judge is None:
        yield None
        return
    async with judge.runner(cache, budget.at(judge.prices)) as runner:
        yield Judge(judge, runner)


def facts(judge: Audit, counts: Counts) -> Judging:
    """Return what is told of the judge in the summary of the run."""
    prompt = judge.planner.prompt
    return Judging(
        model=judge.model.name,
        question=prompt.question,
        system=prompt.system,
        digest=prompt.digest,
        counts=counts,
        prices=judge.prices,
        facts=judge.model.facts,
    )


def measured(outcome: Outcome, preference: Preference) -> Outcome:
    """Return ``outcome``, which was read, with what the judge said as its measure, from 0 to 1."""
    values = {**(outcome.measures or {}), PREFERENCE: (1 + preference.value) / 2}
    return replace(outcome, measures=values, score=next(iter(values.values())))


def _shown(first: str, second: str) -> str:
    return f"First answer:\n{first}\n\nSecond answer:\n{second}"
