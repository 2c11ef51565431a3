"""European Court of Human Rights: which articles of the Convention were violated? (HINTER, Table 4: ECtHR)

Reads LexGLUE's ecthr_a (violated, as the Court found) or, with ``variant = "b"``, ecthr_b (allegedly
violated, as the applicants claimed): paragraphs of facts with any number of ten articles. Also reads the raw
rows of the ECtHR cases (facts, violated_articles, allegedly_violated_articles) and rows with both sets
(labels_a, labels_b). Articles beyond the ten are ignored, as in LexGLUE.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from harness import documents
from harness.core import Document, DocumentOptions, Hub, Task

LABELS = documents.label_names("ecthr")
ARTICLES = dict(zip(documents.label_names("ecthr", "codes"), LABELS, strict=True))
COLUMNS = {"a": ("labels_a", "violated_articles"), "b": ("labels_b", "allegedly_violated_articles")}
REVISION = "c23fdff1a6bf74e0e1a71cb86f1e781d37da888c"


def adapt(columns: tuple[str, ...], row: documents.Row) -> documents.Row:
    """Map published columns to ours: article numbers (text) become labels, label indices (integers) stay."""
    ours = {"text": row["facts"], "id": row.get("case_id")} if "facts" in row else {}
    column = next((name for name in columns if name in row), None)
    if column is None:
        return {**row, **ours}
    articles = row[column]
    if isinstance(articles, list) and all(isinstance(article, str) for article in articles):
        articles = [ARTICLES[article] for article in articles if article in ARTICLES]
    return {**row, **ours, "label": articles}


def read(variant: str, options: DocumentOptions) -> Iterator[Document]:
    """Yield the documents of ``variant`` "a" or "b"."""
    return documents.read(
        options, LABELS, adapt=partial(adapt, COLUMNS[variant]), multi_label=True, paragraphs=True
    )


def configure(options: Mapping[str, Any]) -> Task:
    """Return the task of variant "a" (violated) or "b" (allegedly violated). Raises ``ValueError``."""
    variant = options.get("variant", "a")
    if variant not in COLUMNS:
        raise ValueError(f'variant: "a" (articles violated) or "b" (allegedly violated), not {variant!r}')
    if variant == "a":
        return task
    return replace(
        task,
        title="Articles allegedly violated, European Court of Human Rights",
        documents=partial(read, "b"),
        prompt="ecthr_b",
        hub=Hub("coastalcph/lex_glue", name="ecthr_b", revision=REVISION),
    )


task = Task(
    name="ecthr",
    title="Articles violated, European Court of Human Rights",
    labels=LABELS,
    documents=partial(read, "a"),
    prompt="ecthr",
    multi_label=True,
    source="Chalkidis et al. 2019, 2021; LexGLUE (coastalcph/lex_glue, ecthr_a and ecthr_b)",
    licence="CC BY-NC-SA 4.0 (ECtHR cases), CC BY 4.0 (LexGLUE); sample: Apache-2.0",
    sample=documents.sample("samples/ecthr.jsonl"),
    hub=Hub("coastalcph/lex_glue", name="ecthr_a", revision=REVISION),
    options=("variant",),
    configure=configure,
)
