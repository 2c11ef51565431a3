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
from harness.studies.explaining.answers import Ask, Change, Plain, plain

MOST_TESTS = 200
"""A test asks about two texts, so shrinking asks twice as many requests at most, and two more."""

_CLAUSE = re.compile(
    r"(?<=[,;:)])\s+|\s+(?=[(—–])|(?<=[—–])\s+"
    r"|\s+(?=(?:and|or|but|because|although|though|while|which|who|that|when|if)\b)",
    re.IGNORECASE,
)

Fails = Callable[[Sequence[int]], Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class Reduced:
    """What is left of the units. ``minimal``: it fails no more without any one of them (1-minimal)."""

    kept: Sequence[int]
    minimal: bool
    tests: int


@dataclass(frozen=True, slots=True)
class Piece:
    """A sentence or a clause as it stands in the original and in the mutant."""

    original: str
    mutant: str


@dataclass(frozen=True, slots=True)
class Shrunk:
    """Parts of both texts and the answers to them, which differ; ``sentences`` are those kept, of how many.

    ``minimal`` speaks of clauses: the change is no longer there if any one of them is left out, too.
    """

    original: str
    mutant: str
    answers: tuple[Plain, Plain]
    sentences: tuple[int, int]
    clauses: tuple[int, int]
    minimal: bool
    tests: int


async def ddmin(units: int, fails: Fails, limit: int = MOST_TESTS) -> Reduced:
    """The fewest of ``units`` (numbered from 0) found that still fail, all of which must fail.

    Never more than ``limit`` calls of ``fails``; where these or the budget end, the best so far.
    """
    test = _Test(fails, limit)
    kept, parts = list(range(units)), 2
    try:
        while len(kept) > 1:
            if (less := await _less(kept, parts, test)) is not None:
                subset = len(less) <= -(-len(kept) // parts)
                kept, parts = less, 2 if subset else min(max(parts - 1, 2), len(less))
            elif parts >= len(kept):
                break
            else:
                parts = min(2 * parts, len(kept))
    except (_LimitReached, BudgetSpent):
        return Reduced(kept, len(kept) <= 1, test.number)
    return Reduced(kept, True, test.number)


async def _less(kept: list[int], parts: int, test: _Test) -> list[int] | None:
    """A part of ``kept``, or ``kept`` without one, that still fails."""
    bounds = [len(kept) * part // parts for part in range(parts + 1)]
    spans = list(pairwise(bounds))
    subsets = [kept[low:high] for low, high in spans]
    rests = [kept[:low] + kept[high:] for low, high in spans] if parts > 2 else []
    for some in (*subsets, *rests):
        if await test(some):
            return some
    return None


class _LimitReached(Exception):
    pass


class _Test:
    """Asks about each set of units once, ``limit`` times in all."""

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

    Raises ``BudgetSpent`` where not even the whole texts may be asked about.
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
    left = [sentences[index] for index in first.kept]
    clauses = [piece for one in left for piece in aligned(clauses_of(one.original), clauses_of(one.mutant))]
    second = await _reduced(clauses, shows, limit - first.tests)
    pieces = [clauses[index] for index in second.kept]
    parts = _texts(pieces, whole)
    before, after = await ask(parts)
    if parts[0] == parts[1] or not change.shown_by(before.outcome, after.outcome):
        return None
    return Shrunk(
        *parts,
        answers=(plain(before.outcome), plain(after.outcome)),
        sentences=(len(left), len(sentences)),
        clauses=(len(second.kept), len(clauses)),
        minimal=second.minimal,
        tests=first.tests + second.tests,
    )


async def _reduced(
    pieces: Sequence[Piece], shows: Callable[[Sequence[Piece]], Awaitable[bool]], limit: int
) -> Reduced:
    async def fails(kept: Sequence[int]) -> bool:
        return await shows([pieces[index] for index in kept])

    return await ddmin(len(pieces), fails, limit)


def _texts(pieces: Sequence[Piece], whole: tuple[str, str]) -> tuple[str, str]:
    """Both sides put together; the whole texts as they are, parts without white space around them."""
    joined = "".join(p.original for p in pieces), "".join(p.mutant for p in pieces)
    return joined if joined == whole else (joined[0].strip(), joined[1].strip())


def sentences_of(text: str) -> list[str]:
    """The text in sentences; nothing of it is lost."""
    return [text[start:end] for start, end in spans(text)]


def clauses_of(sentence: str) -> list[str]:
    """A sentence cut behind commas and the like and before conjunctions; nothing of it is lost."""
    cuts = [0, *(match.end() for match in _CLAUSE.finditer(sentence)), len(sentence)]
    return [sentence[low:high] for low, high in pairwise(cuts) if low < high]


def aligned(original: Sequence[str], mutant: Sequence[str]) -> list[Piece]:
    """What corresponds: equal parts, changed ones one by one where they are as many, else together."""
    return list(_aligned(original, mutant))


def _aligned(original: Sequence[str], mutant: Sequence[str]) -> Iterator[Piece]:
    if len(original) == len(mutant):
        yield from (Piece(one, other) for one, other in zip(original, mutant, strict=True))
        return
    for _, i1, i2, j1, j2 in SequenceMatcher(None, original, mutant, autojunk=False).get_opcodes():
        if i2 - i1 == j2 - j1:
            yield from (Piece(original[i1 + k], mutant[j1 + k]) for k in range(i2 - i1))
        else:
            yield Piece("".join(original[i1:i2]), "".join(mutant[j1:j2]))
