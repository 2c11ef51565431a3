"""Find seeds: sentences of labelled documents that a capability's rules accept, completed by its template.

S²LCT, section 3.1. Documents are read once, in sequence. The sentences with the smallest hashes of seed,
capability and text are kept, so that the choice depends neither on the order of the documents nor on memory,
and capabilities with the same rule have sentences of their own as far as there are enough.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from heapq import heappush, heappushpop
from itertools import islice

from harness.core import Document, Span
from harness.language.parse import Parse, Parser
from harness.suites.linguistic import clauses
from harness.suites.linguistic.capabilities import Capability, Rule, Variant, Words
from harness.suites.linguistic.sentiment import NAMES, SentimentLexicon

BATCH = 256
OF_PHRASES = ("CC", "CD", "HYPH", "JJ", "JJR", "JJS", "NN", "NNS", "RB", "VBG", "VBN")
_TWO_WORDS = re.compile(r"\S+\s+(?=\w)")
_VERB = re.compile(r"\w+|['’]\w+")
_CLOSE = re.compile(r"[\s.!?…]+$")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence that a search found, in the document ``document``.

    ``named`` says whether it begins with a name; ``verb`` is the offset of what *not* would follow.
    """

    document: str
    text: str
    named: bool = False
    verb: int = 0


@dataclass(frozen=True, slots=True)
class Seed:
    """A seed of ``capability``, made by ``variant`` from the sentences of ``documents``.

    ``spans`` are the characters of these sentences in ``text``.
    """

    capability: str
    variant: Variant
    text: str
    documents: tuple[str, ...]
    spans: tuple[Span, ...]

    @property
    def id(self) -> str:
        """The capability and a hash of the text and what is expected."""
        expected = ",".join(sorted(self.variant.expected))
        return f"{self.capability}/{_hash(expected, self.text)[:12]}"


@dataclass
class _Sample:
    """The ``most`` distinct sentences with the smallest hashes."""

    most: int
    entries: list[tuple[int, str, Sentence]] = field(default_factory=list)

    def add(self, rank: str, sentence: Sentence) -> None:
        """Keep a sentence if its hexadecimal ``rank`` is among the smallest."""
        entry = (-int(rank, 16), sentence.document, sentence)
        if any(entry[0] == other for other, _, _ in self.entries):
            return
        if len(self.entries) < self.most:
            heappush(self.entries, entry)
        else:
            heappushpop(self.entries, entry)

    def chosen(self) -> list[Sentence]:
        """Return the sentences kept, smallest hash first."""
        return [sentence for *_, sentence in sorted(self.entries, key=lambda entry: entry[:2], reverse=True)]


class Search:
    """Searches documents for seeds of ``capabilities``; ``labels`` maps gold labels to sentiments."""

    def __init__(
        self,
        capabilities: Sequence[Capability],
        labels: Mapping[str, str],
        parser: Parser,
        lexicon: SentimentLexicon,
        seeds: int,
        seed: int,
    ) -> None:
        self._labels = labels
        self._parser = parser
        self._lexicon = lexicon
        self._seeds = seeds
        self._seed = seed
        self._samples: dict[tuple[str, Rule], _Sample] = {
            (capability.name, rule): _Sample(seeds * len(capability.variants))
            for capability in capabilities
            for variant in capability.variants
            for rule in variant.search.values()
        }

    def read(self, documents: Iterable[Document]) -> None:
        """Search every document of one sentence.

        Longer documents are skipped: their label need not hold for each of their sentences.
        """
        source = iter(documents)
        rules = list(dict.fromkeys(rule for _, rule in self._samples))
        while batch := list(islice(source, BATCH)):
            plausible = [(d, some) for d in batch if (some := self._plausible(d, rules))]
            single = [(d, some) for d, some in plausible if len(self._parser.split(d.text).spans) == 1]
            parses = self._parser.parse([d.text for d, _ in single])
            for (document, some), parse in zip(single, parses, strict=True):
                self._keep(
                    document, parse, [rule for rule in some if self._holds(rule, document.text, parse)]
                )

    def _plausible(self, document: Document, rules: Sequence[Rule]) -> list[Rule]:
        """Return the rules that the label, the first words and an approximate length do not rule out."""
        sentiments = {self._labels.get(label) for label in document.labels or ()}
        if len(sentiments) != 1 or not document.text.strip():
            return []
        return [
            rule for rule in rules
            if sentiments <= rule.label and rule.begins(document.text) and _may_be_short(document.text, rule)
        ]  # fmt: skip

    def _holds(self, rule: Rule, text: str, parse: Parse) -> bool:
        if rule.form is not None and not clauses.has_form(rule.form, text, parse):
            return False
        tagged = words(text, parse)
        if not rule.holds(tagged, self._lexicon):
            return False
        if rule.form in (None, clauses.PLAIN):
            return True
        before = len(words(text[: _verb(rule, text, parse)], parse))
        if rule.form not in (clauses.CLAIM, clauses.COPULA):
            return rule.has_included(tagged[before:], self._lexicon)  # not "the tenderness is still intact"
        # What is not denied, the subject and what is taken for granted, must say nothing of its own.
        granted = [*tagged[:before], *_granted(tagged)]
        return all(self._lexicon.sentiment(word, tag) == "neutral" for word, tag in granted)

    def _keep(self, document: Document, parse: Parse, rules: Sequence[Rule]) -> None:
        """Keep a sentence for the capabilities of ``rules``; among equals, one of them comes first.

        That is what keeps capabilities from sharing their sentences while there are enough.
        """
        named = parse.pos[:1] != () and parse.pos[0] in NAMES
        places = {
            place: _hash(str(self._seed), place[0], document.text)
            for place in self._samples
            if place[1] in rules
        }
        first = min(places.values(), default="")
        for place, rank in places.items():
            sentence = Sentence(document.id, document.text, named, _verb(place[1], document.text, parse))
            self._samples[place].add(f"{int(rank != first)}{rank}", sentence)

    def seeds(self, capability: Capability) -> list[Seed]:
        """Return at most the requested number of seeds, spread evenly over the variants as far as they go."""
        by_variant = [self._of_variant(capability, number) for number in range(len(capability.variants))]
        taken: dict[str, Seed] = {}
        for turn in range(self._seeds):
            for of_variant in by_variant:
                if turn < len(of_variant) and len(taken) < self._seeds:
                    taken.setdefault(of_variant[turn].id, of_variant[turn])
        return list(taken.values())

    def _of_variant(self, capability: Capability, number: int) -> list[Seed]:
        """Return the seeds of one variant; where it combines sentences, the scarcer are used again."""
        variant = capability.variants[number]
        samples = [self._sentences(capability, number, name) for name in variant.search]
        if not all(samples):
            return []
        seeds = []
        for turn in range(max(map(len, samples))):
            chosen = [sample[turn % len(sample)] for sample in samples]
            by_name = dict(zip(variant.search, chosen, strict=True))
            choice = _hash(str(self._seed), capability.name, *(sentence.text for sentence in chosen))
            text, spans = transform(variant, by_name, choice)
            documents = tuple(sentence.document for sentence in chosen)
            seeds.append(Seed(capability.name, variant, text, documents, spans))
        return seeds

    def _sentences(self, capability: Capability, number: int, name: str) -> list[Sentence]:
        """Return what the search ``name`` of a variant found, but for what another of the same rule uses."""
        rule = capability.variants[number].search[name]
        uses = [
            (at, other)
            for at, variant in enumerate(capability.variants)
            for other, same in variant.search.items()
            if same == rule
        ]
        return self._samples[capability.name, rule].chosen()[uses.index((number, name)) :: len(uses)]


