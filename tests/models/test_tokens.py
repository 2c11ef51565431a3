"""Prompt tokens are counted by the server that will read them, where it can."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from harness.core import Message, Request
from harness.estimates import likely_prompt
from harness.models import tokens
from harness.models.local import VaderModel
from harness.models.openai import OpenAIModel
from harness.plugins import Tokenizer
from tests.servers import Answer, error, serve

REQUEST = Request({}, (Message("system", "be brief"), Message("user", "how are you today?")), {}, text="you")


def count(model: Any) -> tuple[float, str]:
    async def work() -> tuple[float, str]:
        counter = await tokens.counter(model)
        return await counter.tokens(REQUEST), counter.how

    return asyncio.run(work())


@pytest.mark.parametrize(("body", "number"), [({"count": 17}, 17), ({"tokens": [1, 2, 3]}, 11)])
def test_a_server_with_a_tokenizer_is_asked(body: dict[str, Any], number: int) -> None:
    with serve(lambda *_: Answer(body)) as endpoint:
        assert count(OpenAIModel("m", endpoint.base_url)) == (
            number,
            "the server's tokenizer on the first 100 requests",
        )
        assert {"messages", "content"} <= endpoint.requests[-1].keys()


def test_elsewhere_an_estimate_says_so() -> None:
    with serve(lambda *_: error(404)) as endpoint:
        assert count(OpenAIModel("m", endpoint.base_url)) == (14, "an estimate of 4.2 characters a token")
    assert count(VaderModel())[1] == "an estimate of 4.2 characters a token"


def test_a_classifier_counts_the_text_without_the_prompt() -> None:
    class Classifier(VaderModel):
        def count_tokens(self, text: str) -> int:
            return len(text)

    assert count(Classifier()) == (3, "the model's tokenizer on the first 100 texts")


def test_the_rest_is_estimated_from_what_was_counted() -> None:
    async def double(request: Request) -> int:
        return 2 * likely_prompt(request.messages)

    async def work() -> list[float]:
        counter = tokens.TokenCounter(Tokenizer("x", double))
        return [await counter.tokens(REQUEST) for _ in range(tokens.COUNTED + 1)]

    assert set(asyncio.run(work())) == {28}
