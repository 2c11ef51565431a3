"""The biased verdicts of a run explained, a few at a time, what is known already left as it is."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from harness.answering.cache import ResponseCache
from harness.answering.runner import Counts
from harness.audit.assembly import Audit, assemble
from harness.config import RunConfig
from harness.errors import RunError
from harness.folder import RunFolder
from harness.progress import Progress, unwatched
from harness.report.choosing import choose
from harness.studies.explaining import shapley, store
from harness.studies.explaining.flips import Explainer, Flip, Settings

if TYPE_CHECKING:
    from harness.audit.pipeline import Checked

AT_ONCE = 4
WRITE_SECONDS = 10.0


async def explain(
    folder: RunFolder,
    config: RunConfig,
    settings: Settings,
    names: Sequence[str] = (),
    limit: int = 20,
    progress: Progress = unwatched,
) -> dict[str, Any]:
    """Explain the flips of the cases ``names``, or ``limit`` of those the report shows first.

    What is found stands in ``explanations.json``; the same command goes on where an earlier one ended,
    other settings replace it. Raises ``RunError`` for a case that is not biased, ``EndpointError`` where
    nothing can be asked.
    """
    if settings.method == "shap":
        shapley.check()
    wanted = flips(folder, names, limit)
    plain = asdict(settings)
    earlier = store.read(folder.path)
    known = {_key(one): one for one in earlier["cases"]} if earlier["settings"] == plain else {}
    left = [flip for flip in wanted if known.get((flip.case, flip.other), {}).get("status") != "complete"]
    progress(len(wanted) - len(left), len(wanted))
    audit = await asyncio.to_thread(assemble, config)
    written = time.monotonic()

    def take(found: Mapping[str, Any]) -> None:
        nonlocal written
        known[_key(found)] = found
        progress(sum((f.case, f.other) in known for f in wanted), len(wanted))
        if time.monotonic() - written > WRITE_SECONDS:
            store.write(folder.path, plain, list(known.values()))
            written = time.monotonic()

    try:
        counts = await explain_all(audit, settings, left, take)
    finally:
        if known:
            store.write(folder.path, plain, list(known.values()))
    cases = [known[flip.case, flip.other] for flip in wanted]
    sent = {"sent": counts.sent, "cached": counts.cached, "failed": counts.failed}
    return {"settings": plain, "requests": sent, "cases": cases}


async def explain_all(
    audit: Audit, settings: Settings, wanted: Sequence[Flip], take: Callable[[Mapping[str, Any]], None]
) -> Counts:
    """Explain ``wanted``, ``AT_ONCE`` at a time, and ``take`` each as it comes; what was asked for it."""
    places = asyncio.Semaphore(AT_ONCE)
    try:
        async with ResponseCache(audit.cache) as cache, audit.runner(cache) as runner:
            explainer = Explainer(audit, runner, settings)

            async def one(flip: Flip) -> None:
                async with places:
                    take(await explainer.explain(flip))

            tasks = [asyncio.create_task(one(flip)) for flip in wanted]
            try:
                await asyncio.gather(*tasks)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
            return runner.counts
    finally:
        await audit.model.close()


async def explain_checked(config: RunConfig, checked: Checked, limit: int) -> dict[str, dict[str, Any]]:
    """The first ``limit`` flips of one text's cases, explained, by case."""
    texts = {case.id: case.text for case in checked.cases}
    original = next((case.id for case in checked.cases if case.role == "original"), None)
    wanted = []
    for verdict in checked.verdicts.values():
        if verdict.status == "biased":
            expected = verdict.relation == "expected"
            other = verdict.other or (None if expected else original)
            wanted.append(
                Flip(verdict.case, texts[verdict.case], other, texts.get(other or "", ""), expected)
            )
    found: dict[str, dict[str, Any]] = {}
    audit = await asyncio.to_thread(assemble, config)
    await explain_all(audit, Settings(), wanted[:limit], lambda one: found.update({one["case"]: dict(one)}))
    return found


def flips(folder: RunFolder, names: Sequence[str], limit: int) -> list[Flip]:
    """The first biased verdict of each case chosen, with the texts compared."""
    import polars as pl

    verdicts = folder.scan("verdicts")
    chosen = list(dict.fromkeys(names)) or choose(verdicts, limit)[0]
    biased = verdicts.filter((pl.col("status") == "biased") & pl.col("case").is_in(chosen))
    rows = biased.unique("case", keep="first", maintain_order=True).select("case", "relation", "other")
    found = {case: (relation, other) for case, relation, other in rows.collect().iter_rows()}
    if missing := [name for name in chosen if name not in found]:
        raise RunError(
            f"{folder.path}: case {missing[0]!r} is not among the biased ones: see verdicts.parquet"
        )
    originals = _originals(folder, [case for case, (_, other) in found.items() if other is None])
    others = {
        case: other or (originals.get(case) if relation != "expected" else None)
        for case, (relation, other) in found.items()
    }
    ids = {*found, *(other for other in others.values() if other is not None)}
    cases = folder.scan("cases").filter(pl.col("id").is_in(ids)).select("id", "text")
    texts = dict(cases.collect(engine="streaming").iter_rows())
    return [
        Flip(case, texts[case], other, texts.get(other or "", ""), found[case][0] == "expected")
        for case, other in others.items()
    ]


def _originals(folder: RunFolder, cases: Sequence[str]) -> dict[str, str]:
    """The original of each case's group, where it has one."""
    import polars as pl

    scan = folder.scan("cases")
    groups = scan.filter(pl.col("id").is_in(cases)).select(case="id", group="group")
    originals = scan.filter(pl.col("role") == "original").select(original="id", group="group")
    return dict(groups.join(originals, on="group").select("case", "original").collect().iter_rows())


def _key(found: Mapping[str, Any]) -> tuple[str, str | None]:
    return found["case"], found["other"]
