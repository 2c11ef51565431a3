"""How well an adaptive budget estimates, against uniform samples, by replaying a finished run.

Called by ``benchmarks/adaptive.py --repetitions N``. The target is the figure that asking about all cases
of the run gives. *originals*: whole originals with all their mutants and controls, by chance (what
``--limit`` asks). *cases*: mutants and controls by chance, each after its original. Both get the same target,
the same intervals and the correction for finite populations, through the same code as ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Protocol

import numpy as np

from harness.audit.adaptive.candidates import Candidates
from harness.audit.adaptive.chooser import Finding, Pick
from harness.audit.adaptive.contrasts import contrasts, interactions
from harness.audit.adaptive.controls import Compared
from harness.audit.adaptive.sample import (
    DECIDED,
    DOWN,
    FLIPPED,
    UP,
    Estimate,
    Sample,
    Stage,
    effect,
    excess,
    share,
)
from harness.audit.adaptive.survey import OPENING, PROMISING, Survey
from harness.core import Case, Status

LADDER = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)
"""The budgets of uniform samples, in multiples of ours."""
NAIVE_REPETITIONS = 60

Mixture = tuple[float, float]
"""The shares of the sample's originals and of the most promising."""
DEFAULT: Mixture = (OPENING, PROMISING)

Array = np.ndarray[tuple[int], np.dtype[np.float64]]


class Replayed(Protocol):
    """A finished run."""

    @property
    def cases(self) -> Sequence[Case]: ...

    @property
    def candidates(self) -> Candidates: ...

    @property
    def status(self) -> dict[int, Status]: ...

    @property
    def favoured(self) -> dict[int, float]: ...

    @property
    def compared(self) -> Sequence[Compared]: ...

    @property
    def requests(self) -> int: ...

    def finding(self, pick: Pick) -> Finding: ...


@dataclass(frozen=True)
class Figure:
    """A figure that is estimated: its true value, and how a sample gives it."""

    name: str
    true: float
    of: Callable[[Sample], Estimate | None]


def survey(
    candidates: Candidates, like: Sequence[Compared], seed: int, budget: int, mixture: Mixture
) -> Survey:
    """What chooses the cases, with a mixture."""
    opening, promising = mixture
    return Survey(candidates, seed, budget, compared=like, promising=promising, opening=opening)


