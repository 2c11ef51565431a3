"""The shortest part of two texts on which the answers still differ, by delta debugging.

Zeller and Hildebrandt, Simplifying and isolating failure-inducing input (2002): ``ddmin`` over sentences,
then over the clauses of those that are left. Both texts lose the same sentences and clauses.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from harness.errors import BudgetSpent
from harness.language.sentences import spans
from harness.report.explained import Shrunk
from harness.studies.explaining.answers import Ask, Change, plain

MOST_TESTS = 200
"""A test asks about two texts, so shrinking sends at most twice as many requests, and two more."""

_CLAUSE = re.compile(
    r"(?<=[,;:)])\s+|\s+(?=[(—–])|(?<=[—–])\s+"
    r"|\s+(?=(?:and|or|but|because|although|though|while|which|who|that|when|if)\b)",
    re.IGNORECASE,
)

Fails = Callable[[Sequence[int]], Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class Reduced:
    """The ``units`` that are left. ``minimal``: without any single one of them nothing fails (1-minimal)."""

    units: Sequence[int]
    minimal: bool
    tests: int


@dataclass(frozen=True, slots=True)
class Piece:
    """A sentence or a clause as it stands in the original and in the mutant."""

    original: str
    mutant: str


async def ddmin(units: int, fails: Fails, limit: int = MOST_TESTS) -> Reduced:
    """Return the smallest set found of ``units``, numbered from 0, that still fails; all together must fail.

    Calls ``fails`` at most ``limit`` times; where the limit or the budget ends it, returns the best so far.
    """
    test = _Test(fails, limit)
    left, parts = list(range(units)), 2
    try:
        while len(left) > 1:
            if (smaller := await _smaller(left, parts, test)) is not None:
                is_subset = len(smaller) <= -(-len(left) // parts)
                left, parts = smaller, 2 if is_subset else min(max(parts - 1, 2), len(smaller))
            elif parts >= len(left):
                break
            else:
                parts = min(2 * parts, len(left))
    except (_LimitReached, BudgetSpent):
        return Reduced(left, len(left) <= 1, test.number)
    return Reduced(left, True, test.number)


async def _smaller(units: list[int], parts: int, test: _Test) -> list[int] | None:
    """Return one of so many equal parts of ``units``, or ``units`` without one, that still fails."""
    bounds = [len(units) * part // parts for part in range(parts + 1)]
    spans = list(pairwise(bounds))
    subsets = [units[low:high] for low, high in spans]
    complements = [units[:low] + units[high:] for low, high in spans] if parts > 2 else []
    for candidate in (*subsets, *complements):
        if await test(candidate):
            return candidate
    return None


class _LimitReached(Exception):
    pass


class _Test:
    """Tests each set of units once, at most ``limit`` sets in all."""

    def __init__(self, fails: Fails, limit: int) -> None:
        self.number = 0
        self._fails = fails
        self._limit = limit
        self._known: dict[tuple[int, ...], bool] = {}

    async def __call__(self, units: Sequence[int]) -> bool:
        key = tuple(units)
        if key not in self._known:
            if self.number >= self._limit:
                raise _LimitReached
            self.number += 1
            self._known[key] = await self._fails(units)
        return self._known[key]


async def shrink(ask: Ask, original: str, mutant: str, limit: int = MOST_TESTS) -> Shrunk | None:
    """Return parts of ``original`` and ``mutant`` that show the change; None where the answers do not differ.

    Raises ``BudgetSpent`` where the budget does not cover even the whole texts.
    """
    whole = (original, mutant)
    before, after = await ask(whole)
    if original == mutant or not before.outcome.differs(after.outcome):
        return None
    change = Change(before.outcome, after.outcome)

    async def shows(pieces: Sequence[Piece]) -> bool:
        parts = _texts(pieces, whole)
        return parts[0] != parts[1] and change.shown_by(*(reading.outcome for reading in await ask(parts)))

    sentences = aligned(*map(sentences_of, whole))
    first = await _reduced(sentences, shows, limit)
    left = [sentences[index] for index in first.units]
    clauses = [
        clause
        for sentence in left
        for clause in aligned(clauses_of(sentence.original), clauses_of(sentence.mutant))
    ]
    second = await _reduced(clauses, shows, limit - first.tests)
    pieces = [clauses[index] for index in second.units]
    parts = _texts(pieces, whole)
    before, after = await ask(parts)
    if parts[0] == parts[1] or not change.shown_by(before.outcome, after.outcome):
        return None
    return Shrunk(
        original=parts[0],
        mutant=parts[1],
        answers=(plain(before.outcome), plain(after.outcome)),
        sentences=(len(left), len(sentences)),
        clauses=(len(second.units), len(clauses)),
        minimal=second.minimal,
        tests=first.tests + second.tests,
        share=round(_words(parts) / _words(whole), 6),
    )


def _words(texts: tuple[str, str]) -> int:
    return sum(len(text.split()) for text in texts)


async def _reduced(
    pieces: Sequence[Piece], shows: Callable[[Sequence[Piece]], Awaitable[bool]], limit: int
) -> Reduced:
    async def fails(units: Sequence[int]) -> bool:
        return await shows([pieces[index] for index in units])

    return await ddmin(len(pieces), fails, limit)


def _texts(pieces: Sequence[Piece], whole: tuple[str, str]) -> tuple[str, str]:
    """Join the pieces of each side; the whole texts stay as they are, parts lose the white space around."""
    joined = "".join(p.original for p in pieces), "".join(p.mutant for p in pieces)
    return joined if joined == whole else (joined[0].strip(), joined[1].strip())


def sentences_of(text: str) -> list[str]:
    """Split ``text`` into sentences, losing no character."""
    return [text[start:end] for start, end in spans(text)]


def clauses_of(sentence: str) -> list[str]:
    """Split a sentence after commas and the like and before conjunctions, losing no character."""
    cuts = [0, *(match.end() for match in _CLAUSE.finditer(sentence)), len(sentence)]
    return [sentence[low:high] for low, high in pairwise(cuts) if low < high]


def aligned(original: Sequence[str], mutant: Sequence[str]) -> list[Piece]:
    """Return the parts that correspond: equal ones, and changed ones in pairs or, if uneven, as one piece."""
    return list(_aligned(original, mutant))


def _aligned(original: Sequence[str], mutant: Sequence[str]) -> Iterator[Piece]:
    if len(original) == len(mutant):
        yield from map(Piece, original, mutant)
        return
    for _, i1, i2, j1, j2 in SequenceMatcher(None, original, mutant, autojunk=False).get_opcodes():
        if i2 - i1 == j2 - j1:
            yield from (Piece(original[i1 + k], mutant[j1 + k]) for k in range(i2 - i1))
        else:
            yield Piece("".join(original[i1:i2]), "".join(mutant[j1:j2]))
