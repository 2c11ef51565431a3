"""A score is read from a number in any of its forms, and never guessed."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.answering.numbers import NumberReader, RatingReader, read_number
from harness.core import Outcome, Reply, Token


@pytest.mark.parametrize(
    "text",
    [
        *(
            "0.7",
            ".7",
            "0.70",
            "70%",
            "70 %",
            "70 percent",
            "7/10",
            "7 / 10",
            "7 out of 10",
            "0,7",
            "0.7.",
            "+0.7",
        ),
        *("0.7 out of 1", "0.7/1", "0.7/1.0", "3.5 out of 5", "70/100", "70.0%", "0,70"),
        *("**0.7**", "`0.7`", '"0.7"', "(0.7)", "[0.7]", "~0.7", "≈ 0.7", "- 0.7", "<0.7>", "Score: 0.7"),
        *(
            "**Score:** 0.7",
            "Score = 0.7",
            "score: **0.7**",
            "The score is 0.7.",
            "Rating: 7/10",
            "Valence: 70%",
        ),
        *(
            "I would say 0.7",
            "I'd rate it a 7/10.",
            "The valence is about 0.7, rather happy.",
            "Answer:\n0.7",
        ),
        *('{"score": 0.7}', '{"valence": "0.7"}', '{"score": 0.7, "confidence": 0.9}', '{"x": 0.7}', "[0.7]"),
        *('```json\n{"score": 0.7}\n```', 'Here you are: {"score": 0.7}. Of 3 words, 2 are sad.'),
        *(
            "On a scale from 0 to 1, 0.7.",
            "0.7 on a scale of 0 to 1",
            "0.7 on a 0-1 scale",
            "0.7 (scale: 0 to 1)",
        ),
        *("0.7, that is 70%", "0.7 (7/10)", "Score: 0.7\nThe first 2 sentences are sad.", "score of 0.7"),
        *("Score (0-1): 0.7", "0.7\n\nExplanation: 2 of the 9 words are sad.", "Score: 0.7 (7 of 10)"),
        *(
            "Score: 0.4. Final score: 0.7",
            "<think>0.3? 0.5?</think>0.7",
            "Not 0.5; 0.7",
            "The score is around 0.7",
        ),
    ],
)
def test_a_number_in_its_forms(text: str) -> None:
    outcome = NumberReader()(Reply(text))
    assert outcome.read
    assert outcome.score == pytest.approx(0.7)


@pytest.mark.parametrize(
    "text",
    [
        *("", "...", "seven out of ten", "high", "very joyful", "The person is happy.", "0.7x", "x0.7", "v1"),
        *(
            "7",
            "-0.7",
            "−0.7",
            "1.7",
            "170%",
            "11/10",
            "7/0",
            "1e-3",
            "1,000",
            "1.2.3",
            "GPT-1",
            "2026",
            "7/10/2026",
        ),
        *(
            "0.7 or 0.8",
            "0.7-0.8",
            "0.7–0.8",
            "0.7, 0.8",
            "between 0.7 and 0.8",
            "0 to 1",
            "from 0 to 1",
            "0.7 0.8",
        ),
        *(
            "at least 0.7",
            "more than 0.7",
            "> 0.7",
            "<= 0.7",
            "below 0.7",
            "up to 0.7",
            "not 0.7",
            "It isn't 0.7",
        ),
        *(
            "1 on a scale of 1 to 10",
            "On a scale from 1 to 5: 1",
            "1. 0.7",
            "Score: 0.7\nScore: 0.8",
            "Score: 7",
        ),
        *(
            '{"joy": 0.7, "anger": 0.1}',
            '{"score": null}',
            '{"score": [0.7, 0.8]}',
            '{"score": true}',
            "[0.7, 0.8]",
        ),
        *(
            "Score: 0.7-0.8",
            "Score: 0.7 or 0.8",
            "Score: at least 0.7",
            "Score: not 0.7",
            "NaN",
            "inf",
            "Infinity",
            "-",
            "%",
            "/10",
            "0..7",
            "٣",
            "½",
        ),
    ],
)
def test_what_is_no_number_of_the_scale(text: str) -> None:
    assert read_number(text) is None
    assert NumberReader()(Reply(text)).reason == "unparsed"


@pytest.mark.parametrize(
    ("text", "low", "high", "expected"),
    [
        ("4", 1, 5, 4.0),
        ("4/5", 1, 5, 4.0),
        ("4 out of 5 stars", 1, 5, 4.0),
        ("4 on a scale of 1 to 5", 1, 5, 4.0),
        ("8/10", 1, 5, None),
        ("80%", 1, 5, None),
        ("0", 1, 5, None),
        ("80%", 0, 10, 8.0),
        ("-0.5", -1, 1, -0.5),
        ("−0,5", -1, 1, -0.5),
        ("Score: -1", -1, 1, -1.0),
        ("70", 0, 100, 70.0),
        ("70%", 0, 100, 70.0),
        ("7/10", 0, 100, 70.0),
    ],
)
def test_other_scales(text: str, low: float, high: float, expected: float | None) -> None:
    found = read_number(text, low, high)
    assert found == (None if expected is None else pytest.approx(expected))


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (Reply("0.7", "content_filter"), Outcome(reason="filtered")),
        (Reply("I'm sorry, I can't rate people."), Outcome(reason="refused")),
        (Reply("<think>0.7"), Outcome(reason="truncated")),
        (Reply("<think>0.7", "length"), Outcome(reason="truncated")),
        # What goes on after the cut may change the number.
        (Reply("0.7", "length"), Outcome(reason="truncated")),
        (Reply("Score: 0.", "length"), Outcome(reason="truncated")),
        (Reply("Score: 0.7 because the", "length"), Outcome(reason="truncated")),
        (Reply('{"score": 0.7}', "length"), Outcome(score=0.7)),
        (Reply("The person", "length"), Outcome(reason="truncated")),
        (Reply("Positive", score=0.25), Outcome(score=0.25)),
        (Reply("Positive", score=-0.25), Outcome(reason="unparsed")),
    ],
)
def test_the_reply_counts(reply: Reply, expected: Outcome) -> None:
    assert NumberReader()(reply) == expected


WRAPPINGS = (
    *("{}", "**{}**", '"{}"', "({})", "{}.", " {}\n", "Score: {}", "**Score**: {}", "The score is {}."),
    *("Final score: {}", "<think>hm</think>{}", '{{"score": "{}"}}', "Answer: {}, I think"),
)


@given(st.integers(0, 1000), st.sampled_from(WRAPPINGS), st.sampled_from(range(5)))
def test_every_number_of_the_scale_is_read_in_every_form(thousandths: int, wrapping: str, form: int) -> None:
    value = thousandths / 1000
    text = (
        f"{value:.3f}",
        f"{value:.3f}".replace("0.", "0,") if value < 1 else "1",
        f"{thousandths / 10:.1f}%",
        f"{thousandths / 100:.2f}/10",
        f"{thousandths / 10:.1f} out of 100",
    )[form]
    assert NumberReader()(Reply(wrapping.format(text))).score == pytest.approx(value)


@given(st.text(st.sampled_from("0123456789.,/%- oufscre:\n\"'{}[]<>")) | st.text(max_size=40))
def test_anything_read_is_within_the_scale(text: str) -> None:
    for low, high in ((0.0, 1.0), (1.0, 5.0), (-1.0, 1.0)):
        found = read_number(text, low, high)
        assert found is None or low <= found <= high


@given(st.text(st.characters(exclude_categories=["Nd"]), max_size=60))
def test_no_number_comes_from_words(text: str) -> None:
    assert read_number(text) is None


@given(
    st.integers(0, 100),
    st.integers(0, 100),
    st.sampled_from([" or ", ", ", "\n", " and ", " to ", "-", "; "]),
)
def test_two_different_numbers_are_none(one: int, other: int, glue: str) -> None:
    found = read_number(f"0.{one:03d}{glue}0.{other:03d}")
    if one != other:
        assert found is None


@given(st.floats(0, 1))
def test_json_numbers_are_read_as_written(value: float) -> None:
    text = json.dumps({"score": round(value, 6)})
    if "e" not in text.replace("score", ""):
        assert read_number(text) == round(value, 6)


@pytest.mark.parametrize(
    "word",
    [
        *("probability", "confidence", "joy", "anger", "fear", "sadness", "happiness", "emotional", "mind"),
        *("scale", "positive", "negative", "neutral", "happy", "sad", "angry", "joyful", "afraid", "state"),
    ],
)
def test_what_is_rated_may_be_named(word: str) -> None:
    for text in (f"The {word} score is 0.7", f"The {word} is 0.7."):
        assert read_number(text) == 0.7
    assert read_number("The blurgh is 0.7.") is None


@pytest.mark.parametrize(
    "bound",
    [
        *(
            "less than",
            "more than",
            "greater than",
            "lower than",
            "higher than",
            "smaller than",
            "larger than",
        ),
        *("at least", "at most", "up to", "above", "below", "under", "over", "between", "from", "to", "or"),
        *("<", ">", "<=", ">=", "≤", "≥"),
    ],
)
def test_a_bound_is_no_value(bound: str) -> None:
    for text in (f"{bound} 0.7", f"The score is {bound} 0.7", f"The score is {bound} **0.7**"):
        assert read_number(text) is None


def test_the_text_between_a_bound_and_its_number_is_short() -> None:
    assert read_number("I read it over and over. The score is 0.7") == 0.7
    assert read_number("<0.7>") == 0.7
    assert read_number("<0.7") is None
    assert read_number("0.7>") == 0.7


@pytest.mark.parametrize(
    ("text", "low", "high", "expected"),
    [
        ("4 on a scale of 1 to 5", 1, 5, 4.0),
        ("4 on a scale of 1 to 6", 1, 5, None),
        ("4 on a scale of 2 to 5", 1, 5, None),
        ("4 on a 1-5 scale", 1, 5, 4.0),
        ("4 on a 1-6 scale", 1, 5, None),
        ("on a scale from 0 to 10 (best): 7", 0, 10, 7.0),
        ("0 out of 10", 0, 1, 0.0),
        ("10 out of 10", 0, 1, 1.0),
        ("100%", 0, 10, 10.0),
        ("100%", 1, 10, None),
        ("0.7/0", 0, 1, None),
    ],
)
def test_a_number_is_read_on_the_scale_that_was_asked_for(
    text: str, low: float, high: float, expected: float | None
) -> None:
    assert read_number(text, low, high) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (Reply("2"), Outcome(score=2 / 3)),
        (Reply("3/3"), Outcome(score=1.0)),
        (Reply("4"), Outcome(reason="unparsed")),
        (Reply("0"), Outcome(score=0.0)),
        (Reply("I'm sorry, I can't."), Outcome(reason="refused")),
        (Reply("2", score=0.5), Outcome(score=0.5)),
        (Reply("2", score=1.5), Outcome(reason="unparsed")),
        (Reply("2", "error", score=0.5), Outcome(reason="failed")),
        (Reply("2", "refusal", score=0.5), Outcome(reason="refused")),
        (Reply("2", "content_filter", score=0.5), Outcome(reason="filtered")),
        (Reply("2", "whatever", score=0.5), Outcome(score=0.5)),
    ],
)
def test_a_rating_is_a_share_of_its_scale(reply: Reply, expected: Outcome) -> None:
    assert RatingReader(("0", "1", "2", "3"))(reply) == expected


def test_a_rating_whose_steps_are_listed_is_their_mean() -> None:
    top = (("2", math.log(0.5)), ("3", math.log(0.25)), ("1", math.log(0.25)))
    said = Reply("2", logprobs=(Token("2", math.log(0.5), top),))
    assert RatingReader(("0", "1", "2", "3"))(said).score == pytest.approx(2 / 3)
    assert RatingReader(("0", "1", "2", "3", "4"))(said).score == pytest.approx(2 / 4)
    lower = replace(said, logprobs=(Token("2", math.log(0.5), (("2", math.log(0.5)), ("1", math.log(0.5)))),))
    assert RatingReader(("0", "1", "2", "3"))(lower).score == pytest.approx(1.5 / 3)


def test_how_many_there_are_of_something_is_no_score() -> None:
    for text in ("1 text is positive", "The text has 1 positive sentence", "1 review", "It is 1 text"):
        assert read_number(text) is None
    assert read_number("0.7 for joy") == 0.7


def test_a_number_that_is_only_mentioned_spoils_what_has_no_cue() -> None:
    assert read_number("Score: 0.7. Blurgh 0.3") == 0.7
    assert read_number("0.7. Blurgh 0.3") == 0.7
    assert read_number("I think it is 0.7. Blurgh 0.3") is None


def test_a_score_with_unknown_words_before_it_is_not_passed_over_for_another() -> None:
    assert read_number("Score: 0.3\nImproved score: 0.7") is None
    assert read_number("Score: 0.7\nImproved score: 0.7") == 0.7
    assert read_number("Score: 0.3\nImproved score: 0.5\nFinal score: 0.7") == 0.7
    assert read_number("Score: 0.3\nRevised score: 0.7") == 0.7
