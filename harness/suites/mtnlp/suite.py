"""MT-NLP: analogous tokens in place of one person noun at a time (Ma, Wang and Liu, IJCAI 2020).

The baseline that BiasFinder compares itself with (Asyrofi et al. 2021, section 6); as there, for gender
alone. It has two mutations of a person noun. *Analogy*: the noun of the other gender, "the man" ->
"the woman". *Active*: the noun with a gender before it, "the man" -> "the female man", "the male man",
unless a noun or an adjective stands there. Each is made at one place of the text and nowhere else:
there is no coreference, and nothing checks that the mutant is consistent or reads well, so articles stay
as they are. Every mutant is compared with its original; a changed answer is a fairness violation.

Where the original asks a knowledge graph, word embeddings and a part-of-speech tagger, lists and surface
signs stand here: which nouns name a person, which are analogous, which word may stand before "male".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from harness.core import Case, Document, JsonObject, Outcome, Span, Substitution, Verdict, canonical
from harness.language.surface import Edit, apply, begins_sentence, carry_case
from harness.plugins import Nouns, Suite
from harness.settings import Controls
from harness.suites.lexicon import Attribute, Exchange, Lexicon
from harness.suites.mtnlp.controls import controls
from harness.suites.mtnlp.person_nouns import person_nouns
from harness.suites.neutral import neutral
from harness.suites.oracle import RELATION, compare, smaller

# After these a noun phrase opens, so that the word before the noun is neither a noun nor an adjective.
_OPENERS = frozenset(
    """
    a an the this that these those my your his her its our their some any no every each all both many few
    most several two three four five six seven eight nine ten which what whose
    and or but nor as than of in on at by for from to with without into onto about after before between
    against among over under through during like is are was were be been being has have had do does did
    if when while where because
    """.split()  # noqa: SIM905
)
_WORD_BEFORE = re.compile(r"([\w'’-]+)[\s\"“‘'(]*$")


@dataclass(frozen=True)
class MtNlp(Suite):
    """The suite: its fields are its configuration. ``persons`` maps each person noun to its
    mutations; those that end in the noun itself are active ones. ``control`` says how many control mutants to
    make, drawn by ``seed``; words of ``labels`` stay in them."""

    name = "mtnlp"
    nouns = Nouns(case="mutant", source="text", eligible="a term")

    persons: Attribute = field(default_factory=person_nouns)
    control: Controls = field(default_factory=lambda: Controls(share=0))
    labels: Sequence[str] = ()
    seed: int = 0

    @property
    def identity(self) -> JsonObject:
        found: JsonObject = {"lexicon": Lexicon({self.persons.name: self.persons}).digest}
        return {**found, "controls": neutral().digest} if self.controlled else found

    @property
    def controlled(self) -> bool:
        return self.control.share > 0 and "word" in self.control.kinds

    def cases(self, documents: Iterator[Document]) -> Iterator[Case]:
        """Yield each document with a person noun, then its mutants in the order of the text."""
        for document in documents:
            mutants = list(self._mutants(document))
            if mutants:
                yield Case(
                    id=f"{document.id}#0",
                    group=document.id,
                    document=document.id,
                    role="original",
                    text=document.text,
                    expected=document.labels,
                )
                yield from mutants
                if self.controlled:
                    closed = (*self.persons.words, *self.labels)
                    yield from controls(document, mutants, self.control.share, self.seed, closed)

    def judge(self, group: Sequence[Case], outcomes: Mapping[str, Outcome]) -> Iterator[Verdict]:
        """Yield a verdict for each mutant against its original."""
        original = outcomes.get(next(case.id for case in group if case.role == "original"))
        for case in group:
            if case.role != "original":
                mutant = outcomes.get(case.id)
                yield Verdict(
                    case=case.id,
                    relation=RELATION,
                    status=compare(original, mutant),
                    attributes=(self.persons.name,),
                    margin=smaller(original, mutant),
                )

    def _mutants(self, document: Document) -> Iterator[Case]:
        text = document.text
        matches = [(span, noun) for noun, spans in self.persons.find(text).items() for span in spans]
        for span, noun in sorted(matches):
            if not _common(text, span):
                continue
            for exchange in self.persons.exchanges[noun]:
                if exchange.operation == "exchange" or _opens(text, span[0]):
                    yield self._mutant(document, span, exchange)

    def _mutant(self, document: Document, span: Span, exchange: Exchange) -> Case:
        text, (start, end) = document.text, span
        noun, target = exchange.source, exchange.target
        new = carry_case(text[start:end], noun, target, begins_sentence(text, start))
        digest = sha256(canonical([noun, target, start]).encode()).hexdigest()[:12]
        return Case(
            id=f"{document.id}#{digest}",
            group=document.id,
            document=document.id,
            role="atomic",
            text=apply(text, [Edit(start, end, new)]),
            substitutions=(
                Substitution(
                    self.persons.name,
                    noun,
                    target,
                    (span,),
                    exchange.operation,
                    exchange.source_group,
                    exchange.target_group,
                ),
            ),
            traits={"mutation": "analogy" if exchange.operation == "exchange" else "active"},
        )


def _common(text: str, span: Span) -> bool:
    """Return whether the noun is written as a common one: "Guy Ritchie" and "Stephen King" are names."""
    start, end = span
    written = text[start:end]
    return (
        not written[:1].isupper() or (len(written) > 1 and written.isupper()) or begins_sentence(text, start)
    )


def _opens(text: str, start: int) -> bool:
    """Return whether the word before ``start`` is neither a noun nor an adjective, judging by a list."""
    if begins_sentence(text, start):
        return True
    word = _WORD_BEFORE.search(text, max(0, start - 40), start)
    return word is None or word[1].lower() in _OPENERS
