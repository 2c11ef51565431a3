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

    ``degrees`` stand before an adjective that is ``gradable``, ``utmost`` before one that is ``absolute``,
    ``verbal`` before a verb, ``copular`` after a form of *be*. At the beginning of a text, ``openers`` stand
    before a statement, ``frank`` before what *I* thought, ``distant`` before what others think, ``asking``
    before a question, and ``heads`` before a phrase. ``negatable`` may stand in what is denied.
    """

    degrees: frozenset[str]
    gradable: frozenset[str]
    utmost: frozenset[str]
    absolute: frozenset[str]
    verbal: frozenset[str]
    copular: frozenset[str]
    openers: frozenset[str]
    frank: frozenset[str]
    distant: frozenset[str]
    asking: frozenset[str]
    heads: frozenset[str]
    negatable: frozenset[str]
    weakening: frozenset[str]

    @cached_property
    def neutral(self) -> frozenset[str]:
        """The words that leave the sentiment of most sentences as it is."""
        return self.degrees | self.utmost | self.sure

    @cached_property
    def sure(self) -> frozenset[str]:
        """The words by which a speaker is sure of a whole sentence, or of most of it."""
        openers = self.openers | self.frank | self.distant | self.asking | self.heads
        return openers | self.verbal | self.copular

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
