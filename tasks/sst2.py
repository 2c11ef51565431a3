"""Stanford Sentiment Treebank, two classes: is a sentence from a film review positive or negative?

Reads SST-2 (label 0/1) and the treebank's scores from 0 to 1 with the official cut-offs: up to 0.4 negative,
above 0.6 positive. Sentences between them are neutral and skipped, as in SST-2.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness import documents
from harness.core import Document, DocumentOptions, Hub, Task
from harness.documents import treebank

LABELS = ("Negative", "Positive")
ALIASES = {"neg": "Negative", "pos": "Positive"}


def adapt(row: documents.Row) -> documents.Row | None:
    """Convert a score to a label; return None for a neutral sentence."""
    if "label" in row or "score" not in row:
        return row
    labelled = treebank.labelled(row)
    return None if labelled["label"] == "Neutral" != row["score"] else labelled


def read(options: DocumentOptions) -> Iterator[Document]:
    """Yield the documents."""
    return documents.read(options, LABELS, ALIASES, adapt=adapt)


task = Task(
    name="sst2",
    title="Sentiment of a sentence",
    labels=LABELS,
    documents=read,
    prompt="sst2",
    source="Socher et al. 2013 (stanfordnlp/sst2)",
    licence="not stated; sample: Apache-2.0",
    sample=documents.sample("samples/sst2.jsonl"),
    favourable=("Positive",),
    hub=Hub("stanfordnlp/sst2", split="validation", revision="8d51e7e4887a4caaa95b3fbebbf53c0490b58bbb"),
)
