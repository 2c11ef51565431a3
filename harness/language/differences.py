"""Differences between an original and a mutant: spans on both sides, and excerpts of long texts around them.

Alignment goes by sentences first, so that a document of 60,000 words costs no more than its sentences.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice, pairwise
from typing import Literal

from harness.core import Span
from harness.language.sentences import spans as spans_of_sentences

WHOLE_TEXT = 700
MARGIN = 150
SHOWN = 1500
MOST = 60

Splice = tuple[int, int, str]
"""A stretch of a text, from its first character to past its last, and what stands there instead."""

_SPACED = re.compile(r"\s+|\S+")
_WORD = re.compile(r"\S+")
_TOKEN = re.compile(r"\w+(?:['’-]\w+)*|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of displayed text. A ``gap`` marks omitted text and has no text itself."""

    text: str
    kind: Literal["same", "changed", "gap"]


def changes(original: str, mutant: str, sources: Collection[str] = ()) -> tuple[list[Span], list[Span]]:
    """Return the spans of ``original`` and ``mutant`` that differ, word by word; at most ``MOST`` of them.

    Both lists have the same length. Words that were merely inserted or removed are marked together with an
    adjacent word (preferably one of ``sources``, the replaced words), so that both sides have something to
    highlight; a span is empty only where a whole sentence has no counterpart.
    """
    pairs = list(islice(_changes(original, mutant, sources), MOST))
    return [span for span, _ in pairs], [span for _, span in pairs]


def changed_words(text: str, other: str) -> list[Span]:
    """Return the spans of the words of ``text``, split at white space, that ``other`` has not in their place.

    A word that stands in both is none of them, whatever was inserted beside it.
    """
    found: list[Span] = []
    for start, end, other_start, other_end in _blocks(text, other):
        words = list(_WORD.finditer(text, start, end))
        others = _WORD.findall(other, other_start, other_end)
        found += [words[place].span() for place in _own([word[0] for word in words], others)]
    return found


def _own(words: Sequence[str], others: Sequence[str]) -> Iterator[int]:
    """Yield the places of ``words`` that ``others`` do not have: of what both begin and end with, none."""
    most = min(len(words), len(others))
    head = next((n for n in range(most) if words[n] != others[n]), most)
    tail = next((n for n in range(most - head) if words[-1 - n] != others[-1 - n]), most - head)
    inner, other_inner = words[head : len(words) - tail], others[head : len(others) - tail]
    for tag, _, _, start, end in SequenceMatcher(None, other_inner, inner, autojunk=False).get_opcodes():
        if tag != "equal":
            yield from range(head + start, head + end)


def splices(base: str, text: str) -> list[Splice]:
    """Return what makes ``base`` into ``text``, in order: by words, or at worst in one stretch."""
    if base == text:
        return []
    start, end = _differing(base, text)
    old, new = _SPACED.findall(base[start : len(base) - end]), _SPACED.findall(text[start : len(text) - end])
    if len(old) == len(new):  # mostly, and much faster
        return list(_exchanges(old, new, start))
    pairs = zip(*changes(base, text), strict=True)
    found = [(first, last, text[low:high]) for (first, last), (low, high) in pairs]
    return (
        found if spliced(base, found) == text else [(start, len(base) - end, text[start : len(text) - end])]
    )


def spliced(base: str, parts: Sequence[Splice]) -> str:
    """Return ``base`` with its splices in place."""
    pieces, at = [], 0
    for start, end, replacement in parts:
        pieces += [base[at:start], replacement]
        at = end
    return "".join([*pieces, base[at:]])


def excerpt(text: str, spans: Sequence[Span]) -> list[Piece]:
    """Return ``text`` with ``spans`` marked: in full if short, else windows around the first changes."""
    return list(_pieces(text, _windows(text, spans), spans))


def left_out(text: str, spans: Sequence[Span]) -> bool:
    """Return whether any of ``spans`` lies outside what ``excerpt`` displays."""
    windows = _windows(text, spans)
    return not all(any(low <= start and end <= high for low, high in windows) for start, end in spans)


def _exchanges(old: Sequence[str], new: Sequence[str], at: int) -> Iterator[Splice]:
    """Yield the splices between as many words and spaces, without the punctuation around both words."""
    for before, after in zip(old, new, strict=True):
        if before != after:
            head, tail = _shared(before, after)
            yield at + head, at + len(before) - tail, after[head : len(after) - tail]
        at += len(before)


def _differing(base: str, text: str) -> Span:
    """Return how many characters of two texts to skip at the start, and at the end: whole words alike."""
    most = min(len(base), len(text))
    head = bisect_left(range(1, most + 1), True, key=lambda size: base[:size] != text[:size])
    while head and not base[head - 1].isspace():
        head -= 1
    most -= head
    tail = bisect_left(range(1, most + 1), True, key=lambda size: base[-size:] != text[-size:])
    while tail and not base[-tail].isspace():
        tail -= 1
    return head, tail


