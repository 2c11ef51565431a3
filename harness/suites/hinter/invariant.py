"""The dependency invariant (HINTER, Algorithms 3 and 4): does a mutant keep the original's grammar?

``check`` is Algorithm 3 as published. ``DocumentInvariant`` gives the same verdicts from fewer parses:
a sentence's verdict depends only on the edits inside it, so each distinct changed sentence is parsed
once, in a batch, and a mutant is decided by looking its sentences up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product

from harness.core import Span
from harness.language.parsers import Parse, Parser, Split
from harness.language.surface import Edit, apply, containing, disjoint
from harness.suites.hinter.mutation import Mutation, Variation

SENTENCES, POS, DEPENDENCY = "sentences", "pos", "dependency"


def tolerant_table_comp(first: Sequence[str], second: Sequence[str]) -> bool:
    """Algorithm 4: are two tag sequences alike within the difference of their lengths?

    A mismatch is an error; as many of them as the lengths differ may shift the longer sequence by one.
    What is left over at the end counts as errors too.
    """
    size1, size2 = len(first), len(second)
    limit = abs(size1 - size2)
    at1 = at2 = errors = shift = 0
    while at1 < size1 and at2 < size2:
        if first[at1] != second[at2]:
            errors += 1
            if shift < limit:
                shift += 1
                if size1 > size2:
                    at1 += 1
                elif size1 < size2:
                    at2 += 1
        at1 += 1
        at2 += 1
    errors += (size1 - at1) + (size2 - at2)
    return errors <= limit


def compare(original: Parse, mutant: Parse) -> str | None:
    """None where one sentence conforms to the other, else the first property that differs."""
    if not tolerant_table_comp(original.pos, mutant.pos):
        return POS
    if not tolerant_table_comp(original.dep, mutant.dep):
        return DEPENDENCY
    return None


def check(parser: Parser, original: str, mutant: str) -> str | None:
    """Algorithm 3: None where ``mutant`` conforms to ``original``, else why it does not."""
    before = [original[a:b] for a, b in parser.split(original).spans]
    after = [mutant[a:b] for a, b in parser.split(mutant).spans]
    if len(before) != len(after):
        return SENTENCES
    changed = [(a, b) for a, b in zip(before, after, strict=True) if a != b]
    parses = parser.parse([s for pair in changed for s in pair])
    return next(filter(None, map(compare, parses[::2], parses[1::2])), None)


Part = tuple[int, tuple[Edit, ...]]
"""A sentence of the original, by index, and the edits made in it (offsets in the document)."""


class DocumentInvariant:
    """The invariant for the mutants of one document; ``texts()`` says what must be parsed first.

    A mutant whose edits could move a sentence's end (a replacement with a full stop, an edit that
    crosses a border or touches the next sentence's first word, as in "the man.He") is decided by
    ``check`` itself; ``exact`` counts them.
    """

    def __init__(self, text: str, spans: Sequence[Span], parser: Parser) -> None:
        self._text = text
        self._spans = spans
        self._parser = parser
        self._verdicts: dict[Part, str | None] = {}
        self._changed: dict[Part, str | None] = {}
        self._splits: dict[int, Split] = {}
        self.exact = 0

    def plan(self, found: Mapping[str, Sequence[Variation]], order: int) -> list[str]:
        """All distinct sentences, original and changed, that the mutants of up to ``order`` contain."""
        parts = set(self._parts_of_all(found, order))
        for part in parts:
            self._changed[part] = self._sentence(part)
        originals = {self._original(i) for i, _ in parts}
        return sorted(originals | {s for s in self._changed.values() if s is not None})

    def decide(self, parses: Mapping[str, Parse]) -> None:
        """Take the parses of all that ``plan`` named."""
        for part, sentence in self._changed.items():
            if sentence is not None:
                self._verdicts[part] = compare(parses[self._original(part[0])], parses[sentence])

    def reason(self, mutation: Mutation, mutant: str) -> str | None:
        """None where the mutant is valid, else why it is discarded."""
        parts = self._parts(e for v in mutation for e in v.edits)
        if parts is None or any(self._changed.get(part) is None for part in parts):
            self.exact += 1
            return check(self._parser, self._text, mutant)
        return next((r for part in parts if (r := self._verdicts[part]) is not None), None)

    def _parts(self, edits: Iterable[Edit]) -> list[Part] | None:
        by_sentence: dict[int, list[Edit]] = {}
        for edit in edits:
            index = containing(self._spans, edit.start, edit.end)
            if index is None:
                return None
            by_sentence.setdefault(index, []).append(edit)
        return [(i, tuple(sorted(by_sentence[i]))) for i in sorted(by_sentence)]

    def _parts_of_all(self, found: Mapping[str, Sequence[Variation]], order: int) -> Iterator[Part]:
        """The parts of every mutation, found sentence by sentence rather than mutant by mutant."""
        touching: dict[int, dict[str, dict[tuple[Edit, ...], None]]] = {}
        for attribute, some in found.items():
            for variation in some:
                for index, edits in self._parts(variation.edits) or ():
                    touching.setdefault(index, {}).setdefault(attribute, {})[edits] = None
        for index, by_attribute in touching.items():
            for size in range(1, order + 1):
                for attributes in combinations(by_attribute, size):
                    for chosen in product(*(by_attribute[a] for a in attributes)):
                        edits = tuple(sorted(e for part in chosen for e in part))
                        if size == 1 or disjoint(edits):
                            yield (index, edits)

    def _original(self, index: int) -> str:
        start, end = self._spans[index]
        return self._text[start:end]

    def _sentence(self, part: Part) -> str | None:
        """The changed sentence, or None where it may not be the whole of one sentence any more."""
        index, edits = part
        start = self._spans[index][0]
        if self._joined(index, edits):
            return None
        before = self._original(index)
        after = apply(before, [Edit(e.start - start, e.end - start, e.text) for e in edits])
        if index not in self._splits:
            self._splits[index] = self._parser.split(before)
        old, new = self._splits[index], self._parser.split(after)
        whole = len(old.spans) == len(new.spans) == 1 and new.spans[0] == (0, len(after))
        return after if whole and old.closed == new.closed else None

    def _joined(self, index: int, edits: Sequence[Edit]) -> bool:
        """Whether an edit changes characters that no white space parts from the sentence beside it."""
        start, end = self._spans[index]
        sentence = self._text[start:end]
        before = start > 0 and not self._text[start - 1].isspace()
        after = end < len(self._text) and not self._text[end].isspace()
        first = start + len(sentence.split(None, 1)[0]) if before else start
        last = end - len(sentence.rsplit(None, 1)[-1]) if after else end
        return any(edit.start < first or edit.end > last for edit in edits)
