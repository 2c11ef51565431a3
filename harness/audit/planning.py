"""Count what a run would make, send and cost, without sending anything."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from harness.answering.budget import total
from harness.answering.cache import ResponseCache
from harness.audit import asking, preference, wordings
from harness.audit.assembly import Audit, assemble
from harness.config import RunConfig
from harness.core import Case, Json
from harness.estimates import likely_answer
from harness.interruption import in_thread
from harness.models import tokens
from harness.models.tokens import TokenCounter
from harness.plugins import Nouns

LIKELY = (0.01, 0.05, 0.2)
"""The shares of changed answers for which a plan says what a goal takes."""


@dataclass
class Tally:
    """Counts of the cases that pass through; ``eligible`` is the set of documents that have any.

    ``mutants`` are the valid ones by document.
    """

    generated: int = 0
    valid: int = 0
    controls: int = 0
    eligible: set[str] = field(default_factory=set)
    mutants: dict[str, int] = field(default_factory=dict)

    def passing(self, cases: Iterable[Case]) -> Iterator[Case]:
        """Yield ``cases``, counting them."""
        for case in cases:
            self.eligible.add(case.document)
            mutant = case.role not in ("original", "control")
            self.generated += mutant
            self.valid += case.valid and mutant
            if case.valid and mutant:
                self.mutants[case.document] = self.mutants.get(case.document, 0) + 1
            self.controls += case.role == "control"
            yield case


class Needs:
    """What asking about groups of cases takes: distinct requests, those in the cache, tokens, cost.

    ``judged`` are the requests to a judge, at most.
    """

    def __init__(self, audit: Audit, counter: TokenCounter) -> None:
        self.unique = self.cached = self.judged = 0
        self.tokens_by = counter.how
        self._audit = audit
        self._counter = counter
        self._prompt = 0.0

    async def add(self, group: Sequence[Case], cache: ResponseCache) -> None:
        """Count the requests of ``group``, which ``cache`` may answer."""
        planner, repeats = self._audit.planner, self._audit.config.repeats
        requests = {r.key: r for r in asking.requests(group, planner, repeats)}
        self.judged += 2 * asking.compared(group, repeats) if self._audit.config.judge.name else 0
        cached_replies, fresh = await cache.look_up(list(requests))
        self.unique += len(fresh)
        self.cached += len(fresh & cached_replies.keys())
        for key in requests:
            if key in fresh and key not in cached_replies:
                self._prompt += await self._counter.tokens(requests[key])
        self.tokens_by = self._counter.how

    @property
    def to_send(self) -> int:
        """The number of requests that the cache does not answer."""
        return self.unique - self.cached

    @property
    def prompt_tokens(self) -> int:
        """The tokens of the prompts to send."""
        return round(self._prompt)

    @property
    def completion_tokens(self) -> int:
        """The tokens that the answers will likely have."""
        task = self._audit.task
        return self.to_send * (likely_answer(task.labels) if task.labels else self._audit.planner.token_limit)

    @property
    def cost_usd(self) -> float | None:
        """The cost of what is to send; None if the prices are not known."""
        prices = self._audit.prices
        return prices.of(self.prompt_tokens, self.completion_tokens) if prices else None


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run would make and send: documents, cases, requests and tokens.

    ``tokens_by`` says how tokens were counted; ``cost_usd`` is None if the prices are not known. ``judged``
    are the requests to a judge, at most, and ``judge_cost_usd`` what they cost at most. ``most`` is the
    budget, where one is set; ``until_known`` are the requests after which a run will likely stop, by the
    share of answers that change, where one is set that stops when a rate is known. ``wordings`` has the
    requests to send by prompt, if there are several; all other counts of requests are of all prompts.
    """

    task: str
    suite: str
    nouns: Nouns
    model: str
    documents: int
    eligible: int
    generated: int
    valid: int
    controls: int
    unique: int
    cached: int
    to_send: int
    prompt_tokens: int
    completion_tokens: int
    tokens_by: str
    cost_usd: float | None
    judged: int = 0
    judge_cost_usd: float | None = None
    most: int | None = None
    until_known: Mapping[str, int] = field(default_factory=dict)
    wordings: Mapping[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Json]:
        """Return the JSON values."""
        return asdict(self)