def _shared(before: str, after: str) -> Span:
    """Return how much punctuation two words have in common at their start, and at their end."""
    most = min(len(before), len(after)) - 1
    head = tail = 0
    while head < most and before[head] == after[head] and not before[head].isalnum():
        head += 1
    while tail < most - head and before[-1 - tail] == after[-1 - tail] and not before[-1 - tail].isalnum():
        tail += 1
    return head, tail


def _changes(original: str, mutant: str, sources: Collection[str]) -> Iterator[tuple[Span, Span]]:
    for start, end, other_start, other_end in _blocks(original, mutant):
        for span, other in _words(original[start:end], mutant[other_start:other_end], sources):
            yield (
                (start + span[0], start + span[1]),
                (other_start + other[0], other_start + other[1]),
            )


def _blocks(original: str, mutant: str) -> Iterator[tuple[int, int, int, int]]:
    """Yield stretches of whole sentences that differ, as (start, end) in each text."""
    if original == mutant:
        return
    left = list(spans_of_sentences(original))
    right = list(spans_of_sentences(mutant))
    if len(left) == len(right):
        for (start, end), (other_start, other_end) in zip(left, right, strict=True):
            if original[start:end] != mutant[other_start:other_end]:
                yield start, end, other_start, other_end
        return
    sentences = [original[start:end] for start, end in left], [mutant[start:end] for start, end in right]
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, *sentences, autojunk=False).get_opcodes():
        if tag != "equal":
            yield *_reach(left, i1, i2), *_reach(right, j1, j2)


def _words(original: str, mutant: str, sources: Collection[str]) -> Iterator[tuple[Span, Span]]:
    left = [match.span() for match in _TOKEN.finditer(original)]
    right = [match.span() for match in _TOKEN.finditer(mutant)]
    old = [original[start:end] for start, end in left]
    new = [mutant[start:end] for start, end in right]
    done = 0
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new).get_opcodes():
        if tag == "equal":
            continue
        if i1 == i2 or j1 == j2:
            before, after = i1 > done and j1 > 0, i2 < len(old) and j2 < len(new)
            if before and (not after or old[i1 - 1].lower() in sources):
                i1, j1 = i1 - 1, j1 - 1
            elif after:
                i2, j2 = i2 + 1, j2 + 1
        done = i2
        yield _reach(left, i1, i2), _reach(right, j1, j2)


def _reach(spans: Sequence[Span], first: int, last: int) -> Span:
    """Return the span from the first of a range of spans to the last; an empty one for an empty range."""
    if first < last:
        return spans[first][0], spans[last - 1][1]
    at = spans[first - 1][1] if first else 0
    return at, at


def _windows(text: str, spans: Sequence[Span]) -> list[Span]:
    """Return the spans to display.

    Each has ``MARGIN`` characters around a change, extended to white space; overlapping ones are merged.

    At most ``SHOWN`` characters in all, however many changes there are, but always the first window.
    """
    if len(text) <= WHOLE_TEXT:
        return [(0, len(text))]
    windows: list[Span] = []
    total = 0
    for start, end in spans or [(0, 0)]:
        low, high = _break(text, start - MARGIN, -1), _break(text, min(end, start + SHOWN) + MARGIN, 1)
        joined = bool(windows) and low <= windows[-1][1]
        total += max(0, high - windows[-1][1]) if joined else high - low
        if windows and total > SHOWN:
            break
        if joined:
            windows[-1] = windows[-1][0], max(high, windows[-1][1])
        else:
            windows.append((low, high))
    return windows


def _break(text: str, at: int, step: Literal[-1, 1]) -> int:
    """Return the nearest white space at or beyond ``at``, within 30 characters and the bounds of the text."""
    for position in range(at, at + 30 * step, step):
        if not 0 < position < len(text):
            break
        if text[position - 1 if step < 0 else position].isspace():
            return position
    return min(max(at, 0), len(text))


def _pieces(text: str, windows: Sequence[Span], spans: Sequence[Span]) -> Iterator[Piece]:
    for index, (low, high) in enumerate(windows):
        if low > 0:
            yield Piece("", "gap")
        clipped = [(max(low, start), min(high, end)) for start, end in spans]
        edges = [low, *(edge for start, end in clipped if start < end for edge in (start, end)), high]
        for number, (start, end) in enumerate(pairwise(edges)):
            if start < end:
                yield Piece(text[start:end], "changed" if number % 2 else "same")
        if index + 1 == len(windows) and high < len(text):
            yield Piece("", "gap")
