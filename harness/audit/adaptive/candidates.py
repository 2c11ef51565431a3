"""What an adaptive run may ask about, in a few integers a case: a million candidates need tens of megabytes.

A candidate is named by its *row*, its place in the sequence of all cases; texts stay where they are
until they are asked about.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from harness.core import Case

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Integers = NDArray[np.int32]

NONE = -1
Pair = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Families:
    """How many features there are of each kind; a feature's number counts on from one kind to the next.

    ``kinds``: sets of attributes; ``documents``; ``pairs``: a replaced term with what replaces it;
    ``targets``: the words that a replacement brings in, whatever was there before ("blind" of "man" to
    "blind man"); ``local``: a pair within one document.
    """

    kinds: int
    documents: int
    pairs: int
    targets: int
    local: int

    @property
    def sizes(self) -> tuple[int, ...]:
        return (self.kinds, self.documents, self.pairs, self.targets, self.local)


@dataclass(frozen=True, slots=True)
class Candidates:
    """The mutants of all documents. Arrays by mutant, those of one document next to each other.

    ``features`` has a row a mutant, padded with the number after the last feature; ``parts`` are the
    mutant's pairs by their local number, sorted, padded with -1. ``original`` and ``rows`` are rows in the
    sequence of cases; ``first`` is where each document's mutants begin, with the number of mutants at the
    end; ``alone`` is the atomic mutant of each local pair, -1 where that is not valid.
    """

    families: Families
    document: Integers
    features: Integers
    parts: Integers
    rows: Integers
    first: Integers
    original: Integers
    alone: Integers

    @classmethod
    def of(cls, cases: Iterable[Case]) -> Candidates:
        """The candidates among ``cases``: the valid mutants, those of one group next to each other."""
        builder = _Builder()
        for _, group in groupby(enumerate(cases), key=lambda item: item[1].group):
            builder.add(group)
        return builder.candidates()

    def smaller(self, mutant: int) -> Integers:
        """The mutants of all proper subsets of a mutant's substitutions that are valid."""
        import numpy as np

        document = self.document[mutant]
        start, end = self.first[document], self.first[document + 1]
        own = self.parts[start:end]
        within = (np.isin(own, self.parts[mutant]) | (own == NONE)).all(axis=1)
        within[mutant - start] = False
        found: Integers = (np.flatnonzero(within) + start).astype(np.int32)
        return found


class _Builder:
    """Columns that grow a case at a time."""

    def __init__(self) -> None:
        self._numbers: tuple[dict[object, int], ...] = ({}, {}, {})
        self._document, self._kind, self._rows = array("i"), array("i"), array("i")
        self._ends, self._parts = array("i"), array("i")
        self._pairs, self._targets, self._alone = array("i"), array("i"), array("i")
        self._first, self._original = array("i", [0]), array("i")

    def add(self, group: Iterator[tuple[int, Case]]) -> None:
        """One document's cases; without an original or without a mutant there is nothing to find out."""
        original, mutants = NONE, []
        for row, case in group:
            if case.role == "original":
                original = row
            elif case.valid and case.substitutions:
                mutants.append((row, case))
        if original == NONE or not mutants:
            return
        local: dict[Pair, int] = {}
        for row, case in mutants:
            self._mutant(row, case, local)
        self._original.append(original)
        self._first.append(len(self._document))

    def _mutant(self, row: int, case: Case, local: dict[Pair, int]) -> None:
        kinds, pairs, targets = self._numbers
        parts = sorted(self._local(s.pair, local, pairs, targets) for s in case.substitutions)
        if len(parts) == 1:
            self._alone[parts[0]] = len(self._document)
        self._document.append(len(self._original))
        self._kind.append(kinds.setdefault(tuple(sorted(case.attributes)), len(kinds)))
        self._rows.append(row)
        self._parts.extend(parts)
        self._ends.append(len(self._parts))

    def _local(
        self, pair: Pair, local: dict[Pair, int], pairs: dict[object, int], targets: dict[object, int]
    ) -> int:
        if pair not in local:
            local[pair] = len(self._alone)
            self._alone.append(NONE)
            self._pairs.append(pairs.setdefault(pair, len(pairs)))
            self._targets.append(targets.setdefault((pair[0], _brought(pair)), len(targets)))
        return local[pair]

    def candidates(self) -> Candidates:
        import numpy as np

        def column(values: array[int]) -> Integers:
            return np.array(values, dtype=np.int32)

        document, ends, flat = column(self._document), column(self._ends), column(self._parts)
        sizes = np.diff(ends, prepend=0)
        order = int(sizes.max(initial=1))
        parts = np.full((len(document), order), NONE, dtype=np.int32)
        parts[np.arange(order) < sizes[:, None]] = flat
        families = Families(*map(len, (self._numbers[0], self._original, *self._numbers[1:], self._alone)))
        return Candidates(
            families,
            document,
            _features(
                families, document, column(self._kind), parts, column(self._pairs), column(self._targets)
            ),
            parts,
            column(self._rows),
            column(self._first),
            column(self._original),
            column(self._alone),
        )


def _brought(pair: Pair) -> str:
    """The words of the target that the source has not; all of them, if there are none."""
    _, source, target = pair
    had = source.casefold().split()
    return " ".join(word for word in target.casefold().split() if word not in had) or target


def _features(
    families: Families,
    document: Integers,
    kind: Integers,
    parts: Integers,
    pairs: Integers,
    targets: Integers,
) -> Integers:
    """The numbers of each mutant's features: kind, document, and three for each of its pairs."""
    import numpy as np

    starts = np.cumsum((0, *families.sizes), dtype=np.int32)
    absent = parts == NONE
    columns = [(kind + starts[0])[:, None], (document + starts[1])[:, None]]
    for numbers, start in ((pairs, starts[2]), (targets, starts[3]), (np.arange(len(pairs)), starts[4])):
        of_parts = np.append(numbers, 0)[parts] + start
        columns.append(np.where(absent, starts[-1], of_parts))
    return np.concatenate(columns, axis=1, dtype=np.int32)
