"""Expansion: a seed grown by words that its syntax can take, and the checks that a grown one must pass.

S²LCT, section 3.2. A mask goes where a production of the seed's constituency tree can become a reference one
(Algorithm 1), a language model says which words may stand there, and a word stays where its part of speech is
the symbol's, it is neutral, and, for a capability without a template, the search rule holds again.

Three checks are ours: a word that negates is never put in, for it turns the label that the seed was made for,
nor is a word beside itself, nor one with which "a" or "an" would not agree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from math import log
from typing import Protocol

from harness.language.parsers import Parse, Parser
from harness.language.surface import takes_an
from harness.language.trees import Tree
from harness.suites.linguistic.grammar import Grammar, Insertion
from harness.suites.linguistic.seeds import Seed, words
from harness.suites.linguistic.sentiment import NAMES, SentimentLexicon

NEGATION, REPEATED, ARTICLE = "negation", "repeated", "article"
POS, SENTIMENT, RULE = "pos", "sentiment", "rule"
NEGATIONS = frozenset(
    [
        *("not", "no", "never", "none", "nothing", "nobody", "nowhere", "neither", "nor", "cannot", "n't"),
        *("hardly", "barely", "scarcely", "without"),
    ]
)
_TITLED = re.compile(r"(?!I\b)[A-Z][a-z]*(?![\w-])")


class Constituency(Protocol):
    """Constituency trees of texts, a tree a sentence, leaves with the offsets of their words."""

    @property
    def name(self) -> str: ...

    def trees(self, texts: Sequence[str]) -> list[tuple[Tree, ...]]: ...


class Suggester(Protocol):
    """Says which words may stand in a text's gaps.

    ``suggest`` takes texts as their parts, a gap between each two, and gives for each gap at most ``words``
    of them, the likeliest first. ``learn`` is told of every document that is read before.
    """

    @property
    def name(self) -> str: ...

    def learn(self, text: str) -> None: ...

    def suggest(self, texts: Sequence[tuple[str, ...]], words: int) -> list[list[list[str]]]: ...


@dataclass(frozen=True, slots=True)
class Masked:
    """A seed with gaps between its ``parts``; ``symbols`` are the parts of speech that fit them, and
    ``seen`` is how often the reference grammar saw the production that the seed's becomes."""

    parts: tuple[str, ...]
    symbols: tuple[str, ...]
    production: str
    seen: int = 1

    def filled(self, fillers: Sequence[str]) -> tuple[str, tuple[int, ...]]:
        """The text with a word in each gap, and the offsets of these words."""
        text, offsets = self.parts[0], []
        for filler, part in zip(fillers, self.parts[1:], strict=True):
            offsets.append(len(text))
            text += filler + part
        return text, tuple(offsets)

    def __str__(self) -> str:
        return "{MASK}".join(self.parts)


@dataclass(frozen=True, slots=True)
class Expansion:
    """A seed with ``words`` put in; ``reason`` is None where it is valid, else the check it failed."""

    text: str
    masked: Masked
    words: tuple[str, ...]
    reason: str | None = None


@dataclass(frozen=True)
class Expander:
    """Expands seeds: at most ``masks`` masked sentences a seed, at most ``words`` suggestions a mask."""

    grammar: Grammar
    constituency: Constituency
    suggester: Suggester
    parser: Parser
    lexicon: SentimentLexicon
    masks: int = 10
    words: int = 20

    def expand(self, seeds: Sequence[Seed], salt: str) -> list[list[Expansion]]:
        """The expansions of each seed, valid or not, no text twice; ``salt`` decides the choice of masks."""
        trees = self.constituency.trees([seed.text for seed in seeds])
        masked = [
            _sample(masked_sentences(seed.text, some, self.grammar), self.masks, f"{salt}/{seed.id}")
            for seed, some in zip(seeds, trees, strict=True)
        ]
        suggested = iter(self.suggester.suggest([m.parts for some in masked for m in some], self.words))
        grown = [
            list(_distinct(seed.text, [(m, next(suggested)) for m in some]))
            for seed, some in zip(seeds, masked, strict=True)
        ]
        return self._validated(seeds, grown)

    def _validated(
        self, seeds: Sequence[Seed], grown: Sequence[Sequence[Expansion]]
    ) -> list[list[Expansion]]:
        """Words first, then what takes a parse: of all seeds at once."""
        texts = [e.text for some in grown for e in some if self._words(e) is None]
        parses = dict(zip(texts, self.parser.parse(texts), strict=True))
        return [
            [
                Expansion(e.text, e.masked, e.words, self._words(e) or self._parsed(seed, e, parses[e.text]))
                for e in some
            ]
            for seed, some in zip(seeds, grown, strict=True)
        ]

    def _words(self, expansion: Expansion) -> str | None:
        if any(word.lower() in NEGATIONS for word in expansion.words):
            return NEGATION
        if fault := _beside_neighbours(expansion):
            return fault
        pairs = zip(expansion.words, expansion.masked.symbols, strict=True)
        neutral = all(self.lexicon.sentiment(word, symbol) == "neutral" for word, symbol in pairs)
        return None if neutral else SENTIMENT

    def _parsed(self, seed: Seed, expansion: Expansion, parse: Parse) -> str | None:
        _, offsets = expansion.masked.filled(expansion.words)
        if tuple(parse.tag_at(offset) for offset in offsets) != expansion.masked.symbols:
            return POS
        if seed.variant.validate:
            (rule,) = seed.variant.search.values()
            if not rule.holds(words(expansion.text, parse), self.lexicon):
                return RULE
        return None


