"""Sentences of a text by its marks alone, where no parser is worth its time.

The parsers' own splitter (``language.parsers``) decides by tokens, for what depends on where a sentence ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from harness.core import Span
from harness.errors import HarnessError
from harness.files import DATA, read_toml

_STRETCH = re.compile(r"[^.!?\n]*[.!?\n]+[\"”’')\]]*\s*|[^.!?\n]+")
_END = re.compile(r"[.!?…][\"'”’)\]]*(?=\s)")
_WORD = re.compile(r"[^\W_][\w.'’&-]*$")
_INITIALS = re.compile(r"[^\W\d_]|(?:[^\W\d_]{1,4}\.)+[^\W\d_]{1,4}")  # "J", "U.S", "Ph.D", "S.Ct"
_NUMBER = re.compile(r"\d{1,4}(?:\.\d{1,3})*|[IVXLivxl]{1,6}")
_BEFORE = re.compile(r"\s+[\"'“”‘’(\[]*(\S)")
_LONGEST = 24


def spans(text: str) -> Iterator[Span]:
    """Yield where the sentences of ``text`` are, each with the white space behind it: all of the text.

    A line break ends one, as do the marks in "3.5" and "Mr.": what is wanted is small pieces.
    """
    return (match.span() for match in _STRETCH.finditer(text))


def ends(text: str) -> Iterator[int]:
    """Yield the places behind a closing mark, with its quotation mark or bracket, where white space follows:
    where ``text`` may be cut.

    A stop that belongs to an abbreviation, an initial, the number of a paragraph, or dots within a sentence
    is none. It may end a sentence as well, which is then passed over: to cut a little earlier does no harm.
    """
    for match in _END.finditer(text):
        if text[match.start()] in "!?" or not _inside(text, match.start(), match.end()):
            yield match.end()


def _inside(text: str, stop: int, end: int) -> bool:
    """Return whether the stop at ``stop``, with closing marks up to ``end``, is within a sentence."""
    following = _BEFORE.match(text, end)
    after = following[1] if following else ""
    before = text[max(0, stop - _LONGEST) : stop]
    if text[stop] == "…" or before[-1:].isspace() or before.rstrip()[-1:] == ".":  # dots, also with spaces
        return after.islower() or after == "."
    word = _WORD.search(before)
    if word is None:
        return False
    name, start = word[0], stop - len(word[0])
    if _NUMBER.fullmatch(name) and not text[text.rfind("\n", 0, start) + 1 : start].strip():
        return True  # "5. The applicant", at the start of a line
    return _INITIALS.fullmatch(name) is not None or _abbreviated(name, after)


def _abbreviated(name: str, after: str) -> bool:
    """Return whether ``name`` is an abbreviation before a word that begins with ``after``."""
    words = _abbreviations()
    low = name.lower()
    return (
        low in words["always"]
        or (name[:1].isupper() and low in words["capitalized"])
        or (low in words["numbered"] and (after.isdigit() or after in "§IVXLC"))
        or (low in words["continuing"] and not after.isupper())
    )


@cache
def _abbreviations() -> dict[str, frozenset[str]]:
    """Return the abbreviations, in lower case, by when they are such."""
    table = read_toml(DATA / "abbreviations.toml", HarnessError)
    return {kind: frozenset(words.lower().split()) for kind, words in table.items()}
