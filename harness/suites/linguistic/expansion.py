"""Expand seeds with words that their syntax can take, and check the results.

S²LCT, section 3.2. A mask goes where a production of the seed's constituency tree can become a reference
production (Algorithm 1), and a language model suggests the words for it. A word is accepted if its part of
speech is the symbol's, if it is neutral and, for a capability without a template, if the search rule still
holds.

The paper checks no more, and many of its expansions are no English. Here

- only adjectives and adverbs are inserted, within a sentence that was found, not into a template's words;
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
from harness.language.trees import Tree
from harness.suites.linguistic.clauses import FORMS_OF_BE, NEGATIONS, spans
from harness.suites.linguistic.grammar import Grammar, Insertion
from harness.suites.linguistic.modifiers import Modifiers
from harness.suites.linguistic.seeds import Seed, words
from harness.suites.linguistic.sentiment import SentimentLexicon

NEGATION, REPEATED, ARTICLE, WEAKENING = "negation", "repeated", "article", "weakening"
POS, SYNTAX, PLACE, SENTIMENT, RULE, UNLIKELY = "pos", "syntax", "place", "sentiment", "rule", "unlikely"
SYMBOLS = frozenset(["JJ", "RB"])
"""Parts of speech of words that may be left out, so that a sentence stays one with them."""
NOUNS = ("NN", "NNS")
OWNERS = ("PRP$", "POS")
ADJECTIVES = ("JJ", "JJR", "JJS")
ADVERBS = ("RB", "RBR", "RBS")
AUXILIARIES = frozenset(
    [*FORMS_OF_BE, *("be", "been", "being", "am", "have", "has", "had", "'ve", "do", "does", "did")]
)
LABELS = ("amod", "advmod", "npadvmod")
LEAST_GAIN = -8.0
"""Natural-log units: how much less likely inserted words may make a sentence."""
_NEGATED = re.compile(r"n['’]t\b|\b(?:%s)\b" % "|".join(sorted(map(re.escape, NEGATIONS))), re.IGNORECASE)


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
    """A seed with gaps between its ``parts``, at the offsets ``gaps`` of its text.

    ``symbols`` are the parts of speech that fit the gaps; ``seen`` is how often the reference grammar saw the
    production that the seed's production becomes.
    """

    parts: tuple[str, ...]
    gaps: tuple[int, ...]
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
        trees = self.constituency.trees([seed.text for seed in seeds])
        masked = [
            _sample(masked_sentences(seed, of_seed, self.grammar), self.masks, f"{salt}/{seed.id}")
            for seed, of_seed in zip(seeds, trees, strict=True)
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
        pairs = zip(expansion.words, expansion.masked.symbols, strict=True)
        neutral = all(self._neutral(word, symbol) for word, symbol in pairs)
        return None if neutral else SENTIMENT

    def _neutral(self, word: str, symbol: str) -> bool:
        return word in self.modifiers.neutral or self.lexicon.sentiment(word, symbol) == "neutral"

    def _parsed(self, seed: Seed, expansion: Expansion, parses: Mapping[str, Parse]) -> str | None:
        parse = parses[expansion.text]
        _, offsets = expansion.masked.filled(expansion.words)
        if tuple(parse.tag_at(offset) for offset in offsets) != expansion.masked.symbols:
            return POS
        if _syntax(parse, offsets) != _syntax(parses[seed.text], ()):
            return SYNTAX
        if not all(_has_place(expansion.text, parse, offset, self.modifiers) for offset in offsets):
            return PLACE
        if seed.variant.validate:
            (rule,) = seed.variant.search.values()
            if not rule.holds(words(expansion.text, parse), self.lexicon):
                return RULE
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
            verdicts[expansion.text] = None if gain >= LEAST_GAIN * len(expansion.words) else UNLIKELY
        return [
            replace(e, reason=e.reason or verdicts[e.text])
            for e in expansions
            if e.reason is not None or e.text in verdicts
        ]


def masked_sentences(seed: Seed, trees: Sequence[Tree], grammar: Grammar) -> list[Masked]:
    """Return every distinct masked sentence that Algorithm 1 finds within the sentences of the seed."""
    distinct: dict[tuple[str, ...], Masked] = {}
    for tree in trees:
        for phrase in tree.phrases():
            for insertion, seen in grammar.insertions(phrase.production).items():
                if SYMBOLS.issuperset(symbol for _, symbol in insertion):
                    masked = _insert(seed.text, phrase, insertion, seen)
                    if all(_is_inside(seed, gap) for gap in masked.gaps):
                        distinct.setdefault((*masked.parts, *masked.symbols), masked)
    return list(distinct.values())


def _is_inside(seed: Seed, gap: int) -> bool:
    """Return whether a gap is between two words of a sentence of the seed, or at its end."""
    between = seed.text[gap - 1 : gap].isspace() or seed.text[gap : gap + 1] in (" ", ",", ".")
    return between and any(start < gap <= end for start, end in seed.spans)


def _insert(text: str, phrase: Tree, insertion: Insertion, seen: int) -> Masked:
    """Return ``text`` with gaps for the symbols that ``phrase`` takes."""
    parts, gaps, at, open_ = [], [], 0, ""
    for index, _ in insertion:
        if index == 0:
            before, after = text[at : phrase.start], " "
            to = phrase.start
        else:
            to = phrase.children[index - 1].end
            before, after = f"{text[at:to]} ", ""
        parts.append(open_ + before)
        gaps.append(to)
        at, open_ = to, after
    symbols = [child.label for child in phrase.children]
    for done, (index, symbol) in enumerate(insertion):
        symbols.insert(index + done, f"[{symbol}]")
    inserted = tuple(symbol for _, symbol in insertion)
    production = f"{phrase.label} -> {' '.join(symbols)}"
    return Masked((*parts, open_ + text[at:]), tuple(gaps), inserted, production, seen)


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


def _has_place(text: str, parse: Parse, offset: int, modifiers: Modifiers) -> bool:
    """Return whether the modifier at ``offset`` stands where most of its kind do.

    An adjective stands before a common noun (*own* after its owner); an adverb that no other precedes stands
    before a verb that is no auxiliary, before an adjective, or between a form of *be* and what it says.
    """
    at = parse.offsets.index(offset)
    if not 0 < at < len(parse.offsets) - 1:
        return False
    before, word, after = (text[start:end].lower() for start, end in spans(text, parse)[at - 1 : at + 2])
    tag_before, tag, tag_after = parse.pos[at - 1 : at + 2]
    if tag == "JJ":
        return tag_after in NOUNS and (word != "own" or tag_before in OWNERS)
    if tag_before in ADVERBS and before not in NEGATIONS:
        return False
    if tag_after in ADJECTIVES and (word in modifiers.degrees or word not in modifiers.neutral):
        return True
    if word in modifiers.degrees - modifiers.adverbs:
        return False
    copular = before in FORMS_OF_BE and tag_after in ("DT", "PRP$", "VBG", "VBN", *ADJECTIVES)
    return copular or (tag_after[:2] == "VB" and after not in AUXILIARIES)


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
