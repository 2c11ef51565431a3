"""The whole flow: documents -> cases -> requests -> answers -> verdicts -> figures -> report.

A group (one original and its mutants) at a time, each step writing what it makes to the run folder, so
memory does not grow with the run and a run that was stopped is taken up by the same command.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from harness.answering.cache import ResponseCache
from harness.answering.parse import LabelReader
from harness.answering.runner import Answer, Counts, Runner
from harness.assembly import Audit, assemble
from harness.config import RunConfig
from harness.core import Case, Document, Failure, Outcome, Reply, Verdict
from harness.errors import EndpointError
from harness.folder import RunFolder
from harness.report import html, junit, summary

log = logging.getLogger(__name__)

CASES_AT_ONCE = 256
CASES_OUTSTANDING = 512
PER_WORKER = 8


@dataclass
class Progress:
    """How far a run has come; ``documents`` counts those whose verdicts are in."""

    total: int
    documents: int = 0
    cases: int = 0
    counts: Counts = field(default_factory=Counts)


@dataclass(frozen=True)
class Checked:
    """One text's cases, discarded ones too, with what was answered and found, by case id."""

    cases: list[Case]
    outcomes: Mapping[str, Outcome]
    verdicts: Mapping[str, Verdict]


Watcher = Callable[[Progress], None]
Group = list[Case]
Answered = tuple[Group, dict[str, Answer]]


async def run(config: RunConfig, watch: Watcher = lambda _: None, overwrite: bool = False) -> dict[str, Any]:
    """Audit as ``config`` says; the summary, also written to the run folder with the report.

    Cancelled, it still writes what it has, with the status ``interrupted``. Raises ``HarnessError``.
    """
    audit = await asyncio.to_thread(assemble, config)
    folder, started = audit.folder, time.monotonic()
    folder.open(audit.resolved, audit.identity, overwrite)
    progress = Progress(audit.total)
    status = "complete"
    try:
        await _answer_and_judge(audit, folder, progress, watch)
    except asyncio.CancelledError:
        status = "interrupted"
    except EndpointError as error:
        if not progress.cases:
            raise
        log.error("%s", error)
        status = "partial"
    finally:
        await audit.model.close()
    if status == "complete" and progress.counts.failed:
        status = "partial"
    figures = _conclude(audit, folder, progress, status, time.monotonic() - started)
    return {**figures, "folder": str(folder.path)}


async def plan(config: RunConfig) -> dict[str, Any]:
    """What a run would make and send: counts of cases and requests. Sends and writes nothing but keys."""
    audit = await asyncio.to_thread(assemble, config)
    documents = audit.task.documents(audit.options)
    counts = {"documents": audit.total, "eligible": 0, "generated": 0, "valid": 0, "unique": 0, "cached": 0}
    async with ResponseCache(audit.cache) as cache:
        for _, group in groupby(audit.suite.cases(documents), key=lambda case: case.group):
            cases = list(group)
            valid = [case for case in cases if case.valid]
            counts["eligible"] += 1
            counts["generated"] += len(cases) - 1
            counts["valid"] += len(valid) - 1
            found, fresh = await cache.look_up(list({audit.planner.request(case).key for case in valid}))
            counts["unique"] += len(fresh)
            counts["cached"] += len(fresh & found.keys())
    counts["to_send"] = counts["unique"] - counts["cached"]
    return {"task": audit.task.name, "suite": audit.suite.name, "model": audit.model.name, **counts}


async def generate(config: RunConfig, overwrite: bool = False) -> dict[str, Any]:
    """The cases of a run, written to its folder; a later ``run`` of the same settings goes on from them."""
    audit = await asyncio.to_thread(assemble, config)
    audit.folder.open(audit.resolved, audit.identity, overwrite)
    with closing(audit.folder.keep_cases(audit.suite.cases(audit.task.documents(audit.options)))) as cases:
        deque(cases, maxlen=0)
    made = audit.folder.scan("cases")
    return {"folder": str(audit.folder.path), "eligible": summary.eligible(made), **summary.case_counts(made)}


async def check(config: RunConfig, text: str) -> Checked:
    """Every version of one text, with its outcome and verdict by case id."""
    audit = await asyncio.to_thread(assemble, config)
    read = audit.task.parse or LabelReader(audit.task.labels, audit.task.multi_label)
    cases = list(audit.suite.cases(iter([Document("text", text)])))
    valid = [case for case in cases if case.valid]
    try:
        async with (
            ResponseCache(audit.cache) as cache,
            Runner(audit.model, cache, audit.concurrency) as runner,
        ):
            _, answers = await _ask(valid, audit, runner)
    finally:
        await audit.model.close()
    outcomes = {name: _outcome(answer, read) for name, answer in answers.items()}
    verdicts = {v.case: v for v in audit.suite.judge(valid, outcomes)} if valid else {}
    return Checked(cases, outcomes, verdicts)


