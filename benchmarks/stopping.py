"""What stopping when sure saves, and how often its intervals hold, by replaying finished runs.

    python benchmarks/stopping.py RUN [RUN …] [--repetitions 300]

Each RUN is the folder of a complete ``hinter run``, whose figures are the truth; nothing is sent. A
repetition is another random order. Beside ours stand two naive ways that look as often at the answers:
*uncorrected* asks in the same order, with Wilson's plain 95 % interval at each look; *originals* asks about
whole originals in random order, with the 95 % interval by original of a report.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import adaptive
import estimates
import numpy as np

from harness.audit.adaptive.contrasts import contrasts
from harness.audit.adaptive.exploration import LEAST_TEXTS
from harness.audit.adaptive.goal import Goal, Look, looks
from harness.audit.adaptive.random_order import RandomOrder, rate_looks
from harness.audit.adaptive.sample import DECIDED, DOWN, FLIPPED, UP
from harness.audit.adaptive.survey import Survey
from harness.statistics import cluster_bootstrap, wilson

PRECISIONS = (0.01, 0.02)
LIMITS = (0.5, 2.0)
"""Limits of the rate to decide about, in multiples of the true one."""
FIXED = 0.05
EFFECTS = (0.05, 0.2)
CAPS = (0.25,)
"""Budgets together with a precision, as shares of all requests."""


@dataclass(frozen=True)
class Stop:
    """Where one repetition stopped: the requests, and what it knew."""

    requests: int
    look: Look
    reached: bool = True


class Replay:
    """A finished run, asked again in other orders."""

    def __init__(self, run: adaptive.Truth) -> None:
        self.run = run
        self.world = estimates.World(run)
        seen = self.world.observed
        self.rate = float(seen[:, FLIPPED].sum() / seen[:, DECIDED].sum())
        every = contrasts(run.cases, run.candidates.numbers)
        self.contrasts = [each for each in every if each.texts >= LEAST_TEXTS]
        change = seen[:, UP] - seen[:, DOWN]
        self.effects = {each.groups: float(each.factors @ change[each.mutants]) for each in self.contrasts}

    def ours(self, goal: Goal, seed: int) -> Stop:
        of_effects = self.contrasts if goal.effect is not None else []
        return self._asked(RandomOrder(self.run.candidates, seed, goal, of_effects), goal, self.run.requests)

    @property
    def ways(self) -> dict[str, Callable[[Goal, int], Stop]]:
        return {"ours": self.ours, "uncorrected": self.uncorrected, "originals": self.originals}

    def capped(self, budget: int, goal: Goal, seed: int) -> Stop:
        return self._asked(Survey(self.run.candidates, seed, budget, goal), goal, budget)

    def _asked(self, choice: RandomOrder | Survey, goal: Goal, room: int) -> Stop:
        asked = 0
        while picks := choice.next(room - asked):
            asked += len(picks)
            choice.learn([self.world.finding(pick) for pick in picks])
        look = choice.look
        return Stop(asked, look, goal.reached(look))

    def uncorrected(self, goal: Goal, seed: int) -> Stop:
        """The plain interval at each look."""
        seen, document = self.world.observed, self.run.candidates.document
        order = np.random.default_rng(seed).permutation(len(seen))
        hits, known = (np.cumsum(seen[order, column]) for column in (FLIPPED, DECIDED))
        opened = np.zeros(len(order), dtype=bool)
        opened[np.unique(document[order], return_index=True)[1]] = True
        for size in rate_looks(goal, len(order)):
            done, flips = int(known[size - 1]), int(hits[size - 1])
            plain = wilson(flips, done) or (0.0, 1.0)
            look = Look(flips / max(done, 1), (self.rate, self.rate) if size == len(order) else plain)
            if goal.reached(look):
                break
        return Stop(size + int(opened[:size].sum()), look)

    def originals(self, goal: Goal, seed: int) -> Stop:
        """Whole originals, with the interval by original, which says nothing before there is a flip."""
        seen, document = self.world.observed, self.run.candidates.document
        order = np.random.default_rng(seed).permutation(len(self.world.sizes))
        hits = np.bincount(document, seen[:, FLIPPED])[order]
        known = np.bincount(document, seen[:, DECIDED])[order]
        for size in looks(10, len(order)):
            of_some = cluster_bootstrap(hits[:size].tolist(), known[:size].astype(int).tolist())
            plain = (0.0, 1.0) if of_some in (None, (0.0, 0.0)) else of_some
            look = Look(
                hits[:size].sum() / max(known[:size].sum(), 1),
                (self.rate, self.rate) if size == len(order) else plain,
            )
            if goal.reached(look):
                break
        return Stop(size + int(self.world.sizes[order[:size]].sum()), look)


def tried(way: Callable[[Goal, int], Stop], goal: Goal, times: int) -> list[Stop]:
    return [way(goal, seed) for seed in range(times)]


def line(name: str, stops: Sequence[Stop], right: Sequence[bool], of: int, what: str) -> str:
    asked = np.array([stop.requests for stop in stops])
    reached = np.mean([stop.reached for stop in stops])
    return (
        f"      {name:12} asked {asked.mean():6.0f} of {of} ({asked.mean() / of:.2f})  "
        f"known {100 * reached:5.1f} %  {what} {100 * np.mean(right):5.1f} %"
    )


def holds(stops: Sequence[Stop], true: float) -> list[bool]:
    return [stop.look.interval[0] - 1e-9 <= true <= stop.look.interval[1] + 1e-9 for stop in stops]


def of_rates(replay: Replay, times: int) -> Iterator[str]:
    for precision in PRECISIONS:
        goal = Goal(precision=precision)
        yield f"    --precision {precision}, the rate is {replay.rate:.4f}"
        budgets = [round(cap * replay.run.requests) for cap in CAPS]
        ways = dict(replay.ways)
        ways |= {f"budget {budget}": partial(replay.capped, budget) for budget in budgets}
        for name, way in ways.items():
            stops = tried(way, goal, times)
            yield line(name, stops, holds(stops, replay.rate), replay.run.requests, "holds")


def of_decisions(replay: Replay, times: int) -> Iterator[str]:
    for limit in sorted({*(round(factor * replay.rate, 4) for factor in LIMITS), FIXED}):
        goal, side = Goal(rate=limit), "above" if replay.rate > limit else "below"
        yield f"    --decide rate={limit}, in truth {side}"
        for name, way in replay.ways.items():
            stops = tried(way, goal, times)
            right = [goal.decisions(stop.look)["rate"] == side for stop in stops]
            yield line(name, stops, right, replay.run.requests, "right")


def of_effects(replay: Replay, times: int) -> Iterator[str]:
    if not replay.contrasts:
        return
    largest = max(abs(effect) for effect in replay.effects.values())
    for limit in EFFECTS:
        goal, side = Goal(effect=limit), "above" if largest > limit else "below"
        yield f"    --decide effect={limit}, in truth {side}: {largest:.3f}, of {len(replay.effects)}"
        stops = tried(replay.ours, goal, times)
        right = [goal.decisions(stop.look)["effect"] == side for stop in stops]
        yield line("ours", stops, right, replay.run.requests, "right")
        held = [_all_hold(stop, replay) for stop in stops]
        yield line("ours", stops, held, replay.run.requests, "all hold")


def _all_hold(stop: Stop, replay: Replay) -> bool:
    return all(
        each.interval[0] - 1e-9 <= replay.effects[each.groups] <= each.interval[1] + 1e-9
        for each in stop.look.effects
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("runs", nargs="+", type=Path)
    options.add_argument("--repetitions", type=int, default=300)
    given = options.parse_args()
    for folder in given.runs:
        replay = Replay(adaptive.load(folder, controls=False))
        some = replay.run.candidates
        print(f"{folder.name}: {len(some.original)} originals, {len(some.document)} mutants", flush=True)
        for part in (of_rates, of_decisions, of_effects):
            for text in part(replay, given.repetitions):
                print(text, flush=True)


if __name__ == "__main__":
    main()
