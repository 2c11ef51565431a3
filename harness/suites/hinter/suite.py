"""HINTER: atomic, intersectional and hidden bias by dictionary mutation (Souani et al. 2025)."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from hashlib import sha256
from itertools import islice
from math import prod
from typing import Literal

from harness.core import (
    DUPLICATE,
    SAME_PERSON,
    Case,
    Document,
    JsonObject,
    Outcome,
    Role,
    Span,
    Tables,
    Verdict,
)
from harness.errors import ConfigError
from harness.language.entities import Resolver
from harness.language.parse import Parser
from harness.language.parsed_text import ParsedText
from harness.language.sentences import spans as spans_of_sentences
from harness.language.surface import Tagger, containing
from harness.plugins import Controls, Figures, Nouns, Suite
from harness.suites import oracle
from harness.suites.ground import Ground, closed_spans
from harness.suites.hinter import exhibits, sampling
from harness.suites.hinter.agreement import AgreedInvariant, Agreement
from harness.suites.hinter.conformity import Conformity, Kept
from harness.suites.hinter.controls import Maker, Source
from harness.suites.hinter.mutation import (
    Mutation,
    Occurrences,
    Variation,
    Variations,
    ambiguous,
    mutant,
    mutations,
    of_term,
    unique,
    variations,
)
from harness.suites.hinter.people_text import MeaningOf
from harness.suites.hinter.places import REASONS, Left
from harness.suites.hinter.recasting import Recaster
from harness.suites.hinter.tag_comparison import DEPENDENCY, POS
from harness.suites.lexicon import Lexicon
from harness.suites.neutral import Neutral, neutral

log = logging.getLogger(__name__)

BATCH_DOCUMENTS = 32
MANY_MUTANTS, MOST_MUTANTS = 100_000, 1_000_000
"""Of one text: the number above which that is said, and the one above which none is made."""
_WORD = re.compile(r"\w+")

_Left = tuple[Variation, str]
"""A variation that is left out, and the reason."""


Invariant = Literal["strict", "agreed", "pos", "none"]
Consistency = Literal["person", "word"]


@dataclass(frozen=True)
class Hinter(Suite):
    """The suite: its fields are its configuration.

    ``invariant`` says what of a mutant must match its original: parts of speech and dependencies (``strict``,
    as in the paper), the same by the ``second`` parser as well (``agreed``), parts of speech only (``pos``),
    or nothing (``none``, as without a ``parser``), to measure what the invariant is worth (RQ3).
    ``max_pairs`` limits the dictionary pairs of each attribute tried on one document, ``max_mutants`` the
    mutants made of it; ``seed`` decides which. With ``include_discarded``, the model is asked about discarded
    mutants, too. ``verdicts`` holds the invariant's verdicts from earlier runs. With a ``resolver``, all
    words for one person change together (``consistency`` person), a word changes only where it describes a
    person (``meaning`` person), or both; without one, each dictionary pair is applied by itself wherever its
    source occurs, as in the paper. ``control`` says how many control mutants are made; they leave the words
    of the task's ``labels`` alone.
    """

    name = "hinter"
    nouns = Nouns(case="mutant", source="text", eligible="a term")
    by_document = True
    explorable = True
    controlled = True

    lexicon: Lexicon
    parser: Parser | None
    order: int = 2
    max_pairs: int | None = None
    max_mutants: int | None = None
    seed: int = 0
    invariant: Invariant = "strict"
    include_discarded: bool = False
    verdicts: Kept | None = field(default=None, compare=False)
    second: Parser | None = None
    resolver: Resolver | None = None
    consistency: Consistency = "person"
    meaning: MeaningOf = "person"
    control: Controls = field(default_factory=lambda: Controls(share=0))
    labels: Sequence[str] = ()

    @property
    def identity(self) -> JsonObject:
        identity: JsonObject = {
            "parser": self.parser.name if self.parser else "none",
            "lexicon": self.lexicon.digest,
        }
        if self.second is not None:
            identity = {**identity, "second_parser": self.second.name}
        if self.resolver is not None:
            identity = {**identity, "persons": self.resolver.name}
        return {**identity, "controls": neutral().digest} if self.control.share else identity

    @property
    def settings(self) -> JsonObject:
        """What the summary records about the mutants."""
        second: JsonObject = {} if self.second is None else {"second_parser": self.second.name}
        return {
            "attributes": list(self.lexicon.attributes),
            "order": self.order,
            "invariant": self.invariant if self.parser else "none",
            **second,
            "consistency": self.consistency if self.resolver else "word",
            "meaning": self.meaning if self.resolver else "off",
            "max_pairs": self.max_pairs,
            "max_mutants_per_document": self.max_mutants,
        }

    @cached_property
    def conformity(self) -> Conformity | None:
        """The check of sentences, with its counts; None without a parser."""
        return self._conformity(self.parser)

    @cached_property
    def agreement(self) -> Agreement:
        """The checks by the parsers that must pass a mutant."""
        checks = () if self.invariant == "none" else (self.conformity, self._conformity(self.second))
        return Agreement(tuple(check for check in checks if check is not None))

    def _conformity(self, parser: Parser | None) -> Conformity | None:
        compared = (POS,) if self.invariant == "pos" else (POS, DEPENDENCY)
        return None if parser is None else Conformity(parser, self.verdicts, compared)

    def concerns(self, text: str) -> bool:
        """Return whether a word of the lexicon occurs in ``text``."""
        return bool(self.lexicon.find(text))

    def cases(self, documents: Iterator[Document]) -> Iterator[Case]:
        """Yield each document with any term, then its mutants, valid or discarded with a reason."""
        while batch := list(islice(documents, BATCH_DOCUMENTS)):
            prepared = self._prepare(batch)
            self.agreement.decide([each.invariant for each in prepared])
            for each, controls in zip(prepared, self._controls(prepared), strict=True):
                yield from each.cases(self.order)
                yield from controls

    def judge(self, group: Sequence[Case], outcomes: Mapping[str, Outcome]) -> Iterator[Verdict]:
        return oracle.judge(group, outcomes)

    def figures(self, tables: Tables) -> Figures:
        """Return the counts of mutants that the summary holds beside the results."""
        return exhibits.figures(tables, tuple(self.lexicon.attributes), self.agreement.parsers)

    def _controls(self, prepared: Sequence[_Prepared]) -> list[list[Case]]:
        """Return the control mutants of each document, once its mutants are decided."""
        if not self.control.share:
            return [[] for _ in prepared]
        grounds = self._grounds(prepared)
        return self.maker.make(
            [each.source(self.order, ground) for each, ground in zip(prepared, grounds, strict=True)]
        )

    def _grounds(self, prepared: Sequence[_Prepared]) -> list[Ground]:
        """Return the texts as controls need them: with sentences, tags, and what must stay."""
        first = self.conformity
        tags: Mapping[tuple[str, int], str | None] = {}
        if first is not None and self.resolver is None:
            tags = first.tags(p for each in prepared for _, p in each.places(first, self.maker.dictionary))
        grounds = []
        for each in prepared:
            text, reading = each.document.text, each.reading
            tag: Tagger | None = None
            if reading is not None:
                tag = partial(_tag_in, reading)
            elif first is not None:
                tag = {at: tags[place] for at, place in each.places(first, self.maker.dictionary)}.get
            sentences = each.match.spans(first) if first else list(spans_of_sentences(text))
            closed = [] if reading is None else closed_spans(reading)
            terms = each.match.occurrences.values()
            closed += [span for by_term in terms for spans in by_term.values() for span in spans]
            grounds.append(Ground(text, sentences, tag, closed))
        return grounds

    @cached_property
    def maker(self) -> Maker:
        """The maker of control mutants."""
        theirs = (word for attribute in self.lexicon.attributes.values() for word in attribute.words)
        words = {part.lower() for phrase in (*theirs, *self.labels) for part in _WORD.findall(phrase)}
        return Maker(
            neutral().without(words),
            self.lexicon,
            self.agreement,
            self.control.share,
            self.control.kinds,
            self.seed,
        )

    def _prepare(self, batch: Sequence[Document]) -> list[_Prepared]:
        matched = [_Matched(document, self.lexicon.find(document.text)) for document in batch]
        matched = [match for match in matched if match.occurrences]
        if self.resolver is not None:
            return self._recast(matched, self.resolver)
        if (first := self.conformity) is not None:
            tags = first.tags(place for match in matched for _, place in match.untagged(first))
            for match in matched:
                match.tags = {offset: tags[place] for offset, place in match.untagged(first)}
        return [self._by_pair(match, match.tags.get, ()) for match in matched]

    def _recast(self, matched: Sequence[_Matched], resolver: Resolver) -> list[_Prepared]:
        """Prepare documents person by person, or pair by pair where words describe a person."""
        resolutions = resolver.resolve([match.document.text for match in matched])
        prepared = []
        for match, resolution in zip(matched, resolutions, strict=True):
            text = self.recaster.text(resolution, self.meaning)
            if self.consistency == "person":
                recast = text.recast(match.occurrences)
                left = self._left(match, recast.left, text.tag)
                prepared.append(self._prepared(match, recast.variations, left, resolution.reading))
            else:
                match.occurrences, others = text.about_persons(match.occurrences)
                others_left = self._left(match, others, text.tag)
                prepared.append(self._by_pair(match, text.tag, others_left, resolution.reading))
        return prepared

    @cached_property
    def recaster(self) -> Recaster:
        """The maker of variations by person."""
        return Recaster(self.lexicon)

    def _by_pair(
        self, match: _Matched, tag: Tagger, left: Sequence[_Left], reading: ParsedText | None = None
    ) -> _Prepared:
        found = variations(match.document.text, self.lexicon, match.occurrences, tag)
        return self._prepared(match, found, left, reading)

    def _left(self, match: _Matched, left: Sequence[Left], tag: Tagger) -> list[_Left]:
        """Return the variations left out, with the reasons: at most ``max_pairs`` of an attribute."""
        by_attribute: dict[str, list[_Left]] = {}
        for each in left:
            dictionary = self.lexicon.attributes[each.attribute]
            applied = of_term(match.document.text, dictionary, each.term, each.spans, tag)
            by_attribute.setdefault(each.attribute, []).extend(
                (variation, each.reason) for variation in applied
            )
        return [pair for pairs in by_attribute.values() for pair in pairs[: self.max_pairs]]

    def _prepared(
        self,
        match: _Matched,
        candidates: Variations,
        left: Sequence[_Left],
        reading: ParsedText | None = None,
    ) -> _Prepared:
        document = match.document
        distinct, duplicates = unique(candidates)
        counts = {name: len(of_attribute) for name, of_attribute in distinct.items()}
        size = sampling.sizes(counts, self.order, self.max_pairs, self.max_mutants)
        _must_be_possible(document.id, sampling.mutants_of(size, self.order), self.order)
        chosen = sampling.draw(distinct, size, f"{self.seed}/{document.id}")
        invariant = self.agreement.invariant(document.text, match.spans, chosen, self.order)
        every_left = [*left, *((v, DUPLICATE) for v in duplicates)]
        return _Prepared(match, chosen, every_left, invariant, reading)


@dataclass(slots=True)
class _Matched:
    """A document with its terms, its sentences and the tags of its ambiguous pronouns."""

    document: Document
    occurrences: Occurrences
    tags: Mapping[int, str | None] = field(default_factory=dict)
    splits: dict[str, Sequence[Span]] = field(default_factory=dict)

    def spans(self, conformity: Conformity) -> Sequence[Span]:
        """Return the spans of the sentences by the parser of ``conformity``, which splits the text once."""
        parser = conformity.parser.name
        if parser not in self.splits:
            self.splits[parser] = conformity.split(self.document.text)
        return self.splits[parser]

    def untagged(self, conformity: Conformity) -> Iterator[tuple[int, tuple[str, int]]]:
        """Yield the offset of each ambiguous pronoun, with its sentence and the offset in it."""
        yield from self.placed(conformity, ambiguous(self.occurrences))

    def placed(self, conformity: Conformity, offsets: Iterable[int]) -> Iterator[tuple[int, tuple[str, int]]]:
        """Yield each of ``offsets`` that is within a sentence, with the sentence and the offset in it."""
        text, spans = self.document.text, self.spans(conformity)
        for offset in offsets:
            index = containing(spans, offset, offset + 1)
            if index is not None:
                start, end = spans[index]
                yield offset, (text[start:end], offset - start)


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A document with the variations that apply to it and the invariant of its mutants."""

    match: _Matched
    variations: Variations
    left: Sequence[_Left]
    invariant: AgreedInvariant
    reading: ParsedText | None = None

    @property
    def document(self) -> Document:
        """The document."""
        return self.match.document

    def cases(self, order: int) -> Iterator[Case]:
        yield self._case("original", (), self.document.text, None)
        for variation, why in self.left:
            yield self._case("atomic", (variation,), mutant(self.document.text, (variation,)), why)
        for mutation in mutations(self.variations, order):
            text = mutant(self.document.text, mutation)
            reason = self.invariant.reason(mutation, text)
            yield self._case("atomic" if len(mutation) == 1 else "intersectional", mutation, text, reason)

    def source(self, order: int, ground: Ground) -> Source:
        """Return the text with its valid mutants, for its controls."""
        text = self.document.text
        valid = [
            mutation
            for mutation in mutations(self.variations, order)
            if self.invariant.reason(mutation, mutant(text, mutation)) is None
        ]
        edits = frozenset(v.edits for of_attribute in self.variations.values() for v in of_attribute)
        return Source(self.document.id, ground, self.match.spans, valid, self._name, edits)

    def places(self, first: Conformity, dictionary: Neutral) -> Iterator[tuple[int, tuple[str, int]]]:
        """Yield the offsets whose tags controls need, with the sentence and the offset in it."""
        text = self.document.text
        changed = (v for of_attribute in self.variations.values() for v in of_attribute)
        ends = {
            end - len(text[start:end].rsplit(None, 1)[-1])
            for variation in changed
            for start, end in variation.substitution.spans
        }
        yield from self.match.placed(first, sorted({*dictionary.offsets(text), *ends}))

    def _name(self, mutation: Mutation, reason: str | None = None) -> str:
        return f"{self.document.id}#{_digest(mutation, reason) if mutation else 0}"

    def _case(self, role: Role, mutation: Mutation, text: str, reason: str | None) -> Case:
        document = self.document
        return Case(
            id=self._name(mutation, reason),
            group=document.id,
            document=document.id,
            role=role,
            text=text,
            substitutions=tuple(v.substitution for v in mutation),
            traits=_same_person(mutation),
            expected=document.labels if role == "original" else None,
            reason=reason,
            weight=prod(v.weight for v in mutation),
        )


