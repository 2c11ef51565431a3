"""The margin says how near an answer was to the other label."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.answering.margin import NEAR_TIE, margin
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
