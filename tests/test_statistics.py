"""Intervals and tests: against published values, at the edges, and what holds of every one."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, hypergeom, nct, norm, t

from harness.statistics import (
    Correction,
    adjusted,
    cluster_bootstrap,
    clustered_rate_difference,
    detectable_in_errors,
    equal_rates,
    exchange_test,
    extreme,
    f1,
    flip_test,
    mcnemar,
    mean_of_shares,
    minimum_detectable_effect,
    paired_t,
    percentiles,
    rate,
    rate_by_cluster,
    rate_difference,
    rate_difference_by_cluster,
    resampled,
    share_of_all,
    sign_test,
    wilson,
)


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


@given(
    st.integers(1, 3000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.floats(0.5, 0.999)
)
def test_wilson_is_scipys(counts: tuple[int, int], confidence: float) -> None:
    expected = binomtest(*counts).proportion_ci(confidence, method="wilson")
    assert wilson(*counts, confidence) == pytest.approx((expected.low, expected.high), rel=1e-9, abs=1e-12)


def test_wilson_of_none_begins_at_0_and_of_all_ends_at_1() -> None:
    for trials in range(1, 200):
        none, every = wilson(0, trials), wilson(trials, trials)
        assert none is not None
        assert every is not None
        assert (none[0], every[1]) == (0.0, 1.0)
        assert none[1] < 1
        assert every[0] > 0


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


def test_f1() -> None:
    assert f1(3, 1, 2) == pytest.approx(2 * (3 / 5) * (3 / 4) / (3 / 5 + 3 / 4))


@pytest.mark.parametrize(
    ("first", "second", "low", "high"),
    [
        # Newcombe 1998 (Statistics in Medicine 17, 873-890), table II, method 10.
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((6, 7), (2, 7), 0.0582, 0.8062),
        ((5, 56), (0, 29), -0.0381, 0.1926),
        ((0, 10), (0, 20), -0.1611, 0.2775),
        ((10, 10), (0, 10), 0.6075, 1.0000),
    ],
)
def test_rate_difference_against_published_values(
    first: tuple[int, int], second: tuple[int, int], low: float, high: float
) -> None:
    found, turned = rate_difference(first, second), rate_difference(second, first)
    assert found is not None
    assert turned is not None
    assert found.interval == pytest.approx((low, high), abs=6e-5)
    assert found.difference == pytest.approx(first[0] / first[1] - second[0] / second[1])
    assert turned.interval == pytest.approx((-high, -low), abs=6e-5)


def test_rate_difference_without_trials() -> None:
    assert rate_difference((0, 0), (1, 2)) is None
    assert rate_difference((1, 2), (0, 0)) is None


@settings(max_examples=25, deadline=None)
@given(proportions, proportions)
def test_rate_difference_lies_in_its_interval(first: tuple[int, int], second: tuple[int, int]) -> None:
    found = rate_difference(first, second)
    assert found is not None
    assert -1 - 1e-9 <= found.interval[0] <= found.difference + 1e-9
    assert found.difference - 1e-9 <= found.interval[1] <= 1 + 1e-9


def test_flips_beyond_noise_by_original() -> None:
    # Every original flips 4 of 10 mutants and 1 of 5 repeats of itself.
    same = clustered_rate_difference([(4, 10)] * 30, [(1, 5)] * 30)
    assert same is not None
    assert same.difference == pytest.approx(0.2)
    assert same.interval == pytest.approx((0.2, 0.2))
    # An original that is unsteady flips in both: taken together, they leave less doubt than apart.
    flips, repeats = [(9, 10), (1, 10)] * 20, [(4, 5), (0, 5)] * 20
    paired, apart = clustered_rate_difference(flips, repeats), rate_difference((200, 400), (80, 200))
    assert paired is not None
    assert apart is not None
    assert paired.difference == pytest.approx(apart.difference)
    assert paired.interval[0] > 0.05
    assert apart.interval[0] < 0.02
    assert paired == clustered_rate_difference(flips, repeats)


def test_flips_beyond_noise_needs_both_rates_and_two_originals() -> None:
    assert clustered_rate_difference([], []) is None
    assert clustered_rate_difference([(1, 2)], [(0, 1)]) is None
    assert clustered_rate_difference([(1, 2), (1, 2)], [(0, 0), (0, 0)]) is None
    partly = clustered_rate_difference([(1, 2), (1, 2), (1, 2)], [(0, 1), (0, 0), (0, 0)])
    assert partly is not None
    assert partly.interval == pytest.approx((0.5, 0.5))
    with pytest.raises(ValueError, match="one entry a cluster"):
        clustered_rate_difference([(1, 2)], [])


def test_equal_rates_worked_by_hand() -> None:
    # All four mutants of an original flip, none of four repeats: each of k adds 1/k.
    for clusters in (2, 3, 6):
        found = equal_rates([(4, 4)] * clusters, [(0, 4)] * clusters)
        assert found == pytest.approx(2 / 2**clusters)
    # One original leans the other way by as much: the sum 1/3 is the least that three thirds can have.
    assert equal_rates([(4, 4), (4, 4), (0, 4)], [(0, 4), (0, 4), (4, 4)]) == 1
    assert equal_rates([(0, 4)] * 5, [(0, 4)] * 5) == equal_rates([(4, 4)] * 5, [(4, 4)] * 5) == 1
    # 1,024 originals, 32 more one way than the other: one standard deviation of 1,024 signs.
    one, other = [(1, 1)] * 528 + [(0, 1)] * 496, [(0, 1)] * 528 + [(1, 1)] * 496
    assert equal_rates(one, other) == pytest.approx(0.31731, abs=1e-5)


def test_equal_rates_of_one_cluster_is_fishers_test() -> None:
    # Of 56 ways to place 3 flips among 8 answers, 4 have them all among the mutants, 4 all among the repeats.
    assert equal_rates([(3, 4), (0, 0)], [(0, 4), (0, 0)]) == pytest.approx(8 / 56)


def test_equal_rates_needs_both_rates() -> None:
    assert equal_rates([], []) is None
    assert equal_rates([(1, 2), (1, 2)], [(0, 0), (0, 0)]) is None
    with pytest.raises(ValueError, match="one entry a cluster"):
        equal_rates([(1, 2)], [])


def test_equal_rates_seldom_finds_a_difference_where_there_is_none() -> None:
    """Originals that flip more or less easily, unequal numbers of mutants, mutants no worse than repeats."""
    import numpy as np

    draw = np.random.default_rng(3)
    found = 0
    for _ in range(400):
        ease, mutants = draw.beta(0.5, 4.5, size=12), draw.integers(1, 30, size=12)
        flips, again = draw.binomial(mutants, ease), draw.binomial(3, ease)
        p = equal_rates([*zip(flips, mutants, strict=True)], [(int(n), 3) for n in again])
        found += p is not None and p < 0.05
    assert 0 < found <= 40  # 5 % were right; with about a dozen so unlike originals it is some 7 %


def test_mcnemar_against_worked_values() -> None:
    # Two-sided binomial tails: 2 (1 + 12 + 66 + 220) / 2^12, and the whole of a symmetric case.
    assert mcnemar(3, 9) == mcnemar(9, 3) == pytest.approx(2 * 299 / 4096)
    assert mcnemar(0, 6) == pytest.approx(2 / 64)
    assert mcnemar(0, 0) == sign_test(4, 4) == 1


METHODS: tuple[Correction, ...] = ("bonferroni", "holm", "fdr_bh")


def test_corrections_worked_by_hand() -> None:
    p_values = [0.01, 0.04, 0.03, 0.005]
    assert adjusted(p_values, "bonferroni") == pytest.approx((0.04, 0.16, 0.12, 0.02))
    assert adjusted(p_values, "holm") == pytest.approx((0.03, 0.06, 0.06, 0.02))
    assert adjusted(p_values, "fdr_bh") == pytest.approx((0.02, 0.04, 0.04, 0.02))
    assert adjusted([0.0001, 0.5], "bonferroni", 438) == pytest.approx((0.0438, 1))
    assert adjusted([]) == ()
    with pytest.raises(ValueError, match="a family of 1 cannot hold 4 p-values"):
        adjusted(p_values, "holm", 1)


@settings(deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.sampled_from(METHODS), st.integers(0, 30))
def test_corrections_are_statsmodels(p_values: list[float], method: Correction, others: int) -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    family = len(p_values) + others
    expected = multitest.multipletests([*p_values, *[1.0] * others], method=method)[1][: len(p_values)]
    found = adjusted(p_values, method, family)
    assert found == pytest.approx(expected.tolist())
    assert all(p <= q <= 1 for p, q in zip(p_values, found, strict=True))


def test_paired_t_at_the_edges() -> None:
    assert paired_t([]) is None
    assert paired_t([0.3]) is None
    same, none = paired_t([0.3, 0.3]), paired_t([0.0, 0.0, 0.0])
    assert same is not None
    assert none is not None
    assert (same.statistic, same.df, same.p) == (math.inf, 1, 0)
    assert (none.statistic, none.df, none.p) == (0, 2, 1)
    # Student 1908: the additional hours of sleep of ten patients by two drugs.
    sleep = paired_t([1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4])
    assert sleep is not None
    assert (sleep.statistic, sleep.df, sleep.p) == pytest.approx((4.0621, 9, 0.002833), rel=1e-3)


@pytest.mark.parametrize(
    ("pairs", "effect"), [(34, 0.5), (199, 0.2), (15, 0.8)]
)  # Cohen 1988: 80 % power at 0.05
def test_detectable_effect_against_cohen(pairs: int, effect: float) -> None:
    found = minimum_detectable_effect(pairs)
    fewer = minimum_detectable_effect(pairs - 1)
    assert found is not None
    assert fewer is not None
    assert found <= effect < fewer


def test_detectable_effect_has_the_power_it_says() -> None:
    import numpy as np

    draw = np.random.default_rng(3)
    effect = minimum_detectable_effect(12, alpha=0.01, power=0.7)
    assert effect is not None
    tests = [paired_t(draw.normal(effect, 1, 12).tolist()) for _ in range(600)]
    assert np.mean([t is not None and t.p < 0.01 for t in tests]) == pytest.approx(0.7, abs=0.06)
    assert minimum_detectable_effect(1) is None
    # With one degree of freedom t is Cauchy's, and a strict alpha asks for thousands of errors.
    assert detectable_in_errors(1, 0.05 / 438) == pytest.approx(7146.94, rel=1e-4)


def test_flips_of_few_clusters_are_all_tried() -> None:
    sums = [3.0, -1.0, 2.0, 0.5]
    every = [
        abs(sum(s * x for s, x in zip(signs, sums, strict=True))) for signs in product((1, -1), repeat=4)
    ]
    assert flip_test(sums) == sum(value >= sum(sums) for value in every) / 16
    assert flip_test([1.0] * 11) == 2 / 2**11
    assert flip_test([0.0, 0.0]) == 1


def test_flips_of_many_clusters_are_drawn() -> None:
    import numpy as np

    draw = np.random.default_rng(5)
    none, some = draw.normal(0, 1, 200), draw.normal(0.3, 1, 200)
    assert flip_test(none.tolist(), 1) == flip_test(none.tolist(), 1)
    for values in (none, some):
        test = paired_t(values.tolist())
        assert test is not None
        assert flip_test(values.tolist()) == pytest.approx(test.p, abs=0.02)
    assert 0 < flip_test([1.0] * 200) < 0.0002


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9)), min_size=1, max_size=25))
def test_an_interval_by_cluster_is_never_a_point(counts: list[tuple[int, int]]) -> None:
    hits, sizes = [min(counted) for counted in counts], [max(counted) for counted in counts]
    found = rate_by_cluster(hits, sizes)
    assert found is not None
    low, high = found
    assert 0 <= low < high <= 1
    assert low <= sum(hits) / sum(sizes) <= high
    difference = rate_difference_by_cluster([*zip(hits, sizes, strict=True)], [(0, 1)] * len(hits))
    assert difference is not None
    assert difference.interval[0] < difference.interval[1]


def test_few_clusters_count_as_one_trial_each() -> None:
    assert rate_by_cluster([0] * 4, [870] * 4) == wilson(0, 4)
    assert rate_by_cluster([129] * 4, [870] * 4) == pytest.approx(wilson(4 * 129 / 870, 4))
    assert rate_by_cluster([435] * 20, [870] * 20) == wilson(10, 20)
    many = [870 * (number % 2) for number in range(20)]
    assert rate_by_cluster(many, [870] * 20) == cluster_bootstrap(many, [870] * 20)
    assert rate_by_cluster([], []) is None
    assert rate_difference_by_cluster([(1, 2)], [(0, 0)]) is None


def test_intervals_of_few_clusters_hold_the_true_rate() -> None:
    import numpy as np

    draw = np.random.default_rng(0)
    for clusters in (3, 6, 9):
        held = 0
        for _ in range(200):
            hits = draw.binomial(900, draw.beta(1, 3, clusters)).tolist()
            low, high = rate_by_cluster(hits, [900] * clusters) or (1.0, 0.0)
            held += low <= 0.25 <= high
        assert held >= 190


@pytest.mark.parametrize(
    ("hits", "size", "other_hits", "other_size"), [(5, 9, 0, 4), (1, 30, 2, 3), (3, 5, 3, 5)]
)
def test_exchanging_within_one_stratum_is_the_hypergeometric_test(
    hits: int, size: int, other_hits: int, other_size: int
) -> None:
    exact = hypergeom(size + other_size, hits + other_hits, size)
    far = [a for a in range(size + 1) if abs(a - exact.mean()) >= abs(hits - exact.mean()) - 1e-9]
    h, n, k, m = (np.array([float(side)]) for side in (hits, size, other_hits, other_size))
    assert exchange_test(h, n, k, m) == pytest.approx(sum(exact.pmf(far)), abs=0.02)


@pytest.mark.parametrize("strata", [60, 2000])  # by random draws, and by the normal limit
def test_exchanging_holds_its_level_where_changes_are_rare(strata: int) -> None:
    draw = np.random.default_rng(7)
    below = 0
    for _ in range(runs := 100):
        n, m = draw.integers(1, 30, strata), draw.integers(1, 4, strata)
        rates = draw.beta(1, 9, strata)  # texts differ
        h, k = draw.binomial(n, rates), draw.binomial(m, rates)
        below += exchange_test(h.astype(float), n.astype(float), k.astype(float), m.astype(float)) <= 0.05
    low, high = wilson(below, runs) or (0.0, 1.0)
    assert low <= 0.05 <= high


def test_nothing_changed_is_no_evidence() -> None:
    none, some = np.zeros(3), np.ones(3)
    assert exchange_test(none, some, none, some) == 1.0


# How many draws, and from where on


def drawn(p: float) -> bool:
    """Whether a p comes from 10,000 random draws, of which the observed one is another."""
    return math.isclose(p * 10_001, round(p * 10_001), abs_tol=1e-6)


def test_flips_are_tried_up_to_twelve_clusters_and_drawn_from_thirteen_on() -> None:
    assert flip_test([1.0] * 12) == 2 / 2**12
    assert flip_test([1.0] * 13) != 2 / 2**13
    assert drawn(flip_test([1.0] * 13))
    assert flip_test([1.0] * 200) == 1 / 10_001


def test_the_normal_limit_is_for_more_than_a_thousand() -> None:
    for clusters, by_draws in ((1000, True), (1001, False)):
        some = [(1, 1)] * 540 + [(0, 1)] * (clusters - 540)
        other = [(0, 1)] * 540 + [(1, 1)] * (clusters - 540)
        p = equal_rates(some, other)
        assert p is not None
        assert drawn(p) is by_draws
        hits, ones = (np.arange(clusters) < 530).astype(float), np.ones(clusters)
        assert drawn(exchange_test(hits, ones, 1 - hits, ones)) is by_draws
    assert exchange_test(np.full(50, 4.0), np.full(50, 4.0), np.zeros(50), np.full(50, 4.0)) == 1 / 10_001


def test_without_a_change_in_more_than_a_thousand_clusters_nothing_is_found() -> None:
    assert equal_rates([(0, 4)] * 1001, [(0, 4)] * 1001) == 1.0


def test_strata_weigh_by_their_sizes_in_the_normal_limit_too() -> None:
    """The sum of independent hypergeometric counts, each at its own weight, over its own deviation."""
    draw = np.random.default_rng(11)
    n, m = draw.integers(2, 9, 1500).astype(float), draw.integers(1, 5, 1500).astype(float)
    h, k = (draw.binomial(sizes.astype(int), 0.4).astype(float) for sizes in (n, m))
    k[:100] = 0.0
    assert (h + k > 0).sum() > 1000
    statistic = variance = 0.0
    for hits, size, others, other_size in zip(h, n, k, m, strict=True):
        weight = size / n.sum() / (size * other_size / (size + other_size))  # of a hit more
        whole = size + other_size
        share = (hits + others) / whole
        statistic += weight * (hits - size * share)
        variance += weight**2 * size * share * (1 - share) * other_size / (whole - 1)
    p = 2 * norm.sf(abs(statistic) / math.sqrt(variance))
    assert 0.01 < p < 0.05
    assert exchange_test(h, n, k, m) == pytest.approx(p, rel=1e-6)


def test_strata_weigh_by_their_sizes_among_random_draws() -> None:
    """Two strata whose counts are few enough to be gone through, each at its own weight."""
    hits, sizes = np.array([3.0, 0.0]), np.array([3.0, 5.0])
    other_hits, other_sizes = np.array([1.0, 2.0]), np.array([4.0, 2.0])
    exact = sizes / sizes.sum() * (1 / sizes + 1 / other_sizes)
    total, whole = hits + other_hits, sizes + other_sizes
    moves: list[list[tuple[float, float]]] = [
        [
            (float(weight * (count - good * size / all_)), float(hypergeom.pmf(count, all_, good, size)))
            for count in range(int(good) + 1)
        ]
        for weight, good, size, all_ in zip(exact, total, sizes, whole, strict=True)
    ]
    observed = abs(float(exact @ (hits - total * sizes / whole)))
    far = sum(p * q for a, p in moves[0] for b, q in moves[1] if abs(a + b) >= observed - 1e-9)
    assert 0.05 < far < 0.95
    assert exchange_test(hits, sizes, other_hits, other_sizes) == pytest.approx(far, abs=0.02)


def test_an_interval_is_resampled_from_ten_clusters_on() -> None:
    counts = [(3 * (number % 2), 3) for number in range(10)]
    hits, sizes = [hit for hit, _ in counts], [size for _, size in counts]
    assert rate_by_cluster(hits, sizes) == cluster_bootstrap(hits, sizes) != wilson(5, 10)
    assert rate_by_cluster(hits[:9], sizes[:9]) == pytest.approx(wilson(4, 9))
    none = [(0, 1)] * 10
    assert rate_difference_by_cluster(counts, none) == clustered_rate_difference(counts, none)
    assert rate_difference_by_cluster(counts[:9], none[:9]) == rate_difference((4, 9), (0, 9))
    assert rate_difference_by_cluster([*counts[:9], (0, 0)], [*none[:9], (0, 0)]) == rate_difference(
        (4, 9), (0, 9)
    )
    assert rate_difference_by_cluster([*counts[:8], (0, 0)], none[:9]) == rate_difference((4.5, 9), (0, 9))


def test_where_all_clusters_are_alike_each_counts_as_one_trial() -> None:
    same = rate_difference_by_cluster([(2, 4)] * 12, [(1, 4)] * 12)
    assert same == rate_difference((6, 12), (3, 12))


def test_what_is_drawn_is_decided_by_its_seed() -> None:
    draw = np.random.default_rng(2)
    sizes, other_sizes = draw.integers(5, 99, 40).tolist(), draw.integers(5, 99, 40).tolist()
    hits, other_hits = draw.binomial(sizes, 0.3).tolist(), draw.binomial(other_sizes, 0.35).tolist()
    one, other = [*zip(hits, sizes, strict=True)], [*zip(other_hits, other_sizes, strict=True)]
    a, b, c, d = (np.array(counts, dtype=float) for counts in (hits, sizes, other_hits, other_sizes))
    seeded: list[Callable[..., object]] = [
        lambda *seed: cluster_bootstrap(hits, sizes, *seed),
        lambda *seed: rate_by_cluster(hits, sizes, *seed),
        lambda *seed: clustered_rate_difference(one, other, *seed),
        lambda *seed: rate_difference_by_cluster(one, other, *seed),
        lambda *seed: equal_rates(one, other, *seed),
        lambda *seed: flip_test([hit - 15 for hit in hits], *seed),
        lambda *seed: exchange_test(a, b, c, d, *seed),
    ]
    for number, test in enumerate(seeded):
        assert test(1) == test(1) != test() == test(0), number


@given(st.integers(1, 25), st.data(), st.sampled_from([0.8, 0.95, 0.995]))
def test_the_share_of_a_finite_population_is_held_as_often_as_is_said(
    population: int, data: st.DataObject, confidence: float
) -> None:
    drawn = data.draw(st.integers(0, population))
    intervals = [share_of_all(hits, drawn, population, confidence) for hits in range(drawn + 1)]
    for good in range(population + 1):
        chances = hypergeom(population, good, drawn).pmf(range(drawn + 1))
        held = [low <= good / population <= high for low, high in intervals]
        assert float(chances @ held) >= confidence - 1e-9
    if drawn == population:
        assert all(low == high == hits / population for hits, (low, high) in enumerate(intervals))


@pytest.mark.parametrize("confidence", [0.8, 0.95])
@pytest.mark.parametrize("values", [[0.0] * 40, [1.0] * 3 + [0.0] * 37, [0.3] * 20 + [0.7, 1.0] * 10])
def test_a_mean_of_shares_is_held_as_often_as_is_said(values: list[float], confidence: float) -> None:
    draw, whole = np.random.default_rng(0), np.array(values)
    for number in (1, 7, 25):
        intervals = [
            mean_of_shares(float(draw.permutation(whole)[:number].sum()), number, confidence)
            for _ in range(300)
        ]
        held = [low - 1e-9 <= whole.mean() <= high + 1e-9 for low, high in intervals]
        assert np.mean(held) >= confidence


@given(st.integers(1, 500), st.data())
def test_a_mean_of_shares_is_nearly_that_of_successes(number: int, data: st.DataObject) -> None:
    """Without knowing that values are 0 or 1, it is wider than the exact interval, but not by much."""
    hits = data.draw(st.integers(0, number))
    low, high = mean_of_shares(hits, number)
    exact = binomtest(hits, number).proportion_ci()
    assert low <= exact.low + 1e-9
    assert high >= exact.high - 1e-9
    assert high - low <= 1.5 * (exact.high - exact.low) + 1e-9


@pytest.mark.parametrize("counts", [(-1, 2, 3), (3, 2, 5), (1, 6, 5)])
def test_a_sample_is_a_part_of_its_population(counts: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="drawn from"):
        share_of_all(*counts)


def test_a_confidence_may_be_chosen() -> None:
    hits, sizes = [n % 4 for n in range(40)], [3] * 40
    ratios = resampled(np.column_stack([hits, sizes]).astype(float), 0)
    shares = ratios[:, 0] / ratios[:, 1]
    for confidence in (0.5, 0.9):
        tail = (1 - confidence) / 2
        expected = tuple(np.quantile(shares, [tail, 1 - tail]))
        assert cluster_bootstrap(hits, sizes, 0, confidence) == pytest.approx(expected)
        difference = clustered_rate_difference([*zip(hits, sizes, strict=True)], [(0, 1)] * 40, 0, confidence)
        assert difference is not None
        assert difference.interval[1] - difference.interval[0] < np.ptp(np.quantile(shares, [0.025, 0.975]))
        apart = rate_difference((48, 70), (20, 80), confidence)
        one, two = wilson(48, 70, confidence), wilson(20, 80, confidence)
        assert apart is not None
        assert one is not None
        assert two is not None
        p, q = 48 / 70, 20 / 80
        assert apart.interval == pytest.approx(
            (p - q - math.hypot(p - one[0], two[1] - q), p - q + math.hypot(one[1] - p, q - two[0]))
        )
    assert percentiles(np.arange(101.0)) == pytest.approx((2.5, 97.5))
    assert percentiles(np.arange(101.0), 0.8) == pytest.approx((10.0, 90.0))


def test_a_rate_lacks_what_has_no_trials_in_a_resample() -> None:
    """The second rate rests on one cluster of three: resamples without it say nothing of the difference."""
    found = clustered_rate_difference([(1, 2), (0, 2), (2, 2)], [(1, 1), (0, 0), (0, 0)])
    assert found is not None
    assert found.difference == pytest.approx(-0.5)
    assert -1 <= found.interval[0] <= found.interval[1] <= 0
    turned = clustered_rate_difference([(1, 1), (0, 0), (0, 0)], [(1, 2), (0, 2), (2, 2)])
    assert turned is not None
    assert turned.interval == pytest.approx((-found.interval[1], -found.interval[0]))


def test_a_cluster_without_trials_in_either_rate_is_none() -> None:
    counts = [(1, 2), (0, 2), (2, 2)]
    found = clustered_rate_difference([*counts, (0, 0)], [(0, 1)] * 3 + [(0, 0)])
    assert found == clustered_rate_difference(counts, [(0, 1)] * 3)
    assert clustered_rate_difference([(1, 2), (0, 0)], [(0, 0), (1, 2)]) is not None
    assert equal_rates([*counts, (0, 0)], [(0, 1)] * 3 + [(0, 0)]) == equal_rates(counts, [(0, 1)] * 3)


def test_resamples_are_two_thousand_and_as_large_as_their_rows() -> None:
    rows = np.array([[1.0, 10.0], [1.0, 20.0], [1.0, 40.0]])
    sums = resampled(rows, 3)
    assert sums.shape == (2000, 2)
    assert set(sums[:, 0]) == {3.0}
    assert {30.0, 120.0} <= set(sums[:, 1])
    assert sums[:, 1].mean() == pytest.approx(70.0, abs=2.0)
    rare = resampled(np.array([[1.0], [0.0]]), 3, np.array([1.0, 9.0]))
    assert rare.mean() == pytest.approx(1.0, abs=0.1)
    assert rare.max() <= 10


def test_a_statistic_that_is_larger_by_rounding_alone_is_as_large() -> None:
    values = np.array([0.3, 0.2, 0.1, 0.0])
    assert extreme(values, 0.1 + 0.2, sampled=False) == 1 / 4
    assert extreme(values, 0.1 + 0.2) == 2 / 5
    assert extreme(values * 1e6, (0.1 + 0.2) * 1e6, sampled=False) == 1 / 4
    assert extreme(values, 0.3 + 1e-11, sampled=False) == 0
    assert extreme(values * 1e-6, 0.3e-6 + 1e-11, sampled=False) == 0


def test_differences_that_all_go_down_are_infinitely_so() -> None:
    down = paired_t([-0.3, -0.3])
    assert down is not None
    assert (down.statistic, down.df, down.p) == (-math.inf, 1, 0)
    two = paired_t([-0.3, -0.1])
    assert two is not None
    assert two.statistic == pytest.approx(-2.0)


def test_the_least_that_can_be_detected_with_two_pairs() -> None:
    """With one degree of freedom, 80 % power at 0.05 takes an effect of some 50 standard errors."""
    assert minimum_detectable_effect(2) == pytest.approx(detectable_in_errors(1) / math.sqrt(2))
    critical = t.isf(0.025, 1)
    assert nct.sf(critical, 1, detectable_in_errors(1)) == pytest.approx(0.8)
    assert nct.sf(t.isf(0.05, 20), 20, detectable_in_errors(20, 0.1, 0.95)) == pytest.approx(0.95)
    assert minimum_detectable_effect(0) is None


def test_holm_is_meant_where_nothing_is_said() -> None:
    p_values = [0.01, 0.04, 0.03, 0.005]
    assert adjusted(p_values) == adjusted(p_values, "holm")
    assert adjusted(p_values, family=4) == adjusted(p_values)


def test_both_rates_must_be_of_the_same_clusters() -> None:
    for compare in (clustered_rate_difference, equal_rates):
        with pytest.raises(ValueError, match=r"^both rates must have one entry a cluster$"):
            compare([(1, 2), (1, 2)], [(1, 2)])
    with pytest.raises(ValueError, match=r"^successes and trials must have one entry a cluster$"):
        cluster_bootstrap([1, 2], [3])


def test_a_cluster_with_one_of_both_rates_is_tested_too() -> None:
    """Without repeats of the last two texts, three repeats of one text stand against four of five flips."""
    first, second = [(0, 1), (2, 2), (2, 2)], [(0, 3), (0, 0), (0, 0)]
    # What each adds, less the pooled share of a half: its part of 4/5, and of no flip among 3 repeats.
    added = [-0.5 / 5 + 0.5 * 3 / 3, 1 / 5, 1 / 5]
    every = [
        abs(sum(s * x for s, x in zip(signs, added, strict=True))) for signs in product((1, -1), repeat=3)
    ]
    expected = sum(value >= sum(added) - 1e-12 for value in every) / 8
    assert equal_rates(first, second) == expected
    assert equal_rates(second, first) == expected


few_trials = st.integers(0, 3).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(st.lists(st.tuples(few_trials, few_trials), max_size=6))
def test_neither_of_two_rates_comes_first(counts: list[tuple[tuple[int, int], tuple[int, int]]]) -> None:
    """Also where a cluster has a single trial, of one rate alone."""
    first, second = ([pair[side] for pair in counts] for side in (0, 1))
    one, other = equal_rates(first, second), equal_rates(second, first)
    assert one == other or one == pytest.approx(other)
    first, second = [*first, (0, 0), (0, 1)], [*second, (1, 1), (0, 0)]
    assert equal_rates(first, second) == pytest.approx(equal_rates(second, first))
