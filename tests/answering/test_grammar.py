"""A sentence states a label only in a form that states it: what is denied, doubted or mentioned is none."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.answering.labels import offered
from harness.answering.numbers import NumberReader, RatingReader
from harness.answering.parse import LabelReader
from harness.core import Outcome, Reply

LANGUAGES = {
    ("positive", "negative"): (
        *(
            "Positive can be ruled out.",
            "It is too sarcastic to be Positive.",
            "I disagree with the label Positive.",
        ),
        *(
            "Calling it Positive would be a mistake.",
            "Positive is out of the question.",
            "Positive, it is not.",
        ),
        *(
            "One would expect Positive here.",
            "Some might say Positive.",
            "It could be Positive.",
            "The title looks Positive.",
        ),
        *(
            "I'd avoid Positive.",
            "Positive seems wrong.",
            "Far be it from me to say Positive.",
            "I would reject Positive.",
        ),
        *(
            "If the answer is Negative, there should be some complaint.",
            "Positive, perhaps.",
            "Positive. Or maybe not.",
        ),
        *(
            "At first glance the sentiment is negative.",
            "Should the label be Positive?",
            "Positive, if one is generous.",
        ),
    ),
    ("positiv", "negativ"): (
        *(
            "Nicht positiv",
            "Keineswegs positiv",
            "Ich finde das nicht positiv.",
            "Das ist kaum positiv.",
            "Vielleicht positiv.",
        ),
        *(
            "Weder positiv noch negativ.",
            "Positiv ist es nicht.",
            "Das könnte positiv sein.",
            "Inte positiv",
            "Kanske positiv",
        ),
    ),
    ("positif", "négatif"): (
        *(
            "Ce texte n'est pas positif.",
            "Ce n'est guère positif.",
            "Pas du tout positif.",
            "Jamais positif.",
        ),
        *("Ni positif ni négatif.", "Peut-être positif.", "Il semble positif.", "Aucunement positif."),
    ),
    ("positivo", "negativo"): (
        *(
            "No es positivo.",
            "En absoluto positivo.",
            "Tampoco es positivo.",
            "Quizás positivo.",
            "Ni positivo ni negativo.",
        ),
        *(
            "Non è positivo.",
            "Per niente positivo.",
            "Forse positivo.",
            "Né positivo né negativo.",
            "Mica positivo.",
        ),
        *(
            "Não é positivo.",
            "De forma alguma positivo.",
            "Talvez positivo.",
            "Nem positivo nem negativo.",
            "Jamais positivo.",
        ),
    ),
    ("positief", "negatief"): (
        "Niet positief.",
        "Geenszins positief.",
        "Misschien positief.",
        "Noch positief noch negatief.",
    ),
    ("pozytywny", "negatywny"): (
        "Nie jest pozytywny.",
        "Wcale nie pozytywny.",
        "Może pozytywny.",
        "Ani pozytywny, ani negatywny.",
    ),
    ("положительный", "отрицательный"): (
        *(
            "Не положительный.",
            "Вовсе не положительный.",
            "Возможно, положительный.",
            "Ни положительный, ни отрицательный.",
        ),
    ),
    ("积极", "消极"): ("不积极", "这不是积极的。", "并非积极", "可能是积极的。", "既不积极也不消极"),
    ("肯定的", "否定的"): ("肯定的ではない", "肯定的かもしれません。", "肯定的とは言えない。"),
}
LABELS = ("Negative", "Positive")


def read(labels: tuple[str, ...], text: str, finish: str = "stop") -> str:
    outcome = LabelReader(labels)(Reply(text, finish))
    return next(iter(outcome.labels)) if outcome.labels else str(outcome.reason)


@pytest.mark.parametrize(
    ("labels", "text"), [(labels, text) for labels, texts in LANGUAGES.items() for text in texts]
)
def test_a_denial_or_a_doubt_is_no_answer_in_any_language(labels: tuple[str, ...], text: str) -> None:
    assert read(labels, text) == "unparsed"


@pytest.mark.parametrize(
    "text",
    [
        *(
            "Yes and no.",
            "Yes... and no.",
            "Yes, but also no.",
            "Yes/No",
            "Well, yes and no.",
            "No and yes.",
            "Yes. No.",
        ),
        *("Both yes and no.", "Yes or no?", "Yes, no, yes."),
    ],
)
def test_yes_and_no_is_neither(text: str) -> None:
    assert read(("No", "Yes"), text) == "unparsed"


@pytest.mark.parametrize(
    "text",
    [
        "At first glance the sentiment is negative because of the long wait, but the writer then",
        "If the answer is Negative, there should be some complaint. Here",
        *(
            "Sentiment: Negative\nbut on the",
            "Negative. On the other hand",
            "Negative\n\nThe",
            "The sentiment is Neg",
        ),
        *(
            "Answer: Negative",
            "Negative or",
            '{"label": "Negative", "reason": "the',
            "<answer>Negative",
            "\\boxed{Negative",
            "\\boxed{Negative} or",
        ),
    ],
)
def test_of_a_reply_that_was_cut_only_a_whole_answer_counts(text: str) -> None:
    for finish in ("length", "MAX_TOKENS", "model_length"):
        assert read(LABELS, text, finish) == "truncated"


@pytest.mark.parametrize(
    "text",
    ["Negative", " negative\n", "**Negative**", '{"label": "Negative"}', "<answer>Negative</answer> It"],
)
def test_of_a_reply_that_was_cut_a_whole_answer_counts(text: str) -> None:
    assert read(LABELS, text, "length") == "Negative"


@pytest.mark.parametrize(
    ("labels", "expected", "texts"),
    [
        (
            "12345",
            "4",
            [
                "4/5",
                "Rating: 4/5",
                "4 out of 5",
                "4 stars",
                "**4**/5",
                "4 out of 5 stars",
                "4 stars out of 5",
            ],
        ),
        ("12345", "unparsed", ["4/10", "4.5/5", "4.5", "3-4", "44", "-4", "I stayed 4 nights.", "9/5"]),
        (
            "ABCD",
            "B",
            [
                "B",
                "b",
                "(b)",
                "B)",
                "B.",
                "Option B",
                "Option (B)",
                "choice B",
                "\\boxed{B}",
                "B) Sports",
                "(B) Sports",
            ],
        ),
        (
            "ABCD",
            "B",
            ["B. Sports", "B: Sports", "Ｂ", "The answer is (B).", "Answer: b", "The correct option is B."],
        ),
        ("ABCD", "unparsed", ["A good text", "Plan B", "A or B", "A) Sports\nB) World", "BA"]),
        (
            ("World", "Sports"),
            "Sports",
            ["B) Sports", "(B) Sports", "B. Sports", "B: Sports", "2. Sports", "Option 2: Sports"],
        ),
        (
            ("hate speech", "none"),
            "hate speech",
            ["hate_speech", "hate-speech", "HateSpeech", "Hate Speech", "hate\u00ad speech"],
        ),
        (("hate_speech", "none"), "hate_speech", ["hate speech", "hate-speech", "hate_speech"]),
        (("toxic", "non-toxic"), "non-toxic", ["non_toxic", "non toxic", "Non-Toxic"]),
        (("hate", "not hate"), "not hate", ["not_hate", "not hate", "NotHate"]),
        (("toxic", "fine"), "unparsed", ["non-toxic", "not toxic", "non toxic", "detoxic"]),
        (
            ("Positive", "Negative"),
            "Positive",
            ["Ｐｏｓｉｔｉｖｅ", "Pos\u00aditive", "\ufeffPositive", "答案：Positive"],
        ),
    ],
)
def test_other_ways_to_write_a_label(labels: str | tuple[str, ...], expected: str, texts: list[str]) -> None:
    found = {text: read(tuple(labels), text) for text in texts}
    assert found == dict.fromkeys(texts, expected)


@pytest.mark.parametrize(
    "prompt",
    [
        "A) World\nB) Sports\nC) Sci/Tech",
        "One of (a) World, (b) Sports, (c) Sci/Tech.",
        "A=World B=Sports C=Sci/Tech",
    ],
)
def test_a_letter_that_the_prompt_offered_is_its_label(prompt: str) -> None:
    labels = ("World", "Sports", "Sci/Tech")
    reader = LabelReader(labels, offered=offered(prompt, labels))
    for text in (
        "B",
        "b",
        "(B)",
        "B)",
        "Option B",
        "B) Sports",
        "Answer: B",
        "The answer is B.",
        "Sports",
        "**B**",
    ):
        assert reader(Reply(text)).labels == frozenset(["Sports"])
    for text in ("B) World", "A or B", "A good text", "Not B", "D", "B and C", "B. World"):
        assert reader(Reply(text)).labels is None
    assert LabelReader(labels)(Reply("B")).labels is None


def test_a_number_that_the_prompt_offered_is_its_label() -> None:
    labels = ("World", "Sports", "Business")
    reader = LabelReader(labels, offered=offered("1. World, 2. Sports, 3. Business", labels))
    for text in ("2", "2.", "Answer: 2", "2. Sports", "Sports", "Option 2", "(2)"):
        assert reader(Reply(text)).labels == frozenset(["Sports"])
    assert reader(Reply("2", "length")).labels == frozenset(["Sports"])


@pytest.mark.parametrize(
    "prompt", ["A) World, A) Sports", "A) World", "World, Sports", "A) World B) Sportsmen"]
)
def test_a_prompt_that_gives_no_letters_to_all_labels_offers_none(prompt: str) -> None:
    assert offered(prompt, ("World", "Sports")) == ()


@pytest.mark.parametrize("label", ["négatif", "Übel", "ångström", "부정", "ネガティブ"])
def test_letters_may_be_composed_or_not(label: str) -> None:
    composed, taken_apart = (unicodedata.normalize(form, label) for form in ("NFC", "NFD"))
    for one, other in ((composed, taken_apart), (taken_apart, composed)):
        assert read((one, "x"), other) == one
        assert read((one, "x"), f"**{other}**.") == one


def test_a_label_that_is_written_like_another_is_not_taken_for_it() -> None:
    labels = ("trade policy", "tradepolicy")
    assert read(labels, "trade policy") == "trade policy"
    assert read(labels, "tradepolicy") == "tradepolicy"
    assert read(labels, "trade_policy") in ("trade policy", "unparsed")


ALPHABET = (
    "Positive",
    "negative",
    "not",
    "perhaps",
    "is",
    "the",
    "sentiment",
    "answer",
    "because",
    "but",
    ",",
    ".",
    ":",
    "?",
    "\n",
    "(",
    ")",
    "or",
    "xyz",
)


@given(st.lists(st.sampled_from(ALPHABET), max_size=14).map(" ".join))
def test_a_word_that_nobody_knows_makes_a_mention(text: str) -> None:
    for denied in ("Blurgh is positive in xyz", "xyz positive", "positive xyz"):
        assert LabelReader(LABELS)(Reply(denied)).labels is None
    outcome = LabelReader(LABELS)(Reply(text))
    assert outcome == LabelReader(LABELS)(Reply(text))
    assert outcome.labels is None or len(outcome.labels) == 1


# The time is linear in the length of the reply, and bounded

READERS = (
    LabelReader(LABELS),
    LabelReader(("Article 3", "Article 4", "trade", "trade policy"), True),
    LabelReader(tuple("12345")),
    NumberReader(),
    RatingReader(tuple("0123")),
)
REPEATED = (
    *(
        "Positive\n",
        "\n",
        " \n",
        "not ",
        "<think>",
        "</think>",
        "<think ",
        "<|channel|>",
        "Positive ",
        "Answer: ",
    ),
    *(
        " none",
        "Articles 3, ",
        "4, ",
        "Article 3 and ",
        "- trade\n",
        "{",
        '{"a":',
        "[",
        "(",
        "blah ",
        "because ",
    ),
    *(
        "\\boxed{",
        "<answer>",
        "User:\n",
        "_",
        "*",
        "~~",
        "0.7 ",
        "scale 0 to 1 (",
        "assistantfinal",
        "'",
        "trade ",
    ),
    *("here is my ", "\u0301", "| ", "i can't ", "7/", "perhaps, "),
)


ATTEMPTS = 5


def seconds(text: str) -> float:
    """The processor's time for all readers together, the least of three."""
    least = float("inf")
    for _ in range(3):
        begun = time.process_time()
        for reader in READERS:
            reader(Reply(text))
        least = min(least, time.process_time() - begun)
    return least


@pytest.mark.parametrize("part", REPEATED)
def test_the_time_does_not_grow_with_the_square_of_the_length(part: str) -> None:
    """Eight times the length takes eight times as long, or 64 times where the square counts.

    The bound leaves room for a machine that other processes slow by three times in the middle.
    """
    ratios = []
    for _ in range(ATTEMPTS):
        short, long = (seconds((part * length)[:length]) for length in (3_750, 30_000))
        ratios.append(long / short)
        if ratios[-1] <= 24:
            return
    pytest.fail(f"{part!r}: eight times the length takes {min(ratios):.1f} times as long")


@pytest.mark.parametrize(
    "text", ["Positive " + "blah " * 400_000, "Positive" + "\n" * 10_000, "<think>" * 300_000]
)
def test_a_very_long_reply_has_an_outcome(text: str) -> None:
    for reader in READERS:
        assert isinstance(reader(Reply(text)), Outcome)
