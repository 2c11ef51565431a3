"""Choose cases so that rates of all cases can be estimated, and biased originals are found all the same.

The originals are a sample drawn before anything is asked. A share of the requests is the ``Chooser``'s, for
the most promising cases by all that is known, of whatever original; these are certain to be asked about. Of
the sample's originals they are known from then on; of others they are findings alone, and no estimate rests
on them. The other mutants of the sample are drawn in stages from all that are not known yet: with
probabilities in proportion to the standard deviation of the flip as the belief has it (Neyman 1934), of which
a share is uniform, so that none is zero. Everything depends on the seed and the answers alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from harness.audit.adaptive.calibration import corrected
from harness.audit.adaptive.chooser import Chooser, Finding, Pick
from harness.audit.adaptive.design import drawn, probabilities
from harness.audit.adaptive.goal import Effect, Goal, Look, confidence
from harness.audit.adaptive.sample import TINY, Sample, Stage, effect, share

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.audit.adaptive.candidates import Candidates
    from harness.audit.adaptive.contrasts import Contrast
    from harness.audit.adaptive.design import Floats

OPENING = 0.3
"""The share of the budget spent on originals, if there are as many: margins tell most of their mutants."""

PROMISING = 0.33
"""The share of the requests, those for the sample's originals apart, that go to the most promising."""

STAGES = 5
FIRST = 0.15
"""The share of the requests of all stages that the first has: it knows the least."""

UNIFORM = 0.25
"""The share of each probability that no belief changes."""

SOFTNESS = 0.1
"""How much of the mean chance is in each chance, for the probabilities."""

LEAST = 1e-3
"""The least mean chance that is assumed for the probabilities."""

STREAM = 7  # the generator of the samples is not that of the chooser


