"""HINTER: atomic, intersectional and hidden bias by dictionary mutation (Souani et al. 2025)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from itertools import islice
from math import prod
from typing import Literal

from harness.core import DUPLICATE, Case, Document, JsonObject, Outcome, Role, Span, Tables, Verdict
from harness.language.parse import Parser
from harness.language.surface import containing
from harness.plugins import Figures, Nouns, Suite
from harness.suites import oracle
from harness.suites.hinter import exhibits, sampling
from harness.suites.hinter.conformity import Conformity, Kept
from harness.suites.hinter.invariant import DocumentInvariant
from harness.suites.hinter.mutation import (
    Mutation,
    Occurrences,
    Variation,
    Variations,
    ambiguous,
    mutant,
    mutations,
    unique,
    variations,
)
from harness.suites.hinter.tag_comparison import DEPENDENCY, POS
from harness.suites.lexicon import Lexicon

BATCH_DOCUMENTS = 32


Invariant = Literal["strict", "pos", "none"]


@dataclass(frozen=True)
class Hinter(Suite):
    """The suite: its fields are its configuration.

    ``invariant``: the parts of speech and the dependencies of a mutant match the original's (``strict``, the
    paper), its parts of speech alone (``pos``), or nothing is checked (``none``, as without a ``parser``),
    to measure what the invariant is worth (RQ3). ``max_pairs`` limits the dictionary pairs of each attribute
    tried on one document, ``max_mutants`` the mutants made of it; ``seed`` decides which.
    ``include_discarded``: discarded mutants are asked about, too. ``kept`` holds verdicts of earlier runs.
    """

    name = "hinter"
    nouns = Nouns(case="mutant", source="text", eligible="a term")
    by_document = True
    explorable = True

    lexicon: Lexicon
    parser: Parser | None
    order: int = 2
    max_pairs: int | None = None
    max_mutants: int | None = None
    seed: int = 0
    invariant: Invariant = "strict"
    include_discarded: bool = False
    kept: Kept | None = field(default=None, compare=False)

    @property
    def identity(self) -> JsonObject:
        return {"parser": self.parser.name if self.parser else "none", "lexicon": self.lexicon.digest}

    @property
    def settings(self) -> JsonObject:
        """What the summary says of the mutants."""
        return {
            "attributes": list(self.lexicon.attributes),
            "order": self.order,
            "invariant": self.invariant if self.parser else "none",
            "max_pairs": self.max_pairs,
            "max_mutants_per_document": self.max_mutants,
        }

    @cached_property
    def conformity(self) -> Conformity | None:
        """What decides sentences, with its counts; None without a parser."""
        if self.parser is None:
            return None
        return Conformity(self.parser, self.kept, (POS,) if self.invariant == "pos" else (POS, DEPENDENCY))

    def cases(self, documents: Iterator[Document]) -> Iterator[Case]:
        """Per document with any term: the original, then its mutants, valid or discarded with a reason."""
        while batch := list(islice(documents, BATCH_DOCUMENTS)):
            prepared = self._prepare(batch)
            self._decide([one.invariant for one in prepared if one.invariant is not None])
            for one in prepared:
                yield from one.cases(self.order)

    def judge(self, group: Sequence[Case], outcomes: Mapping[str, Outcome]) -> Iterator[Verdict]:
        return oracle.judge(group, outcomes)

    def figures(self, tables: Tables) -> Figures:
        """What the summary holds of the mutants beside the results."""
        return exhibits.figures(tables, tuple(self.lexicon.attributes))

    def _prepare(self, batch: Sequence[Document]) -> list[_Prepared]:
        found = [_Found(document, self.lexicon.find(document.text)) for document in batch]
        if self.conformity is not None:
            for one in found:
                one.spans = self.conformity.split(one.document.text)
            tags = self.conformity.tags(place for one in found for _, place in one.untagged())
            for one in found:
                one.tags = {offset: tags[place] for offset, place in one.untagged()}
        return [self._prepared(one) for one in found if one.occurrences]

    def _prepared(self, one: _Found) -> _Prepared:
        document = one.document
        made = variations(document.text, self.lexicon, one.occurrences, one.tags.get)
        distinct, duplicates = unique(made)
        counts = {name: len(some) for name, some in distinct.items()}
        size = sampling.sizes(counts, self.order, self.max_pairs, self.max_mutants)
        chosen = sampling.draw(distinct, size, f"{self.seed}/{document.id}")
        invariant = None
        if self.conformity is not None and self.invariant != "none":
            invariant = DocumentInvariant(document.text, one.spans, chosen, self.order, self.conformity)
        return _Prepared(document, chosen, duplicates, invariant)

    def _decide(self, invariants: Sequence[DocumentInvariant]) -> None:
        """The sentences of a batch of documents, in rounds: each round's at once."""
        asking = list(invariants)
        while asking and self.conformity is not None:
            needed = [invariant.needed() for invariant in asking]
            asking = [invariant for invariant in asking if not invariant.done]
            reasons = self.conformity.reasons(pair for some in needed for pair in some)
            for invariant in asking:
                invariant.take(reasons)


@dataclass(slots=True)
class _Found:
    """A document with its terms, its sentences and the tags of its ambiguous pronouns."""

    document: Document
    occurrences: Occurrences
    spans: Sequence[Span] = ()
    tags: Mapping[int, str | None] = field(default_factory=dict)

    def untagged(self) -> Iterator[tuple[int, tuple[str, int]]]:
        """Of each ambiguous pronoun the offset, with its sentence and the offset there."""
        text = self.document.text
        for offset in ambiguous(self.occurrences):
            index = containing(self.spans, offset, offset + 1)
            if index is not None:
                start, end = self.spans[index]
                yield offset, (text[start:end], offset - start)


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A document with the variations that apply to it and the invariant of its mutants."""

    document: Document
    found: Variations
    duplicates: Sequence[Variation]
    invariant: DocumentInvariant | None

    def cases(self, order: int) -> Iterator[Case]:
        yield self._case("original", (), self.document.text, None)
        for variation in self.duplicates:
            yield self._case("atomic", (variation,), mutant(self.document.text, (variation,)), DUPLICATE)
        for mutation in mutations(self.found, order):
            text = mutant(self.document.text, mutation)
            reason = self.invariant.reason(mutation, text) if self.invariant else None
            yield self._case("atomic" if len(mutation) == 1 else "intersectional", mutation, text, reason)

    def _case(self, role: Role, mutation: Mutation, text: str, reason: str | None) -> Case:
        document = self.document
        return Case(
            id=f"{document.id}#{_digest(mutation) if mutation else 0}",
            group=document.id,
            document=document.id,
            role=role,
            text=text,
            substitutions=tuple(v.substitution for v in mutation),
            expected=document.labels if role == "original" else None,
            reason=reason,
            weight=prod(v.weight for v in mutation),
        )


def _digest(mutation: Mutation) -> str:
    """What a mutant is called within its document, whatever else is made there."""
    pairs = "\x1e".join("\x1f".join(v.substitution.pair) for v in mutation)
    return sha256(pairs.encode("utf-8", "surrogatepass")).hexdigest()[:12]
