"""The margin says how near an answer was to the other label."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.answering.margin import NEAR_TIE, log_odds, margin, probabilities, shift
from harness.core import Reply, Token

LABELS = ("Negative", "Positive")


def reply(*tokens: Token) -> Reply:
    return Reply("x", logprobs=tokens)


def test_the_gap_at_the_first_token() -> None:
    token = Token("Positive", -0.5, (("Positive", -0.5), ("Negative", -0.55), ("The", -3.0)))
    found = margin(reply(token), "Positive", LABELS)
    assert found == pytest.approx(0.05)
    assert found is not None
    assert found < NEAR_TIE


def test_a_label_in_pieces_and_behind_a_quotation_mark() -> None:
    tokens = (Token('"', -0.1), Token("Pos", -0.2, (("Pos", -0.2), ("Neg", -1.7))), Token("itive", -0.0))
    assert margin(reply(*tokens), "Positive", LABELS) == pytest.approx(1.5)


def test_labels_with_a_common_beginning_part_later() -> None:
    tokens = (Token("Article", -0.1), Token(" 2", -0.3, ((" 2", -0.3), (" 3", -2.3))))
    assert margin(reply(*tokens), "Article 2", ("Article 2", "Article 3")) == pytest.approx(2.0)


def test_a_rival_that_is_not_listed_is_less_likely_than_the_last_that_is() -> None:
    token = Token("Positive", -0.1, (("Positive", -0.1), ("The", -2.0), ("A", -4.0)))
    assert margin(reply(token), "Positive", LABELS) == pytest.approx(3.9)


@pytest.mark.parametrize("tokens", [(), (Token("The", -0.1, (("The", -0.1),)),), (Token("Positive", -0.1),)])
def test_where_nothing_is_known(tokens: tuple[Token, ...]) -> None:
    assert margin(reply(*tokens), "Positive", LABELS) is None


@given(st.floats(-20, 0), st.floats(-20, 0))
def test_the_margin_of_one_label_is_minus_that_of_the_other(one: float, other: float) -> None:
    top = (("Positive", one), ("Negative", other))
    assert margin(reply(Token("Positive", one, top)), "Positive", LABELS) == pytest.approx(one - other)
    assert margin(reply(Token("Negative", other, top)), "Negative", LABELS) == pytest.approx(other - one)


# Probabilities over the labels


def test_probabilities_are_normalised_over_the_labels() -> None:
    token = Token("Positive", math.log(0.6), (("Positive", math.log(0.6)), ("Neg", math.log(0.2)), ("A", -3)))
    found = probabilities(reply(token), LABELS)
    assert found == pytest.approx({"Negative": 0.25, "Positive": 0.75})
    odds = log_odds(reply(token), LABELS)
    assert odds == pytest.approx({"Negative": -math.log(3), "Positive": math.log(3)})


def test_ways_to_write_one_label_are_added() -> None:
    top = (("Positive", math.log(0.3)), ("positive", math.log(0.3)), (" Negative", math.log(0.2)))
    found = probabilities(reply(Token('"', -0.1), Token("Positive", math.log(0.3), top)), LABELS)
    assert found == pytest.approx({"Negative": 0.25, "Positive": 0.75})


def test_three_labels() -> None:
    top = (("A", math.log(0.5)), ("B", math.log(0.25)), ("C", math.log(0.25)))
    odds = log_odds(reply(Token("A", math.log(0.5), top)), ("A", "B", "C"))
    assert odds == pytest.approx(
        {
            "A": 0.0,
            "B": -math.log(3),
            "C": -math.log(3),
        }
    )


def test_labels_that_begin_alike_part_later_on_the_path() -> None:
    labels = ("Article 2", "Article 3", "None")
    first = Token("Article", math.log(0.8), (("Article", math.log(0.8)), ("None", math.log(0.2))))
    second = Token(" 2", math.log(0.5), ((" 2", math.log(0.5)), (" 3", math.log(0.5))))
    found = probabilities(reply(first, second), labels)
    assert found == pytest.approx(
        {
            "Article 2": 0.4,
            "Article 3": 0.4,
            "None": 0.2,
        }
    )


def test_a_label_that_begins_another_ends_where_no_word_follows() -> None:
    labels = ("trade", "trade policy")
    first = Token("trade", -0.1, (("trade", -0.1),))
    end = Token("<|im_end|>", math.log(0.9), (("<|im_end|>", math.log(0.9)), (" policy", math.log(0.1))))
    found = probabilities(reply(first, end), labels)
    assert found == pytest.approx({"trade": 0.9, "trade policy": 0.1})
    assert probabilities(reply(first), labels) is None


@pytest.mark.parametrize(
    ("tokens", "labels"),
    [
        ((), LABELS),
        ((Token("Positive", -0.1, (("Positive", -0.1), ("The", -3.0))),), LABELS),
        ((Token("The", -0.1, (("Positive", -0.1), ("Negative", -3.0))),), LABELS),
        # Off the path, "trade" may be either.
        ((Token("budget", -0.1, (("trade", -3.0),)),), ("budget", "trade", "trade policy")),
        ((Token("A", -0.1),), ()),
        ((Token("A", -0.1),), ("A", "a")),
    ],
)
def test_no_probability_is_made_up(tokens: tuple[Token, ...], labels: tuple[str, ...]) -> None:
    assert probabilities(reply(*tokens), labels) is None
    assert log_odds(reply(*tokens), labels) is None
    assert shift(reply(*tokens), reply(*tokens), "Positive", labels) is None


def test_a_mutation_that_flips_nothing_still_shifts() -> None:
    before = reply(Token("Positive", -0.1, (("Negative", -3.1),)))
    after = reply(Token("Positive", -0.5, (("Negative", -1.5),)))
    assert shift(before, after, "Positive", LABELS) == pytest.approx(-2.0)
    assert shift(after, before, "Positive", LABELS) == pytest.approx(2.0)
    assert shift(before, after, "Mixed", LABELS) is None


@given(st.lists(st.floats(-40, 0), min_size=2, max_size=4))
def test_probabilities_sum_to_one_and_agree_with_the_odds(logs: list[float]) -> None:
    labels = ("Yes", "No", "Maybe", "Other")[: len(logs)]
    top = tuple(zip(labels, logs, strict=True))
    said = reply(Token(labels[0], logs[0], top))
    found, odds = probabilities(said, labels), log_odds(said, labels)
    assert found is not None
    assert odds is not None
    assert sum(found.values()) == pytest.approx(1.0)
    assert found == pytest.approx({label: 1 / (1 + math.exp(-odds[label])) for label in labels})
    assert shift(said, said, labels[0], labels) == 0.0


@given(st.floats(-20, 0), st.floats(-20, 0))
def test_with_two_labels_the_log_odds_are_the_margin(one: float, other: float) -> None:
    said = reply(Token("Positive", one, (("Positive", one), ("Negative", other))))
    odds = log_odds(said, LABELS)
    assert odds is not None
    assert odds["Positive"] == pytest.approx(margin(said, "Positive", LABELS))
