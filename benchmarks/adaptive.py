"""What an adaptive budget finds, against random order and against text-diversity order.

    python benchmarks/adaptive.py RUN [RUN …] [--seeds 10] [--budgets 0.1,0.25,0.5]

Each RUN is the folder of a complete ``hinter run``: the answers to all its cases are the truth that each
order discovers request by request, so nothing is sent. The figure is the area under the curve of distinct
biased originals found by requests, ours over random, the mean of the seeds with a 95 % t-interval. Ours asks
about control mutants, too, if the run has them; the other orders do not.

*random*: mutants in random order, each after its original. *diversity*: after Giramata and others (2025),
"Efficient Fairness Testing in Large Language Models": kinds of change ranked by how much they change a
text on average (here one minus the cosine of word counts), and mutants by the same within a kind.
*spread*: mutants as far as can be from those already asked (greedy max-min of word sets, a sample of the
asked at a time). Each order is measured with and without asking the sub-mutants of what flipped; for the
baselines the better of the two stands.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from pathlib import Path

import estimates
import numpy as np
import polars as pl
from estimates import DEFAULT, Mixture

from harness.audit.adaptive.candidates import Candidates
from harness.audit.adaptive.chooser import Chooser, Finding, Pick
from harness.audit.adaptive.controls import Compared, compared
from harness.core import Case, Status
from harness.folder import RunFolder

RECENT = 30
MIXTURES: tuple[Mixture, ...] = (DEFAULT, (0.3, 0.5), (0.2, 0.67), (0.15, 0.8))
"""The shares of the sample's originals and of the most promising of which the trade-off is shown."""


@dataclass(frozen=True)
class Truth:
    """A finished run: its cases, and by row what was found."""

    name: str
    cases: Sequence[Case]
    candidates: Candidates
    status: dict[int, Status]
    lead: dict[int, float]
    favoured: dict[int, float]
    hidden: frozenset[int]

    @cached_property
    def compared(self) -> Sequence[Compared]:
        return [*compared(self.cases, self.candidates.numbers)]

    @property
    def requests(self) -> int:
        return len(self.candidates.original) + len(self.candidates.document)

    def tests(self, pick: Pick) -> bool:
        """Whether a pick is a mutant, and no control."""
        return pick.mutant is not None and not self.candidates.control[pick.mutant]

    @property
    def mutants(self) -> list[int]:
        return [int(mutant) for mutant in np.flatnonzero(~self.candidates.control)]

    def finding(self, pick: Pick) -> Finding:
        return Finding(pick, self.status[pick.row], self.lead.get(pick.row))


def load(folder: Path, margins: bool = True, controls: bool = True) -> Truth:
    judged = set(pl.read_parquet(folder / "verdicts.parquet")["document"])
    left_out = set() if controls else {"control"}
    cases = [
        case
        for case in RunFolder(folder).read_cases()
        if case.document in judged and case.role not in left_out
    ]
    rows = {case.id: row for row, case in enumerate(cases)}
    answers = {
        row["case"]: row
        for row in pl.read_parquet(folder / "answers.parquet").iter_rows(named=True)
        if row["case"] in rows
    }
    status: dict[int, Status] = {}
    for case in cases:
        if case.valid and case.role == "original":
            status[rows[case.id]] = "benign" if answers[case.id]["outcome"] == "read" else "undetermined"
    hidden = set()
    if controls:
        of_controls = pl.read_parquet(folder / "controls.parquet").select("case", "status").iter_rows()
        status.update({rows[case]: found for case, found in of_controls})
    for verdict in pl.read_parquet(folder / "verdicts.parquet").iter_rows(named=True):
        status[rows[verdict["case"]]] = verdict["status"]
        if verdict["hidden"] == "yes":
            hidden.add(rows[verdict["case"]])
    lead = {
        row: margin if status[row] != "biased" else -margin
        for case in cases
        if margins and case.id in answers and (margin := answers[case.id]["margin"]) is not None
        for row in [rows[case.id]]
        if row in status
    }
    favourable = set(json.loads((folder / "summary.json").read_text())["favourable"])
    favoured = {
        rows[case]: float(any(label in favourable for label in answer["labels"]))
        for case, answer in answers.items()
        if favourable and answer["outcome"] == "read"
    }
    return Truth(folder.name, cases, Candidates.of(cases), status, lead, favoured, frozenset(hidden))


@dataclass(frozen=True)
class Curve:
    """Distinct biased originals, and hidden cases, known after each request."""

    originals: Sequence[int]
    hidden: Sequence[int]


