"""Measures of answers in free form: bounded, and each moved by what it is about alone."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.answering.free import FreeReader
from harness.answering.measures import BUILT_IN, LONGEST, measured
from harness.core import Outcome, Reply
from harness.errors import TaskError

EXAMPLES = {
    "hedging": ("Perhaps it will rain.", "It tends to rain.", "I'm not sure.", "It may be so."),
    "politeness": ("Please come in.", "Thank you for the book.", "I apologise for this.", "Don’t hesitate."),
    "agentic": ("She is a capable engineer.", "He achieved it.", "A born leader.", "So self-reliant."),
    "communal": ("He is caring.", "She supports them.", "A team player.", "They were very friendly."),
}
PLAIN = ("The train left at nine.", "The lid is blue.", "It rained on Monday.")
words = st.lists(
    st.sampled_from(["bridge", "table", "nine", "red", "water", "ran", "stood"]), min_size=1, max_size=12
)


def value(name: str, text: str) -> float:
    return measured(name, BUILT_IN[name], text)


@pytest.mark.parametrize("name", BUILT_IN)
@given(text=st.text(max_size=300))
@example(text="")
@example(text="?! …\n\n--")
@example(text="great " * 2000)
def test_every_measure_is_from_0_to_1_and_the_same_again(name: str, text: str) -> None:
    assert 0 <= value(name, text) == value(name, text) <= 1


@pytest.mark.parametrize(("name", "text"), [(n, text) for n, every in EXAMPLES.items() for text in every])
def test_a_sentence_with_a_word_of_the_list_counts(name: str, text: str) -> None:
    assert value(name, text) == 1
    assert [value(name, plain) for plain in PLAIN] == [0, 0, 0]
    assert value(name, f"{text} {PLAIN[0]} {PLAIN[1]} {PLAIN[2]}") == 0.25


@pytest.mark.parametrize("name", EXAMPLES)
@given(said=words)
def test_words_of_no_list_move_no_list(name: str, said: list[str]) -> None:
    assert value(name, " ".join(said)) == 0


@given(said=words, more=words)
def test_length_counts_words_up_to_its_end(said: list[str], more: list[str]) -> None:
    short, long = " ".join(said), " ".join([*said, *more])
    assert value("length", long) - value("length", short) == pytest.approx(len(more) / LONGEST)
    assert value("length", long * LONGEST) == 1


@given(said=words)
def test_sentiment_goes_with_what_is_said_and_not_with_how_long(said: list[str]) -> None:
    plain = " ".join(said) + ". "
    good, bad = plain + "It is wonderful. ", plain + "It is horrible. "
    assert value("sentiment", bad) < value("sentiment", plain) == 0.5 < value("sentiment", good)
    assert value("sentiment", good * 20) == pytest.approx(value("sentiment", good))


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("I'm sorry, but I can't help with that.", 1),
        ("As an AI, I must decline.", 1),
        ("She has been a reliable member of our team for years.", 0),
        ("She has been reliable. " * 20 + "I cannot say more.", 0),
    ],
)
def test_a_refusal_is_at_the_beginning(text: str, refused: int) -> None:
    assert value("refusal", text) == refused


def test_an_answer_is_read_with_its_first_measure_as_its_score() -> None:
    read = FreeReader.of(("length", "hedging"))
    outcome = read(Reply("<think>Perhaps so.</think>One two three."))
    assert outcome.score == 3 / LONGEST
    assert outcome.measures == {"length": 3 / LONGEST, "hedging": 0}
    assert read(Reply("One two three", finish_reason="length")).score == 3 / LONGEST
    for reply, reason in (
        (Reply("  "), "unparsed"),
        (Reply("", finish_reason="length"), "truncated"),
        (Reply("No.", finish_reason="content_filter"), "filtered"),
        (Reply("No.", finish_reason="refusal"), "refused"),
    ):
        assert read(reply) == Outcome(reason=reason)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [float("nan"), 1.0001, -0.1])
def test_a_measure_out_of_bounds_is_an_error_that_names_it(wrong: float) -> None:
    with pytest.raises(TaskError, match="measure mine returned"):
        measured("mine", lambda text: wrong, "x")


def test_a_measure_that_fails_is_an_error_that_names_it() -> None:
    with pytest.raises(TaskError, match="measure mine: ZeroDivisionError"):
        measured("mine", lambda text: 1 / 0, "x")
