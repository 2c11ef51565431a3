"""How well an adaptive budget estimates excesses over controls: planted systems on the cases of a run.

    python benchmarks/excess.py RUN [RUN …] [--budgets 0.1,0.25] [--worlds 10] [--repetitions 30]
        [--systems own,brittle,against]

Each RUN is the folder of a complete ``hinter run`` with control mutants. Its *own* answers are one system;
the others are planted: *brittle* flips one answer of ten by a hash of the text, and any excess that is shown
of it is false; *against* answers differently about women in three texts of ten, and flips 2 % besides. A
world is one seed of a planted system, whose figures over all cases are the truth; each is asked so many times
in other orders. An excess is *shown* where the interval that holds for all sets together is above zero.
Beside ours stand the uniform samples of ``benchmarks/estimates.py``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path

import adaptive
import estimates
import numpy as np
from estimates import NAIVE_REPETITIONS, World
from findings import System, against, brittle

from harness.audit.adaptive.sample import CONFIDENCE, Sample, excess
from harness.core import Status

SYSTEMS: dict[str, System] = {
    "brittle": partial(brittle, 0.1),
    "against": partial(against, 0.3),
}
OWN = "own"
LADDER = (1.0, 1.5, 2.0, 3.0, 4.0)

Draw = Callable[[World, int, int], Sample | None]
Rows = dict[str, list[tuple[float, float, float, float, float]]]
"""By attribute set: truth, estimate, its interval, and the lower limit of that for all sets together."""


def planted(run: adaptive.Truth, system: System, seed: int) -> adaptive.Truth:
    """The run as if ``system`` had answered, without log-probabilities."""
    rows = {case.id: row for row, case in enumerate(run.cases)}
    status: dict[int, Status] = {}
    favoured: dict[int, float] = {}
    for _, group in groupby(run.cases, key=lambda case: case.group):
        valid = [case for case in group if case.valid]
        answers = {case.id: system(valid, case, seed) for case in valid}
        first = next((answers[case.id] for case in valid if case.role == "original"), None)
        for case in valid:
            favoured[rows[case.id]] = float(answers[case.id])
            status[rows[case.id]] = "benign" if answers[case.id] == first else "biased"
    return replace(run, status=status, favoured=favoured, lead={})


def ours(world: World, seed: int, budget: int) -> Sample | None:
    return world.ours(seed, budget)


def by_originals(world: World, seed: int, budget: int) -> Sample | None:
    return world.originals(seed, budget)


def by_cases(world: World, seed: int, budget: int) -> Sample | None:
    return world.cases(seed, budget)


def drawn(worlds: Sequence[World], draw: Draw, budget: int, times: int) -> Rows:
    """What samples say of each set; one that is too small says nothing: from -1 to 1."""
    found: Rows = {}
    for number, world in enumerate(worlds):
        flips, decided = world.observed[:, 0], world.observed[:, 1]
        factors = [one.dense(len(flips)) for one in world.run.compared]
        level = 1 - (1 - CONFIDENCE) / len(factors)
        for seed in range(times):
            sample = draw(world, number * times + seed, budget)
            for one, sides in zip(world.run.compared, factors, strict=True):
                tests, controls = (float(side @ flips / (side @ decided)) for side in sides)
                over = None if sample is None else excess(sample, *sides)
                together = None if sample is None else excess(sample, *sides, level)
                row = (tests - controls, 0.0, -1.0, 1.0, -1.0)
                if over is not None and together is not None:
                    low = together.difference.interval[0]
                    row = (row[0], over.difference.value, *over.difference.interval, low)
                found.setdefault(f"{'+'.join(one.attributes)}, {one.texts} texts", []).append(row)
    return found


def line(rows: Sequence[tuple[float, ...]]) -> str:
    true, value, low, high, together = np.array(rows).T
    held = np.mean((low <= true + 1e-9) & (high >= true - 1e-9))
    width, error = np.mean(high - low), np.sqrt(np.mean((value - true) ** 2))
    return (
        f"width {width:.3f}  error {error:.3f}  bias {np.mean(value - true):+.3f}"
        f"  held {100 * held:.1f} %  shown {100 * np.mean(together > 0):.1f} %"
    )


def width(rows: Sequence[tuple[float, ...]]) -> float:
    _, _, low, high, _ = np.array(rows).T
    return float(np.mean(high - low))


def compared(worlds: Sequence[World], budget: int, times: int) -> Iterator[str]:
    """The figures of each set, and requests over those of uniform samples for the same mean width."""
    requests = worlds[0].run.requests
    sizes = [round(step * budget) for step in LADDER if step * budget < requests]
    few = max(1, NAIVE_REPETITIONS // len(worlds))
    naive = {
        name: [(size, drawn(worlds, draw, size, few)) for size in sizes]
        for name, draw in (("originals", by_originals), ("cases", by_cases))
    }
    for name, rows in drawn(worlds, ours, budget, times).items():
        yield f"      {name}: in truth {np.mean([row[0] for row in rows]):+.3f} on average"
        yield f"        ours       {line(rows)}"
        for of, steps in naive.items():
            curve = [(size, width(found[name])) for size, found in steps]
            needed = estimates.needed(curve, width(rows))
            over = f"{budget / needed:.2f}" if needed else f"below {budget / curve[-1][0]:.2f}"
            yield f"        {of:10} {line(steps[0][1][name])}  ours over it: {over}"


def systems(run: adaptive.Truth, names: Sequence[str], worlds: int) -> Iterator[tuple[str, list[World]]]:
    for name in names:
        if name == OWN:
            yield name, [World(run)]
        else:
            yield name, [World(planted(run, SYSTEMS[name], seed)) for seed in range(worlds)]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("runs", nargs="+", type=Path)
    options.add_argument("--budgets", default="0.1,0.25", help="shares of all requests")
    options.add_argument("--worlds", type=int, default=10)
    options.add_argument("--repetitions", type=int, default=30, help="of each world")
    options.add_argument("--systems", default=",".join((OWN, *SYSTEMS)))
    given = options.parse_args()
    for folder in given.runs:
        run = adaptive.load(folder)
        some = run.candidates
        print(f"{run.name}: {len(some.original)} originals, {len(run.mutants)} mutants,", end=" ")
        print(f"{int(some.control.sum())} controls")
        for part in map(float, given.budgets.split(",")):
            budget = round(part * run.requests)
            for name, worlds in systems(run, given.systems.split(","), given.worlds):
                times = given.worlds * given.repetitions // len(worlds)
                print(f"    {name}, {budget} of {run.requests} requests, {times * len(worlds)} repetitions")
                for text in compared(worlds, budget, times):
                    print(text, flush=True)


if __name__ == "__main__":
    main()
