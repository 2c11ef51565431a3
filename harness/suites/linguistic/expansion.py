"""Expand seeds with words that their syntax can take, and check the results.

S²LCT, section 3.2. A mask goes where a production of the seed's constituency tree can become a reference
production (Algorithm 1), and a language model suggests the words for it. A word is accepted if its part of
speech is the symbol's, if it is neutral and, for a capability without a template, if the search rule still
holds.

The paper checks no more, and many of its expansions are no English. Here

- only adjectives and adverbs are inserted, in their usual places (``places``), within a sentence that was
  found, not into a template's words;
- the rest of the sentence must have the parts of speech and the dependencies that it has without the word;
- no negating word is inserted, nor an adverb behind a negation, nor a word that weakens what is said;
- no word is inserted next to itself, and "a" or "an" must agree with the word that follows;
- a language model judges: the words must not cost more than ``LEAST_GAIN``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import pairwise
from math import log
from typing import Protocol

from harness.language.parse import Parse, Parser
from harness.language.surface import takes_an
from harness.language.trees import Tree, phrase
from harness.suites.linguistic.clauses import NEGATIONS
from harness.suites.linguistic.grammar import Grammar, Insertion
from harness.suites.linguistic.modifiers import Modifiers
from harness.suites.linguistic.places import ADJECTIVE, ADVERB, Place, place
from harness.suites.linguistic.seeds import Seed, words
from harness.suites.linguistic.sentiment import SentimentLexicon

NEGATION, REPEATED, ARTICLE, WEAKENING = "negation", "repeated", "article", "weakening"
POS, SYNTAX, PLACE, SENTIMENT, RULE, UNLIKELY = "pos", "syntax", "place", "sentiment", "rule", "unlikely"
SYMBOLS = (ADJECTIVE, ADVERB)
"""Parts of speech of words that may be left out, so that a sentence stays one with them."""
LABELS = ("amod", "advmod", "npadvmod")
LEAST_GAIN = {ADJECTIVE: -6.0, ADVERB: -9.0}
"""Natural-log units: how much less likely an inserted word may make a sentence."""
_NEGATED = re.compile(rf"n['’]t\b|\b(?:{'|'.join(sorted(NEGATIONS))})\b", re.IGNORECASE)


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


class Judge(Protocol):
    """Judges how well words fit their places."""

    @property
    def name(self) -> str:
        """What identifies the judge."""

    def gain(self, parts: tuple[str, ...], fillers: Sequence[str]) -> float:
        """Return the log-likelihood of a text with ``fillers`` between its ``parts``, less that without."""


@dataclass(frozen=True, slots=True)
class Masked:
    """A seed with gaps between its ``parts``, at the offsets ``gaps`` of its text, with their ``places``.

    ``symbols`` are the parts of speech that fit the gaps; ``seen`` is how often the reference grammar saw the
    production that the seed's production becomes.
    """

    parts: tuple[str, ...]
    gaps: tuple[int, ...]
    places: tuple[Place, ...]
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
            _sample(masked_sentences(seed, trees, parse, self.grammar), self.masks, f"{salt}/{seed.id}")
            for seed, trees, parse in read
        ]
        suggested = iter(self.suggester.suggest([m.parts for of_seed in masked for m in of_seed], self.words))
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
        """Return what is wrong with the words, whatever their part of speech, or None."""
        lower = [word.lower() for word in expansion.words]
        if not NEGATIONS.isdisjoint(lower) or _limits(seed, expansion, self.modifiers.negatable):
            return NEGATION
        if not self.modifiers.weakening.isdisjoint(lower):
            return WEAKENING
        if fault := _beside_neighbours(expansion):
            return fault
        masked = expansion.masked
        pairs = list(zip(expansion.words, masked.symbols, strict=True))
        if not all(self._neutral(word, symbol) for word, symbol in pairs):
            return SENTIMENT
        fits = all(
            place.fits(*pair, self.modifiers) for place, pair in zip(masked.places, pairs, strict=True)
        )
        return None if fits else PLACE

    def _neutral(self, word: str, symbol: str) -> bool:
        return word in self.modifiers.neutral or self.lexicon.sentiment(word, symbol) == "neutral"

    def _parsed(self, seed: Seed, expansion: Expansion, parses: Mapping[str, Parse]) -> str | None:
        parse = parses[expansion.text]
        _, offsets = expansion.masked.filled(expansion.words)
        if tuple(parse.tag_at(offset) for offset in offsets) != expansion.masked.symbols:
            return POS
        if _syntax(parse, offsets) != _syntax(parses[seed.text], ()):
            return SYNTAX
        if seed.variant.validate:
            (rule,) = seed.variant.search.values()
            tagged = words(expansion.text, parse)
            if not rule.holds([(w, "" if w in expansion.words else tag) for w, tag in tagged], self.lexicon):
                return RULE  # by its length or a negation: what is inserted was found neutral
        return None

    def _judged(self, expansions: Sequence[Expansion], salt: str) -> list[Expansion]:
        """Return the expansions, those that the judge finds unlikely discarded."""
        if self.judge is None:
            return list(expansions)
        fitting = [e for e in expansions if e.reason is None]
        verdicts: dict[str, str | None] = {}
        for expansion in sorted(fitting, key=lambda e: _digest(f"{salt}/{e.text}")):
            if self.most is not None and sum(reason is None for reason in verdicts.values()) >= self.most:
                break
            gain = self.judge.gain(expansion.masked.parts, expansion.words)
            least = sum(LEAST_GAIN[symbol] for symbol in expansion.masked.symbols)
            verdicts[expansion.text] = None if gain >= least else UNLIKELY
        return [
            replace(e, reason=e.reason or verdicts[e.text])
            for e in expansions
            if e.reason is not None or e.text in verdicts
        ]


def masked_sentences(seed: Seed, trees: Sequence[Tree], parse: Parse, grammar: Grammar) -> list[Masked]:
    """Return every distinct masked sentence that Algorithm 1 finds, with a place for a modifier in each gap.

    All gaps are within the sentences of the seed.
    """
    distinct: dict[tuple[str, ...], Masked] = {}
    for tree in trees:
        for grown in (*tree.phrases(), *_adjectives(tree)):
            for insertion, seen in grammar.insertions(grown.production).items():
                if all(symbol in SYMBOLS for _, symbol in insertion):
                    masked = _insert(seed, parse, grown, insertion, seen)
                    if masked is not None:
                        distinct.setdefault((*masked.parts, *masked.symbols), masked)
    return list(distinct.values())


def _adjectives(tree: Tree) -> Iterator[Tree]:
    """Yield each bare adjective as the phrase that the Treebank makes of it where an adverb precedes it."""
    return (phrase("ADJP", [leaf]) for leaf in tree.leaves() if leaf.label == ADJECTIVE)


def _insert(seed: Seed, parse: Parse, grown: Tree, insertion: Insertion, seen: int) -> Masked | None:
    """Return the seed with gaps for the symbols that ``grown`` takes; None where one has no place."""
    text = seed.text
    parts, places, gaps, at, open_ = [], [], [], 0, ""
    for index, symbol in insertion:
        if index == 0:
            before, after = text[at : grown.start], " "
            to = grown.start
        else:
            to = grown.children[index - 1].end
            before, after = f"{text[at:to]} ", ""
        here = place(text, parse, to)
        if here is None or not here.takes(symbol) or not _is_between(seed, to):
            return None
        places.append(here)
        gaps.append(to)
        parts.append(open_ + before)
        at, open_ = to, after
    symbols = [child.label for child in grown.children]
    for done, (index, symbol) in enumerate(insertion):
        symbols.insert(index + done, f"[{symbol}]")
    inserted = tuple(symbol for _, symbol in insertion)
    production = f"{grown.label} -> {' '.join(symbols)}"
    return Masked((*parts, open_ + text[at:]), tuple(gaps), tuple(places), inserted, production, seen)


def _is_between(seed: Seed, gap: int) -> bool:
    """Return whether white space is at the gap, and words of one sentence of the seed are on both sides."""
    spaced = seed.text[gap - 1 : gap].isspace() or seed.text[gap : gap + 1].isspace()
    return spaced and any(start < gap < end for start, end in seed.spans)


def _distinct(seed: str, suggested: Sequence[tuple[Masked, list[list[str]]]]) -> Iterator[Expansion]:
    """Yield the distinct texts that suggestions make, combining the words of equal rank in all gaps."""
    seen = {seed}
    for masked, gaps in suggested:
        for suggestion in zip(*gaps, strict=False):
            fillers = tuple(suggestion)
            text, _ = masked.filled(fillers)
            if text not in seen:
                seen.add(text)
                yield Expansion(text, masked, fillers)


def _limits(seed: Seed, expansion: Expansion, negatable: Collection[str]) -> bool:
    """Return whether an adverb would stand behind a negation of its sentence, which it would limit."""
    masked = expansion.masked
    return any(
        symbol == "RB"
        and word not in negatable
        and start < gap <= end
        and _NEGATED.search(seed.text, start, gap) is not None
        for word, gap, symbol in zip(expansion.words, masked.gaps, masked.symbols, strict=True)
        for start, end in seed.spans
    )


def _syntax(parse: Parse, inserted: Sequence[int]) -> tuple[tuple[str, str], ...]:
    """Return the parts of speech and dependencies of all tokens but the modifiers ``inserted``."""
    rows = zip(parse.offsets, parse.pos, parse.dep, strict=True)
    return tuple((tag, label) for at, tag, label in rows if at not in inserted or label not in LABELS)


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
        digest = _digest(f"{salt}/{sentence}/{sentence.symbols}")
        uniform = (int.from_bytes(digest[:6]) + 1) / 2**48
        return -log(uniform) / sentence.seen

    chosen = set(map(id, sorted(masked, key=place)[:most]))
    return [sentence for sentence in masked if id(sentence) in chosen]


def _digest(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()
