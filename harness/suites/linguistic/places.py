"""Where a modifier may be put into a sentence: what most adjectives and adverbs stand between.

An adjective stands before a common noun that has a determiner or an owner. An adverb that no other adverb
precedes stands at the beginning of a text, before an adjective, before the verb in the present of a main
clause or of a statement after *that*, but *be*, *have* and *do*, or between a form of *be* and what it says.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.language.parse import Parse
from harness.suites.linguistic.clauses import FORMS_OF_BE, NEGATIONS, OWNERS, spans
from harness.suites.linguistic.modifiers import Modifiers

ADJECTIVE, ADVERB = "JJ", "RB"
NOUNS = ("NN", "NNS")
VERBS = ("VB", "VBD", "VBP", "VBZ")
PRESENT = ("VBP", "VBZ")
"""A verb of the past may be a participle: "Beckett applied to the voting process"."""
ADJECTIVES = ("JJ", "JJR", "JJS")
ADVERBS = ("RB", "RBR", "RBS")
AUXILIARIES = frozenset(
    [
        *("is", "are", "was", "were", "be", "been", "being", "am", "'s", "’s", "'re", "’re", "'ve", "’ve"),
        *("have", "has", "had", "do", "does", "did"),
    ]
)


MAIN = ("root", "ccomp")
GRADING = frozenset(["as", "how", "least", "less", "more", "most", "so", "such", "too"])
LEAD = 5
"""How many words before a gap may hold one that grades the adjective behind it ("so subtle and touching")."""


@dataclass(frozen=True, slots=True)
class Place:
    """The words on both sides of a gap in lower case, with their tags.

    ``gradable`` says whether what surrounds an adjective behind the gap leaves room for a degree, ``main``
    whether a verb behind it is that of a main clause or of a statement after *that*.
    """

    before: tuple[str, str]
    after: tuple[str, str]
    gradable: bool = True
    main: bool = True

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
        return symbol == ADVERB and (
            (self._graded and self._grades(word, modifiers))
            or (self._verbal and word in modifiers.verbal)
            or (self._copular and word in modifiers.copular)
        )

    def _grades(self, word: str, modifiers: Modifiers) -> bool:
        if (self.before[0], word) == ("the", "very"):  # "that same"
            return False
        if self.after[0] in modifiers.absolute:
            return word in modifiers.utmost
        return word in modifiers.degrees and self.after[0] in modifiers.gradable

    @property
    def _graded(self) -> bool:
        return self.gradable and self.after[1] == ADJECTIVE and self.after[0].isalpha()

    @property
    def _verbal(self) -> bool:
        return self.main and self.after[1] in PRESENT and self.after[0] not in AUXILIARIES

    @property
    def _copular(self) -> bool:
        said = ("DT", "PRP$", "VBG", "VBN", *ADJECTIVES)
        says = (
            self.after[1] in said
            and self.after[0] != "been"
            and (self.after[1] != ADJECTIVE or self.gradable)
        )
        is_ = self.before[0] in FORMS_OF_BE and self.before[1] in VERBS
        return is_ and (says or self.after[0] in ("as", "so"))


@dataclass(frozen=True, slots=True)
class Opening:
    """The beginning of a text, which takes the words of one field of ``Modifiers``."""

    words: str

    def fits(self, word: str, symbol: str, modifiers: Modifiers) -> bool:
        """Return whether ``word`` is one of those that may stand here."""
        return symbol == ADVERB and word.lower() in getattr(modifiers, self.words)


BEFORE_STATEMENT, BEFORE_PHRASE = Opening("openers"), Opening("heads")
BEFORE_SELF, BEFORE_OTHERS, BEFORE_QUESTION = Opening("frank"), Opening("distant"), Opening("asking")
"""Before what *I* thought ("Frankly, I thought that …"), what others think, and what a speaker asks."""


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
        main=parse.dep[right].lower() in MAIN,
    )
