"""Words ranked by what they contribute, and those that keep an answer, on models whose words are known."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.report.explained import Kept
from harness.studies.explaining.answers import Answer, Score
from harness.studies.explaining.masking import masking
from harness.studies.explaining.occlusion import Contributions, occlusion
from harness.studies.explaining.rootcause import root_cause
from harness.studies.explaining.shapley import shapley
from harness.studies.explaining.surrogate import surrogate
from tests.studies.explaining.oracles import (
    NO,
    UNREAD,
    YES,
    Scripted,
    labels_only,
    linear,
    odds_of,
    rated,
    rating,
    said,
    words,
)

TEXT = "The dull plot, a lovely man, and awful jokes made it long."
WEIGHTS = {"dull": -2.0, "lovely": 3.0, "awful": -4.0, "long": -1.0, "plot": 0.5}


def planted() -> list[float]:
    return [sum(WEIGHTS.get(word, 0.0) for word in words(unit)) for unit in TEXT.split()]


@given(st.lists(st.sampled_from(["a", "bb,", "(c)", "d."]), max_size=12), st.data())
def test_a_masked_text_holds_the_words_kept_in_order(units: list[str], data: st.DataObject) -> None:
    text = " ".join(units)
    kept = data.draw(st.sets(st.integers(0, len(units) - 1)) if units else st.just(set()))
    assert masking(text).only(kept).split() == [units[unit] for unit in sorted(kept)]
    shown = masking(text, "[MASK]").only(kept).split()
    assert shown == [word if unit in kept else "[MASK]" for unit, word in enumerate(units)]


def test_with_every_word_kept_the_text_is_untouched() -> None:
    text = "  Two  lines,\nand more. "
    assert masking(text).only(range(4)) == text


@given(st.integers(0, 300), st.integers(1, 40))
def test_a_long_text_has_no_more_units_than_said(length: int, most: int) -> None:
    text = " ".join(f"w{number}" for number in range(length))
    made = masking(text, most=most)
    assert len(made) <= most
    assert " ".join(made.words(unit) for unit in range(len(made))) == text


def test_what_differs_from_another_text_is_marked() -> None:
    assert masking("A blind man came.").changed("A man came.") == {1}
    assert masking("A man came.").changed("A blind man came.") == set()
    assert masking("A man came.").changed("A man came.") == set()
    assert masking("She, an old actress, left. Then it rained.").changed(
        "He, an old actor, left. Then it rained."
    ) == {0, 3}
    assert masking("An old man.").changed("A man.") == {0, 1}


@given(st.lists(st.sampled_from(["a", "man,", "woman", "left.", "It", "rained"]), min_size=1, max_size=12),
       st.data())  # fmt: skip
def test_a_word_of_both_texts_is_not_marked_beside_one_that_was_inserted(
    kept: list[str], data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(kept)))
    text = " ".join([*kept[:at], "NEW", *kept[at:]])
    assert masking(text).changed(" ".join(kept)) == {at}
    assert masking(" ".join(kept)).changed(text) == set()


def test_occlusion_finds_the_weights_of_a_linear_model() -> None:
    ask = linear(WEIGHTS)
    found = asyncio.run(occlusion(ask, masking(TEXT), NO))
    assert found.measure == "log-odds"
    assert found.values == pytest.approx([-weight for weight in planted()])
    assert len(ask.asked) == len(TEXT.split()) + 2


def test_the_surrogate_finds_the_weights_of_a_linear_model_nearly() -> None:
    found = asyncio.run(surrogate(linear(WEIGHTS), masking(TEXT), YES))
    assert found.values == pytest.approx(planted(), abs=0.1)


def test_the_surrogate_asks_the_same_again() -> None:
    first, second = linear(WEIGHTS), linear(WEIGHTS)
    for ask in (first, second):
        asyncio.run(surrogate(ask, masking(TEXT), YES))
    assert first.asked == second.asked


def test_shap_finds_the_weights_of_a_linear_model() -> None:
    pytest.importorskip("shap", reason="needs the extra [shap]")
    found = asyncio.run(shapley(linear(WEIGHTS), masking(TEXT), YES))
    assert found.values == pytest.approx(planted(), abs=1e-6)


def test_with_answers_alone_a_word_counts_where_the_answer_hangs_on_it() -> None:
    ask = labels_only(lambda said: {"man", "lovely"} <= said)
    found = asyncio.run(occlusion(ask, masking("A lovely man came."), YES))
    assert (found.measure, list(found.values)) == ("answer", [0.0, 1.0, 1.0, 0.0])


def test_a_score_speaks_for_an_answer_in_the_direction_of_its_texts() -> None:
    low, lower, high = said(NO, beside=0.4), said(NO, beside=0.2), said(YES, beside=0.9)
    assert NO.strengths([lower, low, high]) == ("score", [-0.2, -0.4, -0.9])
    assert YES.strengths([high, lower, low]) == ("score", [0.9, 0.2, 0.4])
    assert NO.strengths([lower, low])[0] == "answer"


def test_what_was_not_read_changes_nothing() -> None:
    readings = [said(YES, {"Positive": 2.0}), UNREAD, said(YES, {"Positive": 1.0})]
    assert YES.strengths(readings) == ("log-odds", [2.0, 2.0, 1.0])


def test_of_equal_words_those_that_were_changed_come_first() -> None:
    assert Contributions("answer", [0.0, 1.0, 1.0, 0.0]).order({2, 3}) == [2, 1, 3, 0]


def cause(ask: Scripted, text: str, answer: Answer, threshold: float = 0.9) -> Kept | None:
    async def found() -> Kept | None:
        made = masking(text)
        by = await occlusion(ask, made, answer)
        return await root_cause(ask, made, by.order(), answer, threshold)

    return asyncio.run(found())


@given(st.sets(st.sampled_from("abcdefghij"), min_size=1, max_size=5))
def test_the_words_planted_are_the_words_found(needed: set[str]) -> None:
    ask = labels_only(lambda said: needed <= said)
    found = cause(ask, "a b c d e f g h i j", YES)
    assert found is not None
    assert found.units == tuple(sorted("abcdefghij".index(word) for word in needed))
    assert (found.probability, found.minimal) == (None, True)


def test_words_are_unmasked_until_the_answer_is_sure_enough() -> None:
    weights = {"good": 1.5, "fine": 1.0, "nice": 0.4}
    text, bias = "It was good, fine and nice.", -0.5
    sure = cause(linear(weights, bias), text, YES, 0.85)
    assert sure is not None
    assert list(sure.units) == [2, 3]
    assert sure.probability is not None
    assert 0.85 <= sure.probability == pytest.approx(1 / (1 + 2.718281828459045**-2.0))
    less = cause(linear(weights, bias), text, YES, 0.7)
    assert less is not None
    assert list(less.units) == [2]


def test_a_text_that_is_less_sure_than_asked_for_needs_its_own_probability() -> None:
    found = cause(linear({"good": odds_of(0.6)}), "It was good.", YES, 0.99)
    assert found is not None
    assert list(found.units) == [2]


def test_an_answer_that_needs_no_word_is_said_to_need_none() -> None:
    assert cause(labels_only(lambda said: True), "a b c", YES) == Kept(
        units=(), probability=None, minimal=True
    )


def test_an_answer_that_is_another_one_now_has_no_cause() -> None:
    assert cause(labels_only(lambda said: True), "a b c", NO) is None


@given(st.integers(1, 60))
def test_no_more_is_asked_than_was_said(length: int) -> None:
    ask = labels_only(lambda said: len(said) >= length // 2)
    text = " ".join(f"w{number}" for number in range(length))
    asyncio.run(root_cause(ask, masking(text), range(length), YES, 0.9))
    assert len(ask.asked) <= length + 200 + 3


# Scores


RATES = {"dull": -0.1, "lovely": 0.2, "awful": -0.3}


def rates() -> list[float]:
    return [sum(RATES.get(word, 0.0) for word in words(unit)) for unit in TEXT.split()]


@pytest.mark.parametrize("rival", [0.9, 0.1])
def test_words_contribute_to_a_score_by_the_score(rival: float) -> None:
    answer = Score(0.3, rival)
    for method in (occlusion, surrogate):
        found = asyncio.run(method(rating(RATES), masking(TEXT), answer))
        assert found.measure == "rating"
        shown = [answer.direction * value for value in found.values]
        assert shown == pytest.approx(rates(), abs=0.02)


def test_shap_measures_a_score() -> None:
    pytest.importorskip("shap", reason="needs the extra [shap]")
    found = asyncio.run(shapley(rating(RATES), masking(TEXT), Score(0.3, 0.1)))
    assert found.measure == "rating"
    assert found.values == pytest.approx(rates(), abs=1e-6)


@pytest.mark.parametrize(
    ("rival", "kept"),
    [
        (0.6, ["awful"]),  # below 0.45: it alone is enough
        (0.1, []),  # above 0.2: so is nothing at all
        (None, None),  # the same score needs all words that move it, which no rival tells apart
    ],
)
def test_a_score_is_kept_on_its_side_of_the_middle(rival: float | None, kept: list[str] | None) -> None:
    found = cause(rating(RATES), TEXT, Score(0.3, rival))
    if kept is None:
        assert Score(0.3, rival).keeper(rated(0.3), 0.9)(rated(0.3))
        assert not Score(0.3, rival).keeper(rated(0.3), 0.9)(rated(0.31))
        return
    assert found is not None
    assert [TEXT.split()[unit] for unit in found.units] == kept
    assert found.probability is None
    assert found.score == pytest.approx(0.5 + sum(RATES[word] for word in kept))


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_of_two_scores_each_keeps_itself_and_not_the_other(one: float, other: float, third: float) -> None:
    first, second = Score(one, other), Score(other, one)
    keeps, opposes = first.keeper(rated(one), 0.9), second.keeper(rated(other), 0.9)
    assert keeps(rated(one))
    assert opposes(rated(other))
    if abs(one - other) > 1e-9:
        assert not keeps(rated(other))
        assert not (keeps(rated(third)) and opposes(rated(third)))
    assert not keeps(UNREAD)
