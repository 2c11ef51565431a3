"""The surface of English words: case, the indefinite article, pronoun forms, spans.

A substitution is made on the original's spans, all at once (never on the output of another), and
carries over what the word it replaces looked like.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from harness.core import Span

Slot = Literal["nominative", "accusative", "determiner", "possessive", "reflexive"]

SLOTS: tuple[Slot, ...] = ("nominative", "accusative", "determiner", "possessive", "reflexive")
PARADIGMS: dict[str, tuple[str, ...]] = {
    "masculine": ("he", "him", "his", "his", "himself"),
    "feminine": ("she", "her", "her", "hers", "herself"),
    "neutral": ("they", "them", "their", "theirs", "themselves"),
}
# Forms that fill two slots, and what a fine part-of-speech tag says about which.
AMBIGUOUS = {
    "her": {"PRP$": "determiner", "PRP": "accusative"},
    "his": {"PRP$": "determiner", "PRP": "possessive"},
}

# Written with a vowel but spoken with a consonant first, and the other way round.
_CONSONANT_SOUND = re.compile(
    r"(?:eu|ew|u[bcfhjkqrst][aeiou]|uni(?!n|m)|unanim|ukrain|ugand|one\b|once\b|ouija)", re.I
)
_VOWEL_SOUND = re.compile(r"(?:hour|honest|hono[u]?r|heir|herb\b)", re.I)
_SENTENCE_START = re.compile(r"(?:^|[.!?…:]['\"”’)\]]*\s+|\n\s*)['\"“‘(\[]*$")
_ARTICLE_BEFORE = re.compile(r"(?<![\w'’-])(an?)(\s+[\"'“‘(]?)$", re.I)


class Edit(NamedTuple):
    """Replace ``text[start:end]`` by ``text``."""

    start: int
    end: int
    text: str


def apply(text: str, edits: Iterable[Edit]) -> str:
    """All edits at once on the original; they must not overlap."""
    parts: list[str] = []
    at = 0
    for edit in sorted(edits):
        if edit.start < at:
            raise ValueError(f"overlapping edits at {edit.start}")
        parts += (text[at : edit.start], edit.text)
        at = edit.end
    return "".join((*parts, text[at:]))


def disjoint(edits: Iterable[Edit]) -> bool:
    """Whether no two edits touch the same characters."""
    at = -1
    for edit in sorted(edits):
        if edit.start < at:
            return False
        at = edit.end
    return True


def begins_sentence(text: str, start: int) -> bool:
    """Whether the word at ``start`` stands first in its sentence, quotes and brackets aside."""
    return _SENTENCE_START.search(text, max(0, start - 40), start) is not None


def carry_case(written: str, source: str, target: str, initial: bool) -> str:
    """``target`` in the case that ``written`` (how the lexicon's ``source`` stood in the text) had.

    ALL CAPS stay so; a lower-case text stays lower-case even for a proper adjective; a capital that
    the source would not have by itself (title case, the start of a sentence) is carried over.
    """
    letters = [c for c in written if c.isalpha()]
    if len(letters) > 1 and all(c.isupper() for c in letters) and not source.isupper():
        return target.upper()
    if written.islower() and not source.islower():
        return target.lower()
    words = written.split()
    titled = source.islower() and all(w[:1].isupper() for w in words)
    if titled and (len(words) > 1 or not initial):
        return " ".join(w[:1].upper() + w[1:] for w in target.split(" "))
    if written[:1].isupper() and (source[:1].islower() or initial):
        return target[:1].upper() + target[1:]
    return target


def takes_an(phrase: str) -> bool:
    """Whether the indefinite article before ``phrase`` is *an*, by sound."""
    word = phrase.lstrip("\"'“‘(")
    if _VOWEL_SOUND.match(word):
        return True
    return word[:1].lower() in "aeiou" and _CONSONANT_SOUND.match(word) is None


def article_edit(text: str, start: int, old: str, new: str) -> Edit | None:
    """The change that the article before ``start`` needs when ``old`` becomes ``new`` there.

    None where there is no article, where it need not change, or where the original's own article does
    not agree with its word (the author's spelling is not ours to mend).
    """
    match = _ARTICLE_BEFORE.search(text, max(0, start - 12), start)
    if match is None or (len(match[1]) == 2) != takes_an(old) or takes_an(old) == takes_an(new):
        return None
    written = match[1]
    if takes_an(new):
        article = written + ("N" if written.isupper() and old.isupper() else "n")
    else:
        article = written[:1]
    return Edit(match.start(1), match.end(1), article)


def paradigm(word: str) -> str | None:
    """The pronoun paradigm that ``word`` is a form of, or None."""
    return next((name for name, forms in PARADIGMS.items() if word.lower() in forms), None)


def slot(word: str, tag: str | None, after: str = "") -> Slot:
    """The slot a pronoun form fills: by its fine POS ``tag``, or without one by the text ``after`` it."""
    word = word.lower()
    if word in AMBIGUOUS:
        if tag not in AMBIGUOUS[word]:
            tag = "PRP$" if _opens_noun_phrase(after) else "PRP"
        return AMBIGUOUS[word][tag]  # type: ignore[return-value]
    forms: Sequence[str] = next(f for f in PARADIGMS.values() if word in f)
    return SLOTS[forms.index(word)]


def pronoun(target: str, where: Slot) -> str:
    """The form of ``target``'s paradigm that fits ``where``."""
    name = paradigm(target)
    if name is None:
        raise ValueError(f"{target!r} is no pronoun")
    return PARADIGMS[name][SLOTS.index(where)]


_FUNCTION_WORDS = frozenset(
    """
    a an the and or but nor so yet if as at by for from in into of off on onto out over to up upon with
    about after before during since than that this these those there then when while who whom which what
    is are was were be been am do does did has have had will would can could may might shall should must
    not he she they it we you i him them us me because until though although again too either
    """.split()  # noqa: SIM905
)


def _opens_noun_phrase(after: str) -> bool:
    """A rough guess, used only where there is no parser: does a noun phrase continue here?"""
    match = re.match(r"\s+[\"'“‘(]?([^\W\d_]+)", after)
    return match is not None and match[1].lower() not in _FUNCTION_WORDS


def containing(spans: Sequence[Span], start: int, end: int) -> int | None:
    """Index of the one span that contains ``[start, end)``, or None where it crosses a border."""
    low, high = 0, len(spans)
    while low < high:
        middle = (low + high) // 2
        if spans[middle][1] <= start:
            low = middle + 1
        else:
            high = middle
    if low < len(spans) and spans[low][0] <= start and end <= spans[low][1]:
        return low
    return None
