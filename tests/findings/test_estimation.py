"""Effects within texts: computed by hand, corrected for drift, tested and resampled by whole texts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from harness.findings.estimation import (
    Contributions,
    Differences,
    by_text,
    chances,
    estimates,
    intervals,
    signed,
    within,
)

ONE = ("x",)


def differences(*rows: tuple[str, float, dict[str, float]]) -> Differences:
    found = Differences()
    for text, value, edits in rows:
        found.add(text, {"x": value}, edits)
    return found


def estimate(of: Differences, controls: dict[str, Differences] | None = None) -> Contributions:
    texts = [*of.counts, *(text for each in (controls or {}).values() for text in each.counts)]
    [found] = estimates(of, ONE, controls or {}, {text: n for n, text in enumerate(dict.fromkeys(texts))})
    return found


def test_each_text_counts_once_however_many_differences_it_has() -> None:
    found = estimate(differences(("a", 1.0, {}), ("a", 1.0, {}), ("a", 0.0, {}), ("b", 0.0, {})))
    assert found.value == pytest.approx((2 / 3 + 0) / 2)
    assert (found.texts, found.basis) == (2, "alike")


def test_controls_take_the_drift_out() -> None:
    """Editing costs 0.3 (controls); the edited side has 0.5 less: 0.2 are the effect."""
    edited = differences(*((f"t{n}", -0.5, {"1": 1.0}) for n in range(4)))
    controls = {"1": differences(*((f"t{n}", -0.3, {}) for n in range(3)))}
    found = estimate(edited, controls)
    assert found.value == pytest.approx(-0.2)
    assert found.basis == "controls"


def test_what_drift_alone_explains_is_no_evidence() -> None:
    """Editing costs each text another amount, by mutants as by controls."""
    costs = {f"t{n}": -0.1 * n for n in range(8)}
    edited = differences(*((text, sum(costs.values()) / 8, {"1": 1.0}) for text in costs))
    found = estimate(edited, {"1": differences(*((text, cost, {}) for text, cost in costs.items()))})
    assert found.value == pytest.approx(0.0)
    same = estimate(edited, {"1": differences(*((text, sum(costs.values()) / 8, {}) for text in costs))})
    assert same.null.tolist() == [0.0] * 8
    assert chances([same]).alone == [1.0]


def test_both_directions_take_the_drift_out() -> None:
    """From men to women: effect and drift; from women to men, seen from the women: effect less drift."""
    rows = [(f"m{n}", -0.5, {"1": 1.0}) for n in range(20)] + [(f"w{n}", 0.1, {"1": -1.0}) for n in range(5)]
    found = estimate(differences(*rows))
    assert found.value == pytest.approx(-0.2)
    assert found.basis == "both directions"


def test_both_directions_do_where_controls_do_not_know_every_edit() -> None:
    """As above, with a text that is edited twice, which no control is: the controls are left out."""
    rows = [(f"m{n}", -0.5, {"1": 1.0}) for n in range(20)] + [(f"w{n}", 0.1, {"1": -1.0}) for n in range(5)]
    twice = ("n", -0.5, {"2": 1.0})
    controls = {"1": differences(*((f"t{n}", -0.9, {}) for n in range(9)))}
    found = estimate(differences(*rows, twice), controls)
    assert found.value == pytest.approx(-0.2)
    assert found.basis == "both directions"
    assert found.detectable(2.0) is not None


def test_one_direction_without_every_control_is_uncorrected_and_finds_nothing() -> None:
    rows = [(f"m{n}", -0.5, {"1": 1.0}) for n in range(20)] + [(f"w{n}", 0.1, {"1": -1.0}) for n in range(4)]
    controls = {"1": differences(*((f"t{n}", -0.9, {}) for n in range(9)))}
    found = estimate(differences(*rows, ("n", -0.5, {"2": 1.0})), controls)
    assert found.basis == "uncorrected"
    assert found.detectable(2.0) is None


def test_without_either_the_effect_is_uncorrected_and_says_so() -> None:
    found = estimate(differences(("a", -0.5, {"1": 1.0}), ("b", -0.5, {"1": 1.0})))
    assert (found.value, found.basis) == (-0.5, "uncorrected")


@given(
    st.lists(st.tuples(st.floats(-1, 1), st.sampled_from([-1.0, 0.0, 1.0])), min_size=1, max_size=30),
    st.lists(st.floats(-1, 1), max_size=20),
)
def test_the_contributions_add_up(rows: list[tuple[float, float]], changes: list[float]) -> None:
    of = differences(*((f"t{n}", value, {"1": edits}) for n, (value, edits) in enumerate(rows)))
    controls = {"1": differences(*((f"t{n}", value, {}) for n, value in enumerate(changes)))}
    found = estimate(of, controls if changes else {})
    assert float(found.null.sum()) == pytest.approx(found.value, abs=1e-6)
    assert float(found.spread.sum()) == pytest.approx(0.0, abs=1e-6)


@given(st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=2, max_size=40))
def test_an_interval_holds_its_estimate_and_is_no_point(values: list[float]) -> None:
    found = estimate(differences(*((f"t{n}", value, {}) for n, value in enumerate(values))))
    [interval] = intervals([found])
    assert interval is not None
    assert interval[0] < found.value < interval[1]


def test_no_interval_from_one_text() -> None:
    assert intervals([estimate(differences(("a", 1.0, {})))]) == [None]
    assert intervals([]) == []


def test_few_texts_are_tested_over_all_flips() -> None:
    """Five texts that all differ alike: 2 of the 32 flips are as extreme."""
    tested = chances([estimate(differences(*((f"t{n}", 1.0, {}) for n in range(5))))])
    assert tested.alone == tested.joint == [2 / 32]


def test_the_joint_p_corrects_for_all_estimates() -> None:
    draw = np.random.default_rng(1)
    noise = [Contributions(0.0, np.zeros(60), draw.normal(size=60), 60) for _ in range(20)]
    strong = Contributions(1.0, np.zeros(60), np.full(60, 1 / 60) + 1e-4, 60)
    tested = chances([*noise, strong])
    assert all(joint >= alone for alone, joint in zip(tested.alone, tested.joint, strict=True))
    assert tested.joint[-1] < 0.01
    assert min(tested.joint[:-1]) > 0.05


def test_what_is_detectable_falls_with_more_texts() -> None:
    sizes = (10, 100, 1000)
    found = [estimate(differences(*((f"t{n}", 0.0, {}) for n in range(size)))) for size in sizes]
    limits = [each.detectable(2.0) for each in found]
    assert all(limit is not None for limit in limits)
    assert limits == sorted(limits, reverse=True)  # type: ignore[type-var]
    assert estimate(differences(("a", 1.0, {}))).detectable(2.0) is None


def test_where_nothing_differs_a_difference_still_needs_more_than_chance() -> None:
    alike = estimate(differences(*((f"t{n}", 0.0, {}) for n in range(100))))
    tested = chances([alike])
    assert (tested.alone, tested.joint) == ([1.0], [1.0])
    assert tested.critical == pytest.approx(1.96, abs=0.001)
    limit = alike.detectable(tested.critical)
    assert limit is not None
    assert limit > 2 / 100  # two texts of 100 that lean one way are nothing


def test_what_could_differ_by_any_amount_differs_by_as_much_as_the_text_that_differs_most() -> None:
    of = Differences(unit=None)
    for text, value in (("a", 0.5), ("b", -3.0), ("c", 0.0)):
        of.add(text, {"x": value}, {})
    found = estimate(of)
    assert found.unit == 3.0
    assert found.detectable(2.0) is not None
    alike = Differences(unit=None)
    alike.add("a", {"x": 0.0}, {})
    alike.add("b", {"x": 0.0}, {})
    assert (estimate(alike).unit, estimate(alike).detectable(2.0)) == (0.0, None)


def test_a_detectable_effect_is_found_at_least_four_times_in_five() -> None:
    """Of texts of which the share that differs by a whole unit is the effect, the others not at all."""
    texts, critical = 60, 1.96
    detectable = estimate(differences(*((f"t{n}", 0.0, {}) for n in range(texts)))).detectable(critical)
    assert detectable is not None
    differing = np.random.default_rng(4).binomial(texts, detectable, size=4000)
    assert np.mean(np.sqrt(differing) >= critical) >= 0.8  # their sum over the root of their squares
    share = detectable / texts
    power = norm.isf(0.2)
    assert detectable == pytest.approx(critical * share**0.5 + power * (share * (1 - detectable)) ** 0.5)


def test_what_was_seen_to_spread_makes_an_effect_harder_to_find() -> None:
    def detectable(noise: float) -> float:
        spread = np.tile([noise, -noise], 50)
        found = Contributions(0.0, spread / 100, spread / 100, 100).detectable(1.96)
        assert found is not None
        return found

    assert detectable(0.0) < detectable(0.5) < detectable(1.0) < detectable(2.0)
    # With a spread as large as this, the units add little: the formula of the normal test remains.
    wide = Contributions(0.0, np.full(100, 50.0), np.full(100, 50.0), 100)
    assert wide.detectable(1.96) == pytest.approx((1.96 + 0.8416) * 500, rel=1e-3)


def test_an_interval_of_one_effect_is_that_of_its_texts_and_two_more() -> None:
    """Forty texts, half of which differ: the mean of a resample of 42 values, of which two are imaginary."""
    values = [1.0, 0.0] * 20
    found = estimate(differences(*((f"t{n}", value, {}) for n, value in enumerate(values))))
    [interval] = intervals([found])
    assert interval is not None
    deviation = np.sqrt((40 * 0.25 + 2) * (1 - 1 / 42)) / 40
    assert interval == pytest.approx((0.5 - 1.96 * deviation, 0.5 + 1.96 * deviation), abs=0.02)


def test_an_interval_does_not_depend_on_texts_that_differ_in_nothing() -> None:
    """It narrows with their number alone."""
    few, lot = (
        intervals([estimate(differences(*((f"t{n}", float(n < 5), {}) for n in range(size))))])[0]
        for size in (20, 200)
    )
    assert few is not None
    assert lot is not None
    assert few[0] < 0.25 < few[1] < 0.6
    assert lot[0] < 0.025 < lot[1] < 0.06


def test_signs_and_bounds_of_intervals() -> None:
    assert signed((0.1, 0.3), -1.0) == (-0.3, -0.1)
    assert signed((0.1, 0.3), 1.0) == (0.1, 0.3)
    assert signed(None, -1.0) is None
    assert within((-1.2, 1.3), 1.0) == (-1.0, 1.0)
    assert within((-1.2, 1.3), 2.0) == (-1.2, 1.3)
    assert within(None, 1.0) is None


def test_five_texts_in_each_direction_tell_the_drift_and_four_do_not() -> None:
    for ahead, back, basis in ((5, 5, "both directions"), (5, 4, "uncorrected"), (4, 9, "uncorrected")):
        rows = [(f"m{n}", -0.5, {"1": 1.0}) for n in range(ahead)]
        rows += [(f"w{n}", 0.1, {"2": -2.0}) for n in range(back)]
        assert estimate(differences(*rows)).basis == basis


def test_controls_of_some_kinds_alone_tell_nothing_of_the_others() -> None:
    edited = differences(("a", -0.5, {"1": 1.0}), ("b", -0.5, {"2": 1.0}))
    controls = {"1": differences(("a", -0.3, {}), ("b", -0.3, {}))}
    assert (estimate(edited, controls).basis, estimate(edited, controls).value) == ("uncorrected", -0.5)


def test_each_kind_of_edit_has_its_own_drift() -> None:
    edited = differences(
        *((f"t{n}", -0.5, {"1": 1.0}) for n in range(4)), *((f"u{n}", -0.8, {"2": 1.0}) for n in range(4))
    )
    controls = {
        "1": differences(*((f"t{n}", -0.3, {}) for n in range(4))),
        "2": differences(*((f"u{n}", -0.6, {}) for n in range(4))),
        "3": differences(*((f"u{n}", -9.0, {}) for n in range(4))),
    }
    found = estimate(edited, controls)
    assert (found.basis, found.texts) == ("controls", 8)
    assert found.value == pytest.approx(-0.2)


def test_edits_that_cancel_within_a_text_are_none() -> None:
    of = differences(("a", 1.0, {"1": 1.0}), ("a", 0.0, {"1": -1.0}), ("b", 0.5, {}))
    assert (estimate(of).value, estimate(of).basis) == (0.5, "alike")


def test_flips_are_tried_up_to_twelve_texts_and_drawn_beyond() -> None:
    tried, drawn = (
        chances([estimate(differences(*((f"t{n}", 1.0, {}) for n in range(texts))))]) for texts in (12, 13)
    )
    assert tried.alone == tried.joint == [2 / 2**12]
    assert drawn.alone == drawn.joint
    assert drawn.alone[0] * 10_001 == pytest.approx(round(drawn.alone[0] * 10_001), abs=1e-6)


def test_of_more_than_a_thousand_texts_the_normal_limit_is_drawn() -> None:
    draw = np.random.default_rng(6)
    for texts in (900, 1500):
        value = draw.normal(0.05, 1, texts)
        tested = chances([Contributions(0.0, np.zeros(texts), value / texts, texts)])
        z = abs(value.sum()) / np.linalg.norm(value)
        assert tested.alone[0] == pytest.approx(2 * norm.sf(z), abs=0.02)
        assert tested.alone == tested.joint
        assert tested.critical == pytest.approx(1.96, abs=0.06)


@pytest.mark.parametrize("texts", [100, 1500])
def test_the_critical_value_is_that_of_all_estimates_together(texts: int) -> None:
    """Ten independent estimates: Šidák's level of each is 0.0051 for 0.05 in all."""
    draw = np.random.default_rng(8)
    every = [Contributions(0.0, np.zeros(texts), draw.normal(size=texts), texts) for _ in range(10)]
    strict, single = chances(every, 0.05).critical, chances(every[:1], 0.05).critical
    assert strict == pytest.approx(norm.isf((1 - 0.95 ** (1 / 10)) / 2), abs=0.25)
    assert single == pytest.approx(1.96, abs=0.12)
    assert chances(every, 0.01).critical > strict
    assert chances([]).critical == np.inf


