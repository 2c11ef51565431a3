"""Stanford Sentiment Treebank, three classes: is a sentence from a film review negative, neutral or positive?

Reads the treebank's scores from 0 to 1 with its official cut-offs: up to 0.4 negative, above 0.6 positive,
neutral between them (S²LCT, section 4.1); or sentences labelled 0 to 2 in that order.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness import documents
from harness.core import Document, DocumentOptions, Task
from harness.documents import treebank

LABELS = treebank.CLASSES
ALIASES = {"neg": "Negative", "neu": "Neutral", "pos": "Positive"}


def adapt(row: documents.Row) -> documents.Row:
    """Convert a score to a label."""
    return row if "label" in row or "score" not in row else treebank.labelled(row)


def read(options: DocumentOptions) -> Iterator[Document]:
    """Yield the documents."""
    return documents.read(options, LABELS, ALIASES, adapt=adapt)


task = Task(
    name="sst",
    title="Sentiment of a sentence, neutral too",
    labels=LABELS,
    documents=read,
    prompt="sst",
    source="Socher et al. 2013 (the treebank's scored sentences)",
    licence="not stated; sample: Apache-2.0",
    sample=documents.sample("samples/sst.jsonl"),
    favourable=("Positive",),
)
