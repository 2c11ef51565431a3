"""Stop when sure: intervals that hold at every look, in an order that depends on the seed alone."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.audit.adaptive.chooser import Pick
from harness.audit.adaptive.contrasts import Contrast, contrasts
from harness.audit.adaptive.exploration import Exploration
from harness.audit.adaptive.goal import Effect, Goal, Look, confidence, looks
from harness.audit.adaptive.random_order import AT_ONCE, RandomOrder, expected
from harness.audit.adaptive.survey import Survey
from harness.core import Case, Outcome
from harness.suites import oracle
from tests.audit.test_adaptive import PAIRS, Asked, Kept, Stopped, group, label, worlds
from tests.audit.test_adaptive import Answer as Answers
from tests.audit.test_estimates import World


def all_contrasts(world: World) -> list[Contrast]:
    return list(contrasts(world.cases, world.candidates.numbers))


def asked(world: World, choice: RandomOrder | Survey, room: int) -> tuple[list[Pick], list[Look]]:
    """What is asked, and what is known after each round and at the end."""
    picks: list[Pick] = []
    seen: list[Look] = []
    while some := choice.next(room - len(picks)):
        picks += some
        choice.learn([world.finding(pick) for pick in some])
        seen.append(choice.look)
    return picks, [*seen, choice.look]


@pytest.mark.parametrize(
    ("interval", "goal", "decision"),
    [
        ((0.06, 0.1), Goal(rate=0.05), "above"),
        ((0.01, 0.05), Goal(rate=0.05), "below"),
        ((0.01, 0.06), Goal(rate=0.05), "undecided"),
    ],
)
def test_a_rate_is_decided_where_its_whole_interval_is_on_one_side(
    interval: tuple[float, float], goal: Goal, decision: str
) -> None:
    look = Look(sum(interval) / 2, interval)
    assert goal.decisions(look) == {"rate": decision}
    assert goal.reached(look) is (decision != "undecided")


@pytest.mark.parametrize(
    ("intervals", "decision"),
    [
        ([(-0.01, 0.02), (-0.3, -0.06)], "above"),
        ([(-0.01, 0.02), (-0.05, 0.05)], "below"),
        ([(-0.01, 0.02), (-0.05, 0.06)], "undecided"),
        ([], "undecided"),
    ],
)
def test_effects_are_above_if_one_is_and_below_if_all_are(
    intervals: Sequence[tuple[float, float]], decision: str
) -> None:
    effects = [Effect(("race", "a", "b"), 9, 0.0, interval) for interval in intervals]
    assert Goal(effect=0.05).decisions(Look(None, (0.0, 1.0), effects)) == {"effect": decision}


def test_a_precision_is_half_the_width() -> None:
    assert Goal(precision=0.01).reached(Look(0.02, (0.011, 0.03)))
    assert not Goal(precision=0.01).reached(Look(0.02, (0.009, 0.031)))


@given(st.integers(1, 200), st.integers(0, 5000))
def test_looks_grow_until_everything_is_known(first: int, whole: int) -> None:
    found = looks(first, whole)
    assert found == sorted(set(found))
    assert found[-1:] == ([whole] if whole else [])
    assert len(found) * (1 - confidence(len(found))) == pytest.approx(0.05 if found else 0)


def test_the_intervals_hold_at_all_looks_together() -> None:
    """Of 200 orders, the intervals of at most one in twenty ever fail, however often they are looked at."""
    world = World(60, 8)
    compared, flips = all_contrasts(world), world.flips.astype(float)
    true = {each.groups: float(each.factors @ -flips[each.mutants]) for each in compared}
    rate = float(flips.mean())
    failed = {"rate": 0, "effect": 0}
    for seed in range(200):
        _, seen = asked(world, RandomOrder(world.candidates, seed, Goal(rate=rate)), 10**6)
        assert len(seen) > 2
        failed["rate"] += any(not low <= rate <= high for low, high in (look.interval for look in seen))
        assert seen[-1].interval == pytest.approx((rate, rate)) or failed["rate"]
    for seed in range(60):
        goal = Goal(effect=0.0)
        _, seen = asked(world, RandomOrder(world.candidates, seed, goal, compared), 10**6)
        rows = [effect for look in seen for effect in look.effects]
        failed["effect"] += any(
            not row.interval[0] - 1e-9 <= true[row.groups] <= row.interval[1] + 1e-9 for row in rows
        )
    assert failed["rate"] <= 10
    assert failed["effect"] <= 3


def test_what_is_asked_depends_on_the_seed_alone_and_nothing_is_asked_twice() -> None:
    world, goal = World(60, 8), Goal(precision=0.06)
    first, seen = asked(world, RandomOrder(world.candidates, 3, goal), 10**6)
    again, _ = asked(world, RandomOrder(world.candidates, 3, goal), 10**6)
    other, _ = asked(world, RandomOrder(world.candidates, 4, goal), 10**6)
    assert first == again != other
    assert len({pick.row for pick in first}) == len(first) < len(world.cases)
    opened = set()
    for pick in first:
        assert pick.mutant is None or pick.document in opened
        opened.add(pick.document)
    low, high = seen[-1].interval
    assert (high - low) / 2 <= 0.06


def test_an_effect_is_decided_on_whole_texts() -> None:
    world = World(300, 8)
    goal = Goal(effect=0.05)
    picks, seen = asked(world, RandomOrder(world.candidates, 0, goal, all_contrasts(world)), 10**6)
    assert goal.decisions(seen[-1]) == {"effect": "above"}
    assert len(picks) < len(world.cases)
    whole = {pick.document: 9 + pick.document % 3 for pick in picks}
    assert len(picks) == sum(whole.values())


def test_a_round_is_small_enough_to_be_judged_when_it_is_interrupted() -> None:
    world = World(200, 8)
    order = RandomOrder(world.candidates, 0, Goal(precision=1e-9))
    while picks := order.next(10**6):
        assert len(picks) <= AT_ONCE
        order.learn([world.finding(pick) for pick in picks])


def test_a_budget_is_not_spent_further_than_the_goal() -> None:
    world, budget = World(60, 8), 400
    without, _ = asked(world, Survey(world.candidates, 0, budget), budget)
    goal = Goal(precision=0.08)
    picks, seen = asked(world, Survey(world.candidates, 0, budget, goal), budget)
    assert len(picks) < len(without) <= budget
    assert goal.reached(seen[-1])
    tight, seen = asked(world, Survey(world.candidates, 0, budget, Goal(precision=1e-4)), budget)
    assert len(tight) == len(without)
    assert not Goal(precision=1e-4).reached(seen[-1])


@pytest.mark.parametrize("rate", [0.01, 0.05, 0.2])
def test_a_plan_says_about_what_a_run_takes(rate: float) -> None:
    world = World(200, 8)
    goal, number = Goal(precision=0.05), len(world.flips)
    world.flips = np.random.default_rng(0).random(number) < rate
    taken = [len(asked(world, RandomOrder(world.candidates, seed, goal), 10**6)[0]) for seed in range(20)]
    assert expected(goal, [number // 200] * 200, rate) == pytest.approx(np.mean(taken), rel=0.3)


def explored(cases: Sequence[Case], some: Asked, goal: Goal) -> Exploration:
    exploration = Exploration(Kept(cases), some, oracle.judge, None, 0, goal=goal)
    asyncio.run(exploration.run())
    return exploration


@settings(deadline=None, max_examples=30)
@given(worlds(), st.integers(0, 4))
def test_a_run_that_was_stopped_resumes_with_the_same_answer(
    world: tuple[list[Case], Answers], rounds: int
) -> None:
    """Whatever the answers, some of which cannot be read: the same figures, and no text is sent twice."""
    cases, answer = world
    goal = Goal(precision=0.1)
    whole = Asked(answer)
    found = explored(cases, whole, goal).stopping()
    assert found is not None
    stopped = Asked(answer, rounds=rounds)
    with contextlib.suppress(Stopped):
        explored(cases, stopped, goal)
    resumed = Asked(answer, stopped.kept)
    again = explored(cases, resumed, goal)
    assert again.stopping() == found
    assert stopped.sent + resumed.sent == whole.sent
    assert again.estimates() is None


def test_the_answer_says_what_was_asked_of_what_there_is() -> None:
    cases = [case for number in range(80) for case in group(f"d{number}", PAIRS)]

    def answer(text: str) -> Outcome:
        return label(text.startswith("d1:"))

    exploration = explored(cases, Asked(answer), Goal(rate=0.05))
    found = exploration.stopping()
    assert found is not None
    assert found["reached"] is True
    assert found["decisions"] == [{"figure": "rate", "limit": 0.05, "decision": "below"}]
    assert found["of"] == len(cases)
    assert found["asked"] == exploration.requests < len(cases)
    assert found["asked"] == sum(map(len, exploration.groups()))
