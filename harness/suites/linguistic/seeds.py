"""Seeds: sentences of labelled documents that a capability's rules accept, made ready by its template.

S²LCT, section 3.1. Documents are read once, one after another; of what is found, as many as are wanted are
kept, by a hash of the seed and the document, so that the choice depends on neither order nor memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from heapq import heappush, heappushpop
from itertools import islice

from harness.core import Document
from harness.language.parsers import Parse, Parser
from harness.suites.linguistic.capabilities import Capability, Rule, Variant, Words
from harness.suites.linguistic.sentiment import SentimentLexicon

BATCH = 256
_TWO_WORDS = re.compile(r"\S+\s+\w+")
_CLOSE = re.compile(r"[\s.!?…]+$")


@dataclass(frozen=True, slots=True)
class Seed:
    """A seed of ``capability`` by its ``variant``; ``documents`` are the sentences it was made of."""

    capability: str
    variant: Variant
    text: str
    documents: tuple[str, ...]

    @property
    def id(self) -> str:
        expected = ",".join(sorted(self.variant.expected))
        return f"{self.capability}/{_hash(expected, self.text)[:12]}"


@dataclass
class _Found:
    """The ``most`` different sentences with the smallest hashes."""

    most: int
    kept: list[tuple[int, str, str]] = field(default_factory=list)

    def add(self, rank: str, document: Document) -> None:
        entry = (-int(rank, 16), document.id, document.text)
        if any(entry[0] == other for other, _, _ in self.kept):
            return
        if len(self.kept) < self.most:
            heappush(self.kept, entry)
        else:
            heappushpop(self.kept, entry)

    def chosen(self) -> list[tuple[str, str]]:
        return [(name, text) for _, name, text in sorted(self.kept, reverse=True)]


class Search:
    """Looks for seeds of ``capabilities``. ``labels`` gives a document's sentiment by its gold label."""

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
        self._found: dict[Rule, _Found] = {rule: _Found(seeds) for rule in rules}

    def read(self, documents: Iterable[Document]) -> None:
        """Look at every document of one sentence: a label of several is none of each."""
        source = iter(documents)
        while batch := list(islice(source, BATCH)):
            wanted = [(d, rules) for d in batch if (rules := self._plausible(d))]
            single = [(d, rules) for d, rules in wanted if len(self._parser.split(d.text).spans) == 1]
            parsed = [d.text for d, rules in single if any(rule.tags for rule in rules)]
            parses = dict(zip(parsed, self._parser.parse(parsed), strict=True))
            for document, rules in single:
                parse = parses.get(document.text)
                found = words(document.text, parse) if parse else ()
                for rule in rules:
                    if rule.holds(found, self._lexicon):
                        self._found[rule].add(_hash(str(self._seed), document.text), document)

    def _plausible(self, document: Document) -> list[Rule]:
        """The rules that the label, the first words and a rough length leave possible."""
        sentiments = {self._labels.get(label) for label in document.labels or ()}
        if len(sentiments) != 1 or not document.text.strip():
            return []
        return [
            rule for rule in self._found
            if sentiments <= rule.label and rule.begins(document.text) and _may_be_short(document.text, rule)
        ]  # fmt: skip

    def seeds(self, capability: Capability) -> list[Seed]:
        """At most so many seeds as were asked for, of its variants alike as far as they have any."""
        by_variant = [self._made(capability, variant) for variant in capability.variants]
        taken: dict[str, Seed] = {}
        for turn in range(self._seeds):
            for some in by_variant:
                if turn < len(some) and len(taken) < self._seeds:
                    taken.setdefault(some[turn].id, some[turn])
        return list(taken.values())

    def _made(self, capability: Capability, variant: Variant) -> list[Seed]:
        names = list(variant.search)
        found = [self._found[variant.search[name]].chosen() for name in names]
        if not all(found):
            return []
        seeds = []
        for turn in range(max(map(len, found))):
            chosen = [some[turn % len(some)] for some in found]
            sentences = {name: text for name, (_, text) in zip(names, chosen, strict=True)}
            text = transform(variant, sentences, _hash(str(self._seed), capability.name, *sentences.values()))
            seeds.append(Seed(capability.name, variant, text, tuple(name for name, _ in chosen)))
        return seeds


def transform(variant: Variant, sentences: Mapping[str, str], choice: str) -> str:
    """The seed's text, its wordings chosen by the hexadecimal ``choice``.

    A sentence that more words follow loses the marks at its end, and no space stands before "," and "?".
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
    """The sentence with its second word, "is" or "are", negated by ``word`` ("not" or "n't")."""
    verb = _TWO_WORDS.match(sentence.strip())
    if verb is None:
        raise ValueError(f"not two words: {sentence!r}")
    return verb[0] + (word if word == "n't" else f" {word}") + verb.string[verb.end() :]


def words(text: str, parse: Parse) -> Words:
    """The words of a parsed sentence: tokens with a letter or digit."""
    found = []
    for offset, tag, end in zip(parse.offsets, parse.pos, (*parse.offsets[1:], len(text)), strict=True):
        word = text[offset:end].strip()
        if any(c.isalnum() for c in word):
            found.append((word, tag))
    return found


def _may_be_short(text: str, rule: Rule) -> bool:
    # White space parts at most the words that a parser tells apart: a first look without one.
    if rule.shorter_than is None:
        return True
    return sum(any(c.isalnum() for c in word) for word in text.split()) < rule.shorter_than


def _hash(*parts: str) -> str:
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
