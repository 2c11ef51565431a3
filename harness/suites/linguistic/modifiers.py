"""Words for expansions: modifiers that judge nothing, and words that weaken what a sentence says."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256

from harness.core import canonical
from harness.errors import LexiconError
from harness.files import DATA, read_toml

BUNDLED = DATA / "modifiers.toml"


@dataclass(frozen=True)
class Modifiers:
    """Words that may be inserted, by where they stand; ``weakening`` may not be.

    ``adjectives`` stand before a noun, ``degrees`` before an adjective, ``utmost`` before one that is
    ``absolute``, neither before one that is ``ungradable``; ``adverbs`` before a verb or after a form of
    *be*; ``openers`` before a statement and ``heads`` before a phrase that begin a text. ``negatable`` may
    follow a negation.
    """

    adjectives: frozenset[str]
    degrees: frozenset[str]
    utmost: frozenset[str]
    absolute: frozenset[str]
    ungradable: frozenset[str]
    openers: frozenset[str]
    heads: frozenset[str]
    adverbs: frozenset[str]
    negatable: frozenset[str]
    weakening: frozenset[str]

    @cached_property
    def neutral(self) -> frozenset[str]:
        """The words that leave the sentiment of most sentences as it is."""
        return self.adjectives | self.degrees | self.utmost | self.openers | self.heads | self.adverbs

    @cached_property
    def sure(self) -> frozenset[str]:
        """The words by which a speaker is sure of a whole sentence, or of most of it."""
        return self.openers | self.heads | self.adverbs

    @property
    def digest(self) -> str:
        """SHA-256 of the words."""
        return sha256(
            canonical({name: sorted(words) for name, words in asdict(self).items()}).encode()
        ).hexdigest()


def load() -> Modifiers:
    """Load the bundled words."""
    lists = read_toml(BUNDLED, LexiconError)
    return Modifiers(**{name: frozenset(words.split()) for name, words in lists.items()})
