"""Effects within texts: computed by hand, corrected for drift, tested and resampled by whole texts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.findings.estimation import Contributions, Differences, chances, estimates, intervals

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
