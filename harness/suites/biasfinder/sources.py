"""Sources of templates: mined from documents, or read from a file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path

from harness.core import Document, JsonObject
from harness.errors import TemplateError
from harness.language.entities import Resolution, Resolver
from harness.suites.biasfinder import country, gender, occupation, templates
from harness.suites.biasfinder.gender_nouns import GenderNouns
from harness.suites.biasfinder.occupation import Occupations
from harness.suites.biasfinder.templates import Characteristic, Refusal, Template

BATCH_DOCUMENTS = 32


@dataclass(frozen=True, slots=True)
class Sourced:
    """A template with the gold labels of its text, None if unknown."""

    template: Template
    labels: frozenset[str] | None = None


@dataclass(frozen=True)
class Miner:
    """Mines templates of one characteristic from documents (Algorithms 1 to 3), at most one per document."""

    characteristic: Characteristic
    resolver: Resolver
    nouns: GenderNouns
    occupations: Occupations

    @property
    def identity(self) -> JsonObject:
        """The parser, which decides the templates together with the documents."""
        return {"parser": self.resolver.name}

    def mine(self, documents: Iterator[Document]) -> Iterator[Sourced]:
        """Yield the template of each document that has one, read in batches."""
        while batch := list(islice(documents, BATCH_DOCUMENTS)):
            resolutions = self.resolver.resolve(document.text for document in batch)
            for document, resolution in zip(batch, resolutions, strict=True):
                template = self.template(document, resolution)
                if isinstance(template, Template):
                    yield Sourced(template, document.labels)

    def template(self, document: Document, resolution: Resolution) -> Template | Refusal:
        """Return the document's template, or the reason why it has none."""
        if self.characteristic == "country":
            return country.template(document, resolution, self.nouns)
        if self.characteristic == "gender":
            return gender.template(document, resolution, self.nouns)
        if self.characteristic == "occupation":
            return occupation.template(document, resolution, self.occupations)
        person = gender.the_person(resolution, self.nouns)
        if isinstance(person, Refusal):
            return person
        by_occupation = occupation.template(document, resolution, self.occupations, person)
        if isinstance(by_occupation, Refusal):
            return by_occupation
        by_gender = gender.template(document, resolution, self.nouns)
        return by_gender if isinstance(by_gender, Refusal) else templates.combine(by_gender, by_occupation)


@dataclass(frozen=True)
class Given:
    """Templates read from a file: the ``templates.parquet`` of a run, or text with one per line."""

    templates: Sequence[Sourced]

    @property
    def identity(self) -> JsonObject:
        """The digest of the templates; no parser is involved."""
        written = [
            [t.template.id, templates.write(t.template), sorted(t.labels or ())] for t in self.templates
        ]
        digest = sha256(json.dumps(written).encode("utf-8", "surrogatepass")).hexdigest()
        return {"parser": "none", "templates": digest}

    def mine(self, documents: Iterator[Document]) -> Iterator[Sourced]:
        """Yield the templates of the file; ``documents`` are not read."""
        return iter(self.templates)


def read(path: str | Path, characteristic: Characteristic | None = None) -> Given:
    """Read the templates of a file, which must all be of ``characteristic`` if that is not None.

    Raises ``TemplateError`` naming the file and the template.
    """
    parquet = Path(path).suffix == ".parquet"
    sourced = list(_rows(path) if parquet else (Sourced(t) for t in templates.read(path)))
    if not sourced:
        raise TemplateError(f"{path}: no templates")
    seen: set[str] = set()
    for number, template in enumerate((entry.template for entry in sourced), 1):
        if characteristic is not None and template.characteristic != characteristic:
            raise TemplateError(
                f"{path}: template {number} is for {template.characteristic}, not for {characteristic}"
            )
        if template.id in seen:
            raise TemplateError(f"{path}: template {number} is a repetition of an earlier one")
        seen.add(template.id)
    return Given(sourced)


def _rows(path: str | Path) -> Iterator[Sourced]:
    import polars as pl

    try:
        table = pl.read_parquet(path, glob=False)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise TemplateError(f"{path}: {str(error).splitlines()[0]}") from error
    if missing := {"document", "template"} - set(table.columns):
        raise TemplateError(f"{path}: no column {min(missing)!r}: use the templates.parquet of a run")
    for number, row in enumerate(table.iter_rows(named=True), 1):
        where = f"{path}, row {number}"
        template = templates.parse(str(row["template"]), str(row["document"]), where)
        labels = row.get("expected")
        yield Sourced(template, None if labels is None else frozenset(labels))
