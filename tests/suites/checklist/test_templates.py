"""Filling templates: slots, fields, articles, capitals, and what is drawn."""

from __future__ import annotations

import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.suites.checklist.templates import Template, in_turn

WORDS = {
    "city": [{"": [name]} for name in ("Oslo", "Lima", "Cairo")],
    "job": [{"": [name]} for name in ("actor", "baker", "heir", "user")],
    "dish": [{"noun": ["soup", "stew"], "good": ["tasty"]}, {"noun": ["cake"], "good": ["sweet", "airy"]}],
}


def fillings(text: str, at_most: int = 100, seed: int = 0) -> list[str]:
    return [texts[0] for texts in Template((text,)).filled(WORDS, at_most, Random(seed))]


@given(st.sampled_from(["{city}", "{job} in {city}", "{city} and {city2}", "{dish.noun} is {dish.good}"]),
       st.integers(1, 20), st.integers())  # fmt: skip
def test_fillings_are_different_and_of_the_seed(text: str, at_most: int, seed: int) -> None:
    made = fillings(text, at_most, seed)
    assert 0 < len(made) <= at_most
    assert len(set(made)) == len(made)
    assert made == fillings(text, at_most, seed)
    assert not any("{" in filled for filled in made)


def test_every_filling_is_there() -> None:
    assert sorted(fillings("{city} {dish.noun}")) == sorted(
        f"{city} {dish}" for city in ("Oslo", "Lima", "Cairo") for dish in ("soup", "stew", "cake")
    )


def test_a_slot_has_one_word_and_its_numbers_have_others() -> None:
    for made in fillings("{city}, {city} and {city2}"):
        first, second, third = re.findall(r"\w+(?=,| and|$)", made)
        assert first == second != third


def test_the_fields_of_a_slot_are_of_one_entry() -> None:
    assert set(fillings("the {dish.noun}: {dish.good}")) == {
        "the soup: tasty", "the stew: tasty", "the cake: sweet", "the cake: airy",
    }  # fmt: skip


def test_articles_and_capitals_fit() -> None:
    made = set(fillings("{a:job} came. {job2} saw it."))
    assert "An actor came. Baker saw it." in made
    assert "A user came. Heir saw it." in made
    assert "An heir came. User saw it." in made


def test_texts_are_filled_together() -> None:
    texts = list(Template(("{city} is far.", "Is {city} far?")).filled(WORDS, 9, Random(0)))
    assert {(one.split()[0], other.split()[1]) for one, other in texts} == {
        (city, city) for city in ("Oslo", "Lima", "Cairo")
    }


@given(st.integers(2, 5), st.integers())
def test_only_the_slot_that_varies_varies(variants: int, seed: int) -> None:
    template = Template(("The {job} went to {city}.",))
    cases = list(template.varied(WORDS, "city", variants, 10, Random(seed)))
    assert len(cases) == 4
    for texts in cases:
        assert len(set(texts)) == len(texts) == min(variants, 3)
        assert len({text.split(" went")[0] for text in texts}) == 1


def test_what_varies_is_no_word_of_another_slot() -> None:
    template = Template(("From {city} to {city2}.",))
    for texts in template.varied(WORDS, "city2", 5, 10, Random(0)):
        assert len(texts) == 2
        assert all(text.split()[1] != text.split()[3].strip(".") for text in texts)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{town}", "there is no lexicon 'town'"),
        ("{dish}", "no entry of the lexicon 'dish' has a plain word"),
        ("{dish.bad}", "no entry of the lexicon 'dish' has 'bad'"),
        ("{city.name}", "no entry of the lexicon 'city' has 'name'"),
        ("{the city}", "'{the city}' is no slot"),
        ("{city", "'{city' is no slot"),
        ("city}", "'}' is no slot"),
    ],
)
def test_what_is_wrong_with_a_slot_is_said(text: str, says: str) -> None:
    assert (Template((text,)).problem(WORDS) or "").startswith(says)
    assert Template(("{a:job} of {city2} had {dish.noun}",)).problem(WORDS) is None


def test_sources_take_turns() -> None:
    assert [texts[0] for texts in in_turn(map(iter, ([("a",), ("b",)], [("x",)])))] == ["a", "x", "b"]
