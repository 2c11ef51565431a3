"""Count what a run would make, send and cost, without sending anything."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field

from harness.answering.cache import ResponseCache
from harness.audit import asking
from harness.audit.assembly import assemble
from harness.config import RunConfig
from harness.core import Case, Json
from harness.estimates import likely_answer
from harness.interruption import in_thread
from harness.models import tokens
from harness.plugins import Nouns


@dataclass
class Tally:
    """Counts of the cases that pass through; ``eligible`` is the set of documents that have any."""

    generated: int = 0
    valid: int = 0
    controls: int = 0
    eligible: set[str] = field(default_factory=set)

    def passing(self, cases: Iterable[Case]) -> Iterator[Case]:
        """Yield ``cases``, counting them."""
        for case in cases:
            self.eligible.add(case.document)
            mutant = case.role not in ("original", "control")
            self.generated += mutant
            self.valid += case.valid and mutant
            self.controls += case.role == "control"
            yield case


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run would make and send: documents, cases, requests and tokens.

    ``tokens_by`` says how tokens were counted; ``cost_usd`` is None if the prices are not known.
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

    def to_json(self) -> dict[str, Json]:
        """Return the JSON values."""
        return asdict(self)


async def plan(config: RunConfig) -> Plan:
    """Count the cases, requests, tokens and cost of a run. Asks the model nothing and writes no reply.

    Raises ``HarnessError``.
    """
    audit = await in_thread(lambda: assemble(config))
    counter = await tokens.counter(audit.model)
    tally, unique, cached, prompt = Tally(), 0, 0, 0.0
    async with ResponseCache(audit.cache) as cache:
        cases = tally.passing(audit.suite.cases(audit.documents()))
        groups = asking.groups(cases, audit.suite.include_discarded)
        while (group := await asking.next_group(groups)) is not None:
            requests = {r.key: r for r in asking.requests(group, audit.planner, config.repeats)}
            cached_replies, fresh = await cache.look_up(list(requests))
            unique += len(fresh)
            cached += len(fresh & cached_replies.keys())
            for key in requests:
                if key in fresh and key not in cached_replies:
                    prompt += await counter.tokens(requests[key])
    to_send, prompt_tokens = unique - cached, round(prompt)
    completion = to_send * likely_answer(audit.task.labels)
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
        unique=unique,
        cached=cached,
        to_send=to_send,
        prompt_tokens=prompt_tokens,
        completion_tokens=completion,
        tokens_by=counter.how,
        cost_usd=audit.prices.of(prompt_tokens, completion) if audit.prices else None,
    )
