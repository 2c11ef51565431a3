"""What the tasks that rate a text have in common: their scale, and texts that need no gold rating."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from harness import documents
from harness.core import Document, DocumentOptions, Task

HUNDREDTHS = tuple(f"{hundredths / 100:.2f}" for hundredths in range(101))
MOST_STEPS = 9


def read(options: DocumentOptions) -> Iterator[Document]:
    """The texts alone: columns of labels and scores are left unread."""
    return documents.read(options, (), adapt=_text_alone)


def rating(name: str, title: str) -> Task:
    """The task of rating a text for ``name`` with the prompt of that name.

    From 0.00 to 1.00, or with the option ``scale`` = N in whole numbers from 0 to N, which are single digits
    so that a model with log-probabilities gives each of them one.
    """

    def configure(options: Mapping[str, Any]) -> Task:
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
        configure=configure,
    )
    return task


def _scale(asked: Any) -> tuple[str, ...]:
    try:
        highest = int(asked)
    except (TypeError, ValueError):
        highest = 0
    if not 2 <= highest <= MOST_STEPS or str(asked) != str(highest):
        raise ValueError(f"scale: give a whole number from 2 to {MOST_STEPS}, not {asked!r}")
    return tuple(map(str, range(highest + 1)))


def _text_alone(row: documents.Row) -> documents.Row:
    gold = (*documents.LABEL_COLUMNS, "score")
    return {column: value for column, value in row.items() if column not in gold}
