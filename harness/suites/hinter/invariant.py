"""The invariant for all mutants of one document, decided by looking their sentences up.

A mutant conforms where each of its changed sentences does, and a sentence's verdict depends only on the
edits inside it (HINTER, Algorithm 3). So of a document are asked, in rounds: each sentence with one
variation in it; then each sentence in which two variations meet, but only for mutants whose other sentences
hold; then those of three, and so on. The verdicts are those of Algorithm 3 on every mutant; the reason given
is that of the first failing sentence with one variation, else with two, …

Which sentences a variation changes, and in which of them it does not conform, are bits of integers, so that
most mutants of a pair of variations are decided by a few operations on these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from harness.core import Span
from harness.language.surface import Edit, apply, containing
from harness.suites.hinter.comparison import MOVED
from harness.suites.hinter.conformity import Conformity, Pair
from harness.suites.hinter.mutation import Mutation, Variations, mutations

Place = tuple[int, tuple[int, ...]]
"""A sentence, by index, and the variations that meet in it, by number."""


@dataclass(slots=True)
class _Placed:
    """A variation's edits by sentence (None: one of them crosses a border); bit i of ``sentences`` and of
    ``failing`` stands for the i-th sentence, changed at all and not conforming."""

    number: int
    parts: Mapping[int, tuple[Edit, ...]] | None
    sentences: int = 0
    failing: int = 0
    moved: bool = False
    reasons: dict[int, str] = field(default_factory=dict)


class DocumentInvariant:
    """The mutants of ``found`` up to ``order``, for a text whose sentences are ``spans``.

    ``needed(size)`` names the pairs of sentences that the round ``size`` (1 to ``order``) has to know, and
    ``take`` takes their verdicts; then ``reason`` decides each mutant. A mutant whose edits could move a
    sentence's end (a replacement with a full stop, an edit that crosses a border or touches the next
    sentence's first word, as in "the man.He") is decided on the whole text.
    """

    def __init__(
        self, text: str, spans: Sequence[Span], found: Variations, order: int, conformity: Conformity
    ) -> None:
        self._text = text
        self._spans = spans
        self._found = found
        self._order = order
        self._conformity = conformity
        self._placed: dict[int, _Placed] = {}
        self._pairs: dict[Place, Pair | None] = {}
        self._joint: dict[Place, str | None] = {}
        for variation in (v for some in found.values() for v in some):
            self._placed[id(variation)] = _Placed(len(self._placed), self._parts(variation.edits))

    def needed(self, size: int) -> list[Pair]:
        """The pairs of sentences of round ``size``, in which so many variations meet."""
        self._pairs = self._alone() if size == 1 else self._meeting(size)
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
            if reason == MOVED:
                placed.moved = True
            elif reason is not None:
                placed.failing |= 1 << index
                placed.reasons[index] = reason
        self._pairs = {}

    def reason(self, mutation: Mutation, mutant: str) -> str | None:
        """None where the mutant is valid, else why it is discarded."""
        placed = [self._placed[id(v)] for v in mutation]
        if any(one.moved or one.parts is None for one in placed):
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
        """Every sentence with one variation in it."""
        pairs: dict[Place, Pair | None] = {}
        for placed in self._placed.values():
            for index, edits in (placed.parts or {}).items():
                placed.sentences |= 1 << index
                pairs[index, (placed.number,)] = self._pair(index, edits)
        return pairs

    def _meeting(self, size: int) -> dict[Place, Pair | None]:
        """The sentences in which ``size`` variations meet, of mutants that hold as far as is known."""
        pairs: dict[Place, Pair | None] = {}
        for mutation in mutations(self._found, self._order):
            if len(mutation) < size:
                continue
            placed = [self._placed[id(v)] for v in mutation]
            if any(one.moved or one.parts is None for one in placed) or _alone_failing(placed):
                continue
            places = list(_places(placed))
            if any(self._joint.get(place) is not None for place in places):
                continue
            for place in places:
                index, numbers = place
                if len(numbers) == size and place not in pairs:
                    edits = (e for one in placed if one.parts for e in one.parts.get(index, ()))
                    pairs[place] = self._pair(index, tuple(sorted(edits)))
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


def _alone_failing(placed: Sequence[_Placed]) -> int:
    """The sentences that one of the variations changes alone and does not conform in, as bits."""
    if len(placed) == 1:
        return placed[0].failing
    if len(placed) == 2:
        one, other = placed
        return (one.failing & ~other.sentences) | (other.failing & ~one.sentences)
    failing = 0
    for one in placed:
        others = 0
        for other in placed:
            if other is not one:
                others |= other.sentences
        failing |= one.failing & ~others
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
