"""Where a seed may take one more word: Algorithm 1 of S²LCT (section 3.2), and the beginning of a text.

A *masked sentence* is a seed with a gap where a production of its constituency tree can become a reference
production. Only adjectives and adverbs are masked, in their usual places (``places``), within the sentences
that were found and not in a template's words; an adverb may also open the text, a template's, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import log

from harness.language.parse import Parse
from harness.language.trees import Production, Tree, phrase
from harness.suites.linguistic import clauses
from harness.suites.linguistic.grammar import Grammar
from harness.suites.linguistic.places import (
    ADJECTIVE,
    ADVERB,
    BEFORE_OTHERS,
    BEFORE_PHRASE,
    BEFORE_QUESTION,
    BEFORE_SELF,
    BEFORE_STATEMENT,
    NOUNS,
    Opening,
    Place,
    place,
)
from harness.suites.linguistic.seeds import Seed
from harness.suites.linguistic.sentiment import NAMES

SYMBOLS = (ADJECTIVE, ADVERB)
"""Parts of speech of words that may be left out, so that a sentence stays one with them."""
_STATEMENT = ("S", ("ADVP", ",", "NP", "VP", "."))
OPENED: Mapping[Opening, Production] = {
    BEFORE_STATEMENT: _STATEMENT,
    BEFORE_SELF: _STATEMENT,
    BEFORE_OTHERS: _STATEMENT,
    BEFORE_QUESTION: ("SQ", ("ADVP", ",", "MD", "NP", "VP", ".")),  # of auxiliaries, the grammar has this one
    BEFORE_PHRASE: ("NP", ("RB", "NP")),
}
"""The reference production that a text becomes with an adverb at its beginning."""


@dataclass(frozen=True, slots=True)
class Masked:
    """A seed with a gap between ``before`` and ``after``, where a word of the part of speech ``symbol`` fits.

    ``gap`` is its offset in the seed's text, ``seen`` how often the reference grammar saw the production that
    the seed's production becomes.
    """

    before: str
    after: str
    gap: int
    place: Place | Opening
    symbol: str
    production: str
    seen: int = 1

    @property
    def opens(self) -> bool:
        """Whether the gap is at the beginning of the text."""
        return not self.before

    def filled(self, word: str) -> str:
        """Return the text with ``word`` in the gap, at the offset ``len(self.before)``."""
        return self.before + (word[:1].upper() + word[1:] if self.opens else word) + self.after

    def __str__(self) -> str:
        return f"{self.before}{{MASK}}{self.after}"


def masked_sentences(seed: Seed, trees: Sequence[Tree], parse: Parse, grammar: Grammar) -> list[Masked]:
    """Return every distinct masked sentence, with a place for a modifier in its gap."""
    found = [*_grown(seed, trees, parse, grammar), *_opened(seed, parse, grammar)]
    return list({(m.before, m.after, m.symbol): m for m in reversed(found)}.values())[::-1]


def sample(masked: Sequence[Masked], most: int, salt: str) -> list[Masked]:
    """Draw at most ``most`` masked sentences (Algorithm 1, line 14), keeping their order.

    The chance of being drawn is proportional to the production's frequency in the reference grammar, since
    most productions of a treebank were seen once and few words fit what they add (weighted sampling by
    Efraimidis and Spirakis 2006).
    """

    def rank(sentence: Masked) -> float:
        digest = sha256(f"{salt}/{sentence}/{sentence.symbol}".encode("utf-8", "surrogatepass")).digest()
        uniform = (int.from_bytes(digest[:6]) + 1) / 2**48
        return -log(uniform) / sentence.seen

    chosen = set(map(id, sorted(masked, key=rank)[:most]))
    return [sentence for sentence in masked if id(sentence) in chosen]


def _grown(seed: Seed, trees: Sequence[Tree], parse: Parse, grammar: Grammar) -> Iterator[Masked]:
    """Yield the seed with a gap between two words of one of its sentences."""
    for tree in trees:
        for grown in (*tree.phrases(), *_adjectives(tree)):
            for (index, symbol), seen in grammar.insertions(grown.production).items():
                to = grown.children[index - 1].end if index else grown.start
                here = place(seed.text, parse, to) if symbol in SYMBOLS and _is_between(seed, to) else None
                if here is not None and here.takes(symbol):
                    before, after = seed.text[:to].rstrip(), seed.text[to:].lstrip()
                    yield Masked(
                        f"{before} ", f" {after}", to, here, symbol, _written(grown, index, symbol), seen
                    )


def _opened(seed: Seed, parse: Parse, grammar: Grammar) -> Iterator[Masked]:
    """Yield the seed with a gap at its beginning, if it begins with what an adverb may open.

    An adverb is set off by a comma ("Clearly, the film drags."), but not before a phrase ("Clearly a dull
    film.").
    """
    opening = _opening(seed, parse)
    if opening is None:
        return
    left, symbols = OPENED[opening]
    added = 1 + (symbols[1] == ",")
    production = f"{left} -> [{' '.join(symbols[:added])}] {' '.join(symbols[added:])}"
    if seen := grammar.counts.get(OPENED[opening], 0):
        text = clauses.within(seed.text, named=parse.pos[0] in NAMES)
        yield Masked("", f"{',' * (added - 1)} {text}", 0, opening, ADVERB, production, seen)


def _opening(seed: Seed, parse: Parse) -> Opening | None:
    """Return what an adverb may open: the sentence found, or the template before it."""
    if not seed.spans:
        return None
    if start := seed.spans[0][0]:
        return _before_template(seed.text[:start], parse)
    if clauses.has_form(clauses.STATEMENT, seed.text, parse):
        return BEFORE_STATEMENT
    return BEFORE_PHRASE if parse.pos[0] == "DT" and _root(parse) in NOUNS else None


def _before_template(words: str, parse: Parse) -> Opening | None:
    """Return what the words of a template begin; None if a phrase and a comma precede their verb."""
    verb = next((at for at, tag in enumerate(parse.pos) if tag in clauses.FINITE), 0)
    if "," in parse.pos[:verb]:  # "Last time, I thought that"
        return None
    if not verb:  # "Do I think that"
        return BEFORE_QUESTION
    return BEFORE_SELF if words.split()[0] == "I" else BEFORE_OTHERS


def _root(parse: Parse) -> str:
    """Return the part of speech of the word that depends on none."""
    return next((tag for tag, label in zip(parse.pos, parse.dep, strict=True) if label.lower() == "root"), "")


def _adjectives(tree: Tree) -> Iterator[Tree]:
    """Yield each bare adjective as the phrase that the Treebank makes of it where an adverb precedes it."""
    return (phrase("ADJP", [leaf]) for leaf in tree.leaves() if leaf.label == ADJECTIVE)


def _written(grown: Tree, index: int, symbol: str) -> str:
    symbols = [child.label for child in grown.children]
    symbols.insert(index, f"[{symbol}]")
    return f"{grown.label} -> {' '.join(symbols)}"


def _is_between(seed: Seed, gap: int) -> bool:
    """Return whether white space is at the gap, and words of one sentence of the seed are on both sides."""
    spaced = seed.text[gap - 1 : gap].isspace() or seed.text[gap : gap + 1].isspace()
    return spaced and any(start < gap < end for start, end in seed.spans)
