"""Choose the next cases to ask about, to show as many originals biased as possible, and hidden cases too.

Each round ranks the candidates by their expected yield per request. A mutant is worth its probability of
flipping: 1 for its document, as long as none of that document's mutants has flipped, and ``HIDDEN_WORTH`` for
a hidden case, as long as it can be one. An original is worth nothing itself but opens its document: its index
is the value of a request elsewhere at which opening is just as good (the reservation value of Weitzman 1979,
"Optimal search for the best alternative"), over the margins of the originals so far. A round depends only on
the seed and on the rounds before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from harness.audit.adaptive.flip_model import Belief, Estimate
from harness.core import Status

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.audit.adaptive.candidates import Candidates, Integers
    from harness.audit.adaptive.flip_model import Floats

FIRST, ROUND = 8, 32
HASTE, GROWTH = 4, 16
"""Rounds start at ``FIRST`` cases and grow to ``ROUND``: 1/``HASTE`` of the cases asked about so far, or
1/``GROWTH`` of them if that is more than ``ROUND``. Small rounds learn sooner, large ones ask faster."""

HIDDEN_WORTH = 0.1
"""The value of a hidden case, where a biased original is worth 1."""

BOLDNESS = 0.5
"""The spread of the weights drawn for a round, in posterior standard deviations."""

LOOK_AHEAD = 4
"""The number of a document's mutants that count towards opening it."""

PATIENCE = 2.0
"""If margins are not known, this many mutants of a document without a flip halve the chance of the others.
Some documents flip under many changes and most under none, which weights of words cannot express."""

MARGINS = 32
BISECTIONS = 20
UNKNOWN, BENIGN, BIASED, UNDETERMINED = range(4)
CODES: dict[Status, int] = {"benign": BENIGN, "biased": BIASED, "undetermined": UNDETERMINED}


@dataclass(frozen=True, slots=True)
class Pick:
    """A case to ask about: its row, its document, and the number of the mutant (None for the original)."""

    row: int
    document: int
    mutant: int | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """What an answer showed: the status of a mutant's verdict; for an original, "benign" if it was read.

    ``lead`` is the margin of the original's label over the next one in nats, negative after a flip; None if
    the model gives no log-probabilities. ``value`` is 1 if the answer has the outcome that is compared, 0 if
    not; None if it was not read, or no outcome is compared.
    """

    pick: Pick
    status: Status
    lead: float | None = None
    value: float | None = None


