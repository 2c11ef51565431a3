"""Find seeds: sentences of labelled documents that a capability's rules accept, completed by its template.

S²LCT, section 3.1. Documents are read once, in sequence. The sentences with the smallest hashes of seed and
document are kept, so that the choice depends neither on the order of the documents nor on memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from heapq import heappush, heappushpop
from itertools import islice

from harness.core import Document
from harness.language.parse import Parse, Parser
from harness.suites.linguistic.capabilities import Capability, Rule, Variant, Words
from harness.suites.linguistic.sentiment import SentimentLexicon

BATCH = 256
_TWO_WORDS = re.compile(r"\S+\s+\w+")
_CLOSE = re.compile(r"[\s.!?…]+$")


@dataclass(frozen=True, slots=True)
class Seed:
    """A seed of ``capability``, made by ``variant`` from the sentences ``documents``."""

    capability: str
    variant: Variant
    text: str
    documents: tuple[str, ...]

    @property
    def id(self) -> str:
        """The capability and a hash of the text and what is expected."""
        expected = ",".join(sorted(self.variant.expected))
        return f"{self.capability}/{_hash(expected, self.text)[:12]}"


@dataclass
class _Sample:
    """The ``most`` distinct sentences with the smallest hashes."""

    most: int
    entries: list[tuple[int, str, str]] = field(default_factory=list)

    def add(self, rank: str, document: Document) -> None:
        """Keep a document if its hexadecimal ``rank`` is among the smallest."""
        entry = (-int(rank, 16), document.id, document.text)
        if any(entry[0] == other for other, _, _ in self.entries):
            return
        if len(self.entries) < self.most:
            heappush(self.entries, entry)
        else:
            heappushpop(self.entries, entry)

    def chosen(self) -> list[tuple[str, str]]:
        """Return the ids and texts of the documents kept, smallest hash first."""
        return [(name, text) for _, name, text in sorted(self.entries, reverse=True)]


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
        rules = [rule for c in capabilities for v in c.variants for rule in v.search.values()]
        self._samples: dict[Rule, _Sample] = {rule: _Sample(seeds) for rule in rules}

    def read(self, documents: Iterable[Document]) -> None:
        """Search every document of one sentence.

        Longer documents are skipped: their label need not hold for each of their sentences.
        """
        source = iter(documents)
        while batch := list(islice(source, BATCH)):
            plausible = [(d, rules) for d in batch if (rules := self._plausible(d))]
            single = [(d, rules) for d, rules in plausible if len(self._parser.split(d.text).spans) == 1]
            parsed = [d.text for d, rules in single if any(rule.tags for rule in rules)]
            parses = dict(zip(parsed, self._parser.parse(parsed), strict=True))
            for document, rules in single:
                parse = parses.get(document.text)
                tagged = words(document.text, parse) if parse else ()
                for rule in rules:
                    if rule.holds(tagged, self._lexicon):
                        self._samples[rule].add(_hash(str(self._seed), document.text), document)

    def _plausible(self, document: Document) -> list[Rule]:
        """Return the rules that the label, the first words and an approximate length do not rule out."""
        sentiments = {self._labels.get(label) for label in document.labels or ()}
        if len(sentiments) != 1 or not document.text.strip():
            return []
        return [
            rule for rule in self._samples
            if sentiments <= rule.label and rule.begins(document.text) and _may_be_short(document.text, rule)
        ]  # fmt: skip

    def seeds(self, capability: Capability) -> list[Seed]:
        """Return at most the requested number of seeds, spread evenly over the variants as far as they go."""
        by_variant = [self._of_variant(capability, variant) for variant in capability.variants]
        taken: dict[str, Seed] = {}
        for turn in range(self._seeds):
            for of_variant in by_variant:
                if turn < len(of_variant) and len(taken) < self._seeds:
                    taken.setdefault(of_variant[turn].id, of_variant[turn])
        return list(taken.values())

    def _of_variant(self, capability: Capability, variant: Variant) -> list[Seed]:
        names = list(variant.search)
        samples = [self._samples[variant.search[name]].chosen() for name in names]
        if not all(samples):
            return []
        seeds = []
        for turn in range(max(map(len, samples))):
            chosen = [sample[turn % len(sample)] for sample in samples]
            sentences = {name: text for name, (_, text) in zip(names, chosen, strict=True)}
            text = transform(variant, sentences, _hash(str(self._seed), capability.name, *sentences.values()))
            seeds.append(Seed(capability.name, variant, text, tuple(name for name, _ in chosen)))
        return seeds


def transform(variant: Variant, sentences: Mapping[str, str], choice: str) -> str:
    """Return the text of a seed; the hexadecimal ``choice`` picks its wordings.

    A sentence followed by more words loses its final punctuation, and "," and "?" are not preceded by a
    space.
    """
    number = int(choice, 16)
    if variant.negate:
        (sentence,) = sentences.values()
        return negate(sentence, ("not", "n't")[number % 2])
    if not variant.template:
        (sentence,) = sentences.values()
        return sentence.strip()
    parts: list[str] = []
    for at, part in enumerate(variant.template):
        if isinstance(part, tuple):
            number, index = divmod(number, len(part))
            parts.append(part[index])
        else:
            sentence = sentences[part].strip()
            parts.append(sentence if at == len(variant.template) - 1 else _CLOSE.sub("", sentence))
    text = parts[0]
    for part in parts[1:]:
        text += part if part[:1] in ",?" else f" {part}"
    return text


def negate(sentence: str, word: str) -> str:
    """Return the sentence with its second word, "is" or "are", negated by ``word`` ("not" or "n't")."""
    verb = _TWO_WORDS.match(sentence.strip())
    if verb is None:
        raise ValueError(f"not two words: {sentence!r}")
    return verb[0] + (word if word == "n't" else f" {word}") + verb.string[verb.end() :]


def words(text: str, parse: Parse) -> Words:
    """Return the words of a parsed sentence, with tags: tokens that have a letter or digit."""
    tagged = []
    for offset, tag, end in zip(parse.offsets, parse.pos, (*parse.offsets[1:], len(text)), strict=True):
        word = text[offset:end].strip()
        if any(c.isalnum() for c in word):
            tagged.append((word, tag))
    return tagged


def _may_be_short(text: str, rule: Rule) -> bool:
    # A parser finds at least as many words as white space separates, so this needs no parse.
    if rule.shorter_than is None:
        return True
    return sum(any(c.isalnum() for c in word) for word in text.split()) < rule.shorter_than


def _hash(*parts: str) -> str:
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