def _must_be_possible(document: str, mutants: int, order: int) -> None:
    """Say that a text makes many mutants, counted before any is made. Raises ``ConfigError`` for too many."""
    made = f"text {document} makes {mutants:,} mutants at order {order}"
    if mutants > MOST_MUTANTS:
        raise ConfigError(
            f"{made}, and {MOST_MUTANTS:,} are the most: give --max-mutants-per-document or --max-pairs, or a"
            " lower --order"
        )
    if mutants > MANY_MUTANTS:
        log.warning("%s, each a request: --max-mutants-per-document limits them", made)


def _tag_in(reading: ParsedText, offset: int) -> str | None:
    index = reading.at(offset)
    return None if index is None else reading.tokens[index].tag


def _same_person(mutation: Mutation) -> dict[str, str]:
    """Return whether the attributes of an intersectional mutant meet on one person, where that is known."""
    if len(mutation) < 2 or not all(variation.persons for variation in mutation):
        return {}
    shared = frozenset.intersection(*(variation.persons for variation in mutation))
    return {SAME_PERSON: "yes" if shared else "no"}


def _digest(mutation: Mutation, reason: str | None) -> str:
    """Return the name of a mutant within its document, which does not depend on other mutants."""
    pairs = "\x1e".join("\x1f".join(v.substitution.pair) for v in mutation)
    if reason in REASONS:
        pairs += f"\x1e{mutation[0].substitution.spans}"  # the same pair may be applied elsewhere
    return sha256(pairs.encode("utf-8", "surrogatepass")).hexdigest()[:12]
