"""How fluent a run's texts are: originals, valid mutants and discarded ones.

The HINTER paper (RQ2, RQ3.3) took the scores of Grammarly, a closed service; here a text is as fluent as a
language model finds it likely, or as LanguageTool finds few faults in it.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from typing import Any

from tenacity.wait import wait_base

from harness import files
from harness.core import Failure
from harness.errors import EndpointError, Transient
from harness.folder import RunFolder
from harness.plugins import Score, Scorer
from harness.progress import Progress, unwatched
from harness.retrying import BACK_OFF, Losses, Policy
from harness.studies.fluency import figures, sample
from harness.studies.fluency.sample import Sample
from harness.studies.fluency.store import Store, digest

SCHEMA = 1
WRITE_SECONDS = 10.0
BETTER = {"log_likelihood": "higher", "matches_per_100_words": "lower"}


async def measure(
    folder: RunFolder,
    scorer: Scorer,
    limit: int,
    seed: int = 0,
    progress: Progress = unwatched,
    back_off: wait_base = BACK_OFF,
) -> dict[str, Any]:
    """Score at most ``limit`` texts of each kind; the figures, which ``fluency.json`` holds too."""
    chosen = sample.sample(folder.read_cases(), folder.read_cases(), limit, seed)
    asking = Asking(scorer, back_off)
    try:
        await asking.attempt(scorer.prepare)
        scores, kept = await _scores(folder, asking, chosen, progress)
    finally:
        await scorer.close()
    made = {
        "schema": SCHEMA,
        "scorer": {"name": scorer.name, **scorer.identity},
        "measure": scorer.measure,
        "better": BETTER[scorer.measure],
        "seed": seed,
        "limit": limit,
        "texts": {"scored": len(scores) - kept, "kept": kept, "retried": asking.retried},
        "kinds": figures.rows(chosen, scores, seed),
        "valid_less_discarded": figures.valid_less_discarded(chosen, scores, seed),
    }
    files.write(folder.path / "fluency.json", json.dumps(made, indent=2, ensure_ascii=False) + "\n")
    return made


async def _scores(
    folder: RunFolder, asking: Asking, chosen: Sample, progress: Progress
) -> tuple[dict[str, Score | Failure], int]:
    """The score of every text of the sample, and how many of them were known; written as they come."""
    store = Store(folder.path / "fluency.parquet", asking.scorer.identity)
    known = store.known()
    texts = sorted({case.text for case in chosen.cases}, key=lambda text: (-len(text), text))
    scores: dict[str, Score | Failure] = {t: known[key] for t in texts if (key := digest(t)) in known}
    kept = len(scores)
    progress(kept, len(texts))

    written = time.monotonic()

    def take(text: str, found: Score | Failure) -> None:
        nonlocal written
        scores[text] = found
        progress(len(scores), len(texts))
        if time.monotonic() - written > WRITE_SECONDS:
            store.write(chosen, scores)
            written = time.monotonic()

    try:
        await asking.all([text for text in texts if text not in scores], take)
    finally:
        store.write(chosen, scores)
    return scores, kept


class Asking:
    """Scores texts by ``scorer``; what may succeed later is asked again."""

    def __init__(self, scorer: Scorer, back_off: wait_base) -> None:
        self.scorer = scorer
        self.retried = 0
        self._losses = Losses(scorer.name)
        self._policy = Policy(back_off=back_off, on_retry=self._count)

    async def attempt(self, act: Callable[[], Any]) -> None:
        """Do what every text needs. Raises ``EndpointError`` where it cannot be done."""
        try:
            await self._policy.retrying()(act)
        except Transient as error:
            raise EndpointError(f"{self.scorer.name}: {error}") from error

    async def all(self, texts: Sequence[str], take: Callable[[str, Score | Failure], None]) -> None:
        """Score ``texts``, as many at a time as the scorer bears; ``take`` each as it comes."""
        waiting = iter(texts)

        async def work() -> None:
            for text in waiting:
                take(text, await self._one(text))

        workers = [asyncio.create_task(work()) for _ in range(min(self.scorer.concurrency, len(texts)))]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    async def _one(self, text: str) -> Score | Failure:
        try:
            found: Score | Failure = await self._policy.retrying()(self.scorer.score, text)
        except Transient as error:
            return self._losses.lost(error)
        self._losses.answered()
        return found

    def _count(self) -> None:
        self.retried += 1
