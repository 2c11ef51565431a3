"""What an answer says is read from whole labels only, and never guessed."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.answering.parse import LabelReader
from harness.core import Outcome, Reply

SENTIMENT = LabelReader(("Negative", "Positive"))
TOPICS = LabelReader(
    ("trade", "trade policy", "international trade", "EU finance", "Article 1", "Article 10"), True
)
TOPIC = LabelReader(TOPICS.labels)
LETTERS = LabelReader(("A", "B", "C"))


def read(reader: LabelReader, text: str, finish: str = "stop") -> str | frozenset[str]:
    """The one label, the labels of a multi-label reader, or the reason why there are none."""
    outcome = reader(Reply(text, finish))
    if outcome.labels is None:
        assert outcome.reason is not None
        return outcome.reason
    assert outcome.read
    assert outcome.labels <= set(reader.labels)
    if reader.multi_label:
        return outcome.labels
    (label,) = outcome.labels
    return label


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Bare, and in any wrapping (P3).
        ("Negative", "Negative"),
        ("negative", "Negative"),
        ("POSITIVE", "Positive"),
        (" Positive.\n", "Positive"),
        ("**Positive**", "Positive"),
        ('"Negative"', "Negative"),
        ("“Negative.”", "Negative"),
        ("`negative`", "Negative"),
        ("[Positive]", "Positive"),
        ("(Positive)", "Positive"),
        ("<Positive>", "Positive"),
        ("- Positive", "Positive"),
        ("## Negative", "Negative"),
        ("Answer: Positive", "Positive"),
        ("**Answer:** Positive", "Positive"),
        ("Answer:\nPositive", "Positive"),
        ("Sentiment = negative", "Negative"),
        ("The sentiment is **positive**.", "Positive"),
        ("Label: [Negative]", "Negative"),
        ('{"label": "Positive"}', "Positive"),
        ('{"sentiment": "negative", "confidence": 0.9}', "Negative"),
        ('```json\n{"answer": "Positive"}\n```', "Positive"),
        ('["Negative"]', "Negative"),
        ('{"result": {"label": "Negative"}}', "Negative"),
        ('{"label": "Negative", "reason": "It is not positive, but positive things are said"}', "Negative"),
        # In a sentence.
        ("This is a positive review.", "Positive"),
        ("The text expresses a negative opinion.", "Negative"),
        ("I would classify this as Positive", "Positive"),
        ("The reviewer did not like it, so negative.", "Negative"),
        ("Positive\n\nThe reviewer liked the film.", "Positive"),
        ("Positive. It isn't negative at all.", "Positive"),
        ("Positive\n\nSome negative points are made, but the writer liked it.", "Positive"),
        ("Negative. The positive points are few.", "Negative"),
        ("It has positive and negative points.\n\nNegative", "Negative"),
        # Negated (P1).
        ("Not positive.", "unparsed"),
        ("not Positive", "unparsed"),
        ("This is not a positive review.", "unparsed"),
        ("This is not a very positive review.", "unparsed"),
        ("It isn't positive", "unparsed"),
        ("It isn’t really positive", "unparsed"),
        ("not by any means positive", "unparsed"),
        ("I wouldn't say that this is positive.", "unparsed"),
        ("I do not think the answer is Positive.", "unparsed"),
        ("The sentiment is not positive.", "unparsed"),
        ("Answer: not positive", "unparsed"),
        ("The review is anything but positive.", "unparsed"),
        ("The review is far from positive.", "unparsed"),
        ("This is hardly positive.", "unparsed"),
        ("Neither positive nor negative.", "unparsed"),
        ("Non-positive", "unparsed"),
        ("non positive", "unparsed"),
        ("Positive is not the right label.", "unparsed"),
        ("Not positive; it is negative.", "Negative"),
        ("It is not positive but negative.", "Negative"),
        ("Negative rather than positive.", "Negative"),
        ("Nothing but positive.", "Positive"),
        ("No, it is positive.", "Positive"),
        # An explicit cue wins over a mention (P6), a final answer over an earlier one.
        ("The answer is Negative. Note that Positive is tempting.", "Negative"),
        ("It could be positive or negative.\nAnswer: Negative", "Negative"),
        ("First answer: Positive\nFinal answer: Negative", "Negative"),
        ("Answer: Positive\nAnswer: Negative", "unparsed"),
        # Never a guess (P5).
        ("Positive or Negative?", "unparsed"),
        ("Answer: Positive or Negative", "unparsed"),
        ("Both positive and negative", "unparsed"),
        ("Mixed", "unparsed"),
        ("N", "unparsed"),
        ("pos", "unparsed"),
        ("positively", "unparsed"),
        ("Nonnegative", "unparsed"),
        ('{"positive": false}', "unparsed"),
        ('{"Positive": 0.4, "Negative": 0.6}', "unparsed"),
        ("[" * 10_000, "unparsed"),
        ("[" + "1" * 5000 + "]", "unparsed"),
        ("poſitive", "unparsed"),
        ("pos\u0131tive", "unparsed"),
        # Nothing (P8).
        ("", "unparsed"),
        (" \n", "unparsed"),
        ("...", "unparsed"),
        # Refusals (P7).
        ("I'm sorry, but I can't help with that.", "refused"),
        ("I’m sorry, I cannot determine the sentiment.", "refused"),
        ("As an AI, I am unable to judge.", "refused"),
        ("I cannot determine whether the sentiment is positive or negative.", "refused"),
        ("I'm sorry, I can't say that the sentiment is positive.", "refused"),
        ("I apologize, but I won't label this.", "refused"),
        # Thoughts (P4).
        ("<think>Clearly positive.</think>Negative", "Negative"),
        ("<think>\nPositive? No.\n</think>\n\nAnswer: Negative", "Negative"),
        ("<THINKING>positive</THINKING> negative", "Negative"),
        ("<think>It is negative.</think>", "unparsed"),
        ("It looks negative.</think>", "unparsed"),
        ("It looks negative.\n</think>\nPositive", "Positive"),
        ("<think>Positive", "truncated"),
        ("Negative<think>Positive", "truncated"),
    ],
)
def test_answers_of_one_label(text: str, expected: str) -> None:
    assert read(SENTIMENT, text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # The longest label, and whole labels only (P2).
        ("trade policy", {"trade policy"}),
        ("trade", {"trade"}),
        ("international trade", {"international trade"}),
        ("Trade Policy, Trade", {"trade policy", "trade"}),
        ("trade\ninternational trade", {"trade", "international trade"}),
        ("1. trade policy\n2. EU finance", {"trade policy", "EU finance"}),
        ("The labels are: trade policy and international trade.", {"trade policy", "international trade"}),
        ('["trade", "trade policy"]', {"trade", "trade policy"}),
        ('{"labels": ["EU finance"]}', {"EU finance"}),
        ("Article 10", {"Article 10"}),
        ("Article 1, Article 10", {"Article 1", "Article 10"}),
        ("trade-policy", {"trade policy"}),
        ("trade_policy", {"trade policy"}),
        ("trader", "unparsed"),
        ("Articles 11", "unparsed"),
        ("trade, but not trade policy", {"trade"}),
        # None of them is an answer.
        ("None", set()),
        ("None of the above.", set()),
        ("No violation.", set()),
        ("[]", set()),
        # Everything else is not.
        ("", "unparsed"),
        ("finance", "unparsed"),
        ("I'm sorry, I can't classify this.", "refused"),
    ],
)
def test_answers_of_several_labels(text: str, expected: str | set[str]) -> None:
    assert read(TOPICS, text) == (expected if isinstance(expected, str) else frozenset(expected))


def test_a_label_in_another_is_never_read_from_it() -> None:
    for label in TOPICS.labels:
        for text in (
            label,
            f"Answer: {label}.",
            f"I think this is about {label}, mostly",
            f"({label.upper()})",
        ):
            assert read(TOPIC, text) == label
            assert read(TOPICS, text) == frozenset([label])


def test_one_letter_labels_are_no_articles() -> None:
    # P5, P6: "The answer is B. Note that A is tempting" was read as A.
    assert read(LETTERS, "The answer is B. Note that A is tempting.") == "B"
    assert read(LETTERS, "b") == "B"
    assert read(LETTERS, "(C)") == "C"
    assert read(LETTERS, "Answer: a") == "A"
    for text in ("The answer is a matter of taste.", "It is a hard one", "A hard one", "I choose CAB"):
        assert read(LETTERS, text) == "unparsed"


# P7: each way of not answering has its name


@pytest.mark.parametrize(
    ("text", "finish", "expected"),
    [
        ("", "content_filter", "filtered"),
        ("Positive", "content_filter", "filtered"),
        ("", "length", "truncated"),
        ("The text", "length", "truncated"),
        ("Negative", "length", "Negative"),
        ("Negative. The writer", "length", "truncated"),
        ("Negative\nThe writer", "length", "truncated"),
        ("Answer: Negative", "length", "truncated"),
        ("**Negative**\n", "length", "Negative"),
        ('{"label": "Negative"}', "length", "Negative"),
        ("<answer>Negative</answer> because", "length", "Negative"),
        ("<think>Negative", "length", "truncated"),
    ],
)
def test_the_finish_reason_counts(text: str, finish: str, expected: str) -> None:
    assert read(SENTIMENT, text, finish) == expected


def test_a_cut_answer_may_have_been_a_longer_label() -> None:
    assert read(TOPIC, "trade", "length") == "truncated"
    assert read(TOPIC, "Answer: trade", "length") == "truncated"
    assert read(TOPIC, "trade policy", "length") == "trade policy"
    assert read(TOPICS, "trade policy, EU finance", "length") == "truncated"


def test_unread_outcomes_have_no_labels() -> None:
    for text in ("", "Not positive.", "I'm sorry, I can't."):
        outcome = SENTIMENT(Reply(text))
        assert (outcome.labels, outcome.score, outcome.read) == (None, None, False)
    assert SENTIMENT(Reply("Positive")) == Outcome(labels=frozenset(["Positive"]))


# The table


def answers() -> Iterator[tuple[str, LabelReader, str, str | list[str], str]]:
    """Label set, reader, text, reading and finish reason of each answer of the tables."""
    for file in ("answers.toml", "answers_spoken.toml", "answers_held_out.toml"):
        table = tomllib.loads(Path(__file__).with_name(file).read_text(encoding="utf-8"))
        for name, part in table.items():
            reader = LabelReader(tuple(part["labels"]), part["multi_label"])
            for text, reading, *finish in part["answers"]:
                yield f"{file}-{name}", reader, text, reading, finish[0] if finish else "stop"


ANSWERS = list(answers())
MOST_UNREAD = 0.03
"""The share of the answers that people can read and the reader may leave unread."""


@pytest.mark.parametrize(
    ("reader", "text", "reading", "finish"),
    [
        pytest.param(reader, text, reading, finish, id=f"{name}-{text[:40]!r}")
        for name, reader, text, reading, finish in ANSWERS
    ],
)
def test_no_answer_of_the_tables_is_read_as_another(
    reader: LabelReader, text: str, reading: str | list[str], finish: str
) -> None:
    expected = frozenset(reading) if isinstance(reading, list) else reading.removeprefix("!")
    readable = isinstance(reading, list) or not reading.startswith("!")
    found = read(reader, text, finish)
    assert found == expected or (readable and found == "unparsed")


def test_hardly_an_answer_that_can_be_read_is_left_unread(capsys: pytest.CaptureFixture[str]) -> None:
    readable = unread = wrong = 0
    for _, reader, text, reading, finish in ANSWERS:
        found = reader(Reply(text, finish)).labels
        expected = frozenset([reading] if isinstance(reading, str) else reading)
        if isinstance(reading, str) and reading.startswith("!"):
            wrong += found is not None
            continue
        readable += 1
        unread += found is None
        wrong += found is not None and found != expected
    with capsys.disabled():
        print(f"\n{len(ANSWERS)} answers, {readable} readable: {wrong} wrong, {unread} unread")
    assert wrong == 0
    assert unread <= MOST_UNREAD * readable


def test_the_tables_are_long_and_say_each_thing_once() -> None:
    assert len(ANSWERS) >= 600
    assert len({(name, text, finish) for name, _, text, _, finish in ANSWERS}) == len(ANSWERS)


def test_every_label_of_every_task_is_read() -> None:
    for reader in {reader for _, reader, *_ in ANSWERS}:
        for label in reader.labels:
            expected = frozenset([label]) if reader.multi_label else label
            for wrapping in ("{}", "**{}**.", "Answer: {}", '{{"label": "{}"}}', "- {}"):
                assert read(reader, wrapping.format(label)) == expected


# Properties

LABEL_SETS = (
    SENTIMENT.labels,
    TOPICS.labels,
    ("Article 2", "Article 1 of Protocol 1", "Anti-Corruption Laws", "C++", "Non-Disparagement"),
    ("not hateful", "hateful"),
    ("A", "B"),
)
WRAPPINGS = (
    *("{}", "**{}**", '"{}"', "'{}'", "“{}”", "[{}]", "({})", "`{}`", "{}.", "{}\n", " {} ", "* {}", "<{}>"),
    *("Answer: {}", "Label: {}", "The answer is {}.", "Final answer: {}", "<think>hm</think>{}", "_{}_"),
)


@given(st.data())
def test_a_wrapped_label_is_read_or_not_read_but_never_another(data: st.DataObject) -> None:
    labels = data.draw(st.sampled_from(LABEL_SETS))
    label = data.draw(st.sampled_from(labels))
    text = data.draw(st.sampled_from([label, label.lower(), label.upper(), label.title()]))
    for wrapping in data.draw(st.lists(st.sampled_from(WRAPPINGS), max_size=3)):
        text = wrapping.format(text)
    if data.draw(st.booleans()):
        key = data.draw(st.sampled_from(["label", "answer", "Sentiment", "x"]))
        text = json.dumps({key: text})
    assert read(LabelReader(labels), text) in (label, "unparsed")
    several = read(LabelReader(labels, True), text)
    assert several in ("unparsed", frozenset([label]))


@pytest.mark.parametrize("labels", LABEL_SETS)
@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_a_label_in_one_wrapping_is_read(labels: tuple[str, ...], wrapping: str) -> None:
    for label in labels:
        assert read(LabelReader(labels), wrapping.format(label)) == label
        assert read(LabelReader(labels, True), wrapping.format(label)) == frozenset([label])


@given(
    st.text(max_size=60)
    | st.lists(
        st.sampled_from(
            [
                "positive",
                "Negative",
                "not ",
                " is ",
                "answer",
                ": ",
                "<think>",
                "</think>",
                "\n",
                '"',
                "{",
                "}",
                "[",
                "ı",
                "ſ",
            ]
        )
    ).map("".join),
    st.sampled_from(["stop", "length", "content_filter", "tool_calls"]),
)
def test_anything_a_model_says_is_a_record_and_no_error(text: str, finish: str) -> None:
    for reader in (SENTIMENT, TOPICS, LETTERS):
        read(reader, text, finish)


@given(st.text(st.characters(exclude_characters="pPnNſ"), max_size=40))
def test_no_label_comes_from_a_text_without_one(text: str) -> None:
    assert SENTIMENT(Reply(text)).labels is None


@given(
    st.sampled_from(["positive", "negative"]),
    st.sampled_from(["not", "never", "isn't", "wasn’t", "hardly"]),
    st.lists(st.sampled_from(["a", "really", "very", "that", "at", "all"]), max_size=6),
)
def test_a_negated_label_is_no_label(label: str, no: str, between: list[str]) -> None:
    text = " ".join(["It", no, *between, label])
    assert read(SENTIMENT, text) == "unparsed"


@given(
    st.permutations(["trade", "trade policy", "EU finance"]),
    st.permutations(TOPICS.labels),
    st.sampled_from([", ", "\n", "; ", " and ", "\n- "]),
)
def test_the_order_of_labels_does_not_matter(said: list[str], known: list[str], glue: str) -> None:
    assert read(LabelReader(tuple(known), True), glue.join(said)) == frozenset(said)


@given(
    st.lists(st.sampled_from(["Article 2", "Article 3", "Article 8"]), min_size=1, max_size=3, unique=True),
    st.sampled_from([", ", " and ", " or ", ", nor "]),
    st.sampled_from(["There was no violation of {}.", "{} were not violated.", "It is not about {}."]),
)
def test_a_denied_list_is_denied_to_its_end(articles: list[str], glue: str, sentence: str) -> None:
    reader = LabelReader(("Article 2", "Article 3", "Article 8", "Article 14"), True)
    said = sentence.format(glue.join(articles))
    assert read(reader, said) == "unparsed"
    assert read(reader, f"{said} Article 14 was violated.") == frozenset(["Article 14"])


@given(st.lists(st.sampled_from([2, 3, 5, 6, 8]), min_size=1, max_size=4, unique=True), st.data())
def test_enumerated_articles_are_read_each(numbers: list[int], data: st.DataObject) -> None:
    reader = LabelReader(tuple(f"Article {n}" for n in (2, 3, 5, 6, 8, 14)), True)
    glue = data.draw(st.sampled_from([", ", " and ", " & ", ", and "]))
    head = data.draw(st.sampled_from(["Articles ", "articles ", "Arts. ", "Article "]))
    text = head + glue.join(map(str, numbers))
    assert read(reader, text) == frozenset(f"Article {n}" for n in numbers)


@given(st.sampled_from(["trade policy", "trade", "EU finance"]), st.integers(0, 12))
def test_a_label_cut_anywhere_is_never_another(label: str, to: int) -> None:
    for wrapping in ("{}", "Answer: {}", "The label is {}"):
        assert read(TOPIC, wrapping.format(label[:to]), "length") in ("truncated", label)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Reasoning: It is Negative.\nMore about Negative.\nFinal answer: Positive", "Positive"),
        (
            "**Justification:** Negative, above all.\nSo is the end.\n**My final rating is** Positive",
            "Positive",
        ),
        ("Positive\nExplanation: Negative.\nNegative, too", "Positive"),
        ("Explanation: Negative things are said.\nNegative", "unparsed"),  # where do the reasons end?
        ("Note: Negative\nSentiment: Positive\nThoughts: Negative", "Positive"),
    ],
)
def test_lines_under_a_heading_of_reasons_are_none_of_the_answer(text: str, expected: str) -> None:
    assert read(SENTIMENT, text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- trade: not relevant\n- EU finance: it is about the budget", {"EU finance"}),
        ("- trade: no\n- EU finance: yes", {"EU finance"}),
        ("- trade: none\n- EU finance", {"EU finance"}),
        ("- Article 1: no violation\n- Article 10: a violation", {"Article 10"}),
        ("- trade: it mentions EU finance and tariffs", {"trade"}),
        ("- trade (because of EU finance)\n- Article 1", {"trade", "Article 1"}),
        ("1. trade because EU finance pays\n2. Article 1", {"trade", "Article 1"}),
    ],
)
def test_what_an_item_says_of_its_label_denies_it_or_is_left_out(text: str, expected: set[str]) -> None:
    assert read(TOPICS, text) == frozenset(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("None, trade", "unparsed"),
        ("None.\ntrade", "unparsed"),
        ("None, trade, EU finance", "unparsed"),
        ("None except trade", {"trade"}),
        ("None but trade.", {"trade"}),
        ("Answer: trade\nAnswer: EU finance", "unparsed"),
        ("Answer: trade\nAnswer: trade", {"trade"}),
        ("Labels: trade\nFinal answer: EU finance", {"EU finance"}),
    ],
)
def test_answers_that_contradict_one_another_are_none(text: str, expected: str | set[str]) -> None:
    assert read(TOPICS, text) == (expected if isinstance(expected, str) else frozenset(expected))


def test_a_number_before_a_letter_or_a_step_is_that_of_a_list() -> None:
    steps = LabelReader(tuple("12345"))
    for item in ("1. {}", "1) {}", " 1. {}", "> 1) {}"):
        assert read(LETTERS, item.format("B")) == "B"
        assert read(steps, item.format("4")) == "4"
        assert read(steps, item.format("2. good food")) == "unparsed", "nor is one within it a step"


@pytest.mark.parametrize(
    ("finish", "reason"),
    [
        ("refusal", "refused"),
        ("content_filter", "filtered"),
        ("error", "failed"),
        ("whatever", "unparsed"),
        ("length", "truncated"),
    ],
)
def test_why_a_reply_ended_comes_before_what_it_says(finish: str, reason: str) -> None:
    assert read(SENTIMENT, "Positive, I think", finish) == reason
    assert read(TOPICS, "trade", finish) == reason


def test_what_is_crossed_out_is_not_read() -> None:
    assert read(SENTIMENT, "~~Positive~~ Negative") == "Negative"
    assert read(SENTIMENT, "~~Positive~~") == "unparsed"
    assert read(SENTIMENT, "<b>Negative</b><br/>") == "Negative"


def test_a_heading_is_a_sentence_of_its_own() -> None:
    assert read(SENTIMENT, "The plot of it drags on and on\n## Negative\nso much for the plot") == "Negative"
    assert read(SENTIMENT, "# Some blurgh film\nNegative") == "Negative"


@pytest.mark.parametrize("word", ["no", "none", "not", "neither", "it", "he", "she", "they", "an", "I", "a"])
def test_a_label_that_is_also_a_small_word_must_stand_where_labels_do(word: str) -> None:
    reader = LabelReader((word, "zebra"))
    for text in (word, f"**{word}**"):
        assert read(reader, text) == word
    for text in (f"{word} applies", f"{word} is the answer", f"The answer {word} is"):
        assert read(reader, text) == "unparsed"
    if len(word) > 1:
        assert read(reader, f"The answer is {word}") == word


@pytest.mark.parametrize(
    ("labels", "text", "expected"),
    [
        (("积极", "消极"), "情感倾向是积极的", "积极"),
        (("肯定的", "否定的"), "答えは肯定的です", "肯定的"),
        (("긍정", "부정"), "답은긍정입니다", "긍정"),
        (("股票A", "股票B"), "答案是股票A", "股票A"),
        (("股票A", "股票B"), "股票AB", "unparsed"),
        (("新A股", "新B股"), "答案是新A股的。", "新A股"),
    ],
)
def test_a_label_need_not_be_set_apart_in_a_script_without_spaces(
    labels: tuple[str, ...], text: str, expected: str
) -> None:
    assert read(LabelReader(labels), text) == expected


WORDS_OF_A_QUESTION = (
    *("Is", "Are", "Was", "Were", "Does", "Do", "Did", "Has", "Have", "Had", "Will", "Would", "Should"),
    *("Shall", "Could", "Can", "Ist"),
)


@pytest.mark.parametrize("word", WORDS_OF_A_QUESTION)
def test_a_sentence_that_begins_like_a_question_states_nothing(word: str) -> None:
    for text in (f"{word} it positive", f"{word}, positive", f"{word} not Positive ( Positive so"):
        assert read(SENTIMENT, text) == "unparsed"


@pytest.mark.parametrize(
    "word",
    ["scratch", "wait", "oops", "whoops", "correction", "kidding", "mistaken", "nope", "sorry"],
)
def test_what_was_said_before_may_be_taken_back(word: str) -> None:
    assert read(SENTIMENT, f"Positive. {word.capitalize()}, Negative.") == "Negative"
    assert read(SENTIMENT, f"Negative\n{word} that: Positive") == "Positive"
    assert read(SENTIMENT, f"Positive. {word.capitalize()}") == "unparsed"


@pytest.mark.parametrize(
    "word", ["so", "therefore", "thus", "hence", "daher", "quindi", "entonces", "portanto"]
)
def test_a_word_of_conclusion_within_a_clause_begins_no_other(word: str) -> None:
    assert read(SENTIMENT, f"It is not {word} positive.") == "unparsed"
    assert read(SENTIMENT, f"not {word} positive") == "unparsed"


@pytest.mark.parametrize(
    "word",
    [
        *("text", "review", "sentence", "passage", "comment", "tweet", "post", "input", "snippet"),
        "headline",
    ],
)
def test_what_was_asked_about_is_no_answer(word: str) -> None:
    assert read(SENTIMENT, f"{word.capitalize()}: Positive") == "unparsed"
    assert read(SENTIMENT, f"The {word}: Positive") == "unparsed"
    assert read(SENTIMENT, f"{word.capitalize()}: Positive\nSentiment: Negative") == "Negative"


@pytest.mark.parametrize(
    ("labels", "text"),
    [
        (("positive", "negative"), "Answer: negative\nFinal answer: positive"),
        (("positive", "negative"), "Answer: negative\nFinally, answer: positive"),
        (("positive", "negative"), "Answer: negative\nRevised answer: positive"),
        (("positive", "negative"), "Answer: negative\nCorrected answer: positive"),
        (("positive", "negative"), "Answer: negative\nUpdated answer: positive"),
        (("positif", "négatif"), "Réponse : négatif\nRéponse définitive : positif"),
        (("positivo", "negativo"), "Resposta: negativo\nResposta definitiva: positivo"),
        (("positivo", "negativo"), "Risposta: negativo\nRisposta definitiva: positivo"),
        (("positiv", "negativ"), "Antwort: negativ\nEndgültige Antwort: positiv"),
        (("positivo", "negativo"), "Risposta: negativo\nRisposta finale: positivo"),
        (("positivo", "negativo"), "Respuesta: negativo\nRespuesta definitiva: positivo"),
    ],
)
def test_a_final_answer_outranks_an_earlier_one_in_several_languages(
    labels: tuple[str, ...], text: str
) -> None:
    assert read(LabelReader(labels), text) == labels[0]


@pytest.mark.parametrize(
    "text",
    ["Answer: Negative\nImproved answer: Positive", "Answer: Negative. On reflection, my label: Positive."],
)
def test_an_answer_with_unknown_words_before_it_is_not_passed_over_for_another(text: str) -> None:
    assert read(SENTIMENT, text) == "unparsed"
    assert read(SENTIMENT, f"{text}\nFinal answer: Negative") == "Negative"
    assert read(SENTIMENT, text.replace("Positive", "Negative")) == "Negative"
    assert read(SENTIMENT, "Answer: Negative. Note that Positive is tempting.") == "Negative"
    trade = "Labels: trade\nImproved labels: EU finance"
    assert read(TOPICS, trade) == "unparsed"


@pytest.mark.parametrize(
    "text",
    ["-4.5", "–4.5", "−4.5", "-3", "–3", "−3", "-3 ", ".3", "The answer is −3", "Rating: –3", "4.5%", "3−4"],
)
def test_a_step_keeps_its_sign(text: str) -> None:
    for reader in (LabelReader(("1.5", "4.5", "3")), LabelReader(tuple("12345"))):
        assert read(reader, text) == "unparsed"


@pytest.mark.parametrize("text", ["4.5", "- 4.5", "Rating: 4.5.", "**4.5**", "Rating — 4.5", "4.5, I think"])
def test_a_step_may_have_decimals(text: str) -> None:
    assert read(LabelReader(("1.5", "4.5", "3")), text) == "4.5"


def test_a_small_letter_within_a_sentence_is_no_label() -> None:
    assert read(LETTERS, "It is a.") == "unparsed"
    assert read(LETTERS, "It is A.") == "A"


def test_another_number_of_two_labels_is_neither() -> None:
    assert read(LabelReader(("bus", "car")), "buses") == "bus"
    assert read(LabelReader(("buses", "cars")), "bus") == "buses"
    assert read(LabelReader(("bus", "buse")), "buses") == "unparsed"
    assert read(LabelReader(("bus", "buses")), "buses") == "buses"
    assert read(LabelReader(("story", "day")), "stories") == "story"
    assert read(LabelReader(("story", "day")), "days") == "day"
    assert read(LabelReader(("stories", "days")), "story") == "stories"


@pytest.mark.parametrize(
    "text",
    [
        *(
            "not only Positive",
            "nothing but Positive",
            "nothing other than Positive",
            "none other than Positive",
        ),
        *("There is no doubt that it is Positive", "without a doubt Positive", "no question: Positive"),
        *("It can be classified as Positive", "It can easily be labelled Positive", "It should be Positive"),
        *("It must be Positive", "The label ought to be Positive", "It has to be Positive"),
        *("The answer would be Positive", "The label would be Positive", "The sentiment would be Positive"),
        *("The classification would be Positive", "The category would be Positive", "That would be Positive"),
        *(
            "I would say Positive",
            "We would not hesitate to say Positive",
            "It'd be Positive",
            "It'll be Positive",
        ),
        *("It's Positive", "Negative. I meant Positive", "Positive as opposed to Negative", "i.e. Positive"),
    ],
)
def test_phrases_that_state_a_label(text: str) -> None:
    assert read(SENTIMENT, text) == "Positive"


@pytest.mark.parametrize(
    "text",
    [
        *(
            "all but Positive",
            "anything but Positive",
            "anything other than Positive",
            "the opposite of Positive",
        ),
        *("rather than Positive", "instead of Positive", "far from Positive", "apart from Positive"),
        *(
            "It is about to be Positive",
            "It was about to be Positive",
            "given label Positive",
            "given answer Positive",
        ),
        *(
            "Positive or so",
            "tal vez Positive",
            "a lo mejor Positive",
            "e.g. Positive",
            "for example, Positive",
        ),
        *("for instance Positive", "for example Positive", "e.g. Positive or so"),
        *("❌ Positive", "✗ Positive", "✘ Positive", "✖ Positive", "🚫 Positive", "☐ Positive", "Positive ✘"),
        *("[ ] Positive\n[x] Negative", "- [ ] Positive\n- [x] Negative"),
    ],
)
def test_phrases_that_deny_a_label_or_leave_it_open(text: str) -> None:
    assert read(SENTIMENT, text) == "unparsed"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Labels:\n- trade\n- EU finance\nArticle 1 is only mentioned in xyz.", {"trade", "EU finance"}),
        ("Labels:\ntrade\nEU finance\n\nBlurgh Article 1", {"trade", "EU finance"}),
        ("trade except EU finance", "unparsed"),
        ("Labels: trade, except Article 1", "unparsed"),
        ("No violation except of Article 1", {"Article 1"}),
        ("None apply except Article 1 and trade", {"Article 1", "trade"}),
    ],
)
def test_a_list_below_its_cue_and_what_is_excepted(text: str, expected: str | set[str]) -> None:
    assert read(TOPICS, text) == (expected if isinstance(expected, str) else frozenset(expected))


def test_a_sentence_goes_on_in_the_next_line() -> None:
    assert read(SENTIMENT, "The plot blurghs and is\npositive") == "unparsed"
    assert read(SENTIMENT, "The plot blurghs.\nPositive") == "Positive"
    assert read(SENTIMENT, "In 2026\nPositive") == "Positive"
    assert read(SENTIMENT, "The sentiment, i.e. the label is Positive") == "Positive"


def test_labels_in_a_clause_of_reasons_are_not_stated() -> None:
    assert read(SENTIMENT, "Positive because the review is not negative") == "Positive"
    assert read(SENTIMENT, "Because it is not negative, Positive") == "Positive"
    assert read(SENTIMENT, "Positive because the review is negative") == "Positive"
    assert read(TOPICS, "trade because of EU finance") == frozenset({"trade"})
    several = "trade, because Article 1 and Article 10 are the topic"
    assert read(TOPICS, several) == frozenset({"trade"})


def test_a_sentence_that_begins_with_its_label_is_sure_of_it() -> None:
    assert read(SENTIMENT, "Positive, it is positive. Blurgh negative.") == "Positive"
    assert read(SENTIMENT, "It is positive. Blurgh negative.") == "unparsed"


def test_only_a_doubt_about_the_answer_takes_it_back() -> None:
    assert read(SENTIMENT, "Positive. Or maybe not.") == "unparsed"
    assert read(SENTIMENT, "Positive. Perhaps the blurgh drags.") == "Positive"
    assert read(SENTIMENT, "Positive. The blurgh does not drag.") == "Positive"


@pytest.mark.parametrize("quoted", ["not the worst place", "I would never go back"])
def test_what_a_text_is_quoted_with_is_none_of_the_answer(quoted: str) -> None:
    assert read(SENTIMENT, f'The sentiment of "{quoted}" is Positive.') == "Positive"
    assert read(SENTIMENT, f'"{quoted}": Positive') == "Positive"
    assert read(SENTIMENT, 'The answer is "not Positive".') == "unparsed", "a label is no quotation"


def test_quotation_marks_that_are_odd_in_number_quote_nothing() -> None:
    assert read(SENTIMENT, 'It is "far from " Positive') == "Positive"
    assert read(SENTIMENT, 'It is "far from " Positive"') == "unparsed"


def test_the_last_step_of_a_scale_is_its_largest_number() -> None:
    ten = LabelReader(tuple(str(step) for step in range(1, 11)))
    for text in ("7/10", "7 out of 10", "7 stars out of 10"):
        assert read(ten, text) == "7"
    assert read(ten, "7/9") == "unparsed"


REFUSALS = (
    *(
        "I'm sorry.",
        "I apologise.",
        "I apologize for this.",
        "As an AI, no.",
        "As a large language model, no.",
    ),
    *("I must decline.", "I can't.", "I cannot.", "I can not.", "I won’t.", "I will not.", "I am unable to."),
    *("I'm unable to.", "I am not able to.", "I'm not able to.", "I'm not comfortable with it."),
    *(
        "I don't feel comfortable.",
        "I do not feel comfortable.",
        "We can't help.",
        "It cannot be determined.",
    ),
    *("Sorry, but cannot comply.", "Sorry cannot answer.", "Unable to judge.", "Not able to classify it."),
    *("Unable to provide an answer.", "Not able to assist.", "Es tut mir leid.", "Ich kann das nicht."),
    *("Ich kann dabei leider nicht helfen.", "Ich kann Ihnen hier nicht helfen.", "Je suis désolé."),
    *(
        "Je suis désolée.",
        "Je ne peux pas.",
        "Lo siento.",
        "No puedo.",
        "Mi dispiace.",
        "Non posso.",
        "Desculpe.",
    ),
    *("Não posso.", "Het spijt me.", "Ik kan niet.", "Ik kan hier niet.", "Przykro mi.", "Nie mogę."),
    *("Извините.", "Я не могу.", "抱歉。", "对不起。", "申し訳ありません。", "죄송합니다."),
)
OPINIONS = (
    *(
        "I can't recommend it.",
        "I cannot praise it enough.",
        "I can't stop.",
        "I can’t wait.",
        "I can't believe it.",
    ),
    *("I cannot overstate it.", "I can't thank them enough.", "I can't imagine it.", "I cannot fault it."),
    *("I can't complain.", "I can.", "It was unable to please.", "He is sorry.", "Ich kann das empfehlen."),
)


@pytest.mark.parametrize("text", REFUSALS)
def test_who_will_not_or_cannot_answer_refuses(text: str) -> None:
    for said in (text, text.upper(), f"Well. {text}"):
        assert read(SENTIMENT, said) == read(TOPICS, said) == "refused"


@pytest.mark.parametrize("text", OPINIONS)
def test_who_cannot_but_like_it_does_not_refuse(text: str) -> None:
    for said in (text, text.upper()):
        assert read(SENTIMENT, said) == "unparsed"


@pytest.mark.parametrize(
    "text",
    [
        *("None", "none.", "Nothing", "N/A", "No label", "No labels.", "No article", "No violations found."),
        *("No relevant topics", "No applicable articles.", "No concepts", "None of them", "None of these."),
        *("None of the above", "None of the labels.", "None of the listed articles", "None of the options."),
        *(
            "None applies",
            "None apply.",
            "None applicable",
            "None was violated.",
            "No articles are violated.",
        ),
        *("No violation has been found.", "No articles have been violated", "No articles were found"),
        *("Answer: none", "Labels: none of those", "There is no violation."),
    ],
)
def test_none_of_the_labels_is_an_answer(text: str) -> None:
    assert read(TOPICS, text) == frozenset()
    assert read(TOPIC, text) == "unparsed", "where one label is asked for, it is none"


@pytest.mark.parametrize(
    "text", ["None of the judges agreed.", "No violation of rights", "No label under it"]
)
def test_none_of_something_else_is_no_answer(text: str) -> None:
    assert read(TOPICS, text) == "unparsed"


@pytest.mark.parametrize("word", ["except", "other than", "apart from", "but", "only"])
def test_none_but_one_is_that_one(word: str) -> None:
    assert read(TOPICS, f"None {word} trade") == frozenset(["trade"])


def test_none_and_one_besides_contradict_one_another() -> None:
    for text in ("None. Besides, trade.", "None\nBesides: trade", "No labels. trade, besides"):
        assert read(TOPICS, text) == "unparsed"


REASONS = (
    *(
        "Explanation",
        "Reason",
        "Reasons",
        "Reasoning",
        "Rationale",
        "Justification",
        "Note",
        "Notes",
        "Thought",
    ),
    *("Thoughts", "Thinking", "Thought process", "Chain of thought", "Analysis", "Begründung", "Explication"),
    *("Explicación", "Spiegazione"),
)
ANSWERED = (
    *(
        "Answer",
        "Label",
        "Labels",
        "Classification",
        "Sentiment",
        "Category",
        "Verdict",
        "Response",
        "Output",
    ),
    *("Result", "Score", "Rating", "Prediction", "Topic", "My answer", "The final answer", "So the label"),
    "Therefore, my verdict",
)


@pytest.mark.parametrize("heading", REASONS)
@pytest.mark.parametrize("dress", ["{}:", "**{}:**", "### {}:", "> {} :", "- {}:", "__{}__:", "_{}:_"])
def test_reasons_have_headings_of_many_kinds(heading: str, dress: str) -> None:
    begun = dress.format(heading)
    for said in (begun, begun.upper()):
        assert read(SENTIMENT, f"Positive\n{said} Negative.\nNegative, too") == "Positive"
        assert read(SENTIMENT, f"{said} Negative.\nNegative indeed.\nAnswer: Positive") == "Positive"


@pytest.mark.parametrize("heading", ANSWERED)
@pytest.mark.parametrize(
    "dress", ["{}: {}", "**{}:** {}", "## {}\n{}", "> {} is {}", "- {} : {}", "__{}__: {}"]
)
def test_reasons_end_where_an_answer_is_announced(heading: str, dress: str) -> None:
    for said in (heading, heading.upper()):
        answer = dress.format(said, "Positive")
        assert read(SENTIMENT, f"Reasons: Negative.\nNegative indeed.\n{answer}") == "Positive"


@pytest.mark.parametrize("bullet", ["-", "*", "•", "+", "–", "·", "1.", "12)", "(3)", "> -"])
def test_items_begin_in_many_ways(bullet: str) -> None:
    lines = f"{bullet} trade: because of EU finance\n{bullet} Article 1"
    assert read(TOPICS, lines) == frozenset(["trade", "Article 1"])


@pytest.mark.parametrize("tag", ["b", "i", "u", "p", "em", "strong", "span", "div", "code", "mark", "STRONG"])
def test_tags_of_a_page_are_no_words(tag: str) -> None:
    assert read(SENTIMENT, f"The sentiment is <{tag}>Positive</{tag}><br />.") == "Positive"


@pytest.mark.parametrize("word", ["Option", "Choice", "Answer", "Label", "Category"])
def test_letters_before_labels_are_left_out(word: str) -> None:
    for before in (f"{word} 2:", f"{word.upper()} (B)", f"({word[0]})", "> c)", "2."):
        assert read(SENTIMENT, f"{before} Positive") == "Positive"


@pytest.mark.parametrize("word", ["answer", "option", "choice", "label", "Answer"])
def test_small_letters_are_those_of_the_labels_where_an_answer_is_expected(word: str) -> None:
    for said in (f"{word} b", f"{word}: b.", f"The {word} is b", f"the {word} is: (b)", f"{word} - b**"):
        assert read(LETTERS, said) == "B"


def test_what_is_said_in_brackets_before_a_colon_is_left_out() -> None:
    assert read(SENTIMENT, "Sentiment (Negative or Positive): Positive") == "Positive"
    assert read(SENTIMENT, "Sentiment (not Negative) = Positive") == "Positive"