def masked_sentences(text: str, trees: Sequence[Tree], grammar: Grammar) -> list[Masked]:
    """Every masked sentence that Algorithm 1 finds, each once."""
    found: dict[tuple[str, ...], Masked] = {}
    for tree in trees:
        for phrase in tree.phrases():
            for insertion, seen in grammar.insertions(phrase.production).items():
                masked = _insert(text, phrase, insertion, seen)
                found.setdefault((*masked.parts, *masked.symbols), masked)
    return list(found.values())


def _insert(text: str, phrase: Tree, insertion: Insertion, seen: int) -> Masked:
    """Gaps in ``text`` for the symbols that ``phrase`` takes."""
    if insertion[0][0] == 0 and phrase.start == 0:
        text = _inside(text, phrase)
    parts, at, open_ = [], 0, ""
    for index, _ in insertion:
        if index == 0:
            before, after = text[at : phrase.start], " "
            to = phrase.start
        else:
            to = phrase.children[index - 1].end
            before, after = f"{text[at:to]} ", ""
        parts.append(open_ + before)
        at, open_ = to, after
    own = [child.label for child in phrase.children]
    for done, (index, symbol) in enumerate(insertion):
        own.insert(index + done, f"[{symbol}]")
    symbols = tuple(symbol for _, symbol in insertion)
    return Masked((*parts, open_ + text[at:]), symbols, f"{phrase.label} -> {' '.join(own)}", seen)


def _inside(text: str, phrase: Tree) -> str:
    """The text with its first word as it is written inside a sentence."""
    name = next(phrase.leaves()).label in NAMES or _TITLED.match(text) is None
    return text if name else text[:1].lower() + text[1:]


def _distinct(seed: str, suggested: Sequence[tuple[Masked, list[list[str]]]]) -> Iterator[Expansion]:
    """The texts that suggestions make, the likeliest words of all gaps of a text together."""
    seen = {seed}
    for masked, gaps in suggested:
        for some in zip(*gaps, strict=False):
            fillers = tuple(some)
            if not masked.parts[0]:
                fillers = (fillers[0][:1].upper() + fillers[0][1:], *fillers[1:])
            text, _ = masked.filled(fillers)
            if text not in seen:
                seen.add(text)
                yield Expansion(text, masked, fillers)


def _beside_neighbours(expansion: Expansion) -> str | None:
    """What is wrong where a word put in meets the words beside it, None where nothing is."""
    _, offsets = expansion.masked.filled(expansion.words)
    for word, offset in zip(expansion.words, offsets, strict=True):
        before = expansion.text[:offset].lower().split()
        after = expansion.text[offset + len(word) :].lower().split()
        row = [*before[-1:], word.lower(), *after[:1]]
        for one, other in pairwise(row):
            if one == other:
                return REPEATED
            if one in ("a", "an") and (one == "an") != takes_an(other):
                return ARTICLE
    return None


def _sample(masked: Sequence[Masked], most: int, salt: str) -> list[Masked]:
    """At most ``most`` of them at random (Algorithm 1, line 14), in the order found.

    One is as likely to be drawn as its production is in the reference grammar: most productions of a
    treebank were seen once, and few words fit what they add (weighted draw of Efraimidis and Spirakis 2006).
    """

    def place(one: Masked) -> float:
        digest = sha256(f"{salt}/{one}/{one.symbols}".encode("utf-8", "surrogatepass")).digest()
        uniform = (int.from_bytes(digest[:6]) + 1) / 2**48
        return -log(uniform) / one.seen

    chosen = set(map(id, sorted(masked, key=place)[:most]))
    return [one for one in masked if id(one) in chosen]
