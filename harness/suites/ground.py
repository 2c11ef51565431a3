"""A text in which everyday words are looked for: its sentences, its parts of speech, and what is closed."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from harness.core import Span
from harness.language.parsed_text import ParsedText
from harness.language.surface import Tagger, begins_sentence, containing

NAMES = frozenset(
    {"PERSON", "NORP", "FAC", "ORG", "GPE", "LOC", "PRODUCT", "EVENT", "WORK_OF_ART", "LAW", "MONEY"}
)
NOUNS = ("NN", "NNS")
FINITE = ("VBZ", "VBD", "VBP")
BEFORE = re.compile(r"(\S+)[ \n]*$")
AFTER = re.compile(r"[ \n]*(\S+)")


@dataclass(frozen=True)
class Ground:
    """A text in which words are looked for: its ``sentences``, tags, and spans that stay as they are.

    ``tag`` is None where nothing is known of parts of speech.
    """

    text: str
    sentences: Sequence[Span]
    tag: Tagger | None
    closed: Sequence[Span]

    def sentence(self, span: Span) -> int:
        """Return the index of the sentence at ``span``; -1 where it crosses a boundary."""
        index = containing(self.sentences, *span)
        return -1 if index is None else index

    def noun(self, offset: int) -> bool:
        """Return whether the word at ``offset`` is known to be a noun."""
        return ((self.tag(offset) if self.tag else None) or "").startswith("NN")

    def one_of(self, word: re.Match[str], tags: Collection[str]) -> bool:
        """Return whether a word that was found beside another has one of ``tags``."""
        return self.tag is not None and word[1][-1:].isalnum() and self.tag(word.start(1)) in tags

    def begins(self, subject: re.Match[str], verb: str | None) -> bool:
        """Return whether a subject of a finite ``verb`` begins a sentence: a pronoun, or a noun with "the".

        The writer's own "I" does not, in the first sentence of a text, where "also" has nothing to refer to.
        """
        text, start = self.text, subject.start(1)
        first = self.sentence((start, subject.end(1))) == 0 and subject[1] == "I"
        if verb not in FINITE or first or not subject[1][-1:].isalpha():
            return False
        if self.tag is not None and self.tag(start) in NOUNS:
            the = BEFORE.search(text, max(0, start - 40), start)
            return the is not None and the[1] in ("The", "This") and begins_sentence(text, the.start(1))
        return begins_sentence(text, start)

    def free(self, span: Span, word: str, closed: Sequence[Span]) -> bool:
        """Return whether the word at ``span`` is no part of a name, a title, a quotation or a quantity."""
        text, (start, end) = self.text, span
        if any(low < end and start < high for low, high in closed):
            return False
        written = text[start:end]
        after, before = AFTER.match(text, end), BEFORE.search(text, max(0, start - 40), start)
        beside = [match[1] for match in (before, after) if match is not None]
        if any(any(c.isdigit() for c in each) for each in beside) or text[end : end + 1] in ("-", "/"):
            return False
        capital = after is not None and after[1][:1].isupper() and after[1] not in ("I", "I'm", "I've", "I'd")
        if capital and text[end:][:1] != " ":
            capital = False
        if written == word and not word[:1].isupper():
            return not (capital and before is not None and before[1][:1].isupper() and before[1] != "I")
        if written != word and not (written[1:] == word[1:] and begins_sentence(text, start)):
            return False
        return not capital and not (
            before is not None
            and before[1][:1].isupper()
            and not begins_sentence(text, start)
            and not begins_sentence(text, before.start(1))
        )


def closed_spans(reading: ParsedText) -> list[Span]:
    """Return the spans of the names in a text that was read with its entities."""
    tokens = reading.tokens
    return [
        (tokens[each.first].start, tokens[each.last - 1].end) for each in reading.named if each.label in NAMES
    ]
