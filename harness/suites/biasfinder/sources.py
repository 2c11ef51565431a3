"""Where templates come from: mined in documents, or read from a file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

from harness.core import Document
from harness.errors import TemplateError
from harness.language.entities import Resolution, Resolver
from harness.suites.biasfinder import country, gender, occupation, templates
from harness.suites.biasfinder.gender_nouns import GenderNouns
from harness.suites.biasfinder.occupation import Occupations
from harness.suites.biasfinder.templates import Characteristic, Refusal, Template

BATCH_DOCUMENTS = 32


@dataclass(frozen=True, slots=True)
class Sourced:
    """A template with the gold labels of its text, None where unknown."""

    template: Template
    labels: frozenset[str] | None = None


@dataclass(frozen=True)
class Miner:
    """Templates of one characteristic from documents (Algorithms 1 to 3), one a document at most."""

    characteristic: Characteristic
    resolver: Resolver
    nouns: GenderNouns
    occupations: Occupations

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"parser": self.resolver.name}

    def mine(self, documents: Iterator[Document]) -> Iterator[Sourced]:
        while batch := list(islice(documents, BATCH_DOCUMENTS)):
            resolutions = self.resolver.resolve(document.text for document in batch)
            for document, resolution in zip(batch, resolutions, strict=True):
                found = self.template(document, resolution)
                if isinstance(found, Template):
                    yield Sourced(found, document.labels)

    def template(self, document: Document, resolution: Resolution) -> Template | Refusal:
        """The document's template, or why it has none."""
        if self.characteristic == "country":
            return country.template(document, resolution, self.nouns)
        if self.characteristic == "gender":
            return gender.template(document, resolution, self.nouns)
        by_occupation = occupation.template(document, resolution, self.occupations)
        if self.characteristic == "occupation" or isinstance(by_occupation, Refusal):
            return by_occupation
        by_gender = gender.template(document, resolution, self.nouns)
        return by_gender if isinstance(by_gender, Refusal) else templates.combine(by_gender, by_occupation)


@dataclass(frozen=True)
class Given:
    """Templates of a file: the ``templates.parquet`` of a run, or text, one a line."""

    templates: Sequence[Sourced]

    @property
    def identity(self) -> Mapping[str, Any]:
        written = [
            [t.template.id, templates.write(t.template), sorted(t.labels or ())] for t in self.templates
        ]
        digest = sha256(json.dumps(written).encode("utf-8", "surrogatepass")).hexdigest()
        return {"parser": "none", "templates": digest}

    def mine(self, documents: Iterator[Document]) -> Iterator[Sourced]:
        """The templates of the file; ``documents`` are not looked at."""
        return iter(self.templates)


def read(path: str | Path, characteristic: Characteristic | None = None) -> Given:
    """The templates of a file, all of ``characteristic`` if that is given. Raises ``TemplateError``."""
    parquet = Path(path).suffix == ".parquet"
    found = list(_rows(path) if parquet else (Sourced(t) for t in templates.read(path)))
    if not found:
        raise TemplateError(f"{path}: no templates")
    seen: set[str] = set()
    for number, one in enumerate(found, 1):
        own = one.template.characteristic
        if characteristic is not None and own != characteristic:
            raise TemplateError(f"{path}: template {number} is of {own}, not of {characteristic}")
        if one.template.id in seen:
            raise TemplateError(f"{path}: template {number} is there twice")
        seen.add(one.template.id)
    return Given(found)


def _rows(path: str | Path) -> Iterator[Sourced]:
    import polars as pl

    try:
        table = pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise TemplateError(f"{path}: {str(error).splitlines()[0]}") from error
    if missing := {"document", "template"} - set(table.columns):
        raise TemplateError(f"{path}: no column {min(missing)!r}: give the templates.parquet of a run")
    for number, row in enumerate(table.iter_rows(named=True), 1):
        where = f"{path}, row {number}"
        template = templates.parse(str(row["template"]), str(row["document"]), where)
        labels = row.get("expected")
        yield Sourced(template, None if labels is None else frozenset(labels))
