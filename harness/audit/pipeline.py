"""The whole flow: documents -> cases -> requests -> answers -> verdicts -> figures -> report.

It works on one group (an original and its mutants) at a time, and each step writes its results to the run
folder. So memory does not grow with the run, and the same command resumes a run that was stopped.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from harness import files, run_log
from harness.answering import salvage
from harness.answering.budget import total
from harness.answering.cache import ResponseCache
from harness.answering.runner import Counts, Runner
from harness.audit import asking, generation, preference
from harness.audit.assembly import Audit, assemble
from harness.audit.batching.run import answered, outstanding
from harness.audit.examination import Examiner
from harness.audit.preference import Judge
from harness.config import RunConfig
from harness.core import Case, Examined, Json, JsonObject
from harness.errors import BudgetSpent, EndpointError, RunError
from harness.folder import DERIVED, RunFolder
from harness.interruption import in_thread
from harness.models import tokens
from harness.plugins import Nouns
from harness.progress import Progress, unwatched
from harness.report import figures, html, judging, junit
from harness.report import summary as summaries
from harness.report.summary import Cases, Summary

if TYPE_CHECKING:
    from harness.audit.adaptive.exploration import Exploration

log = logging.getLogger(__name__)

CASES_OUTSTANDING = 512
PER_SLOT = 8


@dataclass
class RunState:
    """The progress of a run; ``documents`` counts those whose verdicts are in, ``cost`` returns USD.

    ``judged`` counts the requests to a judge, ``rows`` the rows written to each table. ``finished`` is the
    result once it is written.
    """

    total: int
    documents: int = 0
    cases: int = 0
    counts: Counts = field(default_factory=Counts)
    judged: Counts = field(default_factory=Counts)
    cost: Callable[[], float | None] = lambda: None
    waiting: Callable[[], str] = lambda: ""
    note: str = ""
    exploration: Exploration | None = None
    stopped: EndpointError | None = None
    rows: Mapping[str, int] = field(default_factory=dict)
    lengths: Mapping[str, int] | None = None
    finished: Finished | None = None

    def tell(self, note: str) -> None:
        """Note what is happening before there is anything to count."""
        self.note = note


@dataclass(frozen=True)
class Finished:
    """The result of a run: its summary, and the folder of its files."""

    summary: Summary
    folder: Path

    def to_json(self) -> dict[str, Json]:
        """Return the summary as JSON values, with the folder under ``folder``."""
        return {**self.summary.to_json(), "folder": str(self.folder)}


@dataclass(frozen=True)
class Generated:
    """The result of ``generate``: the number of documents read, of those with a case, and the cases."""

    folder: Path
    suite: str
    nouns: Nouns
    documents: int
    eligible: int
    cases: Cases

    def to_json(self) -> dict[str, Json]:
        """Return the counts as a flat JSON object."""
        return {
            "folder": str(self.folder),
            "suite": self.suite,
            "nouns": asdict(self.nouns),
            "documents": self.documents,
            "eligible": self.eligible,
            **self.cases.model_dump(mode="json"),
        }


Watcher = Callable[[RunState], None]
Ending = Literal["complete", "partial", "interrupted"]


async def run(
    config: RunConfig, watch: Watcher = lambda _: None, overwrite: bool = False, buy_again: bool = False
) -> dict[str, Any]:
    """Audit as ``audit`` does, and return the summary as JSON values, with the folder under ``folder``."""
    return (await audit(config, watch, overwrite, buy_again)).to_json()


async def audit(
    config: RunConfig, watch: Watcher = lambda _: None, overwrite: bool = False, buy_again: bool = False
) -> Finished:
    """Run the audit that ``config`` describes, and write summary and reports to the run folder.

    ``watch`` is called once with the ``RunState``, which is updated as the run proceeds. With ``buy_again``,
    a damaged response cache is made anew with what can be read of it; the rest is asked for again. If
    cancelled, the audit writes the results so far, with the status ``interrupted``, and leaves them in the
    state as ``finished``, before ``CancelledError`` is raised. Raises ``HarnessError``.
    """
    assembled = await in_thread(lambda: assemble(config))
    judge = await in_thread(lambda: preference.of(config))
    with assembled.folder.held():
        assembled.folder.open(assembled.resolved, assembled.identity, overwrite)
        with run_log.logged(assembled.folder.path, assembled.about, assembled.notes) as journal:
            if buy_again:
                await in_thread(lambda: _renew(assembled.cache))
            state = RunState(assembled.total)
            watch(state)
            cancelled = await _audited(assembled, judge, state)
            assert state.finished is not None
            summary = state.finished.summary
            journal.line(f"ended: {summary.status}, {summary.requests.model_dump_json()}")
    if cancelled is not None:
        raise cancelled
    return state.finished


def _renew(cache: Path) -> None:
    if (renewed := salvage.renew(cache)) is not None:
        log.warning(
            "cache %s was damaged: %s replies could be read and are kept, the others are asked for again; the"
            " damaged file is %s",
            cache,
            f"{renewed.replies:,}",
            renewed.aside,
        )


async def _audited(
    assembled: Audit, judge: Audit | None, progress: RunState
) -> asyncio.CancelledError | None:
    """Run the audit in its folder, which exists, and write its results; return what cancelled it, if so."""
    config, folder, started = assembled.config, assembled.folder, time.monotonic()
    status: Ending = "complete"
    cancelled: asyncio.CancelledError | None = None
    if not config.batch and (left := outstanding(folder.path)):
        log.warning(
            "%d requests are in batch jobs, which --batch would resume: this run sends them again", left
        )
    try:
        try:
            if config.batch:
                assembled = await answered(assembled, folder, progress.tell)
                progress.note = ""
            await _flow(assembled, folder, progress, judge)
        finally:
            for asked in filter(None, (assembled, judge)):
                await asked.model.close()
    except asyncio.CancelledError as error:
        status, cancelled = "interrupted", error
    except EndpointError as error:
        if not progress.counts.replies and not isinstance(error, BudgetSpent):
            raise
        log.error("%s", error)
        status, progress.stopped = "partial", error
    if status == "complete" and (progress.counts.failed or progress.judged.failed):
        status = "partial"
    summary = _conclude(assembled, judge, folder, progress, status, time.monotonic() - started)
    progress.finished = Finished(summary, folder.path)
    return cancelled


async def _flow(audit: Audit, folder: RunFolder, progress: RunState, judge: Audit | None = None) -> None:
    """Take documents to verdicts. If cancelled, the files are complete for all groups that were judged."""
    generated = generation.cases(audit, folder, audit.config.workers)
    with closing(generated) as cases, folder.derived() as tables:
        budget = audit.budget
        async with (
            ResponseCache(audit.cache) as cache,
            audit.runner(cache, budget) as runner,
            preference.sitting(judge, cache, budget) as panel,
        ):
            progress.counts, progress.rows = runner.counts, tables.rows
            progress.cost = lambda: _cost((audit, runner.counts), (judge, progress.judged))
            progress.waiting = lambda: runner.waiting
            if panel is not None:
                progress.judged = panel.counts
            limit = max(CASES_OUTSTANDING, PER_SLOT * runner.ceiling)
            examiner = Examiner(audit, runner, panel)
            groups = asking.groups(cases, audit.suite.include_discarded)
            if audit.config.budget.choosing:
                groups = await _chosen(audit, folder, examiner, cases, progress)
            async for group in _examined(groups, examiner, limit, lambda: _stop(runner, panel)):
                tables.add(group)
                progress.documents += 1
                progress.cases += len(group.cases)
            if audit.suite.words and runner.counts.replies:
                progress.lengths = await tokens.of_words(audit.model, audit.suite.words)
            if progress.stopped is not None:
                raise progress.stopped


def _cost(*asked: tuple[Audit | None, Counts]) -> float | None:
    """Return what the model and its judge cost, in USD; None if neither price is known."""
    return total(figures.cost(counts, audit.prices) for audit, counts in asked if audit is not None)


async def _stop(runner: Runner, judge: Judge | None) -> None:
    """Send nothing more, to the model and to its judge."""
    await asyncio.gather(*(asked.stop() for asked in (runner, judge) if asked is not None))


async def _chosen(
    audit: Audit, folder: RunFolder, examiner: Examiner, cases: Iterable[Case], progress: RunState
) -> Iterator[asking.Group]:
    """Return the groups that a budget or a goal chooses, the only choice of cases that depends on answers."""
    from harness.audit.adaptive.exploration import Exploration
    from harness.audit.adaptive.goal import Goal

    limits = audit.config.budget
    await in_thread(lambda: deque(cases, 0))
    exploration = Exploration(
        folder,
        examiner,
        audit.suite.judge,
        limits.adaptive,
        audit.config.seed,
        audit.outcomes,
        estimated=limits.adaptive_for == "rates",
        goal=Goal.of(limits) if limits.sequential else None,
    )
    progress.exploration = exploration
    try:
        await exploration.run()
    except EndpointError as error:  # the answers so far are judged all the same
        progress.stopped = error
    return exploration.groups()


async def _examined(
    groups: Iterator[asking.Group], examiner: Examiner, limit: int, stop: Callable[[], Awaitable[None]]
) -> AsyncIterator[Examined]:
    """Yield the groups in order, examined.

    Further groups are made and asked about while the first is awaited, up to ``limit`` outstanding cases. If
    cancelled, or if no more can be asked, ``stop`` is awaited, and the groups that then have all their
    answers are yielded before the error is raised.
    """
    pending: deque[tuple[int, asyncio.Task[Examined]]] = deque()
    try:
        while (group := await asking.next_group(groups)) is not None:
            pending.append((len(group), asyncio.create_task(examiner.examine(group))))
            while pending and (pending[0][1].done() or sum(size for size, _ in pending) > limit):
                yield await _first(pending)
        while pending:
            yield await _first(pending)
    except (asyncio.CancelledError, EndpointError):
        await stop()
        await asyncio.gather(*(task for _, task in pending), return_exceptions=True)
        for _, task in pending:
            if not task.cancelled() and task.exception() is None:
                yield task.result()
        raise
    finally:
        for _, task in pending:
            task.cancel()
        await asyncio.gather(*(task for _, task in pending), return_exceptions=True)


async def _first(pending: deque[tuple[int, asyncio.Task[Examined]]]) -> Examined:
    """Return the first of ``pending`` when it is examined; cancelled, it stays there and goes on."""
    task = pending[0][1]
    await asyncio.wait([task])
    pending.popleft()
    return task.result()


async def generate(
    config: RunConfig,
    overwrite: bool = False,
    watch: Progress = unwatched,
    engine: generation.Engine = generation.make,
) -> Generated:
    """Make the cases of a run and write them to its folder, for a later ``run`` with the same settings.

    ``watch`` is called with the number of documents done and the total; ``engine`` makes and writes the
    cases. Raises ``HarnessError``.
    """
    audit = await in_thread(lambda: assemble(config))
    with audit.folder.held():
        audit.folder.open(audit.resolved, audit.identity, overwrite)
        await _generated(audit, watch, engine)
    cases = audit.folder.scan("cases")
    return Generated(
        folder=audit.folder.path,
        suite=audit.suite.name,
        nouns=audit.suite.nouns,
        documents=audit.total,
        eligible=figures.eligible(cases),
        cases=figures.case_counts(cases),
    )


async def _generated(audit: Audit, watch: Progress, engine: generation.Engine) -> None:
    """Make the cases in the folder, which exists."""
    with run_log.logged(audit.folder.path, audit.about, audit.notes) as journal:
        await in_thread(lambda: engine(audit, audit.folder, audit.config.workers, watch))
        journal.line("ended: all cases are made")


def _conclude(
    audit: Audit,
    judge: Audit | None,
    folder: RunFolder,
    progress: RunState,
    status: Ending,
    seconds: float,
) -> Summary:
    """Compute the summary from the files alone, then write it and the reports."""
    for name in DERIVED:
        folder.merge(name, progress.rows.get(name, 0))
    config = audit.config
    summary = figures.build(
        folder,
        figures.Facts(
            status=status,
            stopped=None if progress.stopped is None else str(progress.stopped),
            suite=audit.suite.name,
            task=audit.task.name,
            model=audit.model.name,
            parser=str(audit.suite.identity.get("parser", "none")),
            documents=audit.total,
            shortened=audit.too_long,
            labels=0 if audit.task.rates else len(audit.task.labels),
            left_out=audit.left_out,
            notes=(*audit.notes, *judging.notes(folder.path)),
            nouns=audit.suite.nouns,
            settings={**audit.suite.settings, **_adaptive(progress.exploration, config)},
            repeats=config.repeats,
            confirm=config.confirm,
            counts=progress.counts,
            prices=audit.prices,
            facts=_facts(audit, folder, progress),
            seconds=seconds,
            outcomes=audit.outcomes,
            controls=audit.suite.controlled and config.control.share > 0,
            free=bool(audit.task.measures),
            judge=None if judge is None else preference.facts(judge, progress.judged),
            answer_tokens=audit.planner.token_limit if audit.model.capabilities.chat else None,
        ),
        _additions(audit, folder, progress.lengths),
    )
    summaries.write(summary, folder.summary)
    render(folder, summary)
    return summary


def _facts(audit: Audit, folder: RunFolder, progress: RunState) -> JsonObject:
    """Return the facts of the model; in a run that asked nothing, also those of its earlier part."""
    facts = audit.model.facts
    if progress.counts.sent or not folder.summary.exists():
        return facts
    try:
        return _filled(facts, cast("JsonObject", summaries.read(folder.summary).model_facts))
    except RunError:  # a damaged summary is replaced
        return facts


def _filled(facts: JsonObject, earlier: JsonObject) -> JsonObject:
    """Return ``facts``, with those of ``earlier`` for what is absent or None."""
    filled = dict(earlier)
    for name, value in facts.items():
        before = earlier.get(name)
        if isinstance(value, Mapping) and isinstance(before, Mapping):
            filled[name] = _filled(value, before)
        elif value is not None:
            filled[name] = value
        else:
            filled.setdefault(name, None)
    return filled


def _adaptive(exploration: Exploration | None, config: RunConfig) -> JsonObject:
    """Return what an adaptive budget spent, and what is known of a goal, for the summary; empty without."""
    if exploration is None:
        return {}
    stopping: JsonObject = {"stopping": exploration.stopping()} if config.budget.sequential else {}
    if config.budget.adaptive is None:
        return stopping
    spent = {
        "asked": exploration.requests,
        "rounds": exploration.rounds,
        "estimates": exploration.estimates(),
    }
    return {"adaptive": {"budget": config.budget.adaptive, **spent}, **stopping}


def _additions(audit: Audit, folder: RunFolder, lengths: Mapping[str, int] | None) -> Mapping[str, object]:
    """Return what the suite adds to the summary, with token counts of its words where they are known."""
    suite = audit.suite if lengths is None else audit.suite.weighed(lengths)
    return suite.figures(folder).plain()


def render(folder: RunFolder, summary: Summary) -> None:
    """Write the reports of a run folder from its files."""
    html.write(folder, summary)
    files.write(folder.path / "junit.xml", junit.render(folder, summary))