class World:
    """A finished run as arrays by mutant."""

    def __init__(self, run: Replayed) -> None:
        self.run = run
        some = run.candidates
        status = np.array([run.status[row] for row in some.rows.tolist()])
        value = np.array([run.favoured.get(row, np.nan) for row in some.rows.tolist()])
        before = np.array([run.favoured.get(row, np.nan) for row in some.original.tolist()])[some.document]
        change = np.nan_to_num(value - before)
        flips, decided = status == "biased", status != "undetermined"
        self.observed = np.column_stack([flips, decided, change > 0, change < 0]).astype(float)
        self.sizes = np.diff(some.first)

    @cached_property
    def figures(self) -> list[Figure]:
        """The rate of all, that of the attribute set with most flips, and the group effect of most texts."""
        some, seen = self.run.candidates, self.observed
        kinds = some.features[:, 0]
        largest = kinds == np.argmax(np.bincount(kinds, seen[:, FLIPPED] * ~some.control))
        rates = [self._rate("rate", ~some.control), self._rate("rate of one set", largest)]
        found = contrasts(self.run.cases, some.numbers)
        change = seen[:, UP] - seen[:, DOWN]
        effects = [
            (some.texts, Figure(f"effect {'/'.join(some.groups)}", true, partial(effect, factors=factors)))
            for some in found
            for factors in [some.dense(len(kinds))]
            if abs(true := float(factors @ change)) > 1e-9
        ]
        effects.sort(key=lambda item: -item[0])
        most = max(self.excesses, key=lambda item: item[0], default=None)
        named = [figure for _, figure in effects[:1]] + self._met(change)[:1]
        return rates + named + ([] if most is None else [most[1]])

    @cached_property
    def excesses(self) -> list[tuple[int, Figure]]:
        """The excess over controls of each attribute set, with its texts."""
        found = []
        for one in self.run.compared:
            tests, controls = one.dense(len(self.observed))
            rates = [
                float(side @ self.observed[:, FLIPPED] / (side @ self.observed[:, DECIDED]))
                for side in (tests, controls)
            ]
            of = partial(_excess, tests=tests, controls=controls)
            name = f"excess {'+'.join(one.attributes)}, {one.texts} texts"
            found.append((one.texts, Figure(name, rates[0] - rates[1], of)))
        return found

    def _met(self, change: Array) -> list[Figure]:
        """The interactions that are not zero, of most texts first."""
        found = [
            (met.texts, Figure(f"interaction {met.groups}", true, partial(effect, factors=factors, most=2.0)))
            for met in interactions(self.run.cases, self.run.candidates.numbers)
            for factors in [met.dense(len(change))]
            if abs(true := float(factors @ change)) > 1e-9
        ]
        return [figure for _, figure in sorted(found, key=lambda item: -item[0])]

    def _rate(self, name: str, among: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Figure:
        flips, decided = self.observed[among, FLIPPED].sum(), self.observed[among, DECIDED].sum()
        return Figure(name, float(flips / decided), lambda sample: share(sample, among))

    def ours(self, seed: int, budget: int, mixture: Mixture = DEFAULT) -> Sample | None:
        asked, room = survey(self.run.candidates, self.run.compared, seed, budget, mixture), budget
        while picks := asked.next(room):
            room -= len(picks)
            asked.learn([self.finding(pick) for pick in picks])
        return asked.sample

    def finding(self, pick: Pick) -> Finding:
        return replace(self.run.finding(pick), value=self.run.favoured.get(pick.row))

    def originals(self, seed: int, budget: int) -> Sample | None:
        order = np.random.default_rng(seed).permutation(len(self.sizes))
        number = int((np.cumsum(1 + self.sizes[order]) <= budget).sum())
        chosen = np.zeros(len(order), dtype=bool)
        chosen[order[:number]] = True
        if number < 2:
            return None
        opening = np.full(len(order), number / len(order))
        return Sample(self.run.candidates.document, chosen, opening, self.observed, (), compared=True)

    def cases(self, seed: int, budget: int) -> Sample | None:
        document, control = self.run.candidates.document, self.run.candidates.control
        order = np.random.default_rng(seed).permutation(len(document))
        first = np.zeros(len(order), dtype=bool)
        first[np.unique(document[order], return_index=True)[1]] = True
        asked = order[: int((np.cumsum(1 + first) <= budget).sum())]
        if not len(asked):
            return None
        chances = np.full(len(asked), len(asked) / len(order))
        believed = np.array([0.0, 1.0, 0.0, 0.0])
        missed = self.observed[asked] - believed
        values = np.tile(believed, (len(order), 1))
        values[asked] += missed / chances[:, None]
        rate = np.zeros(len(asked))
        for side in (~control[asked], control[asked]):
            rate[side] = self.observed[asked[side], FLIPPED].sum() / max(side.sum(), 1)
        every = np.ones(len(self.sizes))
        stage = Stage(1.0, asked, chances, missed, rate)
        return Sample(document, every > 0, every, values, (stage,), compared=bool(control[asked].any()))


def _excess(sample: Sample, tests: Array, controls: Array) -> Estimate | None:
    found = excess(sample, tests, controls)
    return None if found is None else found.difference


Draw = Callable[[int, int], Sample | None]


def _measured(figures: Sequence[Figure], draw: Draw, budget: int, times: int) -> list[Array]:
    """For each figure rows of value, low and high; a sample too small for a figure says nothing: 0 to 1."""
    rows: list[list[tuple[float, float, float]]] = [[] for _ in figures]
    for seed in range(times):
        sample = draw(seed, budget)
        for each, figure in zip(rows, figures, strict=True):
            found = None if sample is None else figure.of(sample)
            each.append((0.0, 0.0, 1.0) if found is None else (found.value, *found.interval))
    return [np.array(each) for each in rows]


def report(run: Replayed, shares: Sequence[float], times: int) -> None:
    world = World(run)
    for part in shares:
        budget = round(part * run.requests)
        print(f"  estimates at {budget} of {run.requests}, {times} repetitions")
        ours = _measured(world.figures, world.ours, budget, times)
        naive = {name: _ladder(world, draw, budget) for name, draw in _naive(world)}
        for number, figure in enumerate(world.figures):
            print(f"    {figure.name}, in truth {figure.true:.4f}")
            print(f"      ours       {_line(ours[number], figure.true)}")
            for name, steps in naive.items():
                print(f"      {name:10} {_line(steps[0][1][number], figure.true)}")
                curve = [(size, found[number]) for size, found in steps]
                print(
                    f"        requests, ours over {name}: {_ratio(curve, ours[number], figure.true, budget)}"
                )


def of_rate(world: World, budget: int, times: int, mixture: Mixture) -> str:
    """What our estimates of the rate are like with a mixture."""
    figure = world.figures[0]
    (found,) = _measured([figure], lambda seed, size: world.ours(seed, size, mixture), budget, times)
    return _line(found, figure.true)


def _naive(world: World) -> Iterator[tuple[str, Draw]]:
    yield "originals", world.originals
    yield "cases", world.cases


def _ladder(world: World, draw: Draw, budget: int) -> list[tuple[int, list[Array]]]:
    sizes = [round(step * budget) for step in LADDER if step * budget < world.run.requests]
    return [(size, _measured(world.figures, draw, size, NAIVE_REPETITIONS)) for size in sizes]


def _line(found: Array, true: float) -> str:
    held = np.mean((found[:, 1] <= true + 1e-9) & (found[:, 2] >= true - 1e-9))
    return f"width {_width(found):.4f}  error {_error(found, true):.4f}  held {100 * held:.1f} %"


def _width(found: Array) -> float:
    return float(np.mean(found[:, 2] - found[:, 1]))


def _error(found: Array, true: float) -> float:
    return float(np.sqrt(np.mean((found[:, 0] - true) ** 2)))


def _ratio(curve: Sequence[tuple[int, Array]], ours: Array, true: float, budget: int) -> str:
    widths = [(size, _width(found)) for size, found in curve]
    errors = [(size, _error(found, true)) for size, found in curve]
    by_width, by_error = needed(widths, _width(ours)), needed(errors, _error(ours, true))
    return f"{_over(budget, by_width, curve)} for the width, {_over(budget, by_error, curve)} for the error"


def _over(budget: int, needed: float | None, curve: Sequence[tuple[int, Array]]) -> str:
    return f"{budget / needed:.2f}" if needed else f"below {budget / curve[-1][0]:.2f}"


def needed(curve: Sequence[tuple[int, float]], wanted: float) -> float | None:
    """The requests at which a falling curve reaches ``wanted``, between its points by logarithms.

    Beyond its beginning, as if it fell with the root of the requests; None where it does not get there.
    """
    size, value = curve[0]
    if value <= wanted:
        return size * (value / max(wanted, 1e-12)) ** 2
    for (before, above), (after, below) in pairwise(curve):
        if below <= wanted:
            place = np.log(above / wanted) / np.log(above / max(below, 1e-12))
            return float(before * (after / before) ** place)
    return None
