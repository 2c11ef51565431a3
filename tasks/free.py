"""Answers in free form: your question about each text, and the answers measured instead of read as labels.

Configured by ``[task_options]``, or by ``--question`` and ``--measure``. The answers are texts; each measure
turns them into a number from 0 to 1. The first is the score of the run, all are compared between groups.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from harness import documents
from harness.core import Task
from harness.documents import ratings

MEASURES = ("sentiment", "length", "refusal")
TOKENS = 300


def configure(options: Mapping[str, Any]) -> Task:
    """Return the task with the given ``question`` and ``measure``. Raises ``ValueError``."""
    if "question" not in options:
        raise ValueError('question: task "free" needs one: --question "Write …", or in the configuration')
    if "{text}" in options["question"]:
        raise ValueError(
            "question: leave {text} out: the text follows; for another order, give --prompt FILE"
        )
    measures = tuple(options.get("measure", MEASURES))
    return replace(task, question=str(options["question"]), measures=measures, rates=measures[0])


task = Task(
    name="free",
    title="Answers in free form to a question of your own",
    labels=(),
    documents=ratings.read,
    prompt="free",
    rates=MEASURES[0],
    measures=MEASURES,
    answer_tokens=TOKENS,
    source="your texts, with your question (--question) and measures (--measure)",
    licence="yours; sample: Apache-2.0",
    sample=documents.sample("samples/custom.jsonl"),
    options=("question", "measure"),
    configure=configure,
)
