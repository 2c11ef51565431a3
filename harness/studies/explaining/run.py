"""The biased cases of a run explained, a few at a time; explanations already complete are reused."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from harness.answering.cache import ResponseCache
from harness.answering.measures import PREFERENCE
from harness.answering.runner import Counts
from harness.audit.assembly import Audit, assemble
from harness.config import RunConfig
from harness.errors import RunError
from harness.folder import RunFolder
from harness.progress import Progress, unwatched
from harness.report import explained
from harness.report.choosing import choose
from harness.report.explained import Answered, Asked, Settings
from harness.studies.explaining import shapley, store
from harness.studies.explaining.flips import Explainer, Flip

if TYPE_CHECKING:
    from harness.audit.checking import Checked

AT_ONCE = 4
WRITE_SECONDS = 10.0


async def explain(
    folder: RunFolder,
    config: RunConfig,
    settings: Settings,
    names: Sequence[str] = (),
    limit: int = 20,
    progress: Progress = unwatched,
) -> Answered:
    """Explain the flips of the cases ``names``, or of the ``limit`` cases that the report shows first.

    Writes ``explanations.json``. The same settings continue an earlier command, other settings replace its
    explanations. Raises ``RunError`` for a case that is not biased and for a run whose answers a judge
    compares, ``EndpointError`` where the model cannot be asked.
    """
    if settings.method == "shap":
        shapley.check()
    chosen = flips(folder, names, limit)
    earlier = explained.load(folder.path)
    explanations = {_key(flip): flip for flip in earlier.cases} if earlier.settings == settings else {}
    complete = {key for key, flip in explanations.items() if flip.status == "complete"}
    left = [flip for flip in chosen if _key(flip) not in complete]
    progress(len(chosen) - len(left), len(chosen))
    audit = await asyncio.to_thread(assemble, config)
    if audit.task.rates == PREFERENCE:
        raise RunError(f"{folder.path}: a judge compares two answers, and no words of one text explain that")
    written = time.monotonic()

    def take(flip: explained.Flip) -> None:
        nonlocal written
        explanations[_key(flip)] = flip
        progress(sum(_key(flip) in explanations for flip in chosen), len(chosen))
        if time.monotonic() - written > WRITE_SECONDS:
            store.write(folder.path, settings, explanations.values())
            written = time.monotonic()

    try:
        counts = await explain_all(audit, settings, left, take)
    finally:
        if explanations:
            store.write(folder.path, settings, explanations.values())
    return Answered(
        settings=settings,
        requests=Asked(sent=counts.sent, cached=counts.cached, failed=counts.failed),
        cases=tuple(explanations[_key(flip)] for flip in chosen),
    )


async def explain_all(
    audit: Audit, settings: Settings, flips: Sequence[Flip], take: Callable[[explained.Flip], None]
) -> Counts:
    """Explain ``flips``, ``AT_ONCE`` at a time, and ``take`` each explanation as it comes.

    Returns the counts of the requests. Raises ``EndpointError``.
    """
    places = asyncio.Semaphore(AT_ONCE)
    try:
        async with ResponseCache(audit.cache) as cache, audit.runner(cache) as runner:
            explainer = Explainer(audit, runner, settings)

            async def work(flip: Flip) -> None:
                async with places:
                    take(await explainer.explain(flip))

            tasks = [asyncio.create_task(work(flip)) for flip in flips]
            try:
                await asyncio.gather(*tasks)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
            return runner.counts
    finally:
        await audit.model.close()


async def explain_checked(config: RunConfig, checked: Checked, limit: int) -> dict[str, explained.Flip]:
    """Explain the first ``limit`` flips of one text's cases; return the explanations by case."""
    texts = {case.id: case.text for case in checked.cases}
    original = next((case.id for case in checked.cases if case.role == "original"), None)
    biased = []
    for verdict in checked.verdicts.values():
        if verdict.status == "biased":
            expected = verdict.relation == "expected"
            other = verdict.other or (None if expected else original)
            biased.append(
                Flip(verdict.case, texts[verdict.case], other, texts.get(other or "", ""), expected)
            )
    explanations: list[explained.Flip] = []
    audit = await asyncio.to_thread(assemble, config)
    await explain_all(audit, Settings(), biased[:limit], explanations.append)
    return {flip.case: flip for flip in explanations}


def flips(folder: RunFolder, names: Sequence[str], limit: int) -> list[Flip]:
    """Return the first biased verdict of each case chosen, with the texts compared.

    Raises ``RunError`` where one of ``names`` is not a biased case.
    """
    import polars as pl

    verdicts = folder.scan("verdicts")
    chosen = list(dict.fromkeys(names)) or choose(verdicts, limit)[0]
    biased = verdicts.filter((pl.col("status") == "biased") & pl.col("case").is_in(chosen))
    rows = biased.unique("case", keep="first", maintain_order=True).select("case", "relation", "other")
    compared = {case: (relation, other) for case, relation, other in rows.collect().iter_rows()}
    if missing := [name for name in chosen if name not in compared]:
        raise RunError(
            f"{folder.path}: case {missing[0]!r} is not among the biased ones: see verdicts.parquet"
        )
    originals = _originals(folder, [case for case, (_, other) in compared.items() if other is None])
    others = {
        case: other or (originals.get(case) if relation != "expected" else None)
        for case, (relation, other) in compared.items()
    }
    ids = {*compared, *(other for other in others.values() if other is not None)}
    cases = folder.scan("cases").filter(pl.col("id").is_in(ids)).select("id", "text")
    texts = dict(cases.collect(engine="streaming").iter_rows())
    return [
        Flip(case, texts[case], other, texts.get(other or "", ""), compared[case][0] == "expected")
        for case, other in others.items()
    ]


def _originals(folder: RunFolder, cases: Sequence[str]) -> dict[str, str]:
    """Return the original of each case's group, where it has one."""
    import polars as pl

    scan = folder.scan("cases")
    groups = scan.filter(pl.col("id").is_in(cases)).select(case="id", group="group")
    originals = scan.filter(pl.col("role") == "original").select(original="id", group="group")
    return dict(groups.join(originals, on="group").select("case", "original").collect().iter_rows())


def _key(flip: Flip | explained.Flip) -> tuple[str, str | None]:
    return flip.case, flip.other