async def plan_all(config: RunConfig) -> Plan:
    """Count what a run takes under all its prompts; its cases are the same under each.

    Raises ``HarnessError``.
    """
    if not config.reworded:
        return await plan(config)
    plans = {variant.name: await plan(variant.config) for variant in wordings.variants(config)}
    first, *others = plans.values()
    return replace(
        first,
        unique=first.unique + sum(one.unique for one in others),
        cached=first.cached + sum(one.cached for one in others),
        to_send=first.to_send + sum(one.to_send for one in others),
        prompt_tokens=first.prompt_tokens + sum(one.prompt_tokens for one in others),
        completion_tokens=first.completion_tokens + sum(one.completion_tokens for one in others),
        judged=first.judged + sum(one.judged for one in others),
        cost_usd=total(one.cost_usd for one in plans.values()),
        judge_cost_usd=total(one.judge_cost_usd for one in plans.values()),
        wordings={name: one.to_send for name, one in plans.items()},
    )


async def plan(config: RunConfig) -> Plan:
    """Count the cases, requests, tokens and cost of a run. Asks the model nothing and writes no reply.

    Raises ``HarnessError``.
    """
    audit = await in_thread(lambda: assemble(config))
    needs, tally = Needs(audit, await tokens.counter(audit.model)), Tally()
    async with ResponseCache(audit.cache) as cache:
        cases = tally.passing(audit.suite.cases(audit.documents()))
        groups = asking.groups(cases, audit.suite.include_discarded)
        while (group := await asking.next_group(groups)) is not None:
            await needs.add(group, cache)
    return Plan(
        task=audit.task.name,
        suite=audit.suite.name,
        nouns=audit.suite.nouns,
        model=audit.model.name,
        documents=audit.total,
        eligible=len(tally.eligible),
        generated=tally.generated,
        valid=tally.valid,
        controls=tally.controls,
        unique=needs.unique,
        cached=needs.cached,
        to_send=needs.to_send,
        prompt_tokens=needs.prompt_tokens,
        completion_tokens=needs.completion_tokens,
        tokens_by=needs.tokens_by,
        cost_usd=needs.cost_usd,
        judged=needs.judged,
        judge_cost_usd=await _judge_cost(audit, needs.judged),
        most=config.budget.adaptive,
        until_known=_until_known(config, list(tally.mutants.values())),
    )


async def _judge_cost(audit: Audit, requests: int) -> float | None:
    """Return what ``requests`` to the judge cost at most; None without one or without its prices."""
    judge = await in_thread(lambda: preference.of(audit.config))
    if judge is None or judge.prices is None:
        return None
    text, _ = preference.Pair("", "", "").shown()
    asked = judge.planner.request(Case("", "", "", "variant", text))
    prompt = await (await tokens.counter(judge.model)).tokens(asked) + 2 * audit.planner.token_limit
    return judge.prices.of(round(requests * prompt), requests * judge.planner.token_limit)


def _until_known(config: RunConfig, mutants: Sequence[int]) -> dict[str, int]:
    """Return the requests that a goal about the rate will likely take, by the share of answers that change.

    ``mutants`` are the numbers by original. Empty without such a goal.
    """
    from harness.audit.adaptive.goal import Goal
    from harness.audit.adaptive.random_order import expected

    goal = Goal.of(config.budget)
    if not config.budget.sequential or config.budget.adaptive is not None or goal.effect is not None:
        return {}
    return {str(rate): expected(goal, mutants, rate) for rate in LIKELY} if mutants else {}
