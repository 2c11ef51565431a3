"""Excesses over controls under an adaptive budget: the full run's figure, no bias, intervals that hold."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from hashlib import sha256

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.audit.adaptive import estimating
from harness.audit.adaptive.candidates import Candidates
from harness.audit.adaptive.chooser import Chooser, Finding, Pick
from harness.audit.adaptive.controls import compared
from harness.audit.adaptive.sample import Excess, Sample, excess
from harness.audit.adaptive.stages import UNIFORM
from harness.audit.adaptive.survey import CONTROLS, Survey
from harness.core import KEY_SEPARATOR, Case, Status
from harness.findings.excess import Strata, excesses
from tests.findings.runs import family, run, speaks_of, texts

LEAST_HELD = 0.93


def chance(*parts: object) -> float:
    """A number from 0 to 1 that depends on ``parts`` alone."""
    return int.from_bytes(sha256("\x1f".join(map(str, parts)).encode()).digest()[:6]) / 2**48


class World:
    """Texts with mutants of gender and body, some with controls, before a system without margins.

    It flips any version by a hash, and those about women in ``against`` of the texts.
    """

    def __init__(self, controls: Sequence[int], brittle: float, against: float) -> None:
        names = texts(len(controls))
        self.cases = [c for name, n in zip(names, controls, strict=True) for c in family(name, controls=n)]
        self.brittle, self.against = brittle, against
        self.candidates = Candidates.of(self.cases)
        self.compared = [*compared(self.cases, self.candidates.numbers)]

    def answer(self, case: Case) -> str:
        hit = speaks_of(case) == "female" and chance("text", case.document) < self.against
        return "Negative" if hit ^ (chance("case", case.id) < self.brittle) else "Positive"

    @cached_property
    def flips(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        original = {case.document: self.answer(case) for case in self.cases if case.role == "original"}
        rows = [self.cases[row] for row in self.candidates.rows.tolist()]
        return np.array([self.answer(case) != original[case.document] for case in rows])

    def finding(self, pick: Pick) -> Finding:
        status: Status = "biased" if pick.mutant is not None and self.flips[pick.mutant] else "benign"
        return Finding(pick, status, None, float(self.answer(self.cases[pick.row]) == "Positive"))

    def asked(self, seed: int, budget: int) -> tuple[list[Pick], Sample | None]:
        survey, room = Survey(self.candidates, seed, budget, compared=self.compared), budget
        picks = []
        while some := survey.next(room):
            room -= len(some)
            picks += some
            survey.learn([self.finding(pick) for pick in some])
        assert room >= 0
        return picks, survey.sample

    def excess(self, sample: Sample, name: str, confidence: float = 0.95) -> Excess:
        (one,) = (each for each in self.compared if each.attributes == (name,))
        found = excess(sample, *one.dense(len(self.flips)), confidence)
        assert found is not None
        return found

    def truth(self, name: str) -> float:
        (one,) = (each for each in self.compared if each.attributes == (name,))
        tests, controls = one.dense(len(self.flips))
        return float(tests @ self.flips / tests.sum() - controls @ self.flips / controls.sum())


SOME = [n % 3 for n in range(60)]
NUMBERS = st.lists(st.integers(0, 2), min_size=2, max_size=10)


@settings(deadline=None, max_examples=8)
@given(NUMBERS, st.floats(0, 0.5), st.floats(0, 1))
def test_asked_about_everything_it_is_the_figure_of_a_complete_run(
    controls: list[int], brittle: float, against: float
) -> None:
    world = World(controls, brittle, against)
    _, sample = world.asked(0, len(world.cases) + 3)
    assert sample is not None
    found = estimating.figures(sample, world.candidates, lambda: world.cases, None)["excesses"]
    assert isinstance(found, list)
    sets = [("gender",), ("body",), ("gender", "body")] if any(controls) else []
    of_sets = excesses(Strata.of(run(world.cases, world.answer)), sets, 1)
    whole = {
        frozenset(key.split(KEY_SEPARATOR)): of
        for (key, figure), of in of_sets.items()
        if figure == "changed"
    }
    assert len(found) == len(sets)
    for row in found:
        assert isinstance(row, dict)
        of_all = whole[frozenset(row["attributes"])]
        assert (row["tests"], row["controls"]) == (of_all.tests, of_all.controls)
        assert row["rate"] == pytest.approx(of_all.rate)
        assert row["control_rate"] == pytest.approx(of_all.control_rate)
        assert row["excess"] == pytest.approx(of_all.difference)
        assert row["ci95"] == pytest.approx([of_all.difference] * 2)
        assert row["together"] == pytest.approx([of_all.difference] * 2)


@settings(deadline=None, max_examples=8)
@given(NUMBERS, st.integers(2, 60), st.integers(0, 5))
def test_every_control_that_is_compared_may_be_asked_about(
    controls: list[int], budget: int, seed: int
) -> None:
    """With a chance of at least its part in what is the same for all; and no other control ever is."""
    world = World(controls, 0.1, 0.5)
    picks, sample = world.asked(seed, budget)
    of_sets = {number for one in world.compared for number in one.controls}
    control = world.candidates.control
    asked = [pick.mutant for pick in picks if pick.mutant is not None and control[pick.mutant]]
    assert of_sets.issuperset(asked)
    for stage in sample.stages if sample is not None else ():
        if of_stage := int(control[stage.mutants].sum()):
            assert of_stage == len(stage.mutants)
            assert (stage.chances >= min(UNIFORM * of_stage / max(control.sum(), 1), 1.0) - 1e-9).all()


def test_controls_have_their_share_of_what_is_drawn_and_promise_nothing() -> None:
    world = World(SOME, 0.1, 0.5)
    control = world.candidates.control
    chooser, asked = Chooser(world.candidates, 0), []
    while picks := chooser.next(len(world.cases)):
        asked += picks
        chooser.learn([world.finding(pick) for pick in picks])
    assert not any(control[pick.mutant] for pick in asked if pick.mutant is not None)
    _, sample = world.asked(0, 160)
    assert sample is not None
    drawn = [len(stage.mutants) for stage in sample.stages]
    of_controls = [len(stage.mutants) for stage in sample.stages if control[stage.mutants].all()]
    assert sum(of_controls) / sum(drawn) == pytest.approx(CONTROLS, abs=0.03)


@pytest.mark.parametrize(
    ("brittle", "against", "shown"),
    [(0.15, 0.0, (0.0, 0.05)), (0.05, 0.9, (0.4, 1.0))],
)
def test_estimates_have_no_bias_hold_and_tell_bias_from_brittleness(
    brittle: float, against: float, shown: tuple[float, float]
) -> None:
    """The mean of 60 samples is within four standard errors; a brittle system is not reported as biased."""
    world = World(SOME, brittle, against)
    truth = world.truth("gender")
    rows = []
    for seed in range(60):
        _, sample = world.asked(seed, 160)
        assert sample is not None
        found = world.excess(sample, "gender").difference
        together = world.excess(sample, "gender", 1 - 0.05 / 3).difference.interval
        assert together[0] <= found.interval[0] <= found.value <= found.interval[1] <= together[1]
        rows.append((found.value, *found.interval, together[0]))
    values, low, high, least = np.array(rows).T
    assert abs(values.mean() - truth) < 4 * values.std() / np.sqrt(len(values))
    assert ((low <= truth) & (truth <= high)).mean() >= LEAST_HELD
    assert (high - low).mean() < 1
    assert shown[0] <= (least > 0).mean() <= shown[1]


def test_without_controls_there_is_no_excess() -> None:
    world = World([0] * 20, 0.1, 0.5)
    _, sample = world.asked(0, 40)
    assert sample is not None
    assert estimating.figures(sample, world.candidates, lambda: world.cases, None)["excesses"] == []
