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
from harness.audit.adaptive.controls import shares
from harness.audit.adaptive.design import drawn, probabilities
from harness.audit.adaptive.goal import Effect, Goal, Look, confidence
from harness.audit.adaptive.sample import COLUMNS, Sample, effect, share
from harness.audit.adaptive.stages import UNIFORM, Draw, Stages

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.audit.adaptive.candidates import Candidates
    from harness.audit.adaptive.contrasts import Contrast
    from harness.audit.adaptive.controls import Compared
    from harness.audit.adaptive.design import Floats

OPENING = 0.3
"""The share of the budget spent on originals, if there are as many: margins tell most of their mutants."""

PROMISING = 0.33
"""The share of the requests, those for the sample's originals apart, that go to the most promising."""

STAGES = 5
FIRST = 0.15
"""The share of the requests of all stages that the first has: it knows the least."""

CONTROLS = 0.2
"""The share of the cases drawn that are controls, where there are any to compare with."""

COMPARED = 0.3
"""How much each excess over controls counts, where the rate of all mutants counts as one."""

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
        compared: Sequence[Compared] = (),
        promising: float = PROMISING,
        opening: float = OPENING,
    ) -> None:
        self._share, self._opened = promising, opening
        self._goal = goal
        self._contrasts = contrasts
        self._candidates = candidates
        self._budget = budget
        self._draw = np.random.default_rng((seed, STREAM))
        self._mutants = np.bincount(candidates.document, ~candidates.control)
        self._compared = shares(compared, candidates.document, len(self._mutants))
        self._opening = self._openings()
        self._chosen = drawn(self._opening, self._draw)
        self._chooser = Chooser(candidates, seed)
        self._sides = _, self._controls = self._of_sides()
        self._done = 0
        self._room = budget
        self._rounds = self._steps()

    @property
    def sample(self) -> Sample | None:
        """What can be estimated; None before a stage has been asked."""
        if not self._done:
            return None
        inside = self._chosen[self._candidates.document][:, None]
        observed = np.where(inside, self._chooser.observed, 0.0)
        results = [side.result(observed, self._unknown(side)) for side in self._sides]
        values = sum((of_side for of_side, _ in results), np.zeros_like(observed))
        stages = tuple(stage for _, of_side in results for stage in of_side)
        told = self._controls.seen or not len(self._unknown(self._controls))
        return Sample(self._candidates.document, self._chosen, self._opening, values, stages, told)

    @property
    def done(self) -> int:
        """The number of stages that were asked."""
        return self._done

    @property
    def look(self) -> Look:
        """What is known, with intervals that hold at all stages."""
        sample = self.sample
        everything = ~self._candidates.control
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

    def _of_sides(self) -> tuple[Stages, Stages]:
        """Return the stages of mutants and of controls; those of a document count as it does, together."""
        control, document = self._candidates.control, self._candidates.document
        each = (self._importance / self._mutants)[document]
        chance = self._opening[document]
        return (
            Stages(~control, np.hypot(each, COMPARED * self._compared.cases) / chance, COLUMNS),
            Stages(control & (self._compared.cases > 0), self._compared.cases / chance, COLUMNS),
        )

    def _openings(self) -> Floats:
        """Return the probability of each original.

        More than a share of the budget goes to originals where their mutants would not be enough to spend it.
        """
        number = max(1, round(self._opened * self._budget))
        cases = np.diff(self._candidates.first)
        sizes = np.hypot(self._importance, COMPARED * self._compared.documents)
        while number < len(self._mutants):
            chances = probabilities(sizes, number, UNIFORM)
            if number + float(chances @ cases) >= 2 * self._budget:
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
            if self._room <= 0 and self._left:
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
        importance: Floats = np.hypot(self._mutants / self._mutants.sum(), 1 / max(len(self._mutants), 1))
        return importance

    def _promising(self, number: int) -> Iterator[list[Pick]]:
        """Ask about the ``number`` most promising cases, as long as one request is left for the stages."""
        while (size := min(number, self._room - 1)) > 0 and (picks := self._chooser.next(size)):
            number -= len(picks)
            yield picks

    def _stage(self, size: int, left: int) -> Iterator[list[Pick]]:
        """Draw ``size`` of the cases not known, and take in what they show; ``left`` stages are left."""
        known, chance = self._chooser.known, self._chances()
        believed = self._believed(chance)
        draws = self._draws(chance, min(size, self._room), left)
        if picks := [self._chooser.pick(case) for draw in draws.values() for case in draw.cases.tolist()]:
            yield picks
        observed = self._chooser.observed
        inside = self._chosen[self._candidates.document]
        values = np.where(inside[:, None], np.where(known[:, None], observed, believed), 0.0)
        for side, draw in draws.items():
            self._sides[side].learn(
                draw, values, observed[draw.cases] - believed[draw.cases], chance[draw.cases]
            )
        self._done += 1

    def _draws(self, chance: Floats, size: int, left: int) -> dict[int, Draw]:
        """Draw ``size`` cases from both sides, as far as there are as many; none from a side without a turn.

        The stages to come draw evenly what will be left.
        """
        sizes = self._parted(size)
        later = self._parted(max(1, round((self._room - size) * (1 - self._share) / max(left - 1, 1))))
        draws = {}
        for number, side in enumerate(self._sides):
            unknown = self._unknown(side)
            if sizes[number] or not len(unknown):
                to_come = [max(1, later[number])] * (left - 1)
                draws[number] = side.draw(unknown, chance, sizes[number], to_come, self._draw)
        return draws

    def _parted(self, size: int) -> tuple[int, int]:
        """Return how many of ``size`` cases are mutants, and how many controls, of which at least one."""
        mutants, controls = (len(self._unknown(side)) for side in self._sides)
        proper = min(controls, max(round(CONTROLS * size), int(size > 1)))
        of_mutants = min(mutants, size - proper)
        return of_mutants, min(controls, size - of_mutants)

    def _unknown(self, side: Stages) -> NDArray[np.intp]:
        """Return the cases of one side that may be drawn: of the chosen originals, and not known."""
        chosen = self._chosen[self._candidates.document]
        return np.flatnonzero(chosen & side.among & ~self._chooser.known)

    @property
    def _left(self) -> int:
        """The number of cases that may be drawn."""
        return sum(len(self._unknown(side)) for side in self._sides)

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
