"""European Union law: the EuroVoc concepts of an act, out of 100 (HINTER, Table 4: EURLEX)

Reads LexGLUE's eurlex in its form since 2022-09-30 (integer labels, 100 names), or the raw rows (EuroVoc ids
as text). The rows of EURLEX57K hold their text in parts, which are joined; their fine-grained concepts are
not among the 100, so those texts have no gold labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness import documents
from harness.core import Document, DocumentOptions, Hub, Task

LABELS = documents.label_names("eurlex")
CONCEPTS = dict(zip(documents.label_names("eurlex", "codes"), LABELS, strict=True))
PARTS = ("title", "header", "recitals", "main_body", "attachments")


def adapt(row: documents.Row) -> documents.Row:
    """Map published columns to ours."""
    ours: dict[str, Any] = {"id": row["celex_id"]} if "celex_id" in row else {}
    if "main_body" in row and "text" not in row:
        parts = (row.get(part) for part in PARTS)
        ours["text"] = "\n".join("\n".join(p) if isinstance(p, list) else p for p in parts if p)
    return {**row, **ours}


def read(options: DocumentOptions) -> Iterator[Document]:
    """Yield the documents."""
    return documents.read(options, LABELS, CONCEPTS, adapt=adapt, multi_label=True)


task = Task(
    name="eurlex",
    title="EuroVoc concepts of an act of the European Union",
    labels=LABELS,
    documents=read,
    prompt="eurlex",
    multi_label=True,
    source="Chalkidis et al. 2021 (MultiEURLEX); LexGLUE (coastalcph/lex_glue, eurlex)",
    licence="CC BY 4.0 (LexGLUE), texts (c) European Union; sample: Apache-2.0",
    sample=documents.sample("samples/eurlex.jsonl"),
    hub=Hub("coastalcph/lex_glue", name="eurlex", revision="c23fdff1a6bf74e0e1a71cb86f1e781d37da888c"),
)
