"""United States Supreme Court: the issue area of an opinion (HINTER, Table 4: SCOTUS)

Reads LexGLUE's scotus: 13 issue areas, where a label is the area's number in the Supreme Court Database less
one. The paper counts 14: the data card also lists "Private Action", which the data set does not contain. Raw
rows with the database's own column (issueArea, from 1) are read as well.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness import documents
from harness.core import Document, DocumentOptions, Hub, Task

LABELS = documents.label_names("scotus")


def adapt(row: documents.Row) -> documents.Row:
    """Map published columns to ours; without a LexGLUE label, use the area of the Supreme Court Database."""
    ours = {"id": row["case_id"]} if "case_id" in row else {}
    area = str(row.get("issueArea") or "")
    if "label" in row or not area:
        return {**row, **ours}
    place = int(area) - 1 if area.isdigit() else -1
    return {**row, **ours, "label": LABELS[place] if 0 <= place < len(LABELS) else f"issue area {area}"}


def read(options: DocumentOptions) -> Iterator[Document]:
    """Yield the documents."""
    return documents.read(options, LABELS, adapt=adapt)


task = Task(
    name="scotus",
    title="Issue area of an opinion, US Supreme Court",
    labels=LABELS,
    documents=read,
    prompt="scotus",
    source="Supreme Court Database; LexGLUE (coastalcph/lex_glue, scotus)",
    licence="CC BY 4.0 (LexGLUE); opinions are public domain; sample: Apache-2.0",
    sample=documents.sample("samples/scotus.jsonl"),
    hub=Hub("coastalcph/lex_glue", name="scotus", revision="c23fdff1a6bf74e0e1a71cb86f1e781d37da888c"),
)
