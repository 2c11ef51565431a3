"""Thoughts are never read, whatever they wear; the final channel is; what follows the turn is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.answering import turns
from harness.answering.numbers import NumberReader
from harness.answering.parse import LabelReader
from harness.core import Reply

READER = LabelReader(("Negative", "Positive"))
TAGS = (
    *("think", "thinking", "thought", "thoughts", "thought_process", "reason", "reasoning", "reflection"),
    *("analysis", "scratchpad", "internal", "inner_monologue", "cot", "plan", "ant_thinking", "mm:think"),
    *("seed:think", "longcat_think", "THINK", "explanation", "deliberation", "rationale", "justification"),
    *("monologue", "internal_monologue", "chain_of_thought", "scratch_pad", "planning", "reflect", "reasons"),
    "seed:cot_budget_reflect",
)
THOUGHTS = (
    *((f"<{tag}>", f"</{tag}>") for tag in TAGS),
    *(("<think >", "</think>"), ('<think id="1">', "</think>"), ("<think>", "</ think >")),
    *((f"<|{name}|>", f"<|/{name}|>") for name in ("think", "thinking", "reasoning")),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|thought_start|>", "<|thought_end|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|inner_prefix|>", "<|inner_suffix|>"),
    *((f"[{name}]", f"[/{name}]") for name in ("THINK", "thinking", "REASONING")),
    ("[BEGIN_THINK]", "[END_THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<unused94>thought\n", "<unused95>"),
    ("<|channel>thought\n", "<channel|>"),
    ("<|im_start|>think\n", "<|im_start|>answer\n"),
    ("Here is my thought process: ", "Here is my response: "),
    ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    ("<|channel|>commentary<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    ("analysis", "assistantfinal"),
    ("analysis\n", "\nassistantfinal\n"),
)
WORDS = "The sentiment is Negative at first sight. So the answer is Negative"
ENDS = (
    *(
        "<|im_end|>\n<|im_start|>user\n",
        "<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n",
        "<|eom_id|>",
    ),
    *("<end_of_turn>\n<start_of_turn>user\n", "<|end|>\n<|user|>\n", "<turn|>\n", "</s>", "<|endoftext|>"),
    *(
        "<|end_of_text|>",
        "<｜end▁of▁sentence｜>",
        "<｜User｜>",
        "<|END_OF_TURN_TOKEN|>",
        "<|return|>",
        "<eos>",
    ),
    *("[/INST]", "[INST] ", "<seed:eos>", "[|endofturn|]\n", "<|assistant_end|>", "<|EOT|>", "<extra_id_1>"),
    *("<|end_of_turn|>", "<|role_end|>", "<|im_user|>", "\nUser: ", "\n\nHuman: ", "\n### Instruction: "),
)


def said(text: str, finish: str = "stop") -> str | None:
    outcome = READER(Reply(text, finish))
    return outcome.reason if outcome.labels is None else next(iter(outcome.labels))


@pytest.mark.parametrize(("begin", "end"), THOUGHTS)
def test_a_thought_is_not_read(begin: str, end: str) -> None:
    assert said(f"{begin}{WORDS}.{end}Positive") == "Positive"
    assert said(f"{begin}\n{WORDS}\n{end}\n\nThe sentiment is **Positive**.") == "Positive"
    assert said(f"{begin}{WORDS}.{end}\nIt is upbeat overall.") == "unparsed"
    assert said(f"{begin}{WORDS}.{end}") == "unparsed"
    assert NumberReader()(Reply(f"{begin}Score: 0.3.{end}0.7")).score == 0.7


@pytest.mark.parametrize("begin", [begin for begin, _ in THOUGHTS if begin != "analysis\n"])
def test_a_thought_that_does_not_end_is_not_read(begin: str) -> None:
    assert said(f"{begin}{WORDS}", "length") == "truncated"
    assert said(f"{begin}{WORDS}") == "unparsed"
    assert NumberReader()(Reply(f"{begin}Score: 0.3")).reason == "unparsed"


@pytest.mark.parametrize("name", TAGS)
def test_a_thought_that_began_in_the_prompt_or_in_another_is_not_read(name: str) -> None:
    assert said(f"{WORDS}.</{name}>Positive") == "Positive"
    assert said(f"<{name}>{WORDS}.<{name}>{WORDS}</{name}>Negative</{name}>Positive") == "Positive"
    assert said(f"<{name}>a</{name}>Negative</{name}>Positive") == "Positive"


@pytest.mark.parametrize(
    "text",
    [
        "<|channel|>final<|message|>Positive",
        "<|start|>assistant<|channel|>final<|message|>Positive<|return|>",
        '<|channel|>final <|constrain|>json<|message|>{"label": "Positive"}',
        "assistantfinalPositive",
        "finalPositive",
        "<|START_THINKING|>x<|END_THINKING|><|START_RESPONSE|>Positive<|END_RESPONSE|>",
        "<|im_start|>assistant\nPositive<|im_end|>",
        "<|begin_of_box|>Positive<|end_of_box|>",
        "**Thinking:** It is Negative.\nNegative indeed.\n**Answer:** Positive",
    ],
)
def test_the_final_channel_is_read(text: str) -> None:
    assert said(text) == "Positive"


@pytest.mark.parametrize("end", ENDS)
def test_what_follows_the_turn_is_not_read(end: str) -> None:
    assert said(f"Positive{end}Negative") == "Positive"
    assert said(f"The sentiment is positive.{end}Now this: Negative") == "Positive"
    assert said(f"<think>Negative{end.strip()}</think>Positive{end}Negative") in ("Positive", "unparsed")


@pytest.mark.parametrize(
    "text", ["analysis", "Analysis of the text: it is fine.", "final", "Finally, <b>yes</b>"]
)
def test_words_that_look_like_channels_are_text(text: str) -> None:
    assert turns.answer(text) == text


def test_a_long_answer_is_read_from_whole_lines_of_its_head_and_tail() -> None:
    blah = "blah " * 100_000
    assert said(f"Answer: Positive\n{blah}") == "Positive"
    assert said(f"{blah}\nAnswer: Positive") == "Positive"
    assert said(f"Positive {blah}") == "unparsed"
    assert said(f"{blah}not Positive") == "unparsed"
    assert said("x\n" * 20_000 + "Answer: Negative\n" + "x\n" * 50_000) == "unparsed"
    assert said(f"<think>{blah}Negative</think>\nPositive") == "Positive"


@given(st.text(max_size=200), st.sampled_from(THOUGHTS), st.text(max_size=30))
def test_no_thought_reaches_the_answer(thought: str, dress: tuple[str, str], rest: str) -> None:
    begin, end = dress
    secret = "".join(c for c in thought if c.isalpha()) + "Negative"
    answer = turns.answer(f"{begin}{secret}{end}{rest}")
    assert answer is None or secret not in answer or secret in rest


MARKERS = ("<think>", "</think>", "<|channel|>", "final", "<|message|>", "a", "\n", "<|end|>", "analysis")


@given(st.lists(st.sampled_from(MARKERS)).map("".join))
def test_any_markers_give_text_or_nothing(text: str) -> None:
    answer = turns.answer(text)
    assert answer is None or len(answer) <= turns.LONGEST
