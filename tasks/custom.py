"""Any classification: your own labels and question over your own texts.

Configured by ``[task_options]``, or by the options ``--labels``, ``--question`` and ``--multi-label``. The
bundled prompt has no solved examples, which depend on the task: supply them with ``--prompt FILE`` and send
them with ``--shots``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from harness import documents
from harness.core import Document, DocumentOptions, Task


def read(labels: tuple[str, ...], multi_label: bool, options: DocumentOptions) -> Iterator[Document]:
    """Yield the documents; an integer is an index of ``labels`` unless any label is itself a number."""
    numbered = not any(label.strip().isdigit() for label in labels)
    return documents.read(options, labels, multi_label=multi_label, paragraphs=True, numbered=numbered)


def configure(options: Mapping[str, Any]) -> Task:
    """Return the task with the given ``labels``, ``question`` and ``multi_label``.

    ``{labels}`` in the question stands for the labels. Raises ``ValueError`` where labels are missing.
    """
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
