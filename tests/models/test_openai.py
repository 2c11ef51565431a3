"""The client of OpenAI-compatible endpoints, against a real HTTP server."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest

from harness.core import Failure, Message, Reply, Request
from harness.errors import EndpointError, Transient
from harness.models.openai import OpenAIModel
from tests.servers import Answer, Endpoint, Script, completion, error, serve

SAMPLING = {"temperature": 0.0, "top_p": 1.0, "seed": 0, "max_tokens": 16, "logprobs": False}
REQUEST = Request({"name": "m"}, (Message("system", "s"), Message("user", "u")), SAMPLING)
SECRET = "sk-very-secret"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", SECRET)


def ask(script: Script, probe: Script | None = None) -> tuple[Reply | Failure, Endpoint]:
    async def work(url: str) -> Reply | Failure:
        model = OpenAIModel("m", url, "TEST_KEY")
        try:
            return await model.answer(REQUEST)
        finally:
            await model.close()

    with serve(script, probe) as endpoint:
        return asyncio.run(work(endpoint.base_url)), endpoint


def test_a_reply_and_what_was_sent_for_it() -> None:
    answer, endpoint = ask(lambda *_: completion("Positive"))
    assert answer == Reply("Positive", "stop", 11, 2, model="scripted-1", fingerprint="fp")
    assert endpoint.requests == [
        {
            "model": "m",
            "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}],
            **{k: v for k, v in SAMPLING.items() if k != "logprobs"},
        }
    ]
    assert endpoint.authorizations == [f"Bearer {SECRET}"]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (error(400, "content_filter"), "filtered"),
        (completion("", "content_filter"), "filtered"),
        (error(400, "context_length_exceeded"), "too-long"),
        (error(400, "", "request (3045 tokens) exceeds the available context size"), "too-long"),
    ],
)
def test_what_cannot_succeed_for_this_request(answer: Answer, reason: str) -> None:
    failure, endpoint = ask(lambda *_: answer)
    assert isinstance(failure, Failure)
    assert failure.reason == reason
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize(
    "answer",
    [
        error(429),
        error(500),
        error(503),
        Answer(None),
        Answer({"error": {"message": "overloaded"}}),
    ],
)
def test_what_may_succeed_later(answer: Answer) -> None:
    with pytest.raises(Transient):
        ask(lambda *_: answer)


def test_retry_after_is_read() -> None:
    with pytest.raises(Transient) as raised:
        ask(lambda *_: error(429, Retry_After="7"))
    assert raised.value.retry_after == 7.0


@pytest.mark.parametrize(
    "answer",
    [
        error(401, "invalid_api_key"),
        error(404, "model_not_found", "no such model"),
        error(429, "insufficient_quota"),
        error(400, "unknown_parameter"),
        error(403, "", "you may not use this model"),
        error(501, "", "no chat here"),
    ],
)
def test_what_cannot_succeed_for_any_request(answer: Answer) -> None:
    with pytest.raises(EndpointError, match="m: HTTP"):
        ask(lambda *_: answer, probe=lambda *_: answer)


@pytest.mark.parametrize(
    "answer",
    [
        completion("x", choices=None),
        completion("x", choices=[]),
        completion("x", choices=[None]),
        completion("x", choices=[{"index": 0, "finish_reason": "stop", "message": None}]),
    ],
)
def test_a_reply_without_an_answer_is_the_failure_of_this_text_alone(answer: Answer) -> None:
    failure, _ = ask(lambda *_: answer)
    assert isinstance(failure, Failure)
    assert failure.reason == "failed"
    with pytest.raises(EndpointError, match="the reply has no"):
        ask(lambda *_: answer, probe=lambda *_: answer)


def test_a_prompt_that_a_filter_blocked_is_filtered() -> None:
    answer, _ = ask(lambda *_: Answer({"choices": [], "promptFeedback": {"blockReason": "SAFETY"}}))
    assert answer == Failure("filtered", "the prompt was blocked: SAFETY")


def test_content_null_is_an_empty_answer() -> None:
    answer, _ = ask(lambda *_: completion(None))
    assert isinstance(answer, Reply)
    assert answer.text == ""


def test_a_closed_port_is_transient_and_named() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"

    async def work() -> None:
        model = OpenAIModel("m", url, "TEST_KEY")
        try:
            await model.answer(REQUEST)
        finally:
            await model.close()

    with pytest.raises(Transient, match=r"127\.0\.0\.1"):
        asyncio.run(work())


def test_a_missing_key_names_the_variable() -> None:
    with pytest.raises(EndpointError, match="NO_SUCH_KEY"):
        asyncio.run(OpenAIModel("m", None, "NO_SUCH_KEY").answer(REQUEST))


def test_the_key_is_in_no_identity_and_no_error(tmp_path: Path) -> None:
    model = OpenAIModel("m", "http://127.0.0.1:9/v1", "TEST_KEY")
    assert SECRET not in repr(model.identity)
    with pytest.raises(EndpointError) as raised:
        ask(lambda *_: error(401, "invalid_api_key", "Incorrect API key provided"))
    assert SECRET not in str(raised.value)
