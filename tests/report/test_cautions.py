"""What a reader is told before believing the figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.models.llama import has_chat_template
from harness.report import cautions, gate, wording
from harness.report.summary import Summary
from tests.report.builders import ZERO_ANSWERS, row, summary_of


def codes(of: Summary) -> dict[str, str]:
    return {caution.code: caution.text for caution in cautions.of_summary(of, {}, controls_asked=False)}


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
