"""The invariant for all mutants of one document, decided by looking their sentences up.

A mutant conforms where each of its changed sentences does, and a sentence's verdict depends only on the
edits inside it (HINTER, Algorithm 3). So of a document are asked, in rounds: the sentences with one
variation in them, of each variation in their order until one does not conform; then sentences in which two
variations meet, but only of mutants whose other sentences hold; then those of three, and so on. The verdicts
are those of Algorithm 3 on every mutant; the reason given is that of the first failing sentence known with
one variation, else with two, …

Which sentences a variation changes, which of them are known, and in which it does not conform, are bits of
integers, so that most mutants are decided by a few operations on these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from harness.core import Span
from harness.language.surface import Edit, apply, containing
from harness.suites.hinter.conformity import Conformity, Pair
from harness.suites.hinter.mutation import Mutation, Variations, mutations
from harness.suites.hinter.tag_comparison import MOVED

Place = tuple[int, tuple[int, ...]]
"""A sentence, by index, and the variations that meet in it, by number."""


@dataclass(slots=True)
class _Placed:
    """A variation's edits by sentence (None: one of them crosses a border); bit i of ``sentences``, ``known``
    and ``failing`` stands for the i-th sentence: changed at all, decided with this variation alone, and not
    conforming."""

    number: int
    parts: Mapping[int, tuple[Edit, ...]] | None
    sentences: int = 0
    known: int = 0
    failing: int = 0
    moved: bool = False
    reasons: dict[int, str] = field(default_factory=dict)

    @property
    def exact(self) -> bool:
        """Whether only the whole text can tell."""
        return self.moved or self.parts is None


class DocumentInvariant:
    """The mutants of ``found`` up to ``order``, for a text whose sentences are ``spans``.

    Each round, ``needed`` names pairs of sentences and ``take`` takes their verdicts, until none is needed;
    then ``reason`` decides each mutant. A mutant whose edits could move a sentence's end (a replacement with
    a full stop, an edit that crosses a border or touches the next sentence's first word, as in "the man.He")
    is decided on the whole text.
    """

    def __init__(
        self, text: str, spans: Sequence[Span], found: Variations, order: int, conformity: Conformity
    ) -> None:
        self._text = text
        self._spans = spans
        self._found = found
        self._order = order
        self._conformity = conformity
        self._round = 0
        self._size = 1
        self._pairs: dict[Place, Pair | None] = {}
        self._joint: dict[Place, str | None] = {}
        self._placed: dict[int, _Placed] = {}
        for variation in (v for some in found.values() for v in some):
            parts = self._parts(variation.edits)
            sentences = sum(1 << index for index in parts or ())
            self._placed[id(variation)] = _Placed(len(self._placed), parts, sentences)

    def needed(self) -> list[Pair]:
        """The pairs of sentences that the next round has to know; none when all is known."""
        self._pairs = {}
        if self._size == 1:
            self._pairs = self._alone()
            self._round += 1
            if not self._pairs:
                self._size = 2
        while not self._pairs and 1 < self._size <= self._order:
            self._pairs, waiting = self._meeting()
            if not waiting:
                self._size += 1
        return [pair for pair in self._pairs.values() if pair is not None]

    def take(self, reasons: Mapping[Pair, str | None]) -> None:
        """The verdicts of the pairs that ``needed`` named."""
        by_number = list(self._placed.values())
        for (index, numbers), pair in self._pairs.items():
            reason = MOVED if pair is None else reasons[pair]
            if len(numbers) > 1:
                self._joint[index, numbers] = reason
                continue
            placed = by_number[numbers[0]]
            placed.known |= 1 << index
            if reason == MOVED:
                placed.moved = True
            elif reason is not None:
                placed.failing |= 1 << index
                placed.reasons[index] = reason

    @property
    def done(self) -> bool:
        """Whether the last round needed nothing."""
        return not self._pairs

    def reason(self, mutation: Mutation, mutant: str) -> str | None:
        """None where the mutant is valid, else why it is discarded."""
        placed = [self._placed[id(v)] for v in mutation]
        if any(one.exact for one in placed):
            return self._conformity.check(self._text, mutant)
        alone = _alone_failing(placed)
        if alone:
            index = (alone & -alone).bit_length() - 1
            return next(one.reasons[index] for one in placed if index in one.reasons)
        joint = [self._joint.get(place) for place in sorted(_places(placed), key=_crowd)]
        if MOVED in joint:
            return self._conformity.check(self._text, mutant)
        return next(filter(None, joint), None)

    def _alone(self) -> dict[Place, Pair | None]:
        """Of each variation that holds so far the next sentences: one, then two, four, …"""
        pairs: dict[Place, Pair | None] = {}
        for placed in self._placed.values():
            if placed.exact or placed.failing or placed.known == placed.sentences:
                continue
            unknown = [index for index in sorted(placed.parts or ()) if not placed.known >> index & 1]
            pairs |= self._of(placed, unknown[: 1 << self._round])
        return pairs

    def _of(self, placed: _Placed, sentences: Iterable[int]) -> dict[Place, Pair | None]:
        parts = placed.parts or {}
        return {(index, (placed.number,)): self._pair(index, parts[index]) for index in sentences}

    def _meeting(self) -> tuple[dict[Place, Pair | None], bool]:
        """The sentences in which ``size`` variations meet, of mutants that hold as far as is known; and
        whether mutants wait for sentences that a variation changes alone, which are then needed first."""
        pairs: dict[Place, Pair | None] = {}
        waiting = False
        for mutation in mutations(self._found, self._order):
            if len(mutation) < self._size:
                continue
            placed = [self._placed[id(v)] for v in mutation]
            if any(one.exact for one in placed) or _alone_failing(placed):
                continue
            places = list(_places(placed))
            if any(self._joint.get(place) is not None for place in places):
                continue
            if any(one.known != one.sentences for one in placed) and (more := self._unknown(placed)):
                pairs |= more
                waiting = True
                continue
            for place in places:
                index, numbers = place
                if len(numbers) == self._size and place not in pairs and place not in self._joint:
                    edits = (e for one in placed if one.parts for e in one.parts.get(index, ()))
                    pairs[place] = self._pair(index, tuple(sorted(edits)))
        return pairs, waiting

    def _unknown(self, placed: Sequence[_Placed]) -> dict[Place, Pair | None]:
        """The sentences that one of the variations changes alone and that are not known."""
        pairs: dict[Place, Pair | None] = {}
        for one, alone in zip(placed, _by_one(placed), strict=True):
            bits = alone & ~one.known
            pairs |= self._of(one, [index for index in sorted(one.parts or ()) if bits >> index & 1])
        return pairs

    def _parts(self, edits: Iterable[Edit]) -> Mapping[int, tuple[Edit, ...]] | None:
        by_sentence: dict[int, list[Edit]] = {}
        for edit in edits:
            index = containing(self._spans, edit.start, edit.end)
            if index is None:
                return None
            by_sentence.setdefault(index, []).append(edit)
        return {index: tuple(some) for index, some in by_sentence.items()}

    def _pair(self, index: int, edits: Sequence[Edit]) -> Pair | None:
        """The sentence before and after, None where an edit touches the sentence beside it."""
        start, end = self._spans[index]
        if self._joined(start, end, edits):
            return None
        before = self._text[start:end]
        return before, apply(before, [Edit(e.start - start, e.end - start, e.text) for e in edits])

    def _joined(self, start: int, end: int, edits: Sequence[Edit]) -> bool:
        """Whether an edit changes characters that no white space parts from the sentence beside it."""
        before = start > 0 and not self._text[start - 1].isspace()
        after = end < len(self._text) and not self._text[end].isspace()
        if not before and not after:
            return False
        sentence = self._text[start:end]
        first = start + len(sentence.split(None, 1)[0]) if before else start
        last = end - len(sentence.rsplit(None, 1)[-1]) if after else end
        return any(edit.start < first or edit.end > last for edit in edits)


def _by_one(placed: Sequence[_Placed]) -> list[int]:
    """For each variation the sentences that no other one changes, as bits."""
    seen = shared = 0
    for one in placed:
        shared |= seen & one.sentences
        seen |= one.sentences
    return [one.sentences & ~shared for one in placed]


def _alone_failing(placed: Sequence[_Placed]) -> int:
    """The sentences that one of the variations changes alone and does not conform in, as bits."""
    if len(placed) == 1:
        return placed[0].failing
    if len(placed) == 2:
        one, other = placed
        return (one.failing & ~other.sentences) | (other.failing & ~one.sentences)
    failing = 0
    for one, alone in zip(placed, _by_one(placed), strict=True):
        failing |= one.failing & alone
    return failing


def _places(placed: Sequence[_Placed]) -> Iterator[Place]:
    """The sentences in which two or more of the variations meet, in the order of the text."""
    seen = shared = 0
    for one in placed:
        shared |= seen & one.sentences
        seen |= one.sentences
    while shared:
        bit = shared & -shared
        shared ^= bit
        yield bit.bit_length() - 1, tuple(one.number for one in placed if one.sentences & bit)


def _crowd(place: Place) -> int:
    """How many variations meet there."""
    return len(place[1])
