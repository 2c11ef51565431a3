"""Findings as they are written: shares with their counts, and contrasts seen from the other side."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from harness.findings.records import Contrast, Part
from harness.statistics import rate_by_cluster, wilson

ROW = Contrast(
    attribute="gender",
    **{"from": "male", "to": "female"},
    outcome="Positive",
    pairs=20,
    originals=10,
    worse=5,
    better=2,
    effect=-0.15,
    ci95=(-0.3, 0.1),
    p=0.04,
    p_holm=0.08,
    basis="controls",
    shift=-0.6,
    shift_ci95=(-1.0, 0.2),
    shift_p_holm=0.06,
    detectable=0.2,
)


def test_a_contrast_from_the_other_side_says_the_same() -> None:
    turned = ROW.turned()
    assert (turned.source, turned.target, turned.worse, turned.better) == ("female", "male", 2, 5)
    assert (turned.effect, turned.ci95) == (0.15, (-0.1, 0.3))
    assert (turned.shift, turned.shift_ci95) == (0.6, (-0.2, 1.0))
    for name in ("attribute", "outcome", "pairs", "originals", "p", "p_holm", "basis", "detectable"):
        assert getattr(turned, name) == getattr(ROW, name)
    assert turned.shift_p_holm == ROW.shift_p_holm
    assert turned.turned() == ROW


def test_what_is_not_known_is_not_known_from_the_other_side_either() -> None:
    bare = ROW.model_copy(update={"effect": 0.0, "ci95": None, "shift": None, "shift_ci95": None}).turned()
    assert (bare.ci95, bare.shift, bare.shift_ci95) == (None, None, None)
    assert math.copysign(1.0, bare.effect) == 1.0, "no negative zero"


@given(st.lists(st.integers(0, 9).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), max_size=20))
def test_a_share_has_its_counts_and_an_interval_by_cluster(counts: list[tuple[int, int]]) -> None:
    hits, trials = [hit for hit, _ in counts], [trial for _, trial in counts]
    part = Part.clustered(hits, trials)
    assert (part.count, part.of, part.ci95) == (sum(hits), sum(trials), rate_by_cluster(hits, trials))
    assert part.rate == (sum(hits) / sum(trials) if any(trials) else None)
    alone = Part.of_trials(sum(hits), sum(trials))
    assert (alone.count, alone.of, alone.rate) == (part.count, part.of, part.rate)
    assert alone.ci95 == wilson(sum(hits), sum(trials))
