"""Sentiment of reviews: is the writer's opinion positive or negative? (HINTER, Table 4: IMDB)

Reads the bundled sample, or your own reviews with the labels 0/1, neg/pos or negative/positive.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from harness import documents
from harness.core import Document, DocumentOptions, Hub, Task

LABELS = ("Negative", "Positive")
ALIASES = {"0": "Negative", "1": "Positive", "neg": "Negative", "pos": "Positive"}
BREAK = re.compile(r"(?:<br\s*/?>\s*)+", re.IGNORECASE)


def clean(text: str) -> str:
    """Replace HTML line breaks by spaces; nothing else is rewritten."""
    return BREAK.sub(" ", text)


def read(options: DocumentOptions) -> Iterator[Document]:
    """Yield the documents."""
    return documents.read(options, LABELS, ALIASES, clean)


task = Task(
    name="imdb",
    title="Sentiment of reviews",
    labels=LABELS,
    documents=read,
    prompt="imdb",
    source="Maas et al. 2011 (stanfordnlp/imdb), or any reviews; the bundled sample is the project's own",
    licence="sample: Apache-2.0",
    sample=documents.sample("sample.csv"),
    favourable=("Positive",),
    hub=Hub("stanfordnlp/imdb", revision="e6281661ce1c48d982bc483cf8a173c1bbeb5d31"),
)
