"""An original with the changes of its mutant marked in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

_SENTENCES = re.compile(r"(?<=[.!?\n])(?=\s)")
_WORDS = re.compile(r"\w+|\W")


def marked(original: str, mutant: str) -> str:
    """Return ``original`` with each change as ``[[old>>new]]``, a side empty where words are added or lost.

    Sentences are compared first, then the words of those that differ, so that long texts take no longer.
    """
    sentences = _SENTENCES.split(original), _SENTENCES.split(mutant)
    return "".join(
        "".join(old) if equal else "".join(_words("".join(old), "".join(new)))
        for equal, old, new in _parts(*sentences)
    )


def _words(original: str, mutant: str) -> Iterator[str]:
    for equal, old, new in _parts(_WORDS.findall(original), _WORDS.findall(mutant)):
        yield "".join(old) if equal else f"[[{''.join(old)}>>{''.join(new)}]]"


def _parts(
    original: Sequence[str], mutant: Sequence[str]
) -> Iterator[tuple[bool, Sequence[str], Sequence[str]]]:
    """Yield the stretches of two sequences, and whether they are equal."""
    for kind, i, j, k, m in SequenceMatcher(None, original, mutant, autojunk=False).get_opcodes():
        yield kind == "equal", original[i:j], mutant[k:m]