class Survey:
    """Chooses cases round by round: ``while picks := survey.next(room): survey.learn(findings)``.

    ``sample`` then has what can be estimated. At most ``budget`` cases are chosen as long as ``room`` allows,
    and no more after a stage that reaches the ``goal``; ``contrasts`` are those whose effects it is about.
    ``promising`` is the share of the most promising, ``opening`` that of the sample's originals.
    """

    planned = STAGES

    def __init__(
        self,
        candidates: Candidates,
        seed: int,
        budget: int,
        goal: Goal | None = None,
        contrasts: Sequence[Contrast] = (),
        promising: float = PROMISING,
        opening: float = OPENING,
    ) -> None:
        self._share, self._opened = promising, opening
        self._goal = goal
        self._contrasts = contrasts
        self._candidates = candidates
        self._budget = budget
        self._draw = np.random.default_rng((seed, STREAM))
        self._mutants = np.diff(candidates.first).astype(float)
        self._opening = self._openings()
        self._chosen = drawn(self._opening, self._draw)
        self._chooser = Chooser(candidates, seed)
        self._values = np.zeros((len(candidates.document), 4))
        self._stages: list[Stage] = []
        self._weight = 0.0
        self._room = budget
        self._rounds = self._steps()

    @property
    def sample(self) -> Sample | None:
        """What can be estimated; None before a stage has been asked."""
        if not self._stages:
            return None
        values, stages = self._values / self._weight, tuple(self._stages)
        if not len(self._unknown()):  # nothing is left to chance in the originals that were drawn
            values, stages = self._chooser.observed, (Stage.of_nothing(values.shape[1]),)
        return Sample(self._candidates.document, self._chosen, self._opening, values, stages)

    @property
    def done(self) -> int:
        """The number of stages that were asked."""
        return len(self._stages)

    @property
    def look(self) -> Look:
        """What is known, with intervals that hold at all stages."""
        sample = self.sample
        everything = np.ones(len(self._candidates.document), dtype=bool)
        rate = None if sample is None else share(sample, everything, confidence(STAGES))
        if sample is None or rate is None:
            return Look(None, (0.0, 1.0))
        level = confidence(STAGES, len(self._contrasts))
        found = []
        for contrast in self._contrasts:
            of_two = effect(sample, contrast.dense(len(everything)), level)
            found.append(Effect(contrast.groups, contrast.texts, of_two.value, of_two.interval))
        return Look(rate.value, rate.interval, found)

    def next(self, room: int) -> list[Pick]:
        """Return the next round, of at most ``room`` cases; empty if none is left."""
        self._room = room
        return next(self._rounds, [])

    def learn(self, findings: Sequence[Finding]) -> None:
        """Take in what the answers of a round showed."""
        self._chooser.learn(findings)

    def _openings(self) -> Floats:
        """Return the probability of each original.

        More than a share of the budget goes to originals where their mutants would not be enough to spend it.
        """
        number = max(1, round(self._opened * self._budget))
        while number < len(self._mutants):
            chances = probabilities(self._importance, number, UNIFORM)
            if number + float(chances @ self._mutants) >= 2 * self._budget:
                return chances
            number += max(1, number // 4)
        return np.ones(len(self._mutants))

    def _steps(self) -> Iterator[list[Pick]]:
        """Yield the rounds; ``learn`` is called after each."""
        yield from self._open()
        for stage in range(STAGES):
            left = STAGES - stage
            if stage:
                yield from self._promising(round(self._share * self._room / left))
            if self._room <= 0 and len(self._unknown()):
                return
            size = FIRST * self._room if not stage else self._room / left
            yield from self._stage(max(1, round(size)), left)
            if self._goal is not None and self._goal.reached(self.look):
                return
        while self._room > 0 and (picks := self._chooser.next(self._room)):
            yield picks

    def _open(self) -> Iterator[list[Pick]]:
        """Ask about the sample's originals, and about some of the most promising cases on the way."""
        spare = round(self._share * max(self._budget - int(self._chosen.sum()), 0) / STAGES)
        while (closed := self._closed) and spare > 0 and self._room > len(closed):
            picks = self._chooser.next(min(spare, self._room - len(closed)))
            spare -= sum(pick.mutant is not None or not self._chosen[pick.document] for pick in picks)
            yield picks
        if closed and self._room > 0:
            yield closed[: self._room]

    @property
    def _closed(self) -> list[Pick]:
        """The sample's originals that have not been asked about."""
        return [pick for pick in self._chooser.closed if self._chosen[pick.document]]

    @property
    def _importance(self) -> Floats:
        """The standard deviation that each document may add: to a rate of mutants, and to one of texts."""
        importance: Floats = np.hypot(self._mutants / self._mutants.sum(), 1 / len(self._mutants))
        return importance

    def _promising(self, number: int) -> Iterator[list[Pick]]:
        """Ask about the ``number`` most promising cases, as long as one request is left for the stages."""
        while (size := min(number, self._room - 1)) > 0 and (picks := self._chooser.next(size)):
            number -= len(picks)
            yield picks

    def _stage(self, size: int, left: int) -> Iterator[list[Pick]]:
        """Draw ``size`` of the mutants not known, and take in what they show; ``left`` stages are left."""
        known = self._chooser.known
        chance = self._chances()
        believed = self._believed(chance)
        inside = self._chosen[self._candidates.document]
        open_ = self._unknown()
        chances, share = self._plan(open_, chance[open_], size, left)
        asked = open_[drawn(chances, self._draw)]
        chance_of = np.ones(len(known))
        chance_of[open_] = chances
        if len(asked):
            yield [self._chooser.pick(mutant) for mutant in asked.tolist()]
        observed = self._chooser.observed
        values = np.where(known[:, None], observed, believed)
        missed = observed[asked] - believed[asked]
        values[asked] += missed / chance_of[asked][:, None]
        weight = (1 - self._weight) * share
        self._values += weight * np.where(inside[:, None], values, 0.0)
        self._weight += weight
        self._stages.append(Stage(weight, asked, chance_of[asked], missed, chance[asked]))

    def _unknown(self) -> NDArray[np.intp]:
        """Return the mutants of the chosen originals that may be drawn."""
        return np.flatnonzero(self._chosen[self._candidates.document] & ~self._chooser.known)

    def _chances(self) -> Floats:
        """Return the chance that each mutant flips."""
        chooser, some = self._chooser, self._candidates
        targets = some.features[:, 2 + some.parts.shape[1]]
        return corrected(chooser.chances, chooser.decided, chooser.flipped, (some.document, targets))

    def _believed(self, chance: Floats) -> Floats:
        """Return what is believed of each column; a flip lowers an outcome that the original has."""
        value = self._chooser.original_values[self._candidates.document]
        up, down = chance * (value == 0), chance * (value == 1)
        return np.column_stack([chance, np.ones(len(chance)), up, down])

    def _plan(self, open_: NDArray[np.intp], chance: Floats, size: int, left: int) -> tuple[Floats, float]:
        """Return the probabilities of a stage, and its share of the weight of all stages ``left``.

        Stages weigh by their precision as the belief expects it; those to come have fewer unknown mutants.
        """
        if not len(open_):
            return np.zeros(0), 1.0
        soft = (1 - SOFTNESS) * chance + SOFTNESS * max(float(chance.mean()), LEAST)
        each = self._importance / self._mutants / self._opening
        spread = np.sqrt(soft * (1 - soft)) * each[self._candidates.document[open_]]
        number = min(size, len(open_), self._room)
        chances = probabilities(spread, number, UNIFORM)
        later = max(1, round((self._room - number) * (1 - self._share) / max(left - 1, 1)))
        of_later = probabilities(spread, min(later, len(open_)), UNIFORM)
        variance = _variance(spread, chances, np.ones(len(open_)))
        unknown, ratios = 1 - chances, 1.0
        for _ in range(left - 1):
            ratios += variance / max(_variance(spread, of_later, unknown), TINY * spread.max() ** 2)
            unknown = unknown * (1 - of_later)
        return chances, 1 / ratios


def _variance(spread: Floats, chances: Floats, unknown: Floats) -> float:
    return float(unknown @ ((1 / chances - 1) * spread**2))