def transform(
    variant: Variant, sentences: Mapping[str, Sentence], choice: str
) -> tuple[str, tuple[Span, ...]]:
    """Return the text of a seed, and where its sentences are; the hexadecimal ``choice`` picks its wordings.

    A sentence that begins within the text loses its capital, unless it begins with a name; one followed by
    more words loses its final punctuation; and "," and "?" are not preceded by a space.
    """
    number = int(choice, 16)
    if not variant.template:
        (sentence,) = sentences.values()
        text = sentence.text.strip()
        if variant.negate:
            text = negate(text, sentence.verb, ("not", "n't")[number % 2])
        return text, ((0, len(text)),)
    text, spans = "", []
    for at, part in enumerate(variant.template):
        if isinstance(part, tuple):
            number, index = divmod(number, len(part))
            written = part[index]
        else:
            written = _within(sentences[part], first=not text, last=at == len(variant.template) - 1)
        text += "" if not text or written[:1] in (",", "?") else " "
        if isinstance(part, str):
            spans.append((len(text), len(text) + len(written)))
        text += written
    return text, tuple(spans)


def negate(sentence: str, verb: int, word: str) -> str:
    """Return the sentence with the form of *be* at the offset ``verb`` negated by ``word`` ("not" or "n't").

    Raises ``ValueError`` where there is none.
    """
    match = _VERB.match(sentence, verb)
    written = clauses.FORMS_OF_BE.get(match[0].lower()) if match else None
    if match is None or written is None:
        raise ValueError(f"no form of be at {verb}: {sentence!r}")
    negated = written + (word if word == "n't" else f" {word}")
    return f"{sentence[:verb].rstrip()} {negated}{sentence[match.end() :]}"


def words(text: str, parse: Parse) -> Words:
    """Return the words of a parsed sentence, with tags: tokens that have a letter or digit.

    What hyphens join is one word, with the tag of its last part.
    """
    tagged: list[tuple[str, str]] = []
    last = 0
    for offset, tag, end in zip(parse.offsets, parse.pos, (*parse.offsets[1:], None), strict=True):
        word = text[offset:end].strip()
        if not any(c.isalnum() for c in word):
            continue
        if tagged and text[last:offset] == "-":
            tagged[-1] = (f"{tagged[-1][0]}-{word}", tag)
        else:
            tagged.append((word, tag))
        last = offset + len(word)
    return tagged


def _granted(tagged: Words) -> Iterator[tuple[str, str]]:
    """Yield the words of what is taken for granted: "its fine acting", "this lovely film"."""
    granted = False
    for word, tag in tagged:
        granted = granted and tag in OF_PHRASES
        if granted:
            yield word, tag
        granted |= tag in clauses.OWNERS or word.lower() in ("this", "these")


def _within(sentence: Sentence, first: bool, last: bool) -> str:
    """Return the sentence as it is written as the first, the last or a middle part of a text."""
    text = clauses.within(sentence.text.strip(), named=first or sentence.named)
    return text if last else _CLOSE.sub("", text)


def _verb(rule: Rule, text: str, parse: Parse) -> int:
    """Return the offset of the verb that *not* would follow: a statement's, or the second word of a start."""
    if rule.form is not None:
        verb = clauses.verb(text, parse)
        return verb[0] if verb else 0
    second = _TWO_WORDS.match(text)
    return second.end() if second else 0


def _may_be_short(text: str, rule: Rule) -> bool:
    # A parser finds at least as many words as white space separates, so this needs no parse.
    if rule.shorter_than is None:
        return True
    return sum(any(c.isalnum() for c in word) for word in text.split()) < rule.shorter_than


def _hash(*parts: str) -> str:
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