def test_what_is_drawn_is_decided_by_its_seed() -> None:
    draw = np.random.default_rng(9)
    every = [Contributions(0.0, np.zeros(50), draw.normal(size=50), 50) for _ in range(2)]
    assert chances(every) == chances(every, seed=0) != chances(every, seed=1)


def test_sums_by_text_take_rounding_for_nothing() -> None:
    places = np.array([0, 2, 0, 2])
    assert by_text(places, np.array([1.0, 0.1, 2.0, -0.1 + 1e-14]), 4).tolist() == [3.0, 0.0, 0.0, 0.0]
    assert by_text(places, np.array([1.0, 0.0, 2.0, 2e-12]), 3).tolist() == [3.0, 0.0, 2e-12]


def test_of_more_than_a_thousand_texts_estimates_that_go_together_are_tested_as_one() -> None:
    draw = np.random.default_rng(12)
    one, other = draw.normal(0.04, 1, 1500), draw.normal(0, 1, 1500)
    same = [Contributions(0.0, np.zeros(1500), one, 1500) for _ in range(3)]
    tested = chances(same)
    assert tested.alone == tested.joint
    assert tested.critical == pytest.approx(1.96, abs=0.06)
    apart = chances([same[0], Contributions(0.0, np.zeros(1500), other, 1500)])
    assert apart.joint[0] == pytest.approx(1 - (1 - apart.alone[0]) ** 2, abs=0.02)
