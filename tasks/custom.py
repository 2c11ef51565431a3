"""Any classification: labels and question of the user's own, over texts of the user's own.

``[task_options]`` of a configuration, or the options ``--labels``, ``--question`` and ``--multi-label``. Its
prompt has no solved examples, which are a task's own: ``--prompt FILE`` gives some, ``--shots`` sends them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from harness import documents
from harness.core import Document, DocumentOptions, Task


def read(labels: tuple[str, ...], multi_label: bool, options: DocumentOptions) -> Iterator[Document]:
    """An integer is the place of a label (0, 1, …), unless the labels themselves are numbers."""
    numbered = not any(label.strip().isdigit() for label in labels)
    return documents.read(options, labels, multi_label=multi_label, paragraphs=True, numbered=numbered)


def configure(options: Mapping[str, Any]) -> Task:
    """The task with its ``labels``, ``question`` (in it, {labels} stands for them) and ``multi_label``."""
    if "labels" not in options:
        raise ValueError('labels: task "custom" needs them: --labels "A, B", or a list in the configuration')
    labels, multi_label = tuple(options["labels"]), bool(options.get("multi_label", False))
    question: str | None = options.get("question")
    return replace(
        task,
        labels=labels,
        documents=partial(read, labels, multi_label),
        prompt="custom_multi" if multi_label else "custom",
        multi_label=multi_label,
        question=question and question.replace("{labels}", ", ".join(labels)),
    )


task = Task(
    name="custom",
    title="A classification of your own",
    labels=(),
    documents=partial(read, (), False),
    prompt="custom",
    source="your texts, with your labels (--labels), question (--question) or whole prompt (--prompt)",
    licence="yours; sample: Apache-2.0",
    sample=documents.sample("samples/custom.jsonl"),
    options=("labels", "question", "multi_label"),
    configure=configure,
)
