"""Delta debugging: what is left still fails, nothing of it can go, and no more is asked than was said."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.answering.reading import Reading
from harness.errors import BudgetSpent
from harness.studies.explaining.shrinking import (
    MOST_TESTS,
    Reduced,
    aligned,
    clauses_of,
    ddmin,
    sentences_of,
    shrink,
)
from tests.studies.explaining.oracles import NO, YES, Scripted, labels_only, rating, said

TEXTS = st.text("ab ,.!?;\n—()", max_size=60)
Failing = Callable[[frozenset[int]], bool]


def reduce(units: int, fails: Failing, limit: int = 10_000) -> tuple[Reduced, list[frozenset[int]]]:
    asked: list[frozenset[int]] = []

    async def test(some: Sequence[int]) -> bool:
        asked.append(frozenset(some))
        return fails(frozenset(some))

    return asyncio.run(ddmin(units, test, limit)), asked


@given(
    st.integers(1, 24).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.integers(0, n - 1), min_size=1)))
)
def test_a_monotone_oracle_gives_its_one_minimum(case: tuple[int, set[int]]) -> None:
    units, needed = case
    found, _ = reduce(units, lambda some: needed <= some)
    assert (list(found.units), found.minimal) == (sorted(needed), True)


@given(st.integers(1, 14), st.integers(0, 10**6))
def test_what_is_left_fails_and_no_unit_of_it_can_go(units: int, seed: int) -> None:
    whole = frozenset(range(units))

    def fails(some: frozenset[int]) -> bool:
        return some == whole or (bool(some) and hash((seed, tuple(sorted(some)))) % 3 == 0)

    found, _ = reduce(units, fails)
    kept = frozenset(found.units)
    assert found.minimal
    assert fails(kept)
    assert len(kept) == 1 or not any(fails(kept - {unit}) for unit in kept)


@given(st.integers(2, 20), st.integers(0, 30))
def test_the_limit_of_tests_holds_and_the_best_so_far_still_fails(units: int, limit: int) -> None:
    needed = frozenset(range(0, units, 2))
    found, asked = reduce(units, lambda some: needed <= some, limit)
    assert len(asked) == found.tests <= limit
    assert needed <= frozenset(found.units)
    assert not found.minimal or frozenset(found.units) == needed


def test_no_set_is_asked_about_twice() -> None:
    _, asked = reduce(16, lambda some: {1, 6, 11} <= some)
    assert len(asked) == len(set(asked))


@given(TEXTS)
def test_sentences_and_clauses_lose_nothing(text: str) -> None:
    sentences = sentences_of(text)
    assert "".join(sentences) == text
    assert all("".join(clauses_of(sentence)) == sentence for sentence in sentences)


@given(st.lists(st.sampled_from("abc")), st.lists(st.sampled_from("abc")))
def test_what_is_aligned_gives_both_sides_back(one: list[str], other: list[str]) -> None:
    pieces = aligned(one, other)
    assert "".join(piece.original for piece in pieces) == "".join(one)
    assert "".join(piece.mutant for piece in pieces) == "".join(other)


def test_both_texts_keep_the_same_sentences_and_clauses() -> None:
    original = "It rained. We met a man, who was kind, and it was bad. Then we left. It was good."
    ask = labels_only(lambda words: not {"woman", "bad"} <= words)
    found = asyncio.run(shrink(ask, original, original.replace("man", "woman")))
    assert found is not None
    assert (found.original, found.mutant) == (
        "We met a man, and it was bad.",
        "We met a woman, and it was bad.",
    )
    assert found.answers == (("Positive",), ("Negative",))
    assert (found.sentences, found.clauses, found.minimal) == ((1, 4), (2, 3), True)


CLAUSES = st.lists(st.integers(1, 5), min_size=1, max_size=4)
"""How many clauses each sentence has."""


def of_clauses(sizes: Sequence[int], person: str) -> str:
    """A text of numbered clauses, each of which names a person."""
    numbers = iter(range(sum(sizes)))
    sentences = (", ".join(f"x{next(numbers)} {person}" for _ in range(size)) for size in sizes)
    return " ".join(f"{sentence.capitalize()}." for sentence in sentences)


def left_out_one_by_one(original: str, mutant: str) -> list[tuple[str, str]]:
    """Both texts without each of their clauses in turn."""
    pieces = [
        clause
        for sentence in aligned(sentences_of(original), sentences_of(mutant))
        for clause in aligned(clauses_of(sentence.original), clauses_of(sentence.mutant))
    ]
    return [
        ("".join(p.original for p in rest).strip(), "".join(p.mutant for p in rest).strip())
        for number in range(len(pieces))
        if (rest := pieces[:number] + pieces[number + 1 :])
    ]


@given(CLAUSES, st.data())
def test_of_texts_of_several_clauses_those_that_are_needed_are_left(
    sizes: list[int], data: st.DataObject
) -> None:
    every = range(sum(sizes))
    needed = data.draw(st.sets(st.sampled_from(every), min_size=1))
    ask = labels_only(lambda words: not {"woman", *(f"x{n}" for n in needed)} <= words)
    found = asyncio.run(shrink(ask, of_clauses(sizes, "man"), of_clauses(sizes, "woman")))
    assert found is not None
    assert {f"x{n}" for n in every if f"x{n} woman" in found.mutant.lower()} == {f"x{n}" for n in needed}
    assert (found.clauses[0], found.minimal) == (len(needed), True)


@given(CLAUSES, st.integers(0, 10**6))
def test_no_clause_of_a_minimal_part_can_go_whatever_the_answers(sizes: list[int], seed: int) -> None:
    """The answers to parts follow no rule: more words may mend what fewer break."""
    original, mutant = of_clauses(sizes, "man"), of_clauses(sizes, "woman")

    def say(text: str) -> Reading:
        draw = Random(f"{seed}/{text}").random()
        return said(NO if text == mutant or (text != original and "woman" in text and draw < 0.5) else YES)

    found = asyncio.run(shrink(Scripted(say), original, mutant, limit=10_000))
    assert found is not None
    assert found.minimal
    for one, other in left_out_one_by_one(found.original, found.mutant):
        assert not say(one).outcome.differs(say(other).outcome)


def test_a_sentence_that_was_added_is_kept_by_itself() -> None:
    found = asyncio.run(
        shrink(labels_only(lambda words: "bad" not in words), "One. Two. Three.", "One. So bad. Two. Three.")
    )
    assert found is not None
    assert (found.original, found.mutant) == ("", "So bad.")


def test_a_part_shows_a_change_of_scores_that_is_half_as_large_and_the_same_way() -> None:
    """Nearly all parts differ a little, one of them the other way round."""
    weights = {"woman": -0.01, "she": -0.3, "her": 0.05}
    original = "A man came. He laughed. It was his day. Nothing else."
    mutant = "A woman came. She laughed. It was her day. Nothing else."
    found = asyncio.run(shrink(rating(weights), original, mutant))
    assert found is not None
    assert (found.original, found.mutant) == ("He laughed.", "She laughed.")
    assert list(found.answers) == pytest.approx([0.5, 0.2])
    assert found.minimal


def test_equal_answers_have_no_part() -> None:
    assert asyncio.run(shrink(labels_only(lambda words: True), "A man.", "A woman.")) is None


@given(st.integers(1, 40), st.integers(0, 12))
def test_shrinking_asks_at_most_two_requests_a_test(sentences: int, limit: int) -> None:
    original = " ".join(f"A man came, number {n}, and left." for n in range(sentences))
    ask = labels_only(lambda words: "woman" not in words or len(words) < 9)
    found = asyncio.run(shrink(ask, original, original.replace("man", "woman"), limit))
    assert len(ask.asked) <= 2 * limit + 4
    if found is not None:
        assert found.tests <= limit
        assert found.answers[0] != found.answers[1]


def test_where_the_budget_ends_the_best_so_far_is_given() -> None:
    left = 7

    def say(text: str) -> Reading:
        nonlocal left
        if (left := left - 1) < 0 and text not in known:
            raise BudgetSpent("spent")
        known.add(text)
        return said(NO if "woman" in text and "bad" in text else YES)

    known: set[str] = set()
    original = "A man came. It was bad. " + "Nothing else. " * 60
    found = asyncio.run(shrink(Scripted(say), original, original.replace("man", "woman")))
    assert found is not None
    assert not found.minimal
    assert len(found.original) < len(original)


def test_a_budget_that_is_spent_before_the_first_answer_is_an_error() -> None:
    def say(text: str) -> Reading:
        raise BudgetSpent("spent")

    with pytest.raises(BudgetSpent):
        asyncio.run(shrink(Scripted(say), "A man.", "A woman.", MOST_TESTS))
