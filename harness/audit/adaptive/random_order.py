"""Ask in random order, look by look, until a goal is reached.

For a rate the order is of mutants, each after its original, so that those asked about are a sample of all in
which each has the same chance: however alike the mutants of one text are, the interval is exact. For effects
it is of originals with all their mutants, as an effect is a mean of texts, and only of those that have two
groups to compare.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from harness.audit.adaptive.chooser import Finding, Pick
from harness.audit.adaptive.goal import Effect, Goal, Look, confidence, looks
from harness.statistics import mean_of_shares, share_of_all

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.audit.adaptive.candidates import Candidates
    from harness.audit.adaptive.contrasts import Contrast
    from harness.audit.adaptive.design import Floats
    from harness.blocks import Interval

STREAM = 11  # the generator of this order is none of the other choices'
FIRST_TEXTS = 16
"""The originals that are asked about before the first look at effects."""

EARLIER = 4
"""How many times smaller than the least sample that can show a rate below a limit the first look is: a rate
far above shows sooner."""

AT_ONCE = 512
"""The most cases of a round: what an interrupted round has asked is not judged."""

ROUNDING = 1e-9


class RandomOrder:
    """Chooses cases look by look: ``while picks := order.next(room): order.learn(findings)``.

    ``look`` is what is known. ``contrasts`` are those whose effects the goal is about.
    """

    def __init__(
        self, candidates: Candidates, seed: int, goal: Goal, contrasts: Sequence[Contrast] = ()
    ) -> None:
        mutants, documents = len(candidates.document), len(candidates.original)
        of_texts = goal.effect is not None
        draw = np.random.default_rng((seed, STREAM))
        self._candidates = candidates
        self._goal = goal
        self._contrasts = contrasts
        self._order = draw.permutation(self._compared() if of_texts else mutants)
        self._looks = looks(FIRST_TEXTS, len(self._order)) if of_texts else rate_looks(goal, mutants)
        self._asked = np.zeros(mutants, dtype=bool)
        self._flipped = np.zeros(mutants, dtype=bool)
        self._decided = np.zeros(mutants, dtype=bool)
        self._values = np.full(mutants, np.nan)
        self._originals = np.full(documents, np.nan)
        self._opened = np.zeros(documents, dtype=bool)
        self._ahead: list[Pick] = []
        self.done = 0

    @property
    def planned(self) -> int:
        """The number of looks, if none is the last."""
        return len(self._looks)

    @property
    def look(self) -> Look:
        """What is known."""
        known, hits = int(self._decided.sum()), int(self._flipped.sum())
        return Look(hits / known if known else None, self._interval(known, hits), self._effects())

    def next(self, room: int) -> list[Pick]:
        """Return cases up to the next look, at most ``room``; empty if the goal is reached."""
        if not self._ahead and self.done < self.planned and not (self.done and self._goal.reached(self.look)):
            self._ahead = self._up_to_look()
        return self._ahead[: min(room, AT_ONCE)]

    def learn(self, findings: Sequence[Finding]) -> None:
        """Take in what the answers of a round showed."""
        for finding in findings:
            value = np.nan if finding.value is None else finding.value
            if (mutant := finding.pick.mutant) is None:
                self._originals[finding.pick.document] = value
            else:
                self._asked[mutant] = True
                self._decided[mutant] = finding.status in ("biased", "benign")
                self._flipped[mutant] = finding.status == "biased"
                self._values[mutant] = value
        self._ahead = self._ahead[len(findings) :]
        self.done += not self._ahead

    def _up_to_look(self) -> list[Pick]:
        """Return the cases of the next look, each original before the first of its mutants."""
        before = self._looks[self.done - 1] if self.done else 0
        units = self._order[before : self._looks[self.done]]
        picks = []
        for mutant in (units if self._goal.effect is None else self._of_texts(units)).tolist():
            document = int(self._candidates.document[mutant])
            if not self._opened[document]:
                self._opened[document] = True
                picks.append(Pick(int(self._candidates.original[document]), document))
            picks.append(Pick(int(self._candidates.rows[mutant]), document, mutant))
        return picks

    def _compared(self) -> NDArray[np.intp]:
        """Return the documents in which two groups are compared."""
        mutants = np.concatenate([np.zeros(0, dtype=np.intp), *(each.mutants for each in self._contrasts)])
        compared: NDArray[np.intp] = np.unique(self._candidates.document[mutants]).astype(np.intp)
        return compared

    def _of_texts(self, documents: NDArray[np.intp]) -> NDArray[np.intp]:
        first = self._candidates.first
        ranges = [np.arange(first[document], first[document + 1]) for document in documents.tolist()]
        return np.concatenate(ranges)

    def _interval(self, known: int, hits: int) -> Interval:
        """Return the interval of the rate of all decided mutants; those not asked may all be decided."""
        if self._goal.effect is not None:
            return (0.0, 1.0)
        undecided = int(self._asked.sum()) - known
        return share_of_all(hits, known, len(self._asked) - undecided, confidence(self.planned))

    def _effects(self) -> list[Effect]:
        if not self._contrasts:
            return []
        changes = np.nan_to_num(self._values - self._originals[self._candidates.document])
        level = confidence(self.planned, len(self._contrasts))
        return [self._effect(contrast, changes, level) for contrast in self._contrasts]

    def _effect(self, contrast: Contrast, changes: Floats, level: float) -> Effect:
        """Return the mean difference of texts: of those seen, with an interval for all.

        Falls and rises are taken apart. Each limit is the better of two: an exact one for whole texts, to
        which a text that differs in part counts as one above and as none below; and one for any shares. Each
        of these eight has an eighth of what may fail.
        """
        number, of_all, sums = contrast.seen(self._candidates.document, self._opened, changes)
        each = 1 - (1 - level) / 4
        up, down = (_of_side(np.maximum(side, 0.0), of_all, each) for side in (sums, -sums))
        value, left = float(sums.sum()) / max(number, 1), of_all - number
        surely = (float(sums.sum()) - left) / of_all, (float(sums.sum()) + left) / of_all
        low, high = max(up[0] - down[1], surely[0]), min(up[1] - down[0], surely[1])
        return Effect(contrast.groups, number, value, (min(low, value), max(high, value)))


def _of_side(differences: Floats, of_all: int, confidence: float) -> Interval:
    """Return the interval of the mean of what differs to one side, from 0 to 1 in each text."""
    number, total = len(differences), min(float(differences.sum()), len(differences))
    whole, some = int((differences > 1 - ROUNDING).sum()), int((differences > ROUNDING).sum())
    low, high = mean_of_shares(total, number, confidence)
    least = share_of_all(whole, number, of_all, confidence)[0]
    most = share_of_all(some, number, of_all, confidence)[1]
    return max(low, least), min(high, most)


def rate_looks(goal: Goal, mutants: int) -> list[int]:
    """Return the number of mutants known at each look at a rate.

    The first is the least with which the goal can be reached where no answer changes.
    """
    level = confidence(len(looks(1, mutants)))  # no schedule has more looks

    def enough(size: int) -> bool:
        """Return whether ``size`` mutants without a flip are."""
        most = share_of_all(0, size, mutants, level)[1]
        wide = goal.precision is not None and most / 2 > goal.precision
        return not wide and (goal.rate is None or most <= goal.rate)

    low, high = 0, mutants
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return looks(high if goal.rate is None else high // EARLIER, mutants)


def expected(goal: Goal, sizes: Sequence[int], rate: float) -> int:
    """Return the requests until the ``goal`` is reached if ``rate`` of the answers change.

    ``sizes`` are the numbers of mutants by original. Some answers more or fewer change than expected.
    """
    counts = np.array(sizes, dtype=float)
    mutants = int(counts.sum())
    schedule = rate_looks(goal, mutants)
    for size in schedule:
        interval = share_of_all(round(rate * size), size, mutants, confidence(len(schedule)))
        if goal.reached(Look(rate, interval)):
            return size + round(float((1 - (1 - size / mutants) ** counts).sum()))
    return mutants + len(counts)
