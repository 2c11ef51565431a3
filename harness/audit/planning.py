"""What a run would make, send and cost: counted, never sent."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from itertools import groupby
from typing import Any

from harness.answering.cache import ResponseCache
from harness.audit.assembly import Audit, assemble
from harness.config import RunConfig
from harness.core import Case, Request
from harness.estimates import likely_answer
from harness.models import tokens


async def plan(config: RunConfig) -> dict[str, Any]:
    """Counts of cases, requests, tokens and price. Sends no question and writes no reply."""
    audit = await asyncio.to_thread(assemble, config)
    counter = await tokens.counter(audit.model)
    counts = {"documents": audit.total, "eligible": 0, "generated": 0, "valid": 0, "unique": 0, "cached": 0}
    prompt = 0.0
    async with ResponseCache(audit.cache) as cache:
        documents, eligible = audit.documents(), set[str]()
        for _, group in groupby(audit.suite.cases(documents), key=lambda case: case.group):
            cases = list(group)
            valid = [case for case in cases if case.valid]
            eligible.add(cases[0].document)
            counts["generated"] += sum(case.role != "original" for case in cases)
            counts["valid"] += sum(case.role != "original" for case in valid)
            requests = {request.key: request for request in _requests(audit, valid)}
            found, fresh = await cache.look_up(list(requests))
            counts["unique"] += len(fresh)
            counts["cached"] += len(fresh & found.keys())
            for key in requests:
                if key in fresh and key not in found:
                    prompt += await counter.tokens(requests[key])
    counts["eligible"] = len(eligible)
    prompt_tokens = round(prompt)
    to_send = counts["unique"] - counts["cached"]
    completion = to_send * likely_answer(audit.task.labels)
    return {
        "task": audit.task.name,
        "suite": audit.suite.name,
        "model": audit.model.name,
        **counts,
        "to_send": to_send,
        "prompt_tokens": prompt_tokens,
        "completion_tokens": completion,
        "tokens_by": counter.how,
        "cost_usd": audit.prices.of(prompt_tokens, completion) if audit.prices else None,
    }


def _requests(audit: Audit, cases: Iterable[Case]) -> Iterable[Request]:
    """Those that are sure to be sent; what ``--confirm`` adds depends on the answers."""
    for case in cases:
        repeats = audit.config.repeats if case.role == "original" else 0
        yield from (audit.planner.request(case, repeat) for repeat in range(repeats + 1))
