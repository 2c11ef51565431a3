"""Expand seeds with words that their syntax can take, and check the results.

S²LCT, section 3.2. A mask goes where a production of the seed's constituency tree can become a reference
production (Algorithm 1), and a language model suggests the words for it. A word is accepted if its part of
speech is the symbol's, if it is neutral and, for a capability without a template, if the search rule still
holds.

The paper checks no more, and many of its expansions are no English. Here

- only adjectives and adverbs are inserted, in their usual places (``places``), within a sentence that was
  found, not into a template's words;
- the rest of the sentence must have the parts of speech and the dependencies that it has without the word;
- no negating word is inserted, nor a word that weakens what is said or limits what is denied;
- no word is inserted next to itself, and "a" or "an" must agree with the word that follows;
- a language model judges: the words must not cost more than ``LEAST_GAIN``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import pairwise
from typing import Protocol

from harness.language.parse import Parse, Parser
from harness.language.surface import takes_an
from harness.language.trees import Tree
from harness.suites.linguistic.clauses import NEGATIONS
from harness.suites.linguistic.grammar import Grammar
from harness.suites.linguistic.masks import Masked, masked_sentences, sample
from harness.suites.linguistic.modifiers import Modifiers
from harness.suites.linguistic.places import ADJECTIVE, ADVERB
from harness.suites.linguistic.seeds import Seed, words
from harness.suites.linguistic.sentiment import SentimentLexicon

NEGATION, REPEATED, ARTICLE, WEAKENING = "negation", "repeated", "article", "weakening"
POS, SYNTAX, PLACE, SENTIMENT, RULE, UNLIKELY = "pos", "syntax", "place", "sentiment", "rule", "unlikely"
LABELS = ("amod", "advmod", "npadvmod", "punct")
LEAST_GAIN = {ADJECTIVE: -4.5, ADVERB: -9.0}
"""Natural-log units: how much less likely an inserted word may make a sentence."""
_WORD = re.compile(r"\w+")
_NEGATED = re.compile(rf"n['’]t\b|\b(?:{'|'.join(sorted(NEGATIONS))})\b", re.IGNORECASE)


class Constituency(Protocol):
    """Parses texts into constituency trees: one tree per sentence, leaves with the offsets of their words."""

    @property
    def name(self) -> str:
        """What identifies the parser."""

    def trees(self, texts: Sequence[str]) -> list[tuple[Tree, ...]]:
        """Return the trees of each text."""


class Suggester(Protocol):
    """Suggests words for the gap of a text."""

    @property
    def name(self) -> str:
        """What identifies the suggester."""

    def learn(self, text: str) -> None:
        """Learn from a document; called for every document before the first ``suggest``."""

    def suggest(self, texts: Sequence[tuple[str, str]], words: int) -> list[list[str]]:
        """Return at most ``words`` words for the gap between the parts of each text, the likeliest first."""


class Judge(Protocol):
    """Judges how well words fit their places."""

    @property
    def name(self) -> str:
        """What identifies the judge."""

    def gain(self, before: str, word: str, after: str) -> float:
        """Return the log-likelihood of a text with ``word`` between its parts, less that without."""


@dataclass(frozen=True, slots=True)
class Expansion:
    """A seed with ``word`` inserted; ``reason`` is None if it is valid, else the check it failed."""

    text: str
    masked: Masked
    word: str
    reason: str | None = None

    @property
    def at(self) -> int:
        """The offset of the word."""
        return len(self.masked.before)

    @property
    def inserted(self) -> tuple[int, ...]:
        """The offsets of the word and of the comma that sets it off, if there is one."""
        end = self.at + len(self.word)
        return (self.at, end) if self.masked.opens and self.text[end : end + 1] == "," else (self.at,)


@dataclass(frozen=True)
class Expander:
    """Expands seeds: at most ``masks`` masked sentences per seed and ``words`` suggestions per mask.

    With a ``judge``, at most ``most`` expansions of a seed are found valid; the rest of what would have to be
    judged is left out. Without one, all are.
    """

    grammar: Grammar
    constituency: Constituency
    suggester: Suggester
    parser: Parser
    lexicon: SentimentLexicon
    modifiers: Modifiers
    masks: int = 10
    words: int = 20
    judge: Judge | None = None
    most: int | None = None

    def expand(self, seeds: Sequence[Seed], salt: str) -> list[list[Expansion]]:
        """Return the expansions of each seed, valid or not, without repeated texts.

        ``salt`` seeds the choice of masks and, with a judge, of what is judged.
        """
        texts = [seed.text for seed in seeds]
        read = zip(seeds, self.constituency.trees(texts), self.parser.parse(texts), strict=True)
        masked = [
            sample(masked_sentences(seed, trees, parse, self.grammar), self.masks, f"{salt}/{seed.id}")
            for seed, trees, parse in read
        ]
        suggested = iter(
            self.suggester.suggest([(m.before, m.after) for of_seed in masked for m in of_seed], self.words)
        )
        grown = [
            list(_distinct(seed.text, [(m, next(suggested)) for m in of_seed]))
            for seed, of_seed in zip(seeds, masked, strict=True)
        ]
        validated = self._validated(seeds, grown)
        return [self._judged(expansions, salt) for expansions in validated]

    def _validated(
        self, seeds: Sequence[Seed], grown: Sequence[Sequence[Expansion]]
    ) -> list[list[Expansion]]:
        """Return the expansions with their reasons: word checks first, then those on parses, in one batch."""
        checked = [
            [replace(e, reason=self._words(seed, e)) for e in expansions]
            for seed, expansions in zip(seeds, grown, strict=True)
        ]
        texts = [e.text for expansions in checked for e in expansions if e.reason is None]
        texts += [seed.text for seed in seeds]
        parses = dict(zip(texts, self.parser.parse(texts), strict=True))
        return [
            [replace(e, reason=e.reason or self._parsed(seed, e, parses)) for e in expansions]
            for seed, expansions in zip(seeds, checked, strict=True)
        ]

    def _words(self, seed: Seed, expansion: Expansion) -> str | None:
        """Return what is wrong with the word, whatever its part of speech, or None."""
        word, masked = expansion.word.lower(), expansion.masked
        if word in NEGATIONS or _limits(seed, expansion, self.modifiers.negatable):
            return NEGATION
        if word in self.modifiers.weakening:
            return WEAKENING
        if fault := _beside_neighbours(expansion) or self._said(seed, word):
            return fault
        if not self._neutral(word, masked.symbol):
            return SENTIMENT
        return None if masked.place.fits(word, masked.symbol, self.modifiers) else PLACE

    def _said(self, seed: Seed, word: str) -> str | None:
        """Return what is wrong where the seed is as sure of what it says already ("it is definitely …")."""
        sure = self.modifiers.sure
        return REPEATED if word in sure and not sure.isdisjoint(_WORD.findall(seed.text.lower())) else None

    def _neutral(self, word: str, symbol: str) -> bool:
        return word in self.modifiers.neutral or self.lexicon.sentiment(word, symbol) == "neutral"

    def _parsed(self, seed: Seed, expansion: Expansion, parses: Mapping[str, Parse]) -> str | None:
        parse = parses[expansion.text]
        if parse.tag_at(expansion.at) != expansion.masked.symbol:
            return POS
        if _syntax(parse, expansion.inserted) != _syntax(parses[seed.text], ()):
            return SYNTAX
        if seed.variant.validate:
            (rule,) = seed.variant.search.values()
            tagged = words(expansion.text, parse)
            own = expansion.word.lower()
            if not rule.holds([(w, "" if w.lower() == own else tag) for w, tag in tagged], self.lexicon):
                return RULE  # by its length or a negation: what is inserted was found neutral
        return None

    @staticmethod
    def _likely(judge: Judge, expansion: Expansion) -> bool:
        """Return whether the judge finds the word fit; the few that may open a text fit any."""
        masked = expansion.masked
        if masked.opens:
            return True
        return judge.gain(masked.before, expansion.word, masked.after) >= LEAST_GAIN[masked.symbol]

    def _judged(self, expansions: Sequence[Expansion], salt: str) -> list[Expansion]:
        """Return the expansions, those that the judge finds unlikely discarded."""
        if self.judge is None:
            return list(expansions)
        verdicts: dict[str, str | None] = {}
        for expansion in _in_turn([e for e in expansions if e.reason is None], salt):
            if self.most is not None and sum(reason is None for reason in verdicts.values()) >= self.most:
                break
            verdicts[expansion.text] = None if self._likely(self.judge, expansion) else UNLIKELY
        return [
            replace(e, reason=e.reason or verdicts[e.text])
            for e in expansions
            if e.reason is not None or e.text in verdicts
        ]


def _in_turn(expansions: Sequence[Expansion], salt: str) -> list[Expansion]:
    """Return the expansions in an order that takes the gaps in turn, each one's by a hash."""
    by_hash = sorted(expansions, key=lambda e: _digest(f"{salt}/{e.text}"))
    turns: Counter[str] = Counter()
    turn = {}
    for expansion in by_hash:
        turn[expansion.text] = turns[str(expansion.masked)]
        turns[str(expansion.masked)] += 1
    return sorted(by_hash, key=lambda e: turn[e.text])


