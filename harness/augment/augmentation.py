"""The whole of ``hinter augment``: texts, their versions, the rows, and a datasheet beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby, islice
from pathlib import Path

from harness import documents as sources
from harness import files, registry
from harness.audit.assembly import make_suite, resolve_task
from harness.augment import datasheet, writing
from harness.augment.doubts import Doubts
from harness.augment.rows import Augmenter, Counts, Row, digest
from harness.config import RunConfig
from harness.core import Document
from harness.errors import ConfigError
from harness.plugins import Controls, Suite
from harness.progress import Progress, unwatched
from harness.suites import lexicon

BATCH = 32


@dataclass(frozen=True)
class Augmented:
    """The result: the file of the rows, the datasheet, and what is counted in it."""

    path: Path
    datasheet: Path
    counts: Counts


def augment(
    config: RunConfig, out: Path, each: int = 1, originals: bool = True, watch: Progress = unwatched
) -> Augmented:
    """Write the texts of ``config`` and their versions to ``out``, and a datasheet beside it.

    ``each`` is the number of versions of every group at a place; without ``originals``, rows of versions
    alone are written. Raises ``HarnessError``.
    """
    writing.checked(out)
    options = registry.resolve(config.suite, registry.for_versions(config.suite, config.suite_options))
    config = config.model_copy(update={"control": Controls(share=0)}).of_suite(options)
    task, prompt, texts = resolve_task(config)
    suite = make_suite(config, task)
    if suite.makes_texts:
        raise ConfigError(f"suite {suite.name!r} makes its own texts: augment yours with another")
    known = [digest(document.text) for document in task.documents(texts)]
    asked = f"{prompt.system}\n{prompt.question}"
    augmenter = Augmenter(Doubts(asked, lexicon.load()), frozenset(known), each, config.seed)
    rows = _rows(task.documents(texts), suite, augmenter, lambda done: watch(done, len(known)))
    kept = (row.cells() for row in rows if originals or row.case is not None)
    writing.write(out, kept, task.multi_label)
    sheet = out.with_suffix(".datasheet.md")
    about = datasheet.Source(
        texts.path or texts.dataset or "", sources.digest(texts), task, suite, config, each, originals
    )
    files.write(sheet, datasheet.written(out, about, augmenter.counts))
    return Augmented(out, sheet, augmenter.counts)


def _rows(
    documents: Iterator[Document], suite: Suite, augmenter: Augmenter, watch: Callable[[int], None]
) -> Iterator[Row]:
    """Yield the rows of all ``documents``, of which a few are in memory at a time."""
    while batch := list(islice(documents, BATCH)):
        cases = suite.cases(iter(batch))
        by_document = {name: list(of_one) for name, of_one in groupby(cases, key=lambda case: case.document)}
        for document in batch:
            yield from augmenter.rows(document, by_document.get(document.id, ()))
        watch(augmenter.counts.texts)