async def _answer_and_judge(audit: Audit, folder: RunFolder, progress: Progress, watch: Watcher) -> None:
    """The flow itself. A cancellation leaves the files whole for all groups that were judged."""
    read = audit.task.parse or LabelReader(audit.task.labels, audit.task.multi_label)
    made = folder.keep_cases(audit.suite.cases(audit.task.documents(audit.options)))
    with closing(made) as cases, folder.answers() as answers, folder.verdicts() as verdicts:
        async with (
            ResponseCache(audit.cache) as cache,
            Runner(audit.model, cache, audit.concurrency) as runner,
        ):
            progress.counts = runner.counts
            async for group, replies in _answered(_groups(cases), audit, runner):
                outcomes = {case.id: _outcome(replies[case.id], read) for case in group}
                for case in group:
                    answers.add((case, outcomes[case.id], _words(replies[case.id])))
                for verdict in audit.suite.judge(group, outcomes):
                    verdicts.add((verdict, group[0].document))
                progress.documents += 1
                progress.cases += len(group)
                watch(progress)


def _groups(cases: Iterable[Case]) -> Iterator[Group]:
    """The valid cases of each group; the others have been written and need nothing more."""
    for _, group in groupby(cases, key=lambda case: case.group):
        yield [case for case in group if case.valid]


async def _answered(groups: Iterator[Group], audit: Audit, runner: Runner) -> AsyncIterator[Answered]:
    """Groups with their answers, in order; the next ones are made and asked while the first is waited for."""
    limit = max(CASES_OUTSTANDING, PER_WORKER * audit.concurrency)
    pending: deque[tuple[int, asyncio.Task[Answered]]] = deque()
    try:
        while (group := await _next(groups)) is not None:
            pending.append((len(group), asyncio.create_task(_ask(group, audit, runner))))
            while pending and (pending[0][1].done() or sum(size for size, _ in pending) > limit):
                yield await pending.popleft()[1]
        while pending:
            yield await pending.popleft()[1]
    finally:
        for _, task in pending:
            task.cancel()
        await asyncio.gather(*(task for _, task in pending), return_exceptions=True)


async def _next(groups: Iterator[Group]) -> Group | None:
    """The next group, made in a thread, which is left to finish its step even when cancelled."""
    step = asyncio.ensure_future(asyncio.to_thread(next, groups, None))
    try:
        return await asyncio.shield(step)
    except asyncio.CancelledError:
        await asyncio.wait([step])
        raise


async def _ask(group: Group, audit: Audit, runner: Runner) -> Answered:
    """The group, its texts blanked since they are on disk, and the answer to each case by id."""
    answers: dict[str, Answer] = {}
    planned = sorted(group, key=lambda case: case.text)
    for start in range(0, len(planned), CASES_AT_ONCE):
        some = [(case.id, audit.planner.request(case)) for case in planned[start : start + CASES_AT_ONCE]]
        replies = await runner.replies([request for _, request in some])
        answers |= {name: replies[request.key] for name, request in some}
    return [replace(case, text="") for case in group], answers


def _outcome(answer: Answer, read: Callable[[Reply], Outcome]) -> Outcome:
    return Outcome(reason=answer.reason) if isinstance(answer, Failure) else read(answer)


def _words(answer: Answer) -> str:
    return answer.message if isinstance(answer, Failure) else answer.text


def _conclude(
    audit: Audit, folder: RunFolder, progress: Progress, status: str, seconds: float
) -> dict[str, Any]:
    """Figures from the files alone, then the reports."""
    folder.merge("answers")
    folder.merge("verdicts")
    config = audit.config
    figures = summary.build(
        folder,
        summary.Facts(
            status=status,
            suite=audit.suite.name,
            task=audit.task.name,
            model=audit.model.name,
            parser=audit.suite.identity["parser"],
            documents=audit.total,
            attributes=config.hinter.attributes,
            order=config.hinter.order,
            max_pairs=config.hinter.max_pairs,
            counts=progress.counts,
            price=config.model.price,
            seconds=seconds,
        ),
    )
    folder.summary.write_text(json.dumps(figures, indent=1, ensure_ascii=False), encoding="utf-8")
    render(folder, figures)
    return figures


def render(folder: RunFolder, figures: Mapping[str, Any]) -> None:
    """The reports of a run folder, from its files."""
    (folder.path / "report.html").write_text(html.render(folder, figures), encoding="utf-8")
    (folder.path / "junit.xml").write_text(junit.render(folder, figures), encoding="utf-8")
