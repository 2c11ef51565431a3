"""The candidates of an adaptive run as a few integers per case: a million of them need tens of megabytes.

A candidate is identified by its *row*, its index in the sequence of all cases. Texts stay on disk until they
are asked about.
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

    from harness.audit.adaptive.design import Flags

    Integers = NDArray[np.int32]

NONE = -1
Pair = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Families:
    """The number of features in each family. Features are numbered consecutively, family after family.

    ``kinds``: sets of attributes; ``documents``; ``pairs``: a term and its replacement; ``targets``: the
    words that a replacement adds, whatever was there before ("blind" in "man" to "blind man"); ``local``: a
    pair within one document.
    """

    kinds: int
    documents: int
    pairs: int
    targets: int
    local: int

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of features in each family, in the order of their numbers."""
        return (self.kinds, self.documents, self.pairs, self.targets, self.local)


@dataclass(frozen=True, slots=True)
class Candidates:
    """The mutants of all documents, as arrays indexed by mutant; those of one document are adjacent.

    Control mutants are among them, and ``control`` tells which they are. ``features`` has one row per mutant,
    padded with the number after the last feature; ``parts`` holds each mutant's pairs by local number,
    sorted, padded with -1. ``original`` and ``rows`` are rows in the sequence of cases; ``first`` is the
    index of each document's first mutant, followed by the number of mutants; ``alone`` is the atomic mutant
    of each local pair, -1 if it is not valid.
    """

    families: Families
    document: Integers
    features: Integers
    parts: Integers
    rows: Integers
    first: Integers
    original: Integers
    alone: Integers
    control: Flags

    @classmethod
    def of(cls, cases: Iterable[Case]) -> Candidates:
        """Return the candidates among ``cases``, the valid mutants and controls of documents with a mutant.

        The cases of a group must be adjacent.
        """
        builder = _Builder()
        for _, group in groupby(enumerate(cases), key=lambda item: item[1].group):
            builder.add(group)
        return builder.candidates()

    @property
    def numbers(self) -> dict[int, int]:
        """The number of each mutant by its row."""
        return {int(row): number for number, row in enumerate(self.rows)}

    def smaller(self, mutant: int) -> Integers:
        """Return the valid mutants of all proper subsets of a mutant's substitutions."""
        import numpy as np

        document = self.document[mutant]
        start, end = self.first[document], self.first[document + 1]
        parts = self.parts[start:end]
        within = (np.isin(parts, self.parts[mutant]) | (parts == NONE)).all(axis=1)
        within[mutant - start] = False
        within &= ~self.control[start:end]
        mutants: Integers = (np.flatnonzero(within) + start).astype(np.int32)
        return mutants


class _Builder:
    """Collects the columns of ``Candidates`` case by case."""

    def __init__(self) -> None:
        self._numbers: tuple[dict[object, int], ...] = ({}, {}, {})
        self._document, self._kind, self._rows = array("i"), array("i"), array("i")
        self._ends, self._parts = array("i"), array("i")
        self._pairs, self._targets, self._alone = array("i"), array("i"), array("i")
        self._first, self._original = array("i", [0]), array("i")
        self._control = array("b")

    def add(self, group: Iterator[tuple[int, Case]]) -> None:
        """Add the cases of one document, unless it has no original or no mutant."""
        original, mutants = NONE, []
        for row, case in group:
            if case.role == "original":
                original = row
            elif case.valid and case.role in ("atomic", "intersectional", "control"):
                mutants.append((row, case))
        if original == NONE or all(case.role == "control" for _, case in mutants):
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
        self._control.append(case.role == "control")
        self._parts.extend(parts)
        self._ends.append(len(self._parts))

    def _local(
        self, pair: Pair, local: dict[Pair, int], pairs: dict[object, int], targets: dict[object, int]
    ) -> int:
        if pair not in local:
            local[pair] = len(self._alone)
            self._alone.append(NONE)
            self._pairs.append(pairs.setdefault(pair, len(pairs)))
            self._targets.append(targets.setdefault((pair[0], _added(pair)), len(targets)))
        return local[pair]

    def candidates(self) -> Candidates:
        """Return the candidates added so far."""
        import numpy as np

        def column(values: array[int]) -> Integers:
            """Return ``values`` as a numpy array."""
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
            np.array(self._control, dtype=bool),
        )


def _added(pair: Pair) -> str:
    """Return the words of the target that are not in the source; the whole target if all of them are."""
    _, source, target = pair
    source_words = source.casefold().split()
    return " ".join(word for word in target.casefold().split() if word not in source_words) or target


def _features(
    families: Families,
    document: Integers,
    kind: Integers,
    parts: Integers,
    pairs: Integers,
    targets: Integers,
) -> Integers:
    """Return the feature numbers of each mutant: its kind, its document, and three for each of its pairs."""
    import numpy as np

    starts = np.cumsum((0, *families.sizes), dtype=np.int32)
    absent = parts == NONE
    columns = [(kind + starts[0])[:, None], (document + starts[1])[:, None]]
    for numbers, start in ((pairs, starts[2]), (targets, starts[3]), (np.arange(len(pairs)), starts[4])):
        of_parts = np.append(numbers, 0)[parts] + start
        columns.append(np.where(absent, starts[-1], of_parts))
    return np.concatenate(columns, axis=1, dtype=np.int32)
