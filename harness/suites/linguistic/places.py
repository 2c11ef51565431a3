"""Where a modifier may be put into a sentence: what most adjectives and adverbs stand between.

An adjective stands before a common noun that has a determiner or an owner; *own* has an owner directly before
it. An adverb that no other adverb precedes stands before an adjective, before a verb but *have* and *do*, or
between a form of *be* and what it says.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.language.parse import Parse
from harness.suites.linguistic.clauses import FORMS_OF_BE, NEGATIONS, spans
from harness.suites.linguistic.modifiers import Modifiers

ADJECTIVE, ADVERB = "JJ", "RB"
NOUNS = ("NN", "NNS")
OWNERS = ("PRP$", "POS")
ADJECTIVES = ("JJ", "JJR", "JJS")
ADVERBS = ("RB", "RBR", "RBS")
AUXILIARIES = frozenset(
    [
        *("be", "been", "being", "am", "'s", "’s", "'re", "’re", "'ve", "’ve"),
        *("have", "has", "had", "do", "does", "did"),
    ]
)


@dataclass(frozen=True, slots=True)
class Place:
    """The words on both sides of a gap in lower case, with their tags."""

    before: tuple[str, str]
    after: tuple[str, str]

    def takes(self, symbol: str) -> bool:
        """Return whether a word with the tag ``symbol`` may stand here."""
        if symbol == ADJECTIVE:
            return self.after[1] in NOUNS and self.before[1] in ("DT", *OWNERS, *ADJECTIVES)
        unmodified = self.before[1] not in ADVERBS or self.before[0] in NEGATIONS
        return symbol == ADVERB and unmodified and (self._graded or self._verbal or self._copular)

    def fits(self, word: str, symbol: str, modifiers: Modifiers) -> bool:
        """Return whether ``word`` is one of those that may stand here."""
        word = word.lower()
        if word not in modifiers.neutral:
            return True
        if symbol == ADJECTIVE:
            return word in modifiers.adjectives and (word != "own" or self.before[1] in OWNERS)
        return (self._graded and word in modifiers.degrees) or (
            word in modifiers.adverbs and (self._verbal or self._copular)
        )

    @property
    def _graded(self) -> bool:
        return self.after[1] in ADJECTIVES

    @property
    def _verbal(self) -> bool:
        return self.after[1][:2] == "VB" and self.after[0] not in AUXILIARIES

    @property
    def _copular(self) -> bool:
        said = ("DT", "PRP$", "VBG", "VBN", *ADJECTIVES)
        return self.before[0] in FORMS_OF_BE and (self.after[1] in said or self.after[0] in ("as", "so"))


def place(text: str, parse: Parse, gap: int) -> Place | None:
    """Return the place at the offset ``gap``, None unless it is between two tokens."""
    tokens = spans(text, parse)
    right = next((at for at, (start, _) in enumerate(tokens) if start >= gap), 0)
    if not right or tokens[right - 1][1] > gap:
        return None
    (before, tag_before), (after, tag_after) = (
        (text[slice(*tokens[at])].lower(), parse.pos[at]) for at in (right - 1, right)
    )
    return Place((before, tag_before), (after, tag_after))
