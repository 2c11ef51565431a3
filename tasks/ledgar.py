"""Contracts: the single main theme of a provision, out of 100 (HINTER, Table 4: LEDGAR)

Reads LexGLUE's ledgar (integer labels) or the raw rows (clause_type, by name).
"""

from __future__ import annotations

from collections.abc import Iterator

from harness import documents
from harness.core import Document, DocumentOptions, Hub, Task

LABELS = documents.label_names("ledgar")


def adapt(row: documents.Row) -> documents.Row:
    """Map published columns to ours."""
    return {**row, "label": row["clause_type"]} if "clause_type" in row else row


def read(options: DocumentOptions) -> Iterator[Document]:
    """Yield the documents."""
    return documents.read(options, LABELS, adapt=adapt)


task = Task(
    name="ledgar",
    title="Main theme of a contract provision",
    labels=LABELS,
    documents=read,
    prompt="ledgar",
    source="Tuggener et al. 2020; LexGLUE (coastalcph/lex_glue, ledgar)",
    licence="CC BY 4.0 (LexGLUE); sample: Apache-2.0",
    sample=documents.sample("samples/ledgar.jsonl"),
    hub=Hub("coastalcph/lex_glue", name="ledgar", revision="c23fdff1a6bf74e0e1a71cb86f1e781d37da888c"),
)