def _distinct(seed: str, suggested: Sequence[tuple[Masked, list[str]]]) -> Iterator[Expansion]:
    """Yield the distinct texts that suggestions make."""
    seen = {seed}
    for masked, suggestions in suggested:
        for word in suggestions:
            text = masked.filled(word)
            if text not in seen:
                seen.add(text)
                yield Expansion(text, masked, word)


def _limits(seed: Seed, expansion: Expansion, negatable: Collection[str]) -> bool:
    """Return whether an adverb would limit what the seed denies.

    "It isn't really dull" is as good as "it isn't dull"; "it isn't a really dull film" may be a dull one.
    """
    masked = expansion.masked
    if masked.symbol != ADVERB or masked.opens:
        return False
    if not seed.variant.denies and _NEGATED.search(seed.text, 0, masked.gap) is None:
        return False
    inside = [m for start, _ in seed.spans for m in _NEGATED.finditer(seed.text, start, masked.gap)]
    return expansion.word not in negatable or any(masked.before[m.end() :].strip() for m in inside)


def _syntax(parse: Parse, inserted: Sequence[int]) -> tuple[tuple[str, str], ...]:
    """Return the parts of speech and dependencies of all tokens but the modifiers ``inserted``."""
    rows = zip(parse.offsets, parse.pos, parse.dep, strict=True)
    return tuple((tag, label) for at, tag, label in rows if at not in inserted or label not in LABELS)


def _beside_neighbours(expansion: Expansion) -> str | None:
    """Return what is wrong where the inserted word meets the words beside it, or None."""
    before = expansion.masked.before.lower().split()
    after = expansion.masked.after.lower().split()
    for left, right in pairwise([*before[-1:], expansion.word.lower(), *after[:1]]):
        if left == right:
            return REPEATED
        if left in ("a", "an") and (left == "an") != takes_an(right):
            return ARTICLE
    return None


def _digest(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()
