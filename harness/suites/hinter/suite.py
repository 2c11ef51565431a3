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

    ``invariant`` says what of a mutant must match its original: parts of speech and dependencies (``strict``,
    as in the paper), parts of speech only (``pos``), or nothing (``none``, as without a ``parser``), to
    measure what the invariant is worth (RQ3). ``max_pairs`` limits the dictionary pairs of each attribute
    tried on one document, ``max_mutants`` the mutants made of it; ``seed`` decides which.
    With ``include_discarded``, the model is asked about discarded mutants, too. ``verdicts`` holds the
    invariant's verdicts from earlier runs.
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
    verdicts: Kept | None = field(default=None, compare=False)

    @property
    def identity(self) -> JsonObject:
        return {"parser": self.parser.name if self.parser else "none", "lexicon": self.lexicon.digest}

    @property
    def settings(self) -> JsonObject:
        """What the summary records about the mutants."""
        return {
            "attributes": list(self.lexicon.attributes),
            "order": self.order,
            "invariant": self.invariant if self.parser else "none",
            "max_pairs": self.max_pairs,
            "max_mutants_per_document": self.max_mutants,
        }

    @cached_property
    def conformity(self) -> Conformity | None:
        """The check of sentences, with its counts; None without a parser."""
        if self.parser is None:
            return None
        compared = (POS,) if self.invariant == "pos" else (POS, DEPENDENCY)
        return Conformity(self.parser, self.verdicts, compared)

    def cases(self, documents: Iterator[Document]) -> Iterator[Case]:
        """Yield each document with any term, then its mutants, valid or discarded with a reason."""
        while batch := list(islice(documents, BATCH_DOCUMENTS)):
            prepared = self._prepare(batch)
            self._decide([each.invariant for each in prepared if each.invariant is not None])
            for each in prepared:
                yield from each.cases(self.order)

    def judge(self, group: Sequence[Case], outcomes: Mapping[str, Outcome]) -> Iterator[Verdict]:
        return oracle.judge(group, outcomes)

    def figures(self, tables: Tables) -> Figures:
        """Return the counts of mutants that the summary holds beside the results."""
        return exhibits.figures(tables, tuple(self.lexicon.attributes))

    def _prepare(self, batch: Sequence[Document]) -> list[_Prepared]:
        matched = [_Matched(document, self.lexicon.find(document.text)) for document in batch]
        if self.conformity is not None:
            for match in matched:
                match.spans = self.conformity.split(match.document.text)
            tags = self.conformity.tags(place for match in matched for _, place in match.untagged())
            for match in matched:
                match.tags = {offset: tags[place] for offset, place in match.untagged()}
        return [self._prepared(match) for match in matched if match.occurrences]

    def _prepared(self, match: _Matched) -> _Prepared:
        document = match.document
        distinct, duplicates = unique(
            variations(document.text, self.lexicon, match.occurrences, match.tags.get)
        )
        counts = {name: len(of_attribute) for name, of_attribute in distinct.items()}
        size = sampling.sizes(counts, self.order, self.max_pairs, self.max_mutants)
        chosen = sampling.draw(distinct, size, f"{self.seed}/{document.id}")
        invariant = None
        if self.conformity is not None and self.invariant != "none":
            invariant = DocumentInvariant(document.text, match.spans, chosen, self.order, self.conformity)
        return _Prepared(document, chosen, duplicates, invariant)

    def _decide(self, invariants: Sequence[DocumentInvariant]) -> None:
        """Decide the sentences of a batch of documents in rounds, all sentences of a round at once."""
        asking = list(invariants)
        while asking and self.conformity is not None:
            needed = [invariant.needed() for invariant in asking]
            asking = [invariant for invariant in asking if not invariant.done]
            reasons = self.conformity.reasons(pair for pairs in needed for pair in pairs)
            for invariant in asking:
                invariant.take(reasons)


@dataclass(slots=True)
class _Matched:
    """A document with its terms, its sentences and the tags of its ambiguous pronouns."""

    document: Document
    occurrences: Occurrences
    spans: Sequence[Span] = ()
    tags: Mapping[int, str | None] = field(default_factory=dict)

    def untagged(self) -> Iterator[tuple[int, tuple[str, int]]]:
        """Yield the offset of each ambiguous pronoun, with its sentence and the offset in it."""
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
    variations: Variations
    duplicates: Sequence[Variation]
    invariant: DocumentInvariant | None

    def cases(self, order: int) -> Iterator[Case]:
        yield self._case("original", (), self.document.text, None)
        for variation in self.duplicates:
            yield self._case("atomic", (variation,), mutant(self.document.text, (variation,)), DUPLICATE)
        for mutation in mutations(self.variations, order):
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
    """Return the name of a mutant within its document, which does not depend on other mutants."""
    pairs = "\x1e".join("\x1f".join(v.substitution.pair) for v in mutation)
    return sha256(pairs.encode("utf-8", "surrogatepass")).hexdigest()[:12]
