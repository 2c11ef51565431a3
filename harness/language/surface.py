"""The surface of English words: case, the indefinite article, pronoun forms, spans.

All substitutions are applied to the original's spans at once (never to the output of another), and the
replacement takes over the look of the word it replaces.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from harness.core import Span

Tagger = Callable[[int], str | None]
"""Maps a character offset to the fine POS tag of the token that starts there, None if unknown."""

Slot = Literal["nominative", "accusative", "determiner", "possessive", "reflexive"]

SLOTS: tuple[Slot, ...] = ("nominative", "accusative", "determiner", "possessive", "reflexive")
PARADIGMS: dict[str, tuple[str, ...]] = {
    "masculine": ("he", "him", "his", "his", "himself"),
    "feminine": ("she", "her", "her", "hers", "herself"),
    "neutral": ("they", "them", "their", "theirs", "themselves"),
}
# Forms that fill two slots, by the fine part-of-speech tag that tells which.
AMBIGUOUS = {
    "her": {"PRP$": "determiner", "PRP": "accusative"},
    "his": {"PRP$": "determiner", "PRP": "possessive"},
}

# Words that start with a vowel letter but a consonant sound, and vice versa.
_CONSONANT_SOUND = re.compile(
    r"(?:eu|ew|u[bcfhjkqrst][aeiou]|uni(?!n|m)|unanim|ukrain|ugand|one\b|once\b|ouija)", re.I
)
_VOWEL_SOUND = re.compile(r"(?:hour|honest|hono[u]?r|heir|herb\b)", re.I)
_SENTENCE_START = re.compile(r"(?:^|[.!?…:]['\"”’)\]]*\s+|\n\s*)['\"“‘(\[]*$")
_ARTICLE_BEFORE = re.compile(r"(?<![\w'’-])(an?)(\s+[\"'“‘(]?)$", re.I)


class Edit(NamedTuple):
    """Replaces ``text[start:end]`` by ``text``."""

    start: int
    end: int
    text: str


def apply(text: str, edits: Iterable[Edit]) -> str:
    """Apply all edits at once to the original. Raises ``ValueError`` if they overlap."""
    parts: list[str] = []
    at = 0
    for edit in sorted(edits):
        if edit.start < at:
            raise ValueError(f"overlapping edits at {edit.start}")
        parts += (text[at : edit.start], edit.text)
        at = edit.end
    return "".join((*parts, text[at:]))


def disjoint(edits: Iterable[Edit]) -> bool:
    """Return whether no two edits touch the same characters."""
    at = -1
    for edit in sorted(edits):
        if edit.start < at:
            return False
        at = edit.end
    return True


def begins_sentence(text: str, start: int) -> bool:
    """Return whether the word at ``start`` is the first of its sentence, ignoring quotes and brackets."""
    return _SENTENCE_START.search(text, max(0, start - 40), start) is not None


def carry_case(written: str, source: str, target: str, initial: bool) -> str:
    """Return ``target`` in the case of ``written``, which is how the text writes the lexicon's ``source``.

    ALL CAPS stay so; a lower-case text stays lower-case even for a proper adjective; a capital that the
    source would not have by itself (title case, the start of a sentence) is carried over.
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
    """Return whether ``phrase`` takes the indefinite article *an*, judged by sound."""
    word = phrase.lstrip("\"'“‘(")
    if _VOWEL_SOUND.match(word):
        return True
    return word[:1].lower() in "aeiou" and _CONSONANT_SOUND.match(word) is None


def article_edit(text: str, start: int, old: str, new: str) -> Edit | None:
    """Return the edit to the article before ``start`` that replacing ``old`` by ``new`` requires.

    None where there is no article, where it need not change, or where the original's own article does not
    agree with its word (the author's spelling is not ours to mend).
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
    """Return the pronoun paradigm of which ``word`` is a form, or None."""
    return next((name for name, forms in PARADIGMS.items() if word.lower() in forms), None)


def slot(word: str, tag: str | None, after: str = "") -> Slot:
    """Return the slot that a pronoun fills, by its fine POS ``tag`` or else by the text ``after`` it."""
    word = word.lower()
    if word in AMBIGUOUS:
        if tag not in AMBIGUOUS[word]:
            tag = "PRP$" if _opens_noun_phrase(after) else "PRP"
        return AMBIGUOUS[word][tag]  # type: ignore[return-value]
    forms: Sequence[str] = next(f for f in PARADIGMS.values() if word in f)
    return SLOTS[forms.index(word)]


def pronoun(target: str, where: Slot) -> str:
    """Return the form of ``target``'s paradigm that fits ``where``. Raises ``ValueError`` for other words."""
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
    """Return a guess, made only without a parser, whether a noun phrase continues here."""
    match = re.match(r"\s+[\"'“‘(]?([^\W\d_]+)", after)
    return match is not None and match[1].lower() not in _FUNCTION_WORDS


def containing(spans: Sequence[Span], start: int, end: int) -> int | None:
    """Return the index of the span that contains ``[start, end)``, or None where it crosses a boundary."""
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


def replaced(text: str, span: Span, source: str, target: str) -> Iterator[Edit]:
    """Yield the edits that write ``target`` for ``source`` at ``span``: in the case of what stands there.

    The article before it is mended.
    """
    start, end = span
    written = text[start:end]
    new = carry_case(written, source, target, begins_sentence(text, start))
    article = article_edit(text, start, written, new)
    if article is not None:
        yield article
    yield Edit(start, end, new)
