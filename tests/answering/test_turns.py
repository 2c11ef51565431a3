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
def test_a_thought_that_does_not_end_was_cut_whatever_the_reason(begin: str) -> None:
    for why in ("length", "stop", "eos_token", ""):
        assert said(f"{begin}{WORDS}", why) == "truncated"
        assert NumberReader()(Reply(f"{begin}Score: 0.3", why)).reason == "truncated"


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


# One way to write what is written in many


def characters(*ranges: tuple[int, int]) -> list[str]:
    return [chr(code) for first, last in ranges for code in range(first, last + 1)]


SPACES = ["\u3000", "\xa0", *characters((0x2002, 0x200A)), "\u202f"]
INVISIBLE = ["\xad", *characters((0x200B, 0x200F), (0x202A, 0x202E), (0x2066, 0x2069)), "\u2060", "\ufeff"]
VARIANTS = characters((0xFE00, 0xFE0F))
WRITTEN = {
    " ": SPACES,
    "": [*INVISIBLE, *VARIANTS],
    "'": list("‘’‚ʼ＇"),
    '"': list("“”„«»「」『』＂"),
    ".": list("。｡．"),
    ",": list("、､，"),
    "-": list("‐‑−－"),
    "\n": list("\r\v\f\x85\u2028\u2029"),
    "é": ["e\u0301"],
    "\ufffd": ["\ud800", "\udfff", "\x1e", "\U000f0000", "\U0010ffff"],
}


@pytest.mark.parametrize(("plain", "written"), WRITTEN.items())
def test_what_is_written_in_many_ways_is_read_in_one(plain: str, written: list[str]) -> None:
    for character in written:
        assert turns.plain(f"a{character}b") == f"a{plain}b"
    assert turns.plain(plain) == plain


def test_full_width_characters_are_those_of_ascii() -> None:
    for code in range(0x21, 0x7F):
        assert turns.plain(chr(code + 0xFEE0)) == turns.plain(chr(code)) == chr(code)


@pytest.mark.parametrize("letters", list("—–… \t\nØß中か글♥😀"))
def test_everything_else_stays_as_it_is(letters: str) -> None:
    assert turns.plain(letters) == letters


@pytest.mark.parametrize("name", ["analysis", "Analysis", "ANALYSIS", "commentary", "assistantanalysis"])
def test_channels_whose_tokens_were_dropped(name: str) -> None:
    assert said(f"{name}\nNegative. \nassistantfinal\nPositive") == "Positive"
    assert said(f"{name}It is Negative.assistantfinalPositive") == "Positive"
    assert said(f"{name}It is Negative.assistantfinally Positive") == "truncated", "it never ends"
    assert said(f"{name}(Negative)Assistant FINALPositive") == "Positive"


def test_of_an_answer_as_long_as_may_be_nothing_is_left_out() -> None:
    whole = "x\n" * (turns.LONGEST // 2)
    assert turns.answer(whole) == whole
    longer = turns.answer("first\n" + whole + "last")
    assert longer is not None
    assert longer.startswith("first\nx\n")
    assert longer.endswith("x\nlast")
    assert turns.LONGEST - 10 < len(longer) <= turns.LONGEST
    assert "\n\nx" in longer, "a line between head and tail"
    assert turns.answer("a" * (turns.LONGEST + 1)) == "\n"
    assert turns.answer("a\n" + "b" * turns.LONGEST + "\nc") == "a\n\nc"
