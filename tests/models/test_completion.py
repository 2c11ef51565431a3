"""What a completion says: words, refusals, finish reasons, log-probabilities, whatever its fields hold."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import httpx2
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.answering.reading import Reader
from harness.core import UNREAD, Failure, Outcome, Reply, Task
from harness.errors import EndpointError, Transient
from harness.models import wire
from harness.replies import finish

TASK = Task("t", "t", ("Negative", "Positive"), lambda _: iter(()), "p")
RATING = Task("r", "r", ("0", "1", "2"), lambda _: iter(()), "p", rates="valence")


def outcome(choice: Mapping[str, object], task: Task = TASK, **answer: object) -> Outcome:
    """What is read of a completion with one choice."""
    return Reader.of(task, constrained=False).outcome(wire.read({"choices": [choice], **answer}))


def message(content: object = "Negative", **fields: object) -> dict[str, object]:
    return {"message": {"content": content, **fields}}


@pytest.mark.parametrize(
    ("meaning", "reasons"),
    [
        ("stop", ["stop", "STOP", None, "", "end_turn", "stop_sequence", "COMPLETE", "eos_token", "eos"]),
        (
            "length",
            ["length", "LENGTH", "Length", "max_tokens", "MAX_TOKENS", "model_length", "max_output_tokens"],
        ),
        ("length", ["model_context_window_exceeded", "FinishReason.MAX_TOKENS", "ERROR_LIMIT"]),
        ("filter", ["content_filter", "content-filter", "content_filtered", "SAFETY", "RECITATION", "SPII"]),
        ("filter", ["PROHIBITED_CONTENT", "BLOCKLIST", "ERROR_TOXIC", "guardrail_intervened", "sensitive"]),
        ("refusal", ["refusal"]),
        ("failure", ["error", "ERROR", "abort", "cancelled", "USER_CANCEL", "network_error", "TIMEOUT"]),
        ("failure", ["insufficient_system_resource"]),
        (
            "unknown",
            ["tool_calls", "function_call", "MALFORMED_FUNCTION_CALL", "OTHER", "pause_turn", "x" * 999],
        ),
    ],
)
def test_finish_reasons_are_known_by_their_synonyms(meaning: str, reasons: list[str | None]) -> None:
    assert {reason: finish(reason) for reason in reasons} == dict.fromkeys(reasons, meaning)


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (message() | {"finish_reason": "error"}, "failed"),
        (message() | {"error": {"message": "upstream"}}, "failed"),
        (message() | {"finish_reason": "stop", "error": "upstream"}, "failed"),
        ({"error": {"code": 502}}, "failed"),
        (message() | {"finish_reason": "abort"}, "failed"),
        (message() | {"finish_reason": "SAFETY"}, "filtered"),
        (message("Negative. The") | {"finish_reason": "MAX_TOKENS"}, "truncated"),
        (
            message("Negative. The") | {"finish_reason": None, "native_finish_reason": "MAX_TOKENS"},
            "truncated",
        ),
        (message("Positive of") | {"finish_reason": "stop", "native_finish_reason": "length"}, "truncated"),
        (message() | {"finish_reason": "something_new"}, "unparsed"),
        (message() | {"finish_reason": {"type": "stop"}}, "unparsed"),
        (message() | {"finish_reason": "tool_calls"}, "unparsed"),
    ],
)
def test_a_reply_that_did_not_end_well_has_no_label(choice: dict[str, object], expected: str) -> None:
    assert outcome(choice) == Outcome(reason=expected)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "choice",
    [
        message(None, refusal="This breaks the rule on negative stereotypes."),
        message("Negative", refusal="This breaks the rule on negative stereotypes."),
        message("", refusal={"text": "Negative"}),
        message([{"type": "refusal", "refusal": "Negative words are not for me."}]),
        message([{"type": "text", "text": "Negative"}, {"type": "refusal"}]),
        message("Negative") | {"finish_reason": "refusal"},
        message("Negative") | {"finish_reason": "stop", "native_finish_reason": "refusal"},
    ],
)
def test_a_refusal_is_not_read(choice: dict[str, object]) -> None:
    assert outcome(choice) == Outcome(reason="refused")
    assert outcome(choice, RATING) == Outcome(reason="refused")


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "reasoning", "text": "Positive?"}, {"type": "text", "text": "Negative"}],
        [
            {"type": "thinking", "thinking": [{"type": "text", "text": "Positive?"}]},
            {"type": "text", "text": "Negative"},
        ],
        [{"type": "output_text", "text": "Negative"}],
        [{"text": "Nega"}, {"text": "tive"}],
        ["Negative"],
        {"text": "Negative"},
    ],
)
def test_only_the_parts_that_are_the_answer_are_read(content: object) -> None:
    assert outcome(message(content)).labels == frozenset(["Negative"])


BROKEN: tuple[Any, ...] = ([{"token": "Pos"}], {"a": 1}, "abc", [1], [None], [[]], 5, True)


@pytest.mark.parametrize(
    "logprobs",
    [
        *({"content": content} for content in BROKEN),
        {"content": [{"token": 5, "logprob": -1}]},
        {"content": [{"token": "N", "logprob": None}]},
        {"content": [{"token": "N", "logprob": "-1"}]},
        {"content": [{"token": "N", "logprob": float("nan")}]},
        {"content": [{"token": "N", "logprob": float("-inf")}]},
        {"content": [{"token": "N", "logprob": 3}]},
        {"content": [{"token": "N", "logprob": True}]},
        {"content": [{"token": "N", "logprob": 10**400}]},
        *(
            {"content": [{"token": "N", "logprob": -1, "top_logprobs": top}]}
            for top in ({"N": -1}, "N", 5, [{"token": "N"}], [None], [{"token": "N", "logprob": None}])
        ),
        *([], "abc", 5, {"tokens": ["N"]}),
    ],
)
def test_malformed_log_probabilities_are_none_for_this_reply(logprobs: object) -> None:
    found = outcome(message() | {"logprobs": logprobs})
    assert (found.labels, found.margin, found.probabilities) == (frozenset(["Negative"]), None, None)


def test_half_a_surrogate_pair_is_replaced_wherever_it_stands() -> None:
    token = {"token": "Positive\ud83d", "logprob": -0.1, "top_logprobs": [{"token": "\udc00", "logprob": -3}]}
    reply = wire.read(
        {
            "choices": [message("Positive \ud83d") | {"logprobs": {"content": [token]}}],
            "model": "m\ud83d",
            "system_fingerprint": "\udfff",
        }
    )
    assert isinstance(reply, Reply)
    assert "\ud83d" not in json.dumps(str(reply), ensure_ascii=False)
    str(reply).encode()
    assert (reply.model, reply.fingerprint) == ("m\ufffd", "\ufffd")
    assert Reader.of(TASK, constrained=False).outcome(reply).labels == frozenset(["Positive"])


def test_a_whole_pair_is_kept() -> None:
    reply = wire.read({"choices": [message("Positive \U0001f600")]})
    assert isinstance(reply, Reply)
    assert reply.text == "Positive \U0001f600"


KEYS = (
    *("error", "choices", "message", "content", "usage", "finish_reason", "native_finish_reason", "refusal"),
    *("text", "type", "logprobs", "top_logprobs", "token", "logprob", "model", "system_fingerprint"),
    *("prompt_tokens", "completion_tokens", "prompt_tokens_details", "cached_tokens", "code", "x"),
)
WORDS = (
    "Negative",
    "refusal",
    "text",
    "stop",
    "length",
    "<think>",
    "</think>",
    "analysis",
    "{",
    "\ud83d",
    "1",
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=24,
)
CHOICES = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("finish_reason", "logprobs", "error", "text", "native_finish_reason"), VALUES)
).flatmap(
    lambda choice: st.fixed_dictionaries(
        {}, optional=dict.fromkeys(("content", "refusal", "reasoning", "role"), VALUES)
    ).map(lambda said: {**choice, "message": said})
)
REST = st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=4)
BODIES = VALUES | st.builds(lambda choice, rest: {**rest, "choices": [choice]}, CHOICES, REST)


def of_bytes(body: bytes) -> Outcome:
    """The one outcome of a successful response with this body."""
    response = httpx2.Response(200, content=body)
    answer: Reply | Failure = Failure("failed")
    with suppress(Transient, EndpointError, ValueError, RecursionError):
        answer = wire.read(response.json())
    for task in (TASK, RATING):
        found = Reader.of(task, constrained=False).outcome(answer)
        assert (found.reason is None) is (found.labels is not None or found.score is not None)
        assert found.reason is None or found.reason in UNREAD
        str((answer, found)).encode()
    return found


@given(BODIES, st.sampled_from(["utf-8", "utf-16", "utf-32", "utf-8-sig", "latin-1"]), st.booleans())
def test_whatever_json_a_body_holds_it_has_one_outcome(body: Any, encoding: str, escaped: bool) -> None:
    text = json.dumps(body, ensure_ascii=escaped)
    of_bytes(text.encode(encoding, "surrogatepass" if encoding != "latin-1" else "replace"))


@given(st.binary(max_size=300))
@example(b'{"choices": [' * 50_000)
@example(b"[" * 200_000)
@example(b'{"choices":[{"message":{"content":"Positive \\ud83d"}}]}')
@example(b'{"choices":[{"message":{"content":"\\udb80\\udc00"}}]}')
@example(b'{"choices":[{"message":{"content":' + b"1" * 5000 + b"}}]}")
@example(b'{"choices":[{"message":{"content":"1"},"logprobs":{"content":[{"token":"1","logprob":-1e999}]}}]}')
def test_whatever_bytes_a_body_is_it_has_one_outcome(body: bytes) -> None:
    of_bytes(body)


@given(st.binary(max_size=80), st.integers(0, 200), st.integers(0, 200))
def test_a_broken_body_has_one_outcome(noise: bytes, at: int, cut: int) -> None:
    whole = json.dumps({"choices": [message("Negative") | {"finish_reason": "stop"}], "usage": {}}).encode()
    of_bytes(whole[:at] + noise + whole[at + cut :])