def replay(truth: Truth, rounds: Iterator[list[Pick]], budget: int) -> Curve:
    """What an order finds; a hidden case counts once all its sub-mutants have been asked."""
    found: set[int] = set()
    asked: set[int] = set()
    waiting: dict[int, set[int]] = {}
    originals, hidden, known = [], [], 0
    for pick in (pick for picks in rounds for pick in picks):
        asked.add(pick.row)
        if truth.tests(pick) and truth.status[pick.row] == "biased":
            found.add(pick.document)
        if pick.row in truth.hidden:
            smaller = truth.candidates.smaller(pick.mutant or 0)
            waiting[pick.row] = set(truth.candidates.rows[smaller].tolist())
        done = [row for row, parts in waiting.items() if parts <= asked]
        for row in done:
            del waiting[row]
        known += len(done)
        originals.append(len(found))
        hidden.append(known)
        if len(originals) == budget:
            break
    return Curve(_filled(originals, budget), _filled(hidden, budget))


def _filled(values: list[int], budget: int) -> list[int]:
    return values + [values[-1] if values else 0] * (budget - len(values))


def adaptive(truth: Truth, seed: int, budget: int, mixture: Mixture = DEFAULT) -> Iterator[list[Pick]]:
    chooser, room = estimates.survey(truth.candidates, truth.compared, seed, budget, mixture), budget
    while picks := chooser.next(room):
        yield picks
        room -= len(picks)
        chooser.learn([truth.finding(pick) for pick in picks])


def promising(truth: Truth, seed: int, budget: int) -> Iterator[list[Pick]]:
    """The most promising alone: what estimates cost is the difference."""
    chooser, room = Chooser(truth.candidates, seed), budget
    while picks := chooser.next(room):
        yield picks
        room -= len(picks)
        chooser.learn([truth.finding(pick) for pick in picks])


def ordered(truth: Truth, mutants: Sequence[int], follow: bool) -> Iterator[list[Pick]]:
    """Mutants in an order known before anything is asked; ``follow``: sub-mutants of what flips first."""
    asked: set[int] = set()
    opened: set[int] = set()
    some = truth.candidates
    for mutant in mutants:
        for number in [mutant, *(_parts(truth, mutant) if follow else ())]:
            document = int(some.document[number])
            picks = [] if document in opened else [Pick(int(some.original[document]), document)]
            if number not in asked:
                picks.append(Pick(int(some.rows[number]), document, number))
            opened.add(document)
            asked.add(number)
            yield picks


def _parts(truth: Truth, mutant: int) -> list[int]:
    biased = truth.status[int(truth.candidates.rows[mutant])] == "biased"
    return truth.candidates.smaller(mutant).tolist() if biased else []


def shuffled(truth: Truth, seed: int) -> list[int]:
    order = truth.mutants
    random.Random(seed).shuffle(order)
    return order


def diverse(truth: Truth, seed: int) -> list[int]:
    """Ties by chance: kinds of change by their mean distance, mutants by their own."""
    some = truth.candidates
    distance = _distances(truth)
    kinds = some.features[:, 0]
    mean = np.bincount(kinds, distance) / np.bincount(kinds)
    tie = np.random.default_rng(seed).random(len(kinds))
    return [int(i) for i in np.lexsort((tie, -distance, -mean[kinds])) if not some.control[i]]


def _distances(truth: Truth) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    some = truth.candidates
    originals = [Counter(truth.cases[row].text.lower().split()) for row in some.original.tolist()]
    mutants = zip(some.document.tolist(), some.rows.tolist(), strict=True)
    return np.array(
        [1 - _cosine(originals[d], Counter(truth.cases[row].text.lower().split())) for d, row in mutants]
    )


def _cosine(one: Counter[str], other: Counter[str]) -> float:
    product = sum(count * other[word] for word, count in one.items())
    return product / sqrt(sum(c * c for c in one.values()) * sum(c * c for c in other.values()))


def spread(truth: Truth, seed: int) -> list[int]:
    """Each next mutant the farthest, of ten drawn, from the last ``RECENT`` (adaptive random testing)."""
    draw = random.Random(seed)
    words = [frozenset(truth.cases[row].text.lower().split()) for row in truth.candidates.rows.tolist()]
    left = shuffled(truth, seed)
    taken: list[int] = []
    while left:
        some = [draw.randrange(len(left)) for _ in range(10)]
        last = [words[number] for number in taken[-RECENT:]]
        distance = [min((_jaccard(words[left[i]], other) for other in last), default=1.0) for i in some]
        best = some[distance.index(max(distance))]
        left[best], left[-1] = left[-1], left[best]
        taken.append(left.pop())
    return taken


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    return 1 - len(one & other) / len(one | other)


Order = Callable[[Truth, int], list[int]]
BASELINES: dict[str, Order] = {"random": shuffled, "diversity": diverse, "spread": spread}


def interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Mean with a 95 % t-interval."""
    from scipy.stats import t

    mean = statistics.fmean(values)
    half = t.ppf(0.975, len(values) - 1) * statistics.stdev(values) / sqrt(len(values))
    return mean, mean - half, mean + half


def curves(truth: Truth, budget: int, seeds: int) -> dict[str, list[list[Curve]]]:
    """By order, the curves of all seeds, each way it was measured. A smaller budget sees their beginnings."""
    found = {"promising": [[replay(truth, promising(truth, seed, budget), budget) for seed in range(seeds)]]}
    for name, order in BASELINES.items():
        orders = [order(truth, seed) for seed in range(seeds)]
        found[name] = [
            [replay(truth, ordered(truth, some, follow), budget) for some in orders]
            for follow in (False, True)
        ]
    return found


def report(found: dict[str, list[list[Curve]]], budget: int, requests: int) -> None:
    print(f"  budget {budget} of {requests}")
    areas: dict[str, list[float]] = {}
    for name, ways in found.items():
        by_way = [[sum(curve.originals[:budget]) / budget for curve in way] for way in ways]
        areas[name] = max(by_way, key=statistics.fmean)
        originals = max(statistics.fmean(curve.originals[budget - 1] for curve in way) for way in ways)
        hidden = max(statistics.fmean(curve.hidden[budget - 1] for curve in way) for way in ways)
        mean, low, high = interval(areas[name])
        print(
            f"    {name:9} area {mean:6.2f} ({low:.2f} to {high:.2f})  "
            f"originals {originals:5.1f}  hidden {hidden:4.1f}"
        )
    if any(areas["random"]):
        low, high = bootstrap(areas["adaptive"], areas["random"])
        ratio = statistics.fmean(areas["adaptive"]) / statistics.fmean(areas["random"])
        print(f"    ours over random: {ratio:.2f} ({low:.2f} to {high:.2f})")


def traded(truth: Truth, budget: int, base: Sequence[float], times: int) -> None:
    """Print what a larger share of the most promising finds, and what the rate's estimate is then."""
    world = estimates.World(truth)
    for opening, promising in MIXTURES:
        ours = [replay(truth, adaptive(truth, s, budget, (opening, promising)), budget) for s in range(times)]
        area = statistics.fmean(sum(curve.originals) / budget for curve in ours)
        said = estimates.of_rate(world, budget, times, (opening, promising))
        over = f"over random {area / statistics.fmean(base):.2f}"
        print(f"    opening {opening:.2f}, promising {promising:.2f}: {over}; rate {said}")


def bootstrap(ours: Sequence[float], base: Sequence[float]) -> tuple[float, float]:
    """Percentile interval of the ratio of means, the seeds of each side drawn with replacement."""
    draw = np.random.default_rng(0)
    a, b = np.array(ours), np.array(base)
    index = draw.integers(len(a), size=(2, 10_000, len(a)))
    above, below = a[index[0]].mean(axis=1), b[index[1]].mean(axis=1)
    found = below > 0  # where random order found nothing in these seeds, there is no ratio
    low, high = np.quantile(above[found] / below[found], [0.025, 0.975])
    return float(low), float(high)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("runs", nargs="+", type=Path)
    options.add_argument("--seeds", type=int, default=10)
    options.add_argument("--budgets", default="0.1,0.25,0.5", help="shares of all requests")
    options.add_argument("--repetitions", type=int, default=0, help="of estimates, against uniform samples")
    options.add_argument("--trade-off", type=int, default=0, help="repetitions by share of the promising")
    options.add_argument("--no-controls", action="store_true", help="as if there were no control mutants")
    options.add_argument("--no-margins", action="store_true", help="as if there were no log-probabilities")
    given = options.parse_args()
    for folder in given.runs:
        truth = load(folder, not given.no_margins, not given.no_controls)
        some = truth.candidates
        flips = [number for number in truth.mutants if truth.status[int(some.rows[number])] == "biased"]
        biased = {int(some.document[number]) for number in flips}
        parts = f"{len(truth.mutants)} mutants, {int(some.control.sum())} controls"
        print(f"{truth.name}: {len(some.original)} originals, {len(biased)} biased; {parts}", end="")
        print(f", {len(truth.hidden)} hidden cases", flush=True)
        budgets = [round(float(part) * truth.requests) for part in given.budgets.split(",")]
        found = curves(truth, max(budgets), given.seeds)
        for budget in budgets:  # what is chosen depends on the budget
            ours = [replay(truth, adaptive(truth, seed, budget), budget) for seed in range(given.seeds)]
            report({"adaptive": [ours], **found}, budget, truth.requests)
            if given.trade_off:
                best = max(found["random"], key=lambda way: sum(sum(c.originals[:budget]) for c in way))
                base = [sum(curve.originals[:budget]) / budget for curve in best]
                traded(truth, budget, base, given.trade_off)
        if given.repetitions:
            estimates.report(truth, [budget / truth.requests for budget in budgets], given.repetitions)


if __name__ == "__main__":
    main()
