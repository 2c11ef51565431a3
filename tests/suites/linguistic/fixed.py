"""Stand-ins with fixed answers, where a test is about what is done with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from harness.language.parsers import Parse, Parser, Split
from harness.language.trees import Tree
from harness.suites.linguistic.sentiment import SentimentLexicon

LEXICON = SentimentLexicon(
    {
        ("good", "a"): 0.6,
        ("great", "a"): 0.3,
        ("lovely", "a"): 0.6,
        ("fine", "a"): 0.4,
        ("bad", "a"): -0.6,
        ("dull", "a"): -0.5,
        ("sad", "a"): -0.4,
        ("awful", "a"): -0.7,
        ("mess", "n"): -0.4,
        ("failure", "n"): -0.5,
        ("joy", "n"): 0.5,
        ("triumph", "n"): 0.5,
        ("fail", "v"): -0.4,
        ("bore", "v"): -0.5,
        ("love", "v"): 0.6,
        ("delight", "v"): 0.6,
    },
    "test",
)


@dataclass
class FixedSuggester:
    """Gives the words it was made with for every text; remembers what it was asked."""

    given: Sequence[str]
    name: str = "fixed"
    asked: list[tuple[str, str]] = field(default_factory=list)
    learnt: list[str] = field(default_factory=list)

    def learn(self, text: str) -> None:
        self.learnt.append(text)

    def suggest(self, texts: Sequence[tuple[str, str]], words: int) -> list[list[str]]:
        self.asked += texts
        return [list(self.given)[:words] for _ in texts]


@dataclass(frozen=True)
class FixedTrees:
    """The trees it was made with, by text."""

    by_text: Mapping[str, Tree]
    name: str = "fixed"

    def trees(self, texts: Sequence[str]) -> list[tuple[Tree, ...]]:
        return [(self.by_text[text],) for text in texts]


LABELS = {"JJ": "amod", "RB": "advmod", "VBZ": "ROOT"}


@dataclass
class FixedParser(Parser):
    """Tags words by a table, white space between them; all else is a noun.

    Modifiers depend as such, verbs on nothing.
    """

    tags: Mapping[str, str]
    name: str = "fixed"
    parsed: int = 0

    def split(self, text: str) -> Split:
        spans, start = [], 0
        for at, character in enumerate(text):
            if character == ".":
                spans.append((start, at + 1))
                start = at + 2
        return Split(tuple(spans) or ((0, len(text)),), bool(spans))

    def parse(self, sentences: Sequence[str]) -> list[Parse]:
        self.parsed += len(sentences)
        return [self._parse(sentence) for sentence in sentences]

    def _parse(self, sentence: str) -> Parse:
        offsets, at = [], 0
        words = sentence.replace(".", " .").split()
        for word in words:
            at = sentence.index(word, at)
            offsets.append(at)
            at += len(word)
        tags = tuple("." if word == "." else self.tags.get(word.lower(), "NN") for word in words)
        return Parse(tuple(offsets), tags, tuple(LABELS.get(tag, "") for tag in tags))
