"""What an endpoint refuses: the failure of one request, or the end of the run."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from harness.core import Failure, Message, Reply, Request
from harness.errors import EndpointError
from harness.models.openai import OpenAIModel
from tests.servers import Answer, Endpoint, Script, completion, error, serve

SAMPLING = {"temperature": 0.0, "top_p": 1.0, "seed": 0, "max_tokens": 16, "logprobs": False}
BAD = "bad"


def request(text: str) -> Request:
    return Request({"name": "m"}, (Message("user", text),), SAMPLING)


def talk(
    script: Script, texts: Sequence[str], probe: Script | None = None
) -> tuple[list[Reply | Failure], Endpoint]:
    """Ask a model about ``texts``, one after the other."""

    async def work(endpoint: Endpoint) -> list[Reply | Failure]:
        asked = OpenAIModel("m", endpoint.base_url)
        try:
            await asked.prepare(None)
            return [await asked.answer(request(text)) for text in texts]
        finally:
            await asked.close()

    with serve(script, probe) as endpoint:
        return asyncio.run(work(endpoint)), endpoint


def refusing(answer: Answer) -> Script:
    def script(body: dict[str, Any], _: int) -> Answer:
        return answer if BAD in str(body["messages"]) else completion("Positive")

    return script


REFUSALS = [
    (error(400, "invalid_request_error", "Content Exists Risk"), "filtered"),
    (Answer({"error": {"code": 403, "message": "Your input was flagged by moderation"}}, 403), "filtered"),
    (error(400, "data_inspection_failed", "Input data may contain inappropriate content."), "filtered"),
    (error(400, "invalid_prompt", "Invalid prompt: it was flagged by our usage policy."), "filtered"),
    (error(400, "1301", "系统检测到输入或生成内容可能包含不安全或敏感内容"), "filtered"),
    (error(400, "INVALID_ARGUMENT", "The prompt was blocked due to safety"), "filtered"),
    (Answer(b"Unavailable", 451), "filtered"),
    (
        Answer(
            {
                "error": {
                    "code": "content_filter",
                    "innererror": {"code": "ResponsibleAIPolicyViolation"},
                    "message": "The response was filtered",
                }
            },
            400,
        ),
        "filtered",
    ),
    (Answer(b"Request Entity Too Large", 413), "too-long"),
    (
        Answer(
            {
                "error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 1024.",
                "error_type": "validation",
            },
            422,
        ),
        "too-long",
    ),
    (
        error(
            400,
            "BadRequestError",
            "'max_tokens' or 'max_completion_tokens' is too large: 16. This model's maximum context length is"
            " 2048 tokens and your request has 2040 input tokens",
        ),
        "too-long",
    ),
    (error(400, "", "The input token count (33000) exceeds the maximum number of tokens"), "too-long"),
    (Answer(b"", 400), "failed"),
    (Answer(b"", 404), "failed"),
    (error(422, "", "the word 'seed' stands in this text"), "failed"),
]


@pytest.mark.parametrize(("answer", "reason"), REFUSALS)
@pytest.mark.parametrize("place", [0, 2], ids=["first", "later"])
def test_a_refusal_of_one_text_is_that_texts_failure(answer: Answer, reason: str, place: int) -> None:
    texts = [BAD if number == place else f"good {number}" for number in range(5)]
    answers, endpoint = talk(refusing(answer), texts)
    failures = [answer for answer in answers if isinstance(answer, Failure)]
    assert [failure.reason for failure in failures] == [reason]
    assert isinstance(answers[place], Failure)
    good = [body for body in endpoint.requests if BAD not in str(body["messages"])]
    assert len(good) == 4
    assert all("seed" in body for body in good), "a text does not teach how to ask"
    if place:
        assert len(endpoint.requests) == 5, "nothing is asked twice"


def test_many_refusals_in_a_row_do_not_end_a_run_as_long_as_others_are_answered() -> None:
    texts = ["good", *[f"{BAD} {number}" for number in range(40)], "good again"]
    answers, endpoint = talk(refusing(Answer(b"", 400)), texts)
    assert sum(isinstance(answer, Failure) for answer in answers) == 40
    assert isinstance(answers[-1], Reply)
    assert len(endpoint.probes) < 10


def test_an_endpoint_that_refuses_everything_from_some_time_on_ends_the_run() -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        return completion("Positive") if number <= 3 else error(403, "", "your account is suspended")

    def probe(body: dict[str, Any], number: int) -> Answer:
        return completion("hello") if number <= 2 else error(403, "", "your account is suspended")

    with pytest.raises(EndpointError, match="your account is suspended"):
        talk(script, [str(number) for number in range(20)], probe)


@pytest.mark.parametrize("answer", [error(401, "", "no"), error(402, "", "no credit")])
def test_a_key_or_credit_that_ends_ends_the_run_at_once(answer: Answer) -> None:
    with pytest.raises(EndpointError, match="m: HTTP 40"):
        talk(refusing(answer), ["good", BAD])
