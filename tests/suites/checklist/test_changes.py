"""Changes by name: what they do to a text, and what they leave alone."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.suites.checklist import changes, definitions
from harness.suites.checklist.changes import Change

WORDS = definitions.bundled()
TEXT = st.lists(
    st.sampled_from(
        ("the", "waiter", "wonderful", "coffee", "Ann", "12", "euros", "Lima,", "quite", "trial")
    ),
    min_size=1,
    max_size=12,
).map(" ".join)


def changed(change: Change, text: str, seed: int = 0) -> str:
    return change.changed(text, Random(seed), WORDS)


def test_every_change_has_its_name() -> None:
    union = get_args(get_args(changes.AnyChange)[0])
    assert tuple(kind.model_fields["by"].default for kind in union) == changes.CHANGES


@given(TEXT, st.integers(1, 3), st.integers())
def test_a_typing_error_turns_two_letters_within_a_word(text: str, count: int, seed: int) -> None:
    made = changed(changes.Typos(count=count), text, seed)
    pairs = [(old, new) for old, new in zip(text.split(), made.split(), strict=True) if old != new]
    assert len(pairs) in (0, count)
    for old, new in pairs:
        assert Counter(old) == Counter(new)
        assert (old[0], old[-1]) == (new[0], new[-1])
        assert old.islower()
        assert len(old) >= 5
        assert old not in ("quite", "trial")


@given(TEXT, st.sampled_from(changes.CHANGES), st.integers())
def test_a_change_is_of_its_random_numbers(text: str, name: str, seed: int) -> None:
    given = {"append": {"texts": ["So be it.", "It was so."]}, "swap": {"lexicons": ["city"]}}
    given["prepend"] = given["append"]
    kind = next(k for k in get_args(get_args(changes.AnyChange)[0]) if k.model_fields["by"].default == name)
    change = kind(**given.get(name, {}))
    assert changed(change, text, seed) == changed(change, text, seed)


@pytest.mark.parametrize(
    ("full", "short"),
    [
        ("It is good, and I am glad.", "It's good, and I'm glad."),
        ("We did not wait. They will not mind.", "We didn't wait. They won't mind."),
        ("I cannot say that you are right.", "I can't say that you're right."),
        ("Is not that odd?", "Isn't that odd?"),
    ],
)
def test_short_and_full_forms(full: str, short: str) -> None:
    assert changed(changes.Contract(), full) == short
    assert changed(changes.Expand(), short) == full


@pytest.mark.parametrize("text", ["Yes, it is.", "I know what it is", "She waits for what is."])
def test_a_verb_at_the_end_is_not_shortened(text: str) -> None:
    assert changed(changes.Contract(), text) == text


@pytest.mark.parametrize("text", ["It's been long.", "He's got it."])
def test_what_may_be_has_is_not_made_is(text: str) -> None:
    assert changed(changes.Expand(), text) == text


@pytest.mark.parametrize(
    ("change", "text", "made"),
    [
        (changes.UpperCase(), "So be it.", "SO BE IT."),
        (changes.LowerCase(), "So Be It.", "so be it."),
        (changes.StripPunctuation(), "Well, 3.5 is it! A.B. said so...", "Well 3.5 is it A.B said so"),
        (changes.Append(texts=("It rained.",)), "So be it.", "So be it. It rained."),
        (changes.Prepend(texts=("It rained.",)), "So be it.", "It rained. So be it."),
        (changes.Negate(), "The room was clean.", "The room was not clean."),
        (changes.Negate(), "I can see it.", "I cannot see it."),
        (changes.Negate(), "I would call it good.", "I would not call it good."),
        (changes.Negate(), "It was not clean.", "It was not clean."),
        (changes.Negate(), "Nobody is there.", "Nobody is there."),
        (changes.Negate(), "We ate.", "We ate."),
    ],
)
def test_what_a_change_makes(change: Change, text: str, made: str) -> None:
    assert changed(change, text) == made


@given(st.integers())
def test_spaces_alone_grow(seed: int) -> None:
    text = "My son says that it is boring."
    made = changed(changes.Spaces(), text, seed)
    assert made != text
    assert made.split() == text.split()


@given(st.integers())
def test_a_handle_stands_before_and_an_address_after(seed: int) -> None:
    assert changed(changes.Handle(), "So be it.", seed).endswith(" So be it.")
    assert changed(changes.Handle(), "So be it.", seed).startswith("@")
    assert changed(changes.Url(), "So be it.", seed).startswith("So be it. https://example.com/")


@given(st.integers(2, 99_999), st.integers())
def test_another_number_has_as_many_digits(number: int, seed: int) -> None:
    made = changed(changes.Numbers(), f"Room {number} was ours.", seed).split()[1]
    assert len(made) == len(str(number))
    assert int(made) != number
    assert int(made) > 1


@pytest.mark.parametrize(
    "text", ["8/10", "4 stars", "50 %", "9 out of 10", "3.5", "A320", "1 of us", "10:30"]
)
def test_marks_and_parts_of_words_stay(text: str) -> None:
    assert changed(changes.Numbers(), f"I give it {text} today.") == f"I give it {text} today."


@given(st.integers())
def test_a_name_gives_way_to_one_of_the_same_gender_throughout(seed: int) -> None:
    made = changed(changes.Names(), "Emma met Peter, and Emma left.", seed)
    first, second, third = (made.split()[place].strip(",") for place in (0, 2, 4))
    assert first == third != "Emma"
    women, men = ({entry[""][0] for entry in WORDS[name]} for name in ("woman", "man"))
    assert first in women
    assert second in men - {"Peter"}


@given(st.integers())
def test_two_places_stay_two(seed: int) -> None:
    made = changed(changes.Places(), "From Oslo to Lima.", seed).strip(".").split()
    assert made[1] != made[3]
    assert {made[1], made[3]}.isdisjoint({"Oslo", "Lima"})


def test_the_article_goes_with_the_word() -> None:
    words = {"fruit": [{"": ["apple"]}, {"": ["pear"]}]}
    swap = changes.Swap(lexicons=("fruit",))
    assert swap.changed("I had an apple.", Random(0), words) == "I had a pear."
    assert swap.changed("A pear, then.", Random(0), words) == "An apple, then."
