"""What a reader is told before believing the figures."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from harness import tables
from harness.core import Case, Outcome
from harness.models.llama import has_chat_template
from harness.report import cautions, gate, wording
from harness.report.summary import Summary
from tests.report.builders import ZERO_ANSWERS, adaptive_of, row, summary_of


def codes(of: Summary) -> dict[str, str]:
    return {caution.code: caution.text for caution in cautions.of_summary(of, {}, controls_asked=False)}


def told(*answers: Outcome, gold: Iterable[str] = ()) -> dict[str, str]:
    """The cautions that originals with these answers, and with these gold labels, give rise to."""
    labels: list[frozenset[str] | None] = [frozenset([label]) for label in gold]
    names = [str(number) for number in range(len(answers))]
    cases = [
        Case(name, name, name, "original", "", expected=label)
        for name, label in zip(names, labels or [None] * len(names), strict=True)
    ]
    rows = [tables.answer_row(case, outcome, "") for case, outcome in zip(cases, answers, strict=True)]
    frames = [
        tables.frame("cases", [tables.case_row(case) for case in cases]).lazy(),
        tables.frame("answers", rows).lazy(),
    ]
    return {caution.code: caution.text for caution in cautions.of_tables(*frames)}


def says(label: str, mass: float | None = None) -> Outcome:
    return Outcome(frozenset([label]), mass=mass)


UNREAD = Outcome(reason="unparsed")
SCORE = Outcome(score=0.5)


def gguf(*keys: str) -> bytes:
    """The beginning of a model file whose metadata have these keys, each with a text."""

    def text(words: str) -> bytes:
        return len(words).to_bytes(8, "little") + words.encode()

    head = b"GGUF" + (3).to_bytes(4, "little") + (0).to_bytes(8, "little") + len(keys).to_bytes(8, "little")
    return head + b"".join(text(key) + (8).to_bytes(4, "little") + text("x") for key in keys) + b"\0" * 64


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (("general.name", "tokenizer.chat_template"), True),
        (("general.name",), False),
        (("tokenizer.chat_template.tool_use",), False),
        ((), False),
    ],
)
def test_a_model_file_tells_whether_it_has_a_chat_template(
    tmp_path: Path, keys: tuple[str, ...], expected: bool
) -> None:
    file = tmp_path / "m.gguf"
    file.write_bytes(gguf(*keys))
    assert has_chat_template(file) is expected


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"chat_template": False}, True),
        ({"chat": False}, True),
        ({"chat_template": True, "chat": True}, False),
        ({}, False),
    ],
)
def test_a_model_without_a_chat_template_is_a_caution(facts: dict[str, bool], said: bool) -> None:
    of = summary_of(model_facts=facts)
    assert ("no-chat-template" in codes(of)) is said


def test_answers_that_were_cut_are_said_with_their_limit_and_what_to_do() -> None:
    of = summary_of(
        row("gender", tests=4, undetermined=4),
        answers={**ZERO_ANSWERS, "read": 4, "truncated": 4},
        answer_tokens=63,
    )
    assert codes(of)["cut-answers"].startswith("4 of 8 answers were cut off at 63 tokens: give more with")
    assert wording.unread(of) == f"4 of 8 answers were cut off at 63 tokens: {wording.MORE_TOKENS}"
    (line,) = gate.lines(of, None)
    assert "cut off at 63 tokens: give more with --answer-tokens" in line
    assert gate.exit_code(of, None) == 3


def test_no_limit_is_named_where_none_is_known_or_none_was_reached() -> None:
    unlimited = summary_of(answers={**ZERO_ANSWERS, "truncated": 4})
    unparsed = summary_of(answers={**ZERO_ANSWERS, "unparsed": 4}, answer_tokens=63)
    assert wording.unread(unlimited) == "4 of 4 answers were cut off"
    assert wording.unread(unparsed) == "4 of 4 answers are not labels"
    assert not {"cut-answers"} & (codes(unlimited).keys() | codes(unparsed).keys())


def test_answers_that_never_vary_are_a_caution() -> None:
    for same in (says("Positive"), SCORE, Outcome(frozenset(["3", "6"]))):
        assert told(*[same] * 10, UNREAD) == {
            "constant-answers": "All 10 answers are the same: whatever the texts say, nothing could be found."
        }
        assert told(*[same] * 9, UNREAD) == {}, "too few to be remarkable"
        assert told(*[same] * 9, says("Negative")) == {}
    assert told(*[SCORE] * 9, Outcome(score=0.6)) == {}
    assert told(*[UNREAD] * 20) == {}, "no answer is none that is the same"


def test_answers_that_a_model_was_forced_to_give_are_a_caution() -> None:
    forced = [says("Positive", mass=0.0002), says("Negative", mass=0.0199)]
    assert told(*forced)["forced-labels"].startswith(
        "The model gave all labels together a mean probability of 1.0 %: it was made to"
    )
    assert told(says("Positive", mass=0.05), says("Negative", mass=0.15)) == {}, "a tenth is not below it"
    assert "forced-labels" in told(says("Positive", mass=0.05), says("Negative", mass=0.14))
    assert "forced-labels" in told(*forced, says("Positive")), "what is not known is no part of the mean"
    assert told(says("Positive"), says("Negative")) == {}
    assert told(Outcome(reason="unparsed", mass=0.0), says("Positive")) == {}


def test_a_model_that_is_right_no_more_often_than_the_commonest_label_is_a_caution() -> None:
    gold = ["Positive"] * 12 + ["Negative"] * 8

    def right(number: int, of: list[str]) -> list[Outcome]:
        other = {"Positive": "Negative", "Negative": "Positive"}
        return [says(label if n < number else other[label]) for n, label in enumerate(of)]

    said = told(*right(13, gold), gold=gold)["accuracy-near-chance"]
    assert said == (
        "The model is right on 13 of 20 originals (65.0 %), not clearly more than the 60.0 % that the"
        " commonest label alone would give."
    )
    assert told(*right(20, gold), gold=gold) == {}
    assert told(*right(13, gold)[:19], gold=gold[:19]) == {}, "too few texts to say so"
    assert told(*right(13, gold)[:19], UNREAD, gold=gold) == {}, "of which one was not read"


def test_what_the_figures_show_is_a_caution() -> None:
    unread = {**ZERO_ANSWERS, "read": 4, "refused": 1}
    assert "unread-answers" not in codes(summary_of(answers=unread)), "a fifth is not more than it"
    said = codes(summary_of(answers=unread | {"failed": 1}))["unread-answers"]
    assert said.startswith("2 of 6 answers (33.3 %) could not be read")
    decided = {"tests": 30, "benign": 30, "near_ties": 0}
    many, few = row("race", **decided, originals=20), row("body", **decided, originals=19)
    assert codes(summary_of(many)) == {}
    assert codes(summary_of(many, few))["few-originals"].startswith("Fewer than 20 originals: body (19).")
    tied = row("race", tests=30, biased=3, benign=27, near_ties=1, originals=20)
    assert codes(summary_of(tied, many))["near-ties"].startswith("1 of 3 flips is near a tie")
    assert codes(summary_of(model_facts={"temperature_zero": False})).keys() == {"temperature"}
    assert codes(summary_of(model_facts={"system": False})).keys() == {"no-system-role"}
    assert codes(summary_of(consistency="word", meaning="off")).keys() == {"as-published"}


def test_what_has_no_controls_to_compare_with_is_named_unless_their_excess_is_estimated() -> None:
    rows = [row(name, tests=30, biased=3, benign=27, originals=30) for name in ("race", "gender", "body")]
    rows[0] = rows[0].model_copy(update={"control_rate": 0.1})
    over = {"attributes": ["gender"], "tests": 9, "controls": 3, "originals": 3, "rate": 0.2}
    over |= {"control_rate": 0.1, "excess": 0.1, "ci95": (0.0, 0.2), "together": (0.0, 0.3)}
    adaptive = adaptive_of(excesses=[over])
    for summary, names in (
        (summary_of(*rows), "gender, body"),
        (summary_of(*rows, adaptive=adaptive), "body"),
    ):
        found = {one.code: one.text for one in cautions.of_summary(summary, {}, controls_asked=True)}
        assert found["no-controls"].startswith(f"No control mutants to compare with: {names}. ")
        assert "no-controls" not in codes(summary)
