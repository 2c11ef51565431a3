"""Where a modifier may be put into a sentence: what most adjectives and adverbs stand between.

An adjective stands before a common noun that has a determiner or an owner; *own* has an owner directly before
it. An adverb that no other adverb precedes stands at the beginning of a text, before an adjective, before a
verb but *be*, *have* and *do*, or between a form of *be* and what it says.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.language.parse import Parse
from harness.suites.linguistic.clauses import FORMS_OF_BE, NEGATIONS, spans
from harness.suites.linguistic.modifiers import Modifiers

ADJECTIVE, ADVERB = "JJ", "RB"
NOUNS = ("NN", "NNS")
VERBS = ("VB", "VBD", "VBP", "VBZ")
OWNERS = ("PRP$", "POS")
ADJECTIVES = ("JJ", "JJR", "JJS")
ADVERBS = ("RB", "RBR", "RBS")
AUXILIARIES = frozenset(
    [
        *("is", "are", "was", "were", "be", "been", "being", "am", "'s", "’s", "'re", "’re", "'ve", "’ve"),
        *("have", "has", "had", "do", "does", "did"),
    ]
)


GRADING = frozenset(["as", "how", "least", "less", "more", "most", "so", "too"])
LEAD = 5
"""How many words before a gap may hold one that grades the adjective behind it ("so subtle and touching")."""


@dataclass(frozen=True, slots=True)
class Place:
    """The words on both sides of a gap in lower case, with their tags.

    ``gradable`` says whether what surrounds an adjective behind the gap leaves room for a degree.
    """

    before: tuple[str, str]
    after: tuple[str, str]
    gradable: bool = True

    def takes(self, symbol: str) -> bool:
        """Return whether a word with the tag ``symbol`` may stand here."""
        if symbol == ADJECTIVE:
            return self.after[1] in NOUNS and self.before[1] in ("DT", *OWNERS, *ADJECTIVES)
        unmodified = self.before[1] not in ADVERBS or self.before[0] in NEGATIONS
        return symbol == ADVERB and unmodified and (self._graded or self._verbal or self._copular)

    def fits(self, word: str, symbol: str, modifiers: Modifiers) -> bool:
        """Return whether ``word`` is one of those that may stand here."""
        word = word.lower()
        if self in (BEFORE_STATEMENT, BEFORE_PHRASE):
            return word in (modifiers.openers if self == BEFORE_STATEMENT else modifiers.heads)
        if word not in modifiers.neutral:
            return True
        if symbol == ADJECTIVE:
            return word in modifiers.adjectives and (word != "own" or self.before[1] in OWNERS)
        return (self._graded and self._grades(word, modifiers)) or (
            word in modifiers.adverbs and (self._verbal or self._copular)
        )

    def _grades(self, word: str, modifiers: Modifiers) -> bool:
        adjective = self.after[0]
        if adjective in modifiers.ungradable or (self.before[0], word) == ("the", "very"):  # "that same"
            return False
        return word in (modifiers.utmost if adjective in modifiers.absolute else modifiers.degrees)

    @property
    def _graded(self) -> bool:
        return self.gradable and self.after[1] == ADJECTIVE and self.after[0].isalpha()

    @property
    def _verbal(self) -> bool:
        return self.after[1] in VERBS and self.after[0] not in AUXILIARIES

    @property
    def _copular(self) -> bool:
        said = ("DT", "PRP$", "VBG", "VBN", *ADJECTIVES)
        says = self.after[1] in said and self.after[0] != "been"
        is_ = self.before[0] in FORMS_OF_BE and self.before[1] in VERBS
        return is_ and (says or self.after[0] in ("as", "so"))


BEFORE_STATEMENT = Place(("", ""), (",", ","))
BEFORE_PHRASE = Place(("", ""), ("", "DT"))
"""The beginning of a text."""


def place(text: str, parse: Parse, gap: int) -> Place | None:
    """Return the place at the offset ``gap``, None unless it is between two tokens."""
    tokens = spans(text, parse)
    right = next((at for at, (start, _) in enumerate(tokens) if start >= gap), 0)
    if not right or tokens[right - 1][1] > gap:
        return None
    words = [text[start:end] for start, end in tokens]
    lower = [word.lower() for word in words]
    graded = not GRADING.isdisjoint(lower[max(right - LEAD, 0) : right])
    graded |= lower[right + 1 : right + 2] in (["enough"], ["-"])
    return Place(
        (lower[right - 1], parse.pos[right - 1]),
        (lower[right], parse.pos[right]),
        gradable=not graded and words[right] == lower[right],
    )
