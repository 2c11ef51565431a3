"""Mutants are the original with whole words exchanged, each attribute at most once, all places at once."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, permutations
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.suites import lexicon
from harness.suites.hinter.mutation import Variations, mutant, mutations, unique, variations
from harness.suites.lexicon import Lexicon
from tests.suites.hinter import literal


def words(**attributes: list[list[str]]) -> Lexicon:
    return lexicon.parse("\n".join(f"attribute.{name}.pairs = {rows}" for name, rows in attributes.items()))


def untagged(offset: int) -> None:
    return None


def variations_of(text: str, lexicon: Lexicon) -> Variations:
    return variations(text, lexicon, lexicon.find(text), untagged)


def mutants(text: str, lexicon: Lexicon, order: int) -> dict[tuple[tuple[str, str, str], ...], str]:
    """The mutants' texts by their pairs."""
    found, _ = unique(variations_of(text, lexicon))
    made = list(mutations(found, order))
    by_pairs = {tuple(v.substitution.pair for v in one): mutant(text, one) for one in made}
    assert len(by_pairs) == len(made)
    return by_pairs


FIGURE_1 = words(race=[["black", "white"]], gender=[["man", "woman"]])


def test_figure_1_of_the_paper() -> None:
    text = "In a black man's world"
    assert mutants(text, FIGURE_1, 2) == {
        (("race", "black", "white"),): "In a white man's world",
        (("gender", "man", "woman"),): "In a black woman's world",
        (("race", "black", "white"), ("gender", "man", "woman")): "In a white woman's world",
    }
    assert len(mutants(text, FIGURE_1, 1)) == 2


def test_no_replacement_is_replaced_again() -> None:
    # T1: man -> black man -> white man.
    chain = words(gender=[["man", "black man"]], race=[["black", "white"], ["white", "black"]])
    assert set(mutants("a man, a white dog", chain, 2).values()) == {
        "a black man, a white dog",
        "a man, a black dog",
        "a black man, a black dog",
    }


def test_all_occurrences_are_replaced_whatever_their_case() -> None:
    text = "Man to man, the MAN's man was no human, no man-of-war. A man!"
    assert set(mutants(text, words(gender=[["man", "old man"]]), 1).values()) == {
        "Old man to old man, the OLD MAN's old man was no human, no man-of-war. An old man!"
    }


def test_articles_of_each_mutant_follow_its_own_words() -> None:
    two = words(race=[["British", "American"]], gender=[["actor", "nurse"]])
    assert list(mutants("a British man, an actor", two, 2).values()) == [
        "an American man, an actor",
        "a British man, a nurse",
        "an American man, a nurse",
    ]


@pytest.mark.parametrize("order", [1, 2, 3])
@given(st.lists(st.integers(0, 4), min_size=3, max_size=3))
def test_counts_are_products_of_pairs(order: int, pairs: list[int]) -> None:
    """Algorithm 1 pairs every p1 with every p2; a further attribute multiplies again."""
    names = ["a", "b", "c"]
    three = Lexicon(
        {
            name: lexicon.parse(f"attribute.{name}.pairs = {[[f'{name}x', f'{name}{i}'] for i in range(n)]}")
            .select([name])
            .attributes[name]
            for name, n in zip(names, pairs, strict=True)
            if n
        }
    )
    made = mutants("An ax or a bx, the cx and the ax.", three, order)
    sizes = Counter(len(key) for key in made)
    expected = {
        size: sum(prod(chosen) for chosen in combinations(pairs, size)) for size in range(1, order + 1)
    }
    assert {size: sizes[size] for size in expected} == expected
    assert len(set(made.values())) == len(made)


SIMPLE_WORDS = ["one", "two", "red", "blue", "six", "ten"]


@given(
    st.lists(st.sampled_from([*SIMPLE_WORDS, "and", "of"]), max_size=12).map(" ".join),
    st.permutations(SIMPLE_WORDS),
    st.lists(st.integers(1, 2), min_size=3, max_size=3),
)
def test_mutants_are_those_of_algorithms_1_and_2(text: str, order: list[str], sizes: list[int]) -> None:
    """Against the paper's str.replace, on texts and words where it does no harm (see ``literal``)."""
    sources = order[:3]
    table = {
        name: [(source, f"{source[::-1]}{i}") for i in range(size)]
        for name, source, size in zip(("a", "b", "c"), sources, sizes, strict=True)
    }
    three = words(**{name: [list(pair) for pair in pairs] for name, pairs in table.items()})
    made = mutants(text, three, 2)
    atomic = {m for pairs in table.values() for m in literal.algorithm_2(text, pairs)}
    assert {m for key, m in made.items() if len(key) == 1} == atomic
    higher = [
        literal.algorithm_1(text, table[first], table[second]) for first, second in combinations(table, 2)
    ]
    assert {m for key, m in made.items() if len(key) == 2} == {m for some in higher for _, _, m in some}
    for first, second in permutations(table, 2):
        for one, other, both in literal.algorithm_1(text, table[first], table[second]):
            assert {one, other, both} <= set(made.values())


def test_variations_that_touch_the_same_words_are_never_combined() -> None:
    overlapping = words(
        body=[["old man", "young man"], ["man", "blind man"]],
        gender=[["man", "woman"], ["king", "queen"]],
    )
    made = mutants("an old man and the king", overlapping, 2)
    assert [key for key in made if len(key) == 2] == [
        (("body", "old man", "young man"), ("gender", "king", "queen"))
    ]
    # Elsewhere in the text, the same pairs may be combined: only the places count.
    apart = mutants("an old fellow, a man, the king", overlapping, 2)
    assert sum(len(key) == 2 for key in apart) == 1


def test_a_document_without_any_term_has_no_variation() -> None:
    assert variations_of("nothing of the kind", FIGURE_1) == {}
    assert list(variations_of("a black hole", FIGURE_1)) == ["race"]


def test_forms_of_one_pronoun_are_one_pair() -> None:
    pronouns = words(gender=[["her", "him"], ["her", "his"], ["his", "her"], ["his", "hers"]])
    assert mutants("I saw her and her dog, and his dog and his.", pronouns, 1) == {
        (("gender", "her", "him/his"),): "I saw him and his dog, and his dog and his.",
        (("gender", "his", "her/hers"),): "I saw her and her dog, and her dog and hers.",
    }


def test_an_equal_mutant_of_one_attribute_is_a_duplicate() -> None:
    twice = words(gender=[["man", "woman"], ["man", "Woman"], ["man", "lady"]])
    found, duplicates = unique(variations_of("MAN OVERBOARD", twice))
    assert [v.substitution.target for v in found["gender"]] == ["woman", "lady"]
    assert [v.substitution.target for v in duplicates] == ["Woman"]


@given(st.text(st.sampled_from("aAn mMwo.\n-’'ſ"), max_size=40))
def test_what_is_not_a_term_is_left_as_it_is(text: str) -> None:
    for changed in mutants(text, words(gender=[["man", "woman"]]), 1).values():
        assert changed.lower().replace("woman", "man") == text.lower()