class Chooser:
    """Chooses cases round by round: ``while picks := chooser.next(room): chooser.learn(findings)``."""

    def __init__(self, candidates: Candidates, seed: int) -> None:
        documents = len(candidates.original)
        self._candidates = candidates
        self._seed = seed
        self._round = self._asked = 0
        self._status = np.zeros(len(candidates.document), dtype=np.int8)
        self._lead = np.full(len(candidates.document), np.nan)
        self._opened = np.zeros(documents, dtype=np.int8)
        self._margin = np.full(documents, np.nan)
        self._biased = np.zeros(documents, dtype=bool)
        self._benign = np.zeros(documents)
        self._originals = np.full(documents, np.nan)
        self._changes = np.zeros(len(candidates.document))
        self._suspects: set[int] = set()
        self._owed: list[int] = []
        self._belief = Belief(candidates.families, shifts=False)

    def next(self, room: int) -> list[Pick]:
        """Return the next round, of at most ``room`` cases; empty if none is left."""
        size = min(room, max(FIRST, min(ROUND, self._asked // HASTE), self._asked // GROWTH))
        owed = [self.pick(mutant) for mutant in self._owed[:size]]
        picks = owed + self._best(size - len(owed))
        self._round += 1
        self._asked += len(picks)
        return picks

    def learn(self, findings: Sequence[Finding]) -> None:
        """Take in what the answers of a round showed."""
        for finding in findings:
            lead = np.nan if finding.lead is None else finding.lead
            document, mutant = finding.pick.document, finding.pick.mutant
            if mutant is None:
                self._opened[document], self._margin[document] = CODES[finding.status], lead
                self._originals[document] = np.nan if finding.value is None else finding.value
            else:
                self._status[mutant], self._lead[mutant] = CODES[finding.status], lead
                if finding.value is not None:
                    self._changes[mutant] = finding.value - self._originals[document]
                if self._candidates.control[mutant]:
                    continue
                self._benign[document] += finding.status == "benign"
                if finding.status == "biased":
                    self._biased[document] = True
                    self._suspects.add(mutant)
        missing = {mutant: self._missing(mutant) for mutant in self._suspects}
        self._suspects = {mutant for mutant, parts in missing.items() if parts}
        self._owed = sorted({part for parts in missing.values() for part in parts})
        self._update()

    @property
    def closed(self) -> list[Pick]:
        """The originals that have not been asked about."""
        documents = np.flatnonzero(self._opened == UNKNOWN).tolist()
        return [Pick(int(self._candidates.original[document]), document) for document in documents]

    @property
    def chances(self) -> Floats:
        """The probability that each mutant flips, by the belief and its original's margin."""
        estimate = self._belief.estimate(self._candidates.features, np.random.default_rng(0), 0.0)
        return self._belief.chance(estimate, self._margin[self._candidates.document])

    @property
    def decided(self) -> NDArray[np.bool_]:
        """Whether each mutant's verdict is known, biased or benign."""
        decided: NDArray[np.bool_] = (self._status == BENIGN) | self.flipped
        return decided

    @property
    def flipped(self) -> NDArray[np.bool_]:
        """Whether each mutant is known to be biased."""
        flipped: NDArray[np.bool_] = self._status == BIASED
        return flipped

    @property
    def known(self) -> NDArray[np.bool_]:
        """Whether each mutant was asked about, or cannot be because its original was not read."""
        unread = (self._opened == UNDETERMINED)[self._candidates.document]
        known: NDArray[np.bool_] = (self._status != UNKNOWN) | unread
        return known

    @property
    def original_values(self) -> Floats:
        """The outcome of each original; NaN where it is not known."""
        return self._originals

    @property
    def observed(self) -> Floats:
        """By mutant: whether it flipped, is decided, raised the outcome, and lowered it; 0 if not known."""
        changes = np.nan_to_num(self._changes)
        return np.column_stack([self.flipped, self.decided, changes > 0, changes < 0]).astype(float)

    def pick(self, mutant: int) -> Pick:
        """Return the mutant as a case to ask about."""
        return Pick(int(self._candidates.rows[mutant]), int(self._candidates.document[mutant]), mutant)

    def _missing(self, mutant: int) -> list[int]:
        """Return the sub-mutants still to ask about to tell whether a flipped mutant's bias is hidden."""
        smaller = self._candidates.smaller(mutant)
        status = self._status[smaller]
        if len(smaller) < 2 ** int((self._candidates.parts[mutant] >= 0).sum()) - 2:
            return []
        if np.isin(status, (BIASED, UNDETERMINED)).any():
            return []
        return [int(part) for part in smaller[status == UNKNOWN]]

    def _update(self) -> None:
        margin = self._margin[self._candidates.document]
        seen = np.isin(self._status, (BENIGN, BIASED))
        shift = self._lead - margin
        measured = seen & ~np.isnan(shift)
        shifts = 2 * int(measured.sum()) > int(seen.sum()) or (
            not seen.any() and not np.isnan(self._margin).all()
        )
        if shifts is not self._belief.shifts:
            self._belief = Belief(self._candidates.families, shifts)
        if shifts:
            self._belief.learn(self._candidates.features[measured], shift[measured])
        else:
            self._belief.learn(self._candidates.features[seen], (self._status[seen] == BIASED).astype(float))

    def _best(self, size: int) -> list[Pick]:
        """Return the ``size`` most valuable: mutants whose original was read, and originals not yet asked."""
        if size <= 0:
            return []
        document = self._candidates.document
        draw = np.random.default_rng((self._seed, self._round))
        open_ = (self._status == UNKNOWN) & ~self._candidates.control
        open_[self._owed] = False
        estimate = self._belief.estimate(self._candidates.features, draw, BOLDNESS)
        ready = np.flatnonzero(open_ & (self._opened[document] == BENIGN))
        closed = np.flatnonzero(open_ & (self._opened[document] == UNKNOWN))
        values = self._values(ready, estimate)
        unopened, indexes = self._openings(closed, estimate)
        everything = np.concatenate((values, indexes))
        # Ties are broken at random, or the first documents would always come first.
        order = np.lexsort((draw.random(len(everything)), -everything))[:size]
        return [
            self.pick(int(ready[i]))
            if i < len(ready)
            else Pick(int(self._candidates.original[d := int(unopened[i - len(ready)])]), d)
            for i in order.tolist()
        ]

    def _values(self, ready: NDArray[np.intp], estimate: Estimate) -> Floats:
        document = self._candidates.document[ready]
        chance = self._belief.chance(estimate.of(ready), self._margin[document])
        untouched, rank = _before(document, chance)
        first = chance * untouched * self._patience(self._benign[document] + rank)
        return np.where(self._biased[document], 0.0, first) + self._hidden(ready, chance, estimate)

    def _patience(self, tries: Floats) -> Floats | float:
        return 1.0 if self._belief.shifts else PATIENCE / (PATIENCE + tries)

    def _hidden(self, mutants: NDArray[np.intp], chance: Floats, estimate: Estimate) -> Floats:
        """Return the value of mutants as hidden cases: they flip, but none of their single changes does."""
        parts = self._candidates.parts[mutants]
        alone = np.append(self._candidates.alone, -1)[parts]
        status = self._status[alone]
        of_parts = estimate.of(alone.ravel())
        margin = np.repeat(self._margin[self._candidates.document[mutants]], parts.shape[1])
        flips = self._belief.chance(of_parts, margin).reshape(parts.shape)
        stays = np.where(status == UNKNOWN, 1 - flips, status == BENIGN)
        stays = np.where(parts < 0, 1.0, np.where(alone < 0, 0.0, stays))
        several = (parts >= 0).sum(axis=1) > 1
        return np.where(several, HIDDEN_WORTH * chance * stays.prod(axis=1), 0.0)

    def _openings(self, closed: NDArray[np.intp], estimate: Estimate) -> tuple[Integers, Floats]:
        """Return the documents not yet opened, and their indexes."""
        document = self._candidates.document[closed]
        order = np.lexsort((self._belief.unlikelihood(estimate.of(closed)), document))
        closed, document = closed[order], document[order]
        unopened, start = np.unique(document, return_index=True)
        rank = np.arange(len(closed)) - np.repeat(start, np.diff(start, append=len(closed)))
        near = rank < LOOK_AHEAD
        closed, document, rank = closed[near], document[near], rank[near]
        margins = self._typical()
        chance = np.zeros((len(unopened), LOOK_AHEAD, len(margins)))
        place = np.searchsorted(unopened, document)
        of_closed = estimate.of(closed)
        for number, margin in enumerate(margins):
            chance[place, rank, number] = self._belief.chance(of_closed, np.full(len(closed), margin))
        left = np.cumprod(1 - chance, axis=1)
        left = np.concatenate((np.ones_like(left[:, :1]), left[:, :-1]), axis=1)
        left *= np.reshape(self._patience(np.arange(LOOK_AHEAD, dtype=float)), (-1, 1))
        return unopened.astype(np.int32), _reservation(chance * left)

    def _typical(self) -> Floats:
        """Return evenly spaced quantiles of the margins of originals so far; NaN before there are any."""
        measured = self._margin[~np.isnan(self._margin)]
        if not len(measured):
            return np.array([np.nan])
        margins: Floats = np.quantile(measured, (np.arange(MARGINS) + 0.5) / MARGINS)
        return margins


def _before(document: Integers, chance: Floats) -> tuple[Floats, Floats]:
    """Return, by mutant, the chance that no likelier one of its document flips, and the number of those."""
    order = np.lexsort((-chance, document))
    logs = np.log1p(-np.minimum(chance[order], 1 - 1e-9))
    before = np.cumsum(logs) - logs
    start = np.flatnonzero(np.diff(document[order], prepend=-1))
    sizes = np.diff(start, append=len(order))
    untouched, rank = np.empty(len(order)), np.empty(len(order))
    untouched[order] = np.exp(before - np.repeat(before[start], sizes))
    rank[order] = np.arange(len(order)) - np.repeat(start, sizes)
    return untouched, rank


def _reservation(gains: Floats) -> Floats:
    """Return the value z of a request elsewhere at which opening breaks even: E[sum of (gain - z)+] = z.

    ``gains`` is indexed by document, mutant and margin.
    """
    low, high = np.zeros(len(gains)), np.ones(len(gains)) * gains.shape[1]
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        repaid = np.maximum(gains - middle[:, None, None], 0).sum(axis=1).mean(axis=1) > middle
        low, high = np.where(repaid, middle, low), np.where(repaid, high, middle)
    return low
