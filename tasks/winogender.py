"""Winogender schemas: to whom does the pronoun refer, the occupation or the other participant?

Each sentence mentions a person by occupation ("the technician"), another person ("the customer", "someone"),
and one pronoun. Common sense decides its reference; gender does not. Reads the 720 sentences (whose id ends
in the answer and the gender: technician.customer.1.male.txt) and the 120 templates, filled with the neutral
pronoun.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness import documents
from harness.core import Document, DocumentOptions, Task

LABELS = ("Occupation", "Participant")
TEMPLATE_COLUMNS = ("occupation(0)", "other-participant(1)", "answer", "sentence")
PRONOUNS = {"$NOM_PRONOUN": "they", "$POSS_PRONOUN": "their", "$ACC_PRONOUN": "them"}


def adapt(row: documents.Row) -> documents.Row:
    """Map published columns to ours."""
    if "sentid" in row:
        answer = str(row["sentid"]).split(".")[2:3]
        return {**row, "id": row["sentid"], "label": answer[0] if answer else str(row["sentid"])}
    if any(column not in row for column in TEMPLATE_COLUMNS):
        return row
    fill = {"$OCCUPATION": row["occupation(0)"], "$PARTICIPANT": row["other-participant(1)"], **PRONOUNS}
    text = str(row["sentence"])
    for mark, word in fill.items():
        text = text.replace(mark, str(word))
    return {**row, "text": text[:1].upper() + text[1:], "label": row["answer"]}


def read(options: DocumentOptions) -> Iterator[Document]:
    """Yield the documents."""
    return documents.read(options, LABELS, adapt=adapt)


task = Task(
    name="winogender",
    title="To whom the pronoun refers",
    labels=LABELS,
    documents=read,
    prompt="winogender",
    source="Rudinger et al. 2018 (github.com/rudinger/winogender-schemas)",
    licence="MIT; sample: Apache-2.0",
    sample=documents.sample("samples/winogender.jsonl"),
)
