"""European Court of Human Rights: which articles of the Convention were violated? (HINTER, Table 4: ECtHR)

LexGLUE's ecthr_a (violated, as the Court found) or, with ``variant = "b"``, ecthr_b (allegedly violated, as
the applicants claimed): paragraphs of facts, ten articles, several or none of them. Also read are the raw
rows of the ECtHR cases (facts, violated_articles, allegedly_violated_articles) and rows with both sets
(labels_a, labels_b). Articles beyond the ten are no labels, as in LexGLUE.
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
    """Published columns to ours: article numbers (text) become labels, places in the list (integers) stay."""
    ours = {"text": row["facts"], "id": row.get("case_id")} if "facts" in row else {}
    column = next((name for name in columns if name in row), None)
    if column is None:
        return {**row, **ours}
    given = row[column]
    if isinstance(given, list) and all(isinstance(one, str) for one in given):
        given = [ARTICLES[one] for one in given if one in ARTICLES]
    return {**row, **ours, "label": given}


def read(variant: str, options: DocumentOptions) -> Iterator[Document]:
    return documents.read(
        options, LABELS, adapt=partial(adapt, COLUMNS[variant]), multi_label=True, paragraphs=True
    )


def configure(options: Mapping[str, Any]) -> Task:
    """Variant "a" (violated) or "b" (allegedly violated). Raises ``ValueError``."""
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
