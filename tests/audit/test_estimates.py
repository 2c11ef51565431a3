"""Estimates under an adaptive budget: no probability is zero, no bias, intervals that hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.audit.adaptive import estimating
from harness.audit.adaptive.candidates import Candidates
from harness.audit.adaptive.chooser import Finding, Pick
from harness.audit.adaptive.contrasts import contrasts
from harness.audit.adaptive.design import drawn, probabilities
from harness.audit.adaptive.sample import Sample, effect, share
from harness.audit.adaptive.stages import UNIFORM
from harness.audit.adaptive.survey import Survey
from harness.core import Case, Status, Substitution

SIZES = st.lists(st.floats(0, 1e6), min_size=1, max_size=60)


@given(SIZES, st.integers(1, 60), st.floats(0.01, 1))
def test_no_probability_is_zero_and_they_sum_to_the_size(
    sizes: list[float], number: int, uniform: float
) -> None:
    found = probabilities(np.array(sizes), number, uniform)
    assert found.sum() == pytest.approx(min(number, len(sizes)))
    assert (found <= 1).all()
    assert (found >= min(1.0, uniform * number / len(sizes)) - 1e-9).all()


@given(SIZES, st.integers(1, 60), st.integers(0, 5))
def test_a_sample_has_the_size_that_was_planned(sizes: list[float], number: int, seed: int) -> None:
    found = probabilities(np.array(sizes), number, 0.2)
    assert drawn(found, np.random.default_rng(seed)).sum() == min(number, len(sizes))


def test_a_sample_has_the_probabilities_that_were_planned() -> None:
    chances = probabilities(np.array([1.0, 2, 3, 4, 50]), 3, 0.25)
    draw = np.random.default_rng(0)
    times = np.mean([drawn(chances, draw) for _ in range(4000)], axis=0)
    assert times == pytest.approx(chances, abs=0.03)


class World:
    """Documents with mutants of two groups, a model with margins, and what it makes of each of them.

    Every fourth document is near a tie, where the words of one group lower the outcome.
    """

    def __init__(self, documents: int, mutants: int, margins: bool = True) -> None:
        self.cases: list[Case] = []
        for number in range(documents):
            name = f"d{number}"
            self.cases.append(Case(f"{name}#0", name, name, "original", name))
            for word in range(mutants + number % 3):
                group = "old" if word % 2 else "tall"
                changed = Substitution("body", "man", f"word{word}", source_group="plain", target_group=group)
                self.cases.append(
                    Case(f"{name}#{word + 1}", name, name, "atomic", f"{name} {word}", (changed,))
                )
        self.margins = margins
        self.candidates = Candidates.of(self.cases)
        self.flips = np.array([self._flips(row) for row in self.candidates.rows.tolist()])

    def _flips(self, row: int) -> bool:
        case = self.cases[row]
        document, word = int(case.document[1:]), int(case.id.partition("#")[2])
        return document % 4 == 0 and case.substitutions[0].target_group == "old" and (document + word) % 3 > 0

    def finding(self, pick: Pick) -> Finding:
        flips = pick.mutant is not None and bool(self.flips[pick.mutant])
        margin = 0.3 if pick.document % 4 == 0 else 2.0 + pick.document % 5
        status: Status = "biased" if flips else "benign"
        lead = (-margin if flips else margin) if self.margins else None
        return Finding(pick, status, lead, float(not flips))

    def sample(self, seed: int, budget: int) -> Sample:
        survey, room = Survey(self.candidates, seed, budget), budget
        while picks := survey.next(room):
            room -= len(picks)
            survey.learn([self.finding(pick) for pick in picks])
        assert room >= 0
        assert survey.sample is not None
        return survey.sample

    @property
    def every(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        return np.ones(len(self.flips), dtype=bool)

    @property
    def contrast(self) -> tuple[float, np.ndarray[tuple[int], np.dtype[np.float64]]]:
        found = {some.groups[1:]: some for some in contrasts(self.cases, self.candidates.numbers)}
        factors = found["old", "tall"].dense(len(self.flips))
        return float(factors @ -self.flips.astype(float)), factors


@pytest.mark.parametrize("margins", [True, False])
def test_estimates_have_no_bias_and_their_intervals_hold(margins: bool) -> None:
    """The mean of 100 samples is within four standard errors; of the intervals, nine in ten hold and more."""
    world = World(60, 8, margins)
    true, factors = world.contrast
    assert true > 0.05
    rates, effects = [], []
    for seed in range(100):
        sample = world.sample(seed, 150)
        found = share(sample, world.every)
        assert found is not None
        rates.append((found.value, *found.interval))
        other = effect(sample, factors)
        effects.append((other.value, *other.interval))
    for rows, truth in ((np.array(rates), float(world.flips.mean())), (np.array(effects), true)):
        values, low, high = rows.T
        assert abs(values.mean() - truth) < 4 * values.std() / np.sqrt(len(values))
        assert ((low <= truth) & (truth <= high)).mean() >= 0.9
        assert (high - low).mean() < 1


@settings(deadline=None, max_examples=20)
@given(st.integers(1, 12), st.integers(1, 6), st.integers(0, 5), st.booleans())
def test_what_was_asked_wholly_is_known(documents: int, mutants: int, seed: int, margins: bool) -> None:
    world = World(documents, mutants, margins)
    sample = world.sample(seed, len(world.cases))
    found = share(sample, world.every)
    truth = float(world.flips.mean())
    assert found is not None
    assert (found.value, *found.interval) == pytest.approx((truth, truth, truth))


@settings(deadline=None, max_examples=20)
@given(st.integers(2, 30), st.integers(1, 6), st.integers(2, 60), st.integers(0, 5))
def test_every_case_may_be_asked_about(documents: int, mutants: int, budget: int, seed: int) -> None:
    world = World(documents, mutants)
    survey, room = Survey(world.candidates, seed, budget), budget
    while picks := survey.next(room):
        room -= len(picks)
        survey.learn([world.finding(pick) for pick in picks])
    if (sample := survey.sample) is None:
        return
    least = UNIFORM * min(budget, documents) * 0.3 / documents
    assert (sample.opening >= min(least, 1.0) - 1e-9).all()
    for stage in sample.stages:
        assert (stage.chances > 0).all()
    assert sum(stage.weight for stage in sample.stages) <= 1 + 1e-9


def test_the_estimates_of_a_run_name_what_they_are_of() -> None:
    world = World(40, 6)
    found = estimating.figures(world.sample(0, 120), world.candidates, lambda: world.cases, "good")
    rates, effects = found["rates"], found["effects"]
    assert isinstance(rates, list)
    assert isinstance(effects, list)
    assert [rate["attributes"] for rate in rates] == [[], ["body"]]
    assert {rate["cases"] for rate in rates} == {len(world.flips)}
    compared = [(row["from"], row["to"], row["originals"]) for row in effects]
    assert ("old", "tall", 40) in compared
