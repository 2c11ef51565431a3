"""Decide the invariant for all mutants of one document by looking up their sentences.

A mutant conforms if each of its changed sentences does, and the verdict on a sentence depends only on the
edits inside it (HINTER, Algorithm 3). The sentences of a document are therefore requested in rounds: first
sentences with one variation in them, for each variation in text order until one does not conform; then
sentences in which two variations meet, but only for mutants whose other sentences hold; then three, and so
on. The verdicts equal those of Algorithm 3 on every mutant. The reason reported is that of the first sentence
known to fail with one variation, else with two, …

Which sentences a variation changes, which are decided, and which do not conform are stored as bits of
integers, so that a few integer operations decide most mutants.
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
"""The index of a sentence, and the numbers of the variations that meet in it."""


@dataclass(slots=True)
class _Placed:
    """A variation's edits by sentence; ``parts`` is None if an edit crosses a sentence boundary.

    Bit i of ``sentences``, ``decided`` and ``failing`` stands for the i-th sentence: changed by the
    variation, decided with this variation alone, and not conforming.
    """

    number: int
    parts: Mapping[int, tuple[Edit, ...]] | None
    sentences: int = 0
    decided: int = 0
    failing: int = 0
    moved: bool = False
    reasons: dict[int, str] = field(default_factory=dict)

    @property
    def exact(self) -> bool:
        """Whether only a comparison of the whole text can decide."""
        return self.moved or self.parts is None


class DocumentInvariant:
    """Decides the mutants of ``variations`` up to ``order``, for a text with sentences at ``spans``.

    In each round, ``needed`` names pairs of sentences and ``take`` receives their verdicts, until none is
    needed; then ``reason`` decides each mutant. A mutant whose edits could move the end of a sentence (a
    replacement with a full stop, or an edit that crosses a boundary or touches the next sentence's first
    word, as in "the man.He") is decided on the whole text.
    """

    def __init__(
        self, text: str, spans: Sequence[Span], variations: Variations, order: int, conformity: Conformity
    ) -> None:
        self._text = text
        self._spans = spans
        self._variations = variations
        self._order = order
        self._conformity = conformity
        self._round = 0
        self._size = 1
        self._pairs: dict[Place, Pair | None] = {}
        self._joint: dict[Place, str | None] = {}
        self._placed: dict[int, _Placed] = {}
        for variation in (v for of_attribute in variations.values() for v in of_attribute):
            parts = self._parts(variation.edits)
            sentences = sum(1 << index for index in parts or ())
            moved = any(self._joined(*spans[index], edits) for index, edits in (parts or {}).items())
            self._placed[id(variation)] = _Placed(len(self._placed), parts, sentences, moved=moved)

    def needed(self) -> list[Pair]:
        """Return the pairs of sentences that the next round has to decide; empty once all are decided."""
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
        """Record the verdicts on the pairs that ``needed`` returned."""
        by_number = list(self._placed.values())
        for (index, numbers), pair in self._pairs.items():
            reason = MOVED if pair is None else reasons[pair]
            if len(numbers) > 1:
                self._joint[index, numbers] = reason
                continue
            placed = by_number[numbers[0]]
            placed.decided |= 1 << index
            if reason == MOVED:
                placed.moved = True
            elif reason is not None:
                placed.failing |= 1 << index
                placed.reasons[index] = reason

    @property
    def done(self) -> bool:
        """Whether the last round needed no verdicts."""
        return not self._pairs

    def reason(self, mutation: Mutation, mutant: str) -> str | None:
        """Return None if the mutant is valid, else the reason to discard it."""
        placed = [self._placed[id(v)] for v in mutation]
        if any(variation.exact for variation in placed):
            return self._conformity.check(self._text, mutant)
        alone = _alone_failing(placed)
        if alone:
            index = (alone & -alone).bit_length() - 1
            return next(variation.reasons[index] for variation in placed if index in variation.reasons)
        joint = [self._joint.get(place) for place in sorted(_places(placed), key=_crowd)]
        if MOVED in joint:
            return self._conformity.check(self._text, mutant)
        return next(filter(None, joint), None)

    def _alone(self) -> dict[Place, Pair | None]:
        """Return the next sentences of each variation that holds so far: one, then two, four, …"""
        pairs: dict[Place, Pair | None] = {}
        for placed in self._placed.values():
            if placed.exact or placed.failing or placed.decided == placed.sentences:
                continue
            unknown = [index for index in sorted(placed.parts or ()) if not placed.decided >> index & 1]
            pairs |= self._of(placed, unknown[: 1 << self._round])
        return pairs

    def _of(self, placed: _Placed, sentences: Iterable[int]) -> dict[Place, Pair | None]:
        parts = placed.parts or {}
        return {(index, (placed.number,)): self._pair(index, parts[index]) for index in sentences}

    def _meeting(self) -> tuple[dict[Place, Pair | None], bool]:
        """Return the sentences in which ``size`` variations meet, of mutants that hold so far.

        Also return whether mutants wait for sentences that one variation changes alone, which come first.
        """
        pairs: dict[Place, Pair | None] = {}
        waiting = False
        for mutation in mutations(self._variations, self._order):
            if len(mutation) < self._size:
                continue
            placed = [self._placed[id(v)] for v in mutation]
            if any(variation.exact for variation in placed) or _alone_failing(placed):
                continue
            places = list(_places(placed))
            if any(self._joint.get(place) is not None for place in places):
                continue
            if any(variation.decided != variation.sentences for variation in placed) and (
                undecided := self._undecided(placed)
            ):
                pairs |= undecided
                waiting = True
                continue
            for place in places:
                index, numbers = place
                if len(numbers) == self._size and place not in pairs and place not in self._joint:
                    edits = (
                        e for variation in placed if variation.parts for e in variation.parts.get(index, ())
                    )
                    pairs[place] = self._pair(index, tuple(sorted(edits)))
        return pairs, waiting

    def _undecided(self, placed: Sequence[_Placed]) -> dict[Place, Pair | None]:
        """Return the undecided sentences that only one of the variations changes."""
        pairs: dict[Place, Pair | None] = {}
        for variation, alone in zip(placed, _by_one(placed), strict=True):
            bits = alone & ~variation.decided
            pairs |= self._of(
                variation, [index for index in sorted(variation.parts or ()) if bits >> index & 1]
            )
        return pairs

    def _parts(self, edits: Iterable[Edit]) -> Mapping[int, tuple[Edit, ...]] | None:
        by_sentence: dict[int, list[Edit]] = {}
        for edit in edits:
            index = containing(self._spans, edit.start, edit.end)
            if index is None:
                return None
            by_sentence.setdefault(index, []).append(edit)
        return {index: tuple(group) for index, group in by_sentence.items()}

    def _pair(self, index: int, edits: Sequence[Edit]) -> Pair | None:
        """Return the sentence before and after the edits, None if an edit touches a neighbouring sentence."""
        start, end = self._spans[index]
        if self._joined(start, end, edits):
            return None
        before = self._text[start:end]
        return before, apply(before, [Edit(e.start - start, e.end - start, e.text) for e in edits])

    def _joined(self, start: int, end: int, edits: Sequence[Edit]) -> bool:
        """Return whether an edit changes characters that adjoin a neighbouring sentence directly."""
        before = start > 0 and not self._text[start - 1].isspace()
        after = end < len(self._text) and not self._text[end].isspace()
        if not before and not after:
            return False
        sentence = self._text[start:end]
        first = start + len(sentence.split(None, 1)[0]) if before else start
        last = end - len(sentence.rsplit(None, 1)[-1]) if after else end
        return any(edit.start < first or edit.end > last for edit in edits)


def _by_one(placed: Sequence[_Placed]) -> list[int]:
    """Return, for each variation, the sentences that no other variation changes, as bits."""
    seen = shared = 0
    for variation in placed:
        shared |= seen & variation.sentences
        seen |= variation.sentences
    return [variation.sentences & ~shared for variation in placed]


def _alone_failing(placed: Sequence[_Placed]) -> int:
    """Return the sentences that one variation changes alone and that do not conform, as bits."""
    if len(placed) == 1:
        return placed[0].failing
    if len(placed) == 2:
        first, second = placed
        return (first.failing & ~second.sentences) | (second.failing & ~first.sentences)
    failing = 0
    for variation, alone in zip(placed, _by_one(placed), strict=True):
        failing |= variation.failing & alone
    return failing


def _places(placed: Sequence[_Placed]) -> Iterator[Place]:
    """Yield the sentences in which two or more of the variations meet, in text order."""
    seen = shared = 0
    for variation in placed:
        shared |= seen & variation.sentences
        seen |= variation.sentences
    while shared:
        bit = shared & -shared
        shared ^= bit
        yield (
            bit.bit_length() - 1,
            tuple(variation.number for variation in placed if variation.sentences & bit),
        )


def _crowd(place: Place) -> int:
    """Return the number of variations that meet in a place."""
    return len(place[1])
