"""The margin says how near an answer was to the other label."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.answering.margin import (
    expectation,
    log_odds,
    margin,
    mass,
    probabilities,
    set_margin,
    together,
)
from harness.core import Margin, Reply, Token

LABELS = ("Negative", "Positive")


def exactly(found: Margin | None) -> float:
    """The margin, which is known and no bound."""
    assert found is not None
    assert not found.is_bound
    return found.value


def reply(*tokens: Token) -> Reply:
    return Reply("x", logprobs=tokens)


def test_the_gap_at_the_first_token() -> None:
    token = Token("Positive", -0.5, (("Positive", -0.5), ("Negative", -0.55), ("The", -3.0)))
    found = margin(reply(token), "Positive", LABELS)
    assert exactly(found) == pytest.approx(0.05)
    assert found is not None
    assert found.near_tie


def test_a_label_in_pieces_and_behind_a_quotation_mark() -> None:
    tokens = (Token('"', -0.1), Token("Pos", -0.2, (("Pos", -0.2), ("Neg", -1.7))), Token("itive", -0.0))
    assert exactly(margin(reply(*tokens), "Positive", LABELS)) == pytest.approx(1.5)


def test_labels_with_a_common_beginning_part_later() -> None:
    tokens = (Token("Article", -0.1), Token(" 2", -0.3, ((" 2", -0.3), (" 3", -2.3))))
    assert exactly(margin(reply(*tokens), "Article 2", ("Article 2", "Article 3"))) == pytest.approx(2.0)


def test_a_rival_that_is_not_listed_is_less_likely_than_the_last_that_is() -> None:
    token = Token("Positive", -0.1, (("Positive", -0.1), ("The", -2.0), ("A", -4.0)))
    found = margin(reply(token), "Positive", LABELS)
    assert found is not None
    assert found.is_bound
    assert found.value == pytest.approx(3.9)


@pytest.mark.parametrize("tokens", [(), (Token("The", -0.1, (("The", -0.1),)),), (Token("Positive", -0.1),)])
def test_where_nothing_is_known(tokens: tuple[Token, ...]) -> None:
    assert margin(reply(*tokens), "Positive", LABELS) is None


@given(st.floats(-20, 0), st.floats(-20, 0))
def test_the_margin_of_one_label_is_minus_that_of_the_other(one: float, other: float) -> None:
    top = (("Positive", one), ("Negative", other))
    assert exactly(margin(reply(Token("Positive", one, top)), "Positive", LABELS)) == pytest.approx(
        one - other
    )
    assert exactly(margin(reply(Token("Negative", other, top)), "Negative", LABELS)) == pytest.approx(
        other - one
    )


# A label that goes on where another one ends

TRADE = ("trade", "trade policy", "budget")


def traded(end: float, policy: float, budget: float = -9.0, ends_with: str = "<|im_end|>") -> Reply:
    """ "trade", then its end or " policy", of these log-probabilities."""
    first = Token("trade", -0.1, (("trade", -0.1), ("budget", budget)))
    top = ((ends_with, end), (" policy", policy))
    return reply(first, Token(*max(top, key=lambda one: one[1]), top=top))


def test_the_token_behind_a_label_decides_whether_it_was_the_longer_one() -> None:
    assert exactly(margin(traded(-0.1, -0.15), "trade", TRADE)) == pytest.approx(0.05)
    assert exactly(margin(traded(-2.0, -0.3), "trade policy", TRADE)) == pytest.approx(1.7)
    assert margin(traded(-2.0, -0.3), "trade", TRADE) is None
    assert exactly(margin(traded(-0.1, -7.0, budget=-0.2), "trade", TRADE)) == pytest.approx(0.1)


@pytest.mark.parametrize("end", ["<|im_end|>", "", ".", "\n", ", "])
def test_whatever_is_no_word_ends_a_label(end: str) -> None:
    assert exactly(margin(traded(-0.5, -1.5, ends_with=end), "trade", TRADE)) == pytest.approx(1.0)


def test_where_the_token_behind_a_label_is_not_listed_nothing_is_known() -> None:
    first = Token("trade", -0.1, (("trade", -0.1), ("budget", -9.0)))
    assert margin(reply(first), "trade", TRADE) is None
    assert margin(reply(first, Token("<|im_end|>", -0.1)), "trade", TRADE) is None
    assert exactly(margin(reply(first), "trade", ("trade", "budget"))) == pytest.approx(8.9)


@given(st.floats(-20, 0), st.floats(-20, 0))
def test_of_a_label_and_its_extension_the_log_odds_are_the_margin(end: float, policy: float) -> None:
    labels, said = TRADE[:2], traded(end, policy)
    odds = log_odds(said, labels)
    label = "trade" if end >= policy else "trade policy"
    assert odds is not None
    assert exactly(margin(said, label, labels)) == pytest.approx(odds[label])


SYLLABLES = ("na", "nav", "al", " ba", "se")
NAMES = st.lists(st.sampled_from(SYLLABLES), min_size=1, max_size=3).map("".join)


@given(st.data())
def test_no_label_more_makes_an_answer_surer(data: st.DataObject) -> None:
    """Of what a model says greedily, token by token, whatever else it might have said."""
    tokens = []
    for syllable in [*data.draw(st.lists(st.sampled_from(SYLLABLES), min_size=1, max_size=3)), "."]:
        others = data.draw(st.dictionaries(st.sampled_from([*SYLLABLES, "."]), st.floats(-9, -1)))
        own = data.draw(st.floats(-1, 0))
        tokens.append(Token(syllable, own, ((syllable, own), *(others | {syllable: own}).items())))
    label = "".join(token.text for token in tokens[:-1])
    labels = data.draw(st.sets(NAMES, min_size=1, max_size=4)) - {label}
    found = margin(reply(*tokens), label, (label, *labels))
    assert found is None or found.value >= 0
    if found is not None:
        for other in labels if len(labels) > 1 else ():
            fewer = margin(reply(*tokens), label, (label, *(labels - {other})))
            assert fewer is not None
            assert found.near_tie or found.value <= fewer.value + 1e-9


# Sets of labels


def sigmoid(logit: float) -> float:
    """Its natural logarithm."""
    return -math.log1p(math.exp(-logit)) if logit >= 0 else logit - math.log1p(math.exp(logit))


@given(st.dictionaries(st.sampled_from("ABCDE"), st.floats(-30, 30), min_size=1))
def test_a_set_is_as_sure_as_the_label_nearest_to_the_threshold(logits: dict[str, float]) -> None:
    words = ", ".join(label for label, logit in logits.items() if logit >= 0) or "None"
    token = Token(words, -1.0, tuple((label, sigmoid(logit)) for label, logit in logits.items()))
    found = set_margin(Reply(f"Labels: {words}", logprobs=(token,)), tuple("ABCDE"))
    assert exactly(found) == pytest.approx(min(map(abs, logits.values())), abs=1e-6)


@pytest.mark.parametrize(
    "said",
    [
        Reply("trade"),
        Reply("trade", logprobs=()),
        Reply("trade", logprobs=(Token("trade", -0.1),)),
        Reply("trade", completion_tokens=1, logprobs=(Token("trade", -0.1, (("budget", -3.0),)),)),
        Reply("trade", logprobs=(Token("trade", -0.1, (("The", -3.0),)),)),
        Reply("trade", logprobs=(Token("trade", -0.1, (("budget", -3.0),)), Token("<|im_end|>", -0.1))),
    ],
)
def test_how_sure_a_language_model_is_of_a_set_is_not_known(said: Reply) -> None:
    assert set_margin(said, TRADE) is None


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


@given(st.floats(-20, 0), st.floats(-20, 0))
def test_with_two_labels_the_log_odds_are_the_margin(one: float, other: float) -> None:
    said = reply(Token("Positive", one, (("Positive", one), ("Negative", other))))
    odds = log_odds(said, LABELS)
    assert odds is not None
    assert exactly(margin(said, "Positive", LABELS)) == pytest.approx(odds["Positive"])


def test_under_a_constraint_only_what_is_spelt_as_a_label_counts() -> None:
    """A server that lists its forbidden alternatives: "negative" is no rival of "Positive"."""
    top = (("negative", -0.2), ("Positive", -2.0), ("Negative", -3.0))
    reply = Reply("Positive", logprobs=(Token("Positive", -2.0, top),))
    labels = ["Positive", "Negative"]
    assert exactly(margin(reply, "Positive", labels, exact=True)) == pytest.approx(1.0)
    assert exactly(margin(reply, "Positive", labels)) == pytest.approx(-1.8)
    odds = log_odds(reply, labels, exact=True)
    assert odds is not None
    assert odds["Positive"] == pytest.approx(1.0)


def test_under_a_constraint_only_the_end_ends_a_label() -> None:
    first = Token("Trade", -0.1, (("Trade", -0.1), ("Tax", -3.0)))
    more = Token(" policy", -1.5, ((".", -0.4), (" policy", -1.5), ("<|im_end|>", -2.5)))
    reply = Reply("Trade policy", logprobs=(first, more))
    labels = ["Trade", "Trade policy", "Tax"]
    assert exactly(margin(reply, "Trade policy", labels, exact=True)) == pytest.approx(1.0)


# All labels together, several of them, and the mean of a scale


def test_the_mass_of_the_labels_is_what_the_model_gives_them_of_all_it_could_say() -> None:
    top = (("Positive", math.log(0.5)), ("Negative", math.log(0.2)), ("The", math.log(0.3)))
    assert mass(reply(Token("Positive", math.log(0.5), top)), LABELS) == pytest.approx(0.7)
    assert mass(reply(Token("Positive", math.log(0.5), top[:1])), LABELS) is None
    above = (("Positive", math.log(0.8)), ("Negative", math.log(0.3)))
    assert mass(reply(Token("Positive", math.log(0.8), above)), LABELS) == 1.0, "rounded by the server"
    lower = (("positive", math.log(0.6)), ("Positive", math.log(0.2)), ("Negative", math.log(0.1)))
    said = reply(Token("Positive", math.log(0.2), lower))
    assert mass(said, LABELS, exact=True) == pytest.approx(0.3)
    assert mass(said, LABELS) == pytest.approx(0.9)


@given(st.lists(st.floats(-9, 0), min_size=4, max_size=4))
def test_several_labels_together_are_as_likely_as_the_sum_of_each(logs: list[float]) -> None:
    names = ("A", "B", "C", "D")
    said = reply(Token("A", logs[0], tuple(zip(names, logs, strict=True))))
    odds, shares = log_odds(said, names), probabilities(said, names)
    assert odds is not None
    assert shares is not None
    for some in (names[:1], names[:2], names[1:]):
        chance = sum(shares[name] for name in some)
        assert together(odds, some) == pytest.approx(math.log(chance / (1 - chance)), abs=1e-6)
    assert together(odds, ()) is None
    assert together({"A": 50.0, "B": 0.0}, ("A", "B")) is None, "no more certain than a double can tell"


STEPS = ("0", "1", "2", "3")


def stepped(said: str, **logs: float) -> Reply:
    """A reply that begins with a step, whose digits have these probabilities ("of_3")."""
    top = tuple((name.removeprefix("of_"), math.log(share)) for name, share in logs.items())
    return reply(Token(" ", -0.1), Token(said, dict(top).get(said, -5.0), top))


def test_the_mean_of_a_scale_is_that_of_the_steps_that_are_listed() -> None:
    assert expectation(stepped("3", of_3=0.6, of_1=0.2, The=0.2), STEPS) == pytest.approx((1.8 + 0.2) / 0.8)
    assert expectation(stepped("2", of_2=1.0), STEPS) == 2.0
    assert expectation(stepped(" 3", of_3=0.5, of_2=0.5), STEPS) == pytest.approx(
        (1.5 + 1.0 + 3 * math.exp(-5)) / (1 + math.exp(-5))
    )


def test_no_mean_is_made_up() -> None:
    assert expectation(Reply("3"), STEPS) is None
    assert expectation(stepped("The", of_3=0.6), STEPS) is None
    assert expectation(stepped("4", of_3=0.6), STEPS) is None
    assert expectation(stepped("3", of_3=0.6), (*STEPS, "10")) is None
    assert expectation(reply(Token(" ", -0.1)), STEPS) is None


def test_labels_that_a_server_gives_no_chance_are_no_error() -> None:
    """Some list -9999 for what cannot be said."""
    names, top = ("A", "B", "C"), (("C", -0.0), ("A", -9999.0), ("B", -5.0))
    odds = log_odds(reply(Token("C", -0.0, top)), names)
    assert odds is not None
    assert together(odds, ("A", "B")) == pytest.approx(-5.0, abs=0.01)
    assert together({"A": -9999.0, "B": -9999.0}, ("A", "B")) is None
    assert together({"A": 0.0, "B": 0.0}, ("A", "B")) is None, "one of both for certain"
    assert together({"A": -9999.0}, ("A",)) == -9999.0


def test_a_label_of_a_set_that_is_certain_is_not_the_one_to_doubt() -> None:
    sure = Token("A", -1.0, (("A", 0.0), ("B", math.log(0.25))))
    found = set_margin(Reply("A", logprobs=(sure,)), ("A", "B"))
    assert exactly(found) == pytest.approx(math.log(3))
    alone = set_margin(Reply("A", logprobs=(Token("A", -1.0, (("A", 0.0),)),)), ("A",))
    assert exactly(alone) == math.inf


@pytest.mark.parametrize("rest", ["s", "s.", "2)", "policies"])
def test_what_goes_on_like_a_word_ends_no_label(rest: str) -> None:
    assert margin(traded(-0.5, -1.5, ends_with=rest), "trade", TRADE) is None
