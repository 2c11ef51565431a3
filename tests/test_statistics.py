"""Intervals: against published values, at the edges, and what holds of every one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.statistics import cluster_bootstrap, rate, wilson


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [
        # Newcombe 1998 (Statistics in Medicine 17), table I, method 3: 95 % intervals to four places.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (29, 29, 0.8830, 1.0000),
    ],
)
def test_wilson_against_published_values(successes: int, trials: int, low: float, high: float) -> None:
    assert wilson(successes, trials) == pytest.approx((low, high), abs=6e-5)


def test_wilson_at_the_edges() -> None:
    assert wilson(0, 0) is None
    for trials in (1, 5, 1000):
        none, every = wilson(0, trials), wilson(trials, trials)
        assert none is not None
        assert every is not None
        assert none[0] == pytest.approx(0, abs=1e-12)
        assert every[1] == pytest.approx(1, abs=1e-12)
        assert none == pytest.approx((1 - every[1], 1 - every[0]))


@pytest.mark.parametrize(("successes", "trials"), [(-1, 5), (6, 5), (1, 0), (0, -1)])
def test_wilson_refuses_impossible_counts(successes: int, trials: int) -> None:
    with pytest.raises(ValueError, match="trials"):
        wilson(successes, trials)


proportions = st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(proportions)
def test_wilson_holds_the_rate_within_0_and_1_and_narrows(counts: tuple[int, int]) -> None:
    successes, trials = counts
    interval, narrower, wider = (
        wilson(successes, trials),
        wilson(10 * successes, 10 * trials),
        wilson(successes, trials, 0.99),
    )
    assert interval is not None
    assert narrower is not None
    assert wider is not None
    low, high = interval
    assert 0 <= low <= successes / trials + 1e-12
    assert successes / trials - 1e-12 <= high <= 1
    assert high - low > narrower[1] - narrower[0]
    assert wider[0] <= low <= high <= wider[1]


clusters = st.lists(
    st.integers(0, 12).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), max_size=8
)


@settings(max_examples=25, deadline=None)
@given(clusters, st.integers(0, 2**32))
def test_bootstrap(counts: list[tuple[int, int]], seed: int) -> None:
    successes, trials = [s for s, _ in counts], [n for _, n in counts]
    interval = cluster_bootstrap(successes, trials, seed)
    assert interval == cluster_bootstrap(successes, trials, seed), "decided by its seed"
    asked = [(s, n) for s, n in counts if n]
    assert interval == cluster_bootstrap([s for s, _ in asked], [n for _, n in asked], seed)
    if len(asked) < 2:
        assert interval is None
        return
    assert interval is not None
    rates = [s / n for s, n in asked]
    assert min(rates) - 1e-12 <= interval[0] <= interval[1] <= max(rates) + 1e-12


@pytest.mark.parametrize("successes", [0, 1, 3])
def test_equal_clusters_leave_no_doubt(successes: int) -> None:
    assert cluster_bootstrap([successes] * 5, [3] * 5) == pytest.approx((successes / 3, successes / 3))


def test_bootstrap_knows_that_mutants_of_one_text_are_not_independent() -> None:
    # Ten texts of a hundred mutants each, all biased or all benign: ten observations, not a thousand.
    interval = cluster_bootstrap([100, 0] * 5, [100] * 10)
    independent = wilson(500, 1000)
    ten = wilson(5, 10)
    assert interval is not None
    assert independent is not None
    assert ten is not None
    assert interval[0] < 0.5 < interval[1]
    width = interval[1] - interval[0]
    assert width > 5 * (independent[1] - independent[0])
    assert width == pytest.approx(ten[1] - ten[0], abs=0.12)


def test_bootstrap_covers_as_often_as_it_says() -> None:
    import numpy as np

    draw = np.random.default_rng(7)
    covered = 0
    for i in range(60):
        chances = draw.beta(2, 6, size=40)  # a mean of 0.25
        hits = draw.binomial(10, chances)
        interval = cluster_bootstrap(hits.tolist(), [10] * 40, seed=i)
        assert interval is not None
        covered += interval[0] <= 0.25 <= interval[1]
    assert covered >= 52  # 57 expected


def test_bootstrap_refuses_lists_that_do_not_match() -> None:
    with pytest.raises(ValueError, match="one entry a cluster"):
        cluster_bootstrap([1, 2], [3])


def test_rate() -> None:
    assert rate(1, 4) == 0.25
    assert rate(0, 3) == 0.0
    assert rate(0, 0) is None
