"""How fluent a run's texts are: originals, valid mutants and discarded ones.

The HINTER paper (RQ2, RQ3.3) uses scores of Grammarly, a closed service. Here fluency is the likelihood of a
text under a language model, or the number of faults that LanguageTool finds in it.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Sequence

from tenacity.wait import wait_base

from harness import files
from harness.core import Failure, Status
from harness.errors import EndpointError, Transient
from harness.folder import RunFolder
from harness.plugins import Score, Scorer
from harness.progress import Progress, unwatched
from harness.report.fluency import NAME, SCHEMA, Fluency, Judge, Texts
from harness.retrying import BACK_OFF, Losses, Policy
from harness.studies.fluency import figures, sample
from harness.studies.fluency.sample import Sample
from harness.studies.fluency.store import Store, digest

WRITE_SECONDS = 10.0
BETTER = {"log_likelihood": "higher", "matches_per_100_words": "lower"}


async def measure(
    folder: RunFolder,
    scorer: Scorer,
    limit: int,
    seed: int = 0,
    progress: Progress = unwatched,
    back_off: wait_base = BACK_OFF,
) -> Fluency:
    """Score at most ``limit`` texts of each kind; return the figures and write them to ``fluency.json``.

    Raises ``EndpointError`` where the scorer cannot be reached, ``RunError`` where ``fluency.parquet`` cannot
    be read.
    """
    chosen = sample.sample(folder.read_cases(), folder.read_cases(), limit, seed)
    asking = Asking(scorer, back_off)
    try:
        await asking.attempt(scorer.prepare)
        scores, reused = await _scores(folder, asking, chosen, progress)
    finally:
        await scorer.close()
    fluency = Fluency(
        schema=SCHEMA,
        scorer=Judge.model_validate({"name": scorer.name, **scorer.identity}),
        measure=scorer.measure,
        better=BETTER[scorer.measure],
        seed=seed,
        limit=limit,
        texts=Texts(scored=len(scores) - reused, kept=reused, retried=asking.retried),
        kinds=tuple(figures.rows(chosen, scores, seed)),
        valid_less_discarded=figures.valid_less_discarded(chosen, scores, seed),
        by_verdict=tuple(figures.by_verdict(chosen, scores, statuses(folder), seed)),
    )
    text = json.dumps(fluency.to_json(), indent=2, ensure_ascii=False)
    files.write(folder.path / NAME, f"{text}\n")
    return fluency


def statuses(folder: RunFolder) -> dict[str, Status]:
    """Return the verdicts on mutants, by case, and on originals: whether any mutant changes the answer.

    An original without such a mutant is left out where a mutant lacks its answer. Empty if the cases were
    made, but not asked about.
    """
    import polars as pl

    if not (folder.path / "verdicts.parquet").exists():
        return {}
    status = pl.col("status")
    groups = folder.scan("cases").select("id", "group", "role")
    judged = folder.scan("verdicts").filter(pl.col("relation") == "star").select("case", "status")
    of_groups = (
        judged.join(groups, left_on="case", right_on="id")
        .group_by("group")
        .agg(
            pl.when((status == "biased").any())
            .then(pl.lit("biased"))
            .when((status == "benign").all())
            .then(pl.lit("benign"))
            .otherwise(pl.lit("undetermined"))
            .first()
            .alias("status")
        )
        .join(groups.filter(pl.col("role") == "original"), on="group")
        .select(case="id", status="status")
    )
    return dict(pl.concat([judged, of_groups]).collect().iter_rows())


async def _scores(
    folder: RunFolder, asking: Asking, chosen: Sample, progress: Progress
) -> tuple[dict[str, Score | Failure], int]:
    """Return the score of every text of the sample, and how many were reused; write them as they come."""
    store = Store(folder.path / "fluency.parquet", asking.scorer.identity)
    earlier = store.scores()
    texts = sorted({case.text for case in chosen.cases}, key=lambda text: (-len(text), text))
    scores: dict[str, Score | Failure] = {t: earlier[key] for t in texts if (key := digest(t)) in earlier}
    reused = len(scores)
    progress(reused, len(texts))

    written = time.monotonic()

    def take(text: str, score: Score | Failure) -> None:
        nonlocal written
        scores[text] = score
        progress(len(scores), len(texts))
        if time.monotonic() - written > WRITE_SECONDS:
            store.write(chosen, scores)
            written = time.monotonic()

    try:
        await asking.all([text for text in texts if text not in scores], take)
    finally:
        store.write(chosen, scores)
    return scores, reused


class Asking:
    """Asks ``scorer`` about texts, retrying what may succeed later; ``retried`` counts the retries."""

    def __init__(self, scorer: Scorer, back_off: wait_base) -> None:
        self.scorer = scorer
        self.retried = 0
        self._losses = Losses(scorer.name)
        self._policy = Policy(back_off=back_off, on_retry=self._count)

    async def attempt(self, act: Callable[[], Awaitable[None]]) -> None:
        """Do ``act``, which every text depends on. Raises ``EndpointError`` where it keeps failing."""
        try:
            await self._policy.retrying()(act)
        except Transient as error:
            raise EndpointError(f"{self.scorer.name}: {error}") from error

    async def all(self, texts: Sequence[str], take: Callable[[str, Score | Failure], None]) -> None:
        """Score ``texts``, up to the scorer's concurrency at a time, and ``take`` each score as it comes."""
        waiting = iter(texts)

        async def work() -> None:
            for text in waiting:
                take(text, await self._score(text))

        workers = [asyncio.create_task(work()) for _ in range(min(self.scorer.concurrency, len(texts)))]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    async def _score(self, text: str) -> Score | Failure:
        try:
            score: Score | Failure = await self._policy.retrying()(self.scorer.score, text)
        except Transient as error:
            return self._losses.lost(error)
        self._losses.answered()
        return score

    def _count(self, seconds: float) -> None:
        self.retried += 1
