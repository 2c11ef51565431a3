"""HINTER: atomic, intersectional and hidden bias by dictionary mutation (Souani et al. 2025)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from typing import Any

from harness.core import Case, Document, Outcome, Role, Verdict, canonical
from harness.language.parsers import Parser
from harness.language.surface import containing
from harness.suites.hinter import oracle
from harness.suites.hinter.invariant import DocumentInvariant
from harness.suites.hinter.lexicon import Lexicon
from harness.suites.hinter.mutation import (
    Mutation,
    Variation,
    mutant,
    mutations,
    sample,
    unique,
    variations,
)

BATCH_DOCUMENTS = 16
DUPLICATE = "duplicate"


@dataclass(frozen=True)
class Hinter:
    """The suite: its fields are its configuration.

    ``parser`` None leaves the invariant out (to measure what it is worth, RQ3). ``max_pairs`` limits the
    dictionary pairs of each attribute tried on one document, chosen by ``seed``.
    """

    lexicon: Lexicon
    parser: Parser | None
    order: int = 2
    max_pairs: int | None = None
    seed: int = 0
    name: str = "hinter"

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"parser": self.parser.name if self.parser else "none", "lexicon": self.lexicon.digest}

    def cases(self, documents: Iterator[Document]) -> Iterator[Case]:
        """Per document with any term: the original, then its mutants, valid or discarded with a reason."""
        while batch := list(islice(documents, BATCH_DOCUMENTS)):
            prepared = [self._prepare(document) for document in batch]
            self._decide(prepared)
            for one in prepared:
                yield from one.cases(self.order)

    def judge(self, group: Sequence[Case], outcomes: Mapping[str, Outcome]) -> Iterator[Verdict]:
        return oracle.judge(group, outcomes)

    def _prepare(self, document: Document) -> _Prepared:
        tagger = _Tagger(document.text, self.parser)
        found, duplicates = unique(variations(document.text, self.lexicon, tagger.tag))
        chosen = sample(found, self.max_pairs, f"{self.seed}/{document.id}")
        invariant = None
        if self.parser is not None and chosen:
            invariant = DocumentInvariant(document.text, tagger.spans, self.parser)
        return _Prepared(document, chosen, duplicates, invariant)

    def _decide(self, prepared: Sequence[_Prepared]) -> None:
        """Parse all distinct sentences of a batch of documents at once."""
        if self.parser is None:
            return
        needed = [one.invariant.plan(one.found, self.order) for one in prepared if one.invariant]
        texts = list(dict.fromkeys(text for some in needed for text in some))
        parses = dict(zip(texts, self.parser.parse(texts), strict=True))
        for one in prepared:
            if one.invariant:
                one.invariant.decide(parses)


class _Tagger:
    """Fine POS tags of a document's tokens; a sentence is parsed only when one of its tags is asked for."""

    def __init__(self, text: str, parser: Parser | None) -> None:
        self._text = text
        self._parser = parser
        self.spans = parser.split(text).spans if parser else ()

    def tag(self, offset: int) -> str | None:
        index = containing(self.spans, offset, offset + 1)
        if self._parser is None or index is None:
            return None
        start, end = self.spans[index]
        return self._parser.parse([self._text[start:end]])[0].tag_at(offset - start)


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A document with the variations that apply to it and the invariant of its mutants."""

    document: Document
    found: Mapping[str, Sequence[Variation]]
    duplicates: Sequence[Variation]
    invariant: DocumentInvariant | None

    def cases(self, order: int) -> Iterator[Case]:
        if not self.found:
            return
        yield self._case("original", (), self.document.text, None)
        for variation in self.duplicates:
            yield self._case("atomic", (variation,), mutant(self.document.text, (variation,)), DUPLICATE)
        for mutation in mutations(self.found, order):
            text = mutant(self.document.text, mutation)
            reason = self.invariant.reason(mutation, text) if self.invariant else None
            yield self._case("atomic" if len(mutation) == 1 else "intersectional", mutation, text, reason)

    def _case(self, role: Role, mutation: Mutation, text: str, reason: str | None) -> Case:
        substitutions = tuple(v.substitution for v in mutation)
        return Case(
            id=f"{self.document.id}#{_digest([s.pair for s in substitutions]) if mutation else 0}",
            group=self.document.id,
            document=self.document.id,
            role=role,
            text=text,
            substitutions=substitutions,
            expected=self.document.labels if role == "original" else None,
            reason=reason,
        )


def _digest(value: object) -> str:
    return sha256(canonical(value).encode()).hexdigest()[:12]
