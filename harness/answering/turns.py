"""Finds the answer in a reply: one turn, without the model's thoughts, in the final channel if there is one.

Thoughts wear many dresses, by model family: tags (DeepSeek, Qwen, EXAONE, Seed, MiniMax, …), brackets
(Mistral), special tokens (Cohere, Apertus, OpenThoughts), channels (gpt-oss, Gemma), phrases (Granite). The
markers are read in one pass over the text, so the time is linear in its length.
"""

from __future__ import annotations

import re
import unicodedata

LONGEST = 65_536
"""Characters of an answer that are read: of a longer one, whole lines of its head and of its tail."""

_THOUGHT = (
    r"(?:[a-z]+[:_])?(?:think(?:ing)?|thoughts?|reason(?:ing|s)?|reflect(?:ion)?|rationale|deliberation"
    r"|analysis|scratch_?pad|cot|chain_of_thought|thought_process|internal|(?:inner|internal)_monologue"
    r"|monologue|plan(?:ning)?|explanation|justification|cot_budget_reflect)"
)
_MARKERS = re.compile(
    r"(?P<start><\|(?:start|begin_of)_(?:response|text|solution|box)\|>)"
    rf"|(?P<tag><(?P<slash>/?)\s*{_THOUGHT}(?:\s[^<>]{{0,200}})?>)"
    rf"|(?P<close><\|(?:end_of_thought|thought_end|end_thinking|inner_suffix|/{_THOUGHT})\|>"
    r"|\[(?:/|end_)(?:think(?:ing)?|reasoning|thoughts?)\]|◁/think▷|<unused95>|<channel\|>"
    r"|<\|im_start\|>\s*(?:answer|final)\b"
    r"|here(?: is|['’]s) my (?:response|answer):)"
    rf"|(?P<open><\|(?:begin_of_thought|thought_start|start_thinking|begin_thinking|inner_prefix|{_THOUGHT})\|>"
    r"|\[(?:begin_)?(?:think(?:ing)?|reasoning|thoughts?)\]|◁think▷|<unused94>|<\|channel>\s*thought"
    r"|<\|im_start\|>\s*(?:think|thought|reasoning|analysis)\b"
    r"|^[^\w\n]*here(?: is|['’]s) my (?:thought process|thinking|reasoning):)"
    r"|(?P<channel>(?:<\|start\|>\s*assistant\s*)?<\|channel\|>\s*(?P<name>\w*)[^<]{0,100}"
    r"(?:<\|constrain\|>[^<]{0,100})?<\|message\|>)"
    r"|(?P<turn><(?:\|(?:im_start|start_header_id|start|start_of_role)\||start_of_turn)>\s*"
    r"(?:assistant|model|bot)\b|<[|｜][^<>|｜\s]{1,40}[|｜]>|</?s>|<[be]os>|<(?:end|start)_of_turn>|<turn\|>|<\|turn>"
    r"|\[/?INST\]|<seed:[be]os>|\[\|\w{1,20}\|\]|<extra_id_\d+>|<special_\d+>|\]~b\]|\[e~\["
    r"|^[ \t]*(?:\#+[ \t]*)?(?:human|user|instruction)[ \t]*:)",
    re.IGNORECASE | re.MULTILINE,
)
# Harmony channels whose special tokens were dropped by the server: "analysisThe text…assistantfinalPositive".
_FLAT = re.compile(r"\s*(?:assistant)?(?:analysis|commentary)(?=[\w\"'“‘(])", re.IGNORECASE)
_FLAT_LINE = re.compile(r"\s*(?:assistant)?(?:analysis|commentary)\s*\n", re.IGNORECASE)
_FLAT_FINAL = re.compile(r"assistant\s{0,9}final(?!ly|e|ist|i[sz])", re.IGNORECASE)
_FINAL_ALONE = re.compile(r"\s*(?:assistant)?final(?=(?-i:[A-Z]))", re.IGNORECASE)
_PLAIN = str.maketrans(
    {
        **{code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)},
        **dict.fromkeys((0x3000, 0xA0, 0x2007, 0x202F, *range(0x2002, 0x2007), *range(0x2008, 0x200B)), " "),
        **dict.fromkeys((0xAD, 0x200B, 0x200C, 0x200D, 0x200E, 0x200F, 0x2060, 0xFEFF)),
        **dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A), *range(0xFE00, 0xFE10))),
        **dict.fromkeys("‘’‚ʼ", "'"),
        **dict.fromkeys("“”„«»「」『』", '"'),
        **dict.fromkeys("。｡", "."),
        **dict.fromkeys("、､", ","),
        **dict.fromkeys("‐‑−", "-"),
        **dict.fromkeys("\r\v\f\x85\u2028\u2029", "\n"),
    }
)


# Halves of surrogate pairs, and the characters that stand for labels while a text is read.
_NO_TEXT = re.compile("[\\ud800-\\udfff\\x1e\\U000f0000-\\U0010ffff]")


def plain(text: str) -> str:
    """Return ``text`` composed (NFC), with one kind of quotes, spaces and full-width letters."""
    return unicodedata.normalize("NFC", _NO_TEXT.sub("\ufffd", text)).translate(_PLAIN)


def answer(text: str) -> str | None:
    """Return the answer in a reply, at most ``LONGEST`` characters; None where the thoughts do not end."""
    final = _unflattened(text)
    said = final if final is not None else text
    if final is None and _FLAT.match(text):
        return None
    spoken = _spoken(said)
    return None if spoken is None else _bounded(plain(spoken))


def _unflattened(text: str) -> str | None:
    """Return the final channel of a reply whose channel tokens were dropped; None where it is no such."""
    alone = _FINAL_ALONE.match(text)
    if alone:
        return text[alone.end() :]
    if not _FLAT.match(text) and not _FLAT_LINE.match(text):
        return None
    ends = [final.end() for final in _FLAT_FINAL.finditer(text)]
    return text[ends[-1] :] if ends else None


def _spoken(text: str) -> str | None:
    """Return what is said outside thoughts up to the end of the turn; None where a thought does not end."""
    parts: list[str] = []
    depth, begin, said = 0, 0, False
    for mark in _MARKERS.finditer(text):
        if depth == 0:
            parts.append(text[begin : mark.start()])
            said = said or (not parts[-1].isspace() and parts[-1] != "")
        begin = mark.end()
        kind = mark.lastgroup if mark.lastgroup not in ("slash", "name") else "channel"
        if mark["tag"]:
            kind = "close" if mark["slash"] else "open"
        if kind == "open":
            depth += 1
        elif kind == "close":
            if not depth:  # a chat template may open the thought in the prompt
                parts, said = [], False
            depth = max(0, depth - 1)
        elif kind == "channel":
            depth = 0 if mark["name"].lower() == "final" else 1
            parts, said = [], False
        elif kind == "turn":
            if depth and mark[0].lower() == "<|end|>":  # the end of a channel
                depth, parts, said = 0, [], False
            elif not depth and said:
                return "".join(parts)
    if depth:
        return None
    return "".join([*parts, text[begin:]])


def _bounded(text: str) -> str:
    """Return whole lines of the head and the tail of a text that is too long."""
    if len(text) <= LONGEST:
        return text
    head, tail = text[: LONGEST // 2], text[-LONGEST // 2 :]
    return head[: head.rfind("\n") + 1] + "\n" + tail[tail.find("\n") + 1 if "\n" in tail else len(tail) :]
