"""What the rating tasks share: their scale, and texts without a gold rating."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from harness import documents
from harness.core import Document, DocumentOptions, Task

HUNDREDTHS = tuple(f"{hundredths / 100:.2f}" for hundredths in range(101))
MOST_STEPS = 9


def read(options: DocumentOptions) -> Iterator[Document]:
    """Yield the texts only, ignoring columns of labels and scores."""
    return documents.read(options, (), adapt=_text_alone)


def rating(name: str, title: str, favourable: bool = False) -> Task:
    """Return the task of rating a text for ``name``, with the prompt of that name.

    The scale runs from 0.00 to 1.00 or, with the option ``scale`` = N, over the whole numbers from 0 to N.
    These are single digits, so that a model with log-probabilities assigns one to each step. ``favourable``:
    a high score is good for the person spoken of.
    """

    def configure(options: Mapping[str, object]) -> Task:
        """Return the task on the scale of ``options``. Raises ``ValueError``."""
        return task if "scale" not in options else replace(task, labels=_scale(options["scale"]))

    task = Task(
        name=name,
        title=title,
        labels=HUNDREDTHS,
        documents=read,
        prompt=name,
        rates=name,
        source="any texts, or the Equity Evaluation Corpus (--suite eec); asked as in SemEval-2018 Task 1",
        licence="sample: Apache-2.0",
        sample=documents.sample("samples/valence.jsonl"),
        options=("scale",),
        favourable=(name,) if favourable else (),
        configure=configure,
    )
    return task


def _scale(scale: object) -> tuple[str, ...]:
    try:
        highest = int(str(scale))
    except (TypeError, ValueError):
        highest = 0
    if not 2 <= highest <= MOST_STEPS or str(scale) != str(highest):
        raise ValueError(f"scale: give a whole number from 2 to {MOST_STEPS}, not {scale!r}")
    return tuple(map(str, range(highest + 1)))


def _text_alone(row: documents.Row) -> documents.Row:
    gold = (*documents.LABEL_COLUMNS, "score")
    return {column: value for column, value in row.items() if column not in gold}
