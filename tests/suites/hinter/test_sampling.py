"""A sample is closed under sub-mutants, decided by its seed, even over terms, and weighted to the whole."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import prod
from statistics import fmean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.suites import lexicon
from harness.suites.hinter.mutation import Mutation, Variations, mutations, unique, variations
from harness.suites.hinter.sampling import draw, least, sizes

DICTIONARY = lexicon.parse(
    "\n".join(
        f"attribute.{name}.pairs = {[[source, f'{source}{i}'] for source, n in terms for i in range(n)]}"
        for name, terms in {
            "race": [("black", 8), ("white", 2), ("brown", 1)],
            "gender": [("man", 5), ("boy", 5)],
            "body": [("old", 3)],
        }.items()
    )
)
TEXT = "the old black man met a white boy in brown"


def found() -> Variations:
    return unique(variations(TEXT, DICTIONARY, DICTIONARY.find(TEXT), lambda offset: None))[0]


def available() -> dict[str, int]:
    return {name: len(some) for name, some in found().items()}


def pairs_of(one: Mutation) -> frozenset[tuple[str, str, str]]:
    return frozenset(v.substitution.pair for v in one)


@given(
    st.dictionaries(st.sampled_from("abcd"), st.integers(1, 40), min_size=1),
    st.integers(1, 3),
    st.none() | st.integers(1, 20),
    st.none() | st.integers(0, 200),
)
def test_sizes_keep_to_both_limits(counts: dict[str, int], order: int, pairs: int | None, more: int) -> None:
    mutants = None if more is None else least(len(counts), order) + more
    drawn = sizes(counts, order, pairs, mutants)
    assert all(1 <= drawn[name] <= min(n, pairs or n) for name, n in counts.items())
    groups = (some for size in range(1, order + 1) for some in combinations(drawn.values(), size))
    made = sum(map(prod, groups))
    assert mutants is None or made <= mutants
    if pairs is None and mutants is None:
        assert drawn == counts


@given(st.integers(1, 9), st.integers(1, 3), st.text(max_size=5))
def test_a_sample_is_closed_under_sub_mutants(pairs: int, order: int, seed: str) -> None:
    size = sizes(available(), order, pairs, None)
    chosen = draw(found(), size, seed)
    assert {name: len(some) for name, some in chosen.items()} == size
    for name, some in chosen.items():
        drawn = [v.substitution.pair for v in some]
        assert [p for p in (v.substitution.pair for v in found()[name]) if p in drawn] == drawn, "in order"
    made = {pairs_of(one) for one in mutations(chosen, order)}
    for key in made:
        for length in range(1, len(key)):
            assert {frozenset(part) for part in combinations(key, length)} <= made


def test_a_sample_is_decided_by_its_seed() -> None:
    size = sizes(available(), 2, 2, None)
    assert draw(found(), size, "0/a") == draw(found(), size, "0/a")
    different = {tuple(v.substitution.pair for v in draw(found(), size, str(i))["race"]) for i in range(20)}
    assert len(different) > 5
    assert draw(found(), available(), "0") == found()


def test_every_term_and_every_place_in_a_list_gets_its_share() -> None:
    size = {"race": 3, "gender": 2, "body": 1}
    samples = [draw(found(), size, str(i)) for i in range(2000)]
    terms = Counter(v.substitution.source for some in samples for v in some["race"])
    assert terms == {"black": 2000, "white": 2000, "brown": 2000}
    places = Counter(v.substitution.target for some in samples for v in some["gender"])
    assert len(places) == 10
    assert all(320 <= n <= 480 for n in places.values()), places  # 400 expected; 4 standard deviations


@pytest.mark.parametrize("limit", [6, 14, 40])
def test_weights_estimate_totals_of_all_mutants(limit: int) -> None:
    """Of any property of mutants, here of two that depend on the terms; over seeds, without bias."""
    whole = list(mutations(found(), 2))
    size = sizes(available(), 2, None, limit)

    def black(one: Mutation) -> bool:
        return "black" in {v.substitution.source for v in one}

    def first(one: Mutation) -> bool:
        return any(v.substitution.target.endswith("0") for v in one)

    samples = [list(mutations(draw(found(), size, str(i)), 2)) for i in range(1500)]
    for holds in (black, first):
        truth = sum(map(holds, whole))
        estimates = [sum(prod(v.weight for v in one) for one in made if holds(one)) for made in samples]
        error = stdev(estimates) / len(estimates) ** 0.5
        assert abs(fmean(estimates) - truth) < 4.5 * error + 1e-9, (fmean(estimates), truth)
