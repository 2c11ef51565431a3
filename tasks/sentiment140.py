"""Sentiment of a tweet: negative, neutral or positive? (Sentiment140: polarity 0, 2, 4)"""

from __future__ import annotations

from collections.abc import Iterator

from harness import documents
from harness.core import Document, DocumentOptions, Hub, Task

LABELS = ("Negative", "Neutral", "Positive")
ALIASES = {"0": "Negative", "2": "Neutral", "4": "Positive"}


def read(options: DocumentOptions) -> Iterator[Document]:
    """Yield the documents."""
    return documents.read(options, LABELS, ALIASES, numbered=False)


task = Task(
    name="sentiment140",
    title="Sentiment of a tweet",
    labels=LABELS,
    documents=read,
    prompt="sentiment140",
    source="Go et al. 2009 (stanfordnlp/sentiment140)",
    licence="not stated; sample: Apache-2.0",
    sample=documents.sample("samples/sentiment140.jsonl"),
    favourable=("Positive",),
    hub=Hub("stanfordnlp/sentiment140"),
)
