"""Tokenized text as people write it: "It wo n't do ( or will it ) ." becomes "It won't do (or will it)."

Treebanks and data sets made from them put white space around every token and write brackets and quotation
marks in ways of their own (Penn Treebank tokenization, Marcus et al. 1993, and its use by Socher et al.
2013). What was written by people stays as it is, but that a sentence begins with a capital.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

Written = str | Callable[[re.Match[str]], str]

_BRACKETS: Mapping[str, str] = {"LRB": "(", "RRB": ")", "LSB": "[", "RSB": "]", "LCB": "{", "RCB": "}"}
_SYMBOLS: tuple[tuple[re.Pattern[str], Written], ...] = (
    (re.compile(r"-(LRB|RRB|LSB|RSB|LCB|RCB)-", re.I), lambda match: _BRACKETS[match[1].upper()]),
    (re.compile(r"\\([/*])"), r"\1"),
)
_JOINED: tuple[tuple[re.Pattern[str], Written], ...] = (
    (re.compile(r"(?<=\w) +(n['’]t|['’](?:s|re|ve|ll|d|m))\b", re.I), r"\1"),
    (re.compile(r"\b(can) +(not)\b", re.I), r"\1\2"),
    (re.compile(r"\b(gon|wan) +(na)\b|\b(got) +(ta)\b", re.I), lambda match: match[0].replace(" ", "")),
    (re.compile(r" +(\.{2,}|…|[,.;:?!%]+)(?=\s|$|['\"])"), r"\1"),
    (re.compile(r"(?<!\S)([(\[{]) +(?=\w|['\"`])"), r"\1"),
    (re.compile(r"(?<=[\w.!?,'\"…]) +([)\]}])"), r"\1"),
    (re.compile(r"([$£€]) +(?=\d)"), r"\1"),
)
_DIRECTED = ((re.compile(r"``\s*"), '"'), (re.compile(r"\s*''"), '"'), (re.compile(r"`\s*"), "'"))
_LONE = re.compile(r"(?<=\s)(['\"])(?=\s|$)|^(['\"])(?=\s)")
_FIRST = re.compile(r"[^\w@#]*([^\W\d_])(?![^\W\d_]*(?:[A-Z]|://))")
_I = re.compile(r"(?<![\w.@#/'’-])i(?=['’](?:m|d|ll|ve)\b|\s|$)(?!\.)")


def natural(text: str) -> str:
    """Return ``text`` without the marks of a tokenizer, its first letter and the word *I* as capitals."""
    for pattern, written in _SYMBOLS:
        text = pattern.sub(written, text)
    text = _quoted(text)
    for pattern, written in _JOINED:
        text = pattern.sub(written, text)
    text = _I.sub("I", " ".join(text.split()))
    first = _FIRST.match(text)
    return text[: first.start(1)] + first[1].upper() + text[first.end(1) :] if first else text


def _quoted(text: str) -> str:
    """Return the text with its quotation marks beside what they enclose."""
    for pattern, mark in _DIRECTED:
        text = pattern.sub(mark, text)
    for mark in "'\"":
        text = _paired(text, mark)
    return text


def _paired(text: str, mark: str) -> str:
    """Attach the ``mark``s that stand alone: the first of two to what follows, the second to what precedes.

    One that is left over belongs to the word before it, as in "the filmmakers ' point".
    """
    lone = [match.start() for match in _LONE.finditer(text) if match[0] == mark]
    opening = set(lone[:-1:2])
    parts, at = [], 0
    for place in lone:
        before, after = text[at:place], place + 1
        if place in opening:
            parts.append(before + mark)
            after += len(text[after:]) - len(text[after:].lstrip())
        else:
            parts.append((before.rstrip() if parts or before.strip() else before) + mark)
        at = after
    return "".join((*parts, text[at:]))
