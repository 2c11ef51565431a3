"""Expand seeds with words that their syntax can take, and check the results.

S²LCT, section 3.2. A mask goes where a production of the seed's constituency tree can become a reference
production (Algorithm 1), and a language model suggests the words for it. A word is accepted if its part of
speech is the symbol's, if it is neutral and, for a capability without a template, if the search rule still
holds.

Three checks are not in the paper: no negating word is inserted, since it would reverse the label that the
seed was made for; no word is inserted next to itself; and "a" or "an" must agree with the word that follows.
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
    """Parses texts into constituency trees: one tree per sentence, leaves with the offsets of their words."""

    @property
    def name(self) -> str:
        """What identifies the parser."""

    def trees(self, texts: Sequence[str]) -> list[tuple[Tree, ...]]:
        """Return the trees of each text."""


class Suggester(Protocol):
    """Suggests words for the gaps of a text."""

    @property
    def name(self) -> str:
        """What identifies the suggester."""

    def learn(self, text: str) -> None:
        """Learn from a document; called for every document before the first ``suggest``."""

    def suggest(self, texts: Sequence[tuple[str, ...]], words: int) -> list[list[list[str]]]:
        """Return at most ``words`` words for each gap of each text, the likeliest first.

        A text is given as its parts, with a gap between every two of them.
        """


@dataclass(frozen=True, slots=True)
class Masked:
    """A seed with gaps between its ``parts``.

    ``symbols`` are the parts of speech that fit the gaps; ``seen`` is how often the reference grammar saw the
    production that the seed's production becomes.
    """

    parts: tuple[str, ...]
    symbols: tuple[str, ...]
    production: str
    seen: int = 1

    def filled(self, fillers: Sequence[str]) -> tuple[str, tuple[int, ...]]:
        """Return the text with a word in each gap, and the offsets of these words."""
        text, offsets = self.parts[0], []
        for filler, part in zip(fillers, self.parts[1:], strict=True):
            offsets.append(len(text))
            text += filler + part
        return text, tuple(offsets)

    def __str__(self) -> str:
        return "{MASK}".join(self.parts)


@dataclass(frozen=True, slots=True)
class Expansion:
    """A seed with ``words`` inserted; ``reason`` is None if it is valid, else the check it failed."""

    text: str
    masked: Masked
    words: tuple[str, ...]
    reason: str | None = None


@dataclass(frozen=True)
class Expander:
    """Expands seeds: at most ``masks`` masked sentences per seed and ``words`` suggestions per mask."""

    grammar: Grammar
    constituency: Constituency
    suggester: Suggester
    parser: Parser
    lexicon: SentimentLexicon
    masks: int = 10
    words: int = 20

    def expand(self, seeds: Sequence[Seed], salt: str) -> list[list[Expansion]]:
        """Return the expansions of each seed, valid or not, without repeated texts.

        ``salt`` seeds the choice of masks.
        """
        trees = self.constituency.trees([seed.text for seed in seeds])
        masked = [
            _sample(masked_sentences(seed.text, of_seed, self.grammar), self.masks, f"{salt}/{seed.id}")
            for seed, of_seed in zip(seeds, trees, strict=True)
        ]
        suggested = iter(self.suggester.suggest([m.parts for of_seed in masked for m in of_seed], self.words))
        grown = [
            list(_distinct(seed.text, [(m, next(suggested)) for m in of_seed]))
            for seed, of_seed in zip(seeds, masked, strict=True)
        ]
        return self._validated(seeds, grown)

    def _validated(
        self, seeds: Sequence[Seed], grown: Sequence[Sequence[Expansion]]
    ) -> list[list[Expansion]]:
        """Return the expansions with their reasons: word checks first, then those on parses, in one batch."""
        texts = [e.text for expansions in grown for e in expansions if self._words(e) is None]
        parses = dict(zip(texts, self.parser.parse(texts), strict=True))
        return [
            [
                Expansion(e.text, e.masked, e.words, self._words(e) or self._parsed(seed, e, parses[e.text]))
                for e in expansions
            ]
            for seed, expansions in zip(seeds, grown, strict=True)
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
    """Return every distinct masked sentence that Algorithm 1 finds."""
    distinct: dict[tuple[str, ...], Masked] = {}
    for tree in trees:
        for phrase in tree.phrases():
            for insertion, seen in grammar.insertions(phrase.production).items():
                masked = _insert(text, phrase, insertion, seen)
                distinct.setdefault((*masked.parts, *masked.symbols), masked)
    return list(distinct.values())


def _insert(text: str, phrase: Tree, insertion: Insertion, seen: int) -> Masked:
    """Return ``text`` with gaps for the symbols that ``phrase`` takes."""
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
    symbols = [child.label for child in phrase.children]
    for done, (index, symbol) in enumerate(insertion):
        symbols.insert(index + done, f"[{symbol}]")
    inserted = tuple(symbol for _, symbol in insertion)
    return Masked((*parts, open_ + text[at:]), inserted, f"{phrase.label} -> {' '.join(symbols)}", seen)


def _inside(text: str, phrase: Tree) -> str:
    """Return the text with its first word written as it would be inside a sentence."""
    name = next(phrase.leaves()).label in NAMES or _TITLED.match(text) is None
    return text if name else text[:1].lower() + text[1:]


def _distinct(seed: str, suggested: Sequence[tuple[Masked, list[list[str]]]]) -> Iterator[Expansion]:
    """Yield the distinct texts that suggestions make, combining the words of equal rank in all gaps."""
    seen = {seed}
    for masked, gaps in suggested:
        for suggestion in zip(*gaps, strict=False):
            fillers = tuple(suggestion)
            if not masked.parts[0]:
                fillers = (fillers[0][:1].upper() + fillers[0][1:], *fillers[1:])
            text, _ = masked.filled(fillers)
            if text not in seen:
                seen.add(text)
                yield Expansion(text, masked, fillers)


def _beside_neighbours(expansion: Expansion) -> str | None:
    """Return what is wrong where an inserted word meets the words beside it, or None."""
    _, offsets = expansion.masked.filled(expansion.words)
    for word, offset in zip(expansion.words, offsets, strict=True):
        before = expansion.text[:offset].lower().split()
        after = expansion.text[offset + len(word) :].lower().split()
        row = [*before[-1:], word.lower(), *after[:1]]
        for left, right in pairwise(row):
            if left == right:
                return REPEATED
            if left in ("a", "an") and (left == "an") != takes_an(right):
                return ARTICLE
    return None


def _sample(masked: Sequence[Masked], most: int, salt: str) -> list[Masked]:
    """Draw at most ``most`` masked sentences (Algorithm 1, line 14), keeping their order.

    The chance of being drawn is proportional to the production's frequency in the reference grammar, since
    most productions of a treebank were seen once and few words fit what they add (weighted sampling by
    Efraimidis and Spirakis 2006).
    """

    def place(sentence: Masked) -> float:
        digest = sha256(f"{salt}/{sentence}/{sentence.symbols}".encode("utf-8", "surrogatepass")).digest()
        uniform = (int.from_bytes(digest[:6]) + 1) / 2**48
        return -log(uniform) / sentence.seen

    chosen = set(map(id, sorted(masked, key=place)[:most]))
    return [sentence for sentence in masked if id(sentence) in chosen]
