"""How an endpoint wants to be asked is learnt from its answers, once, and recorded."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core import Failure, Message, Reply, Request
from harness.dialect import Dialect
from harness.disclosure import keep_secret
from harness.errors import EndpointError, Transient
from harness.models import refusals, wire
from harness.models.openai import OpenAIModel
from tests.servers import Answer, Endpoint, Script, completion, error, serve

SAMPLING = {"temperature": 0.0, "top_p": 1.0, "seed": 0, "max_tokens": 16, "logprobs": True}
LABELS = ("Negative", "Positive")
REQUEST = Request({"name": "m"}, (Message("system", "rules"), Message("user", "text")), SAMPLING, LABELS)


def model(endpoint: Endpoint, **options: Any) -> OpenAIModel:
    return OpenAIModel("m", endpoint.base_url, **options)


def talk(
    script: Script, probe: Script | None = None, models: Answer | None = None, times: int = 1, **options: Any
) -> tuple[list[Reply | Failure], OpenAIModel, Endpoint]:
    """Prepare a model on a scripted server and ask it ``times`` times."""

    async def work(endpoint: Endpoint) -> tuple[list[Reply | Failure], OpenAIModel]:
        asked = model(endpoint, **options)
        try:
            await asked.prepare(None)
            return [await asked.answer(REQUEST) for _ in range(times)], asked
        finally:
            await asked.close()

    with serve(script, probe, models) as endpoint:
        answers, asked = asyncio.run(work(endpoint))
        return answers, asked, endpoint


def listing(owner: str, *names: str) -> Answer:
    return Answer({"object": "list", "data": [{"id": name, "owned_by": owner} for name in names]})


def rejecting(*parameters: str) -> Script:
    """A server that knows none of ``parameters``, as reasoning models reject some."""

    def script(body: dict[str, Any], _: int) -> Answer:
        for name in parameters:
            if name in body:
                return Answer(
                    {
                        "error": {
                            "message": f"Unsupported parameter: '{name}'",
                            "param": name,
                            "code": "unsupported",
                        }
                    },
                    400,
                )
        return completion("Positive")

    return script


def test_parameters_that_are_rejected_are_learnt_once_for_the_whole_run() -> None:
    script = rejecting("max_tokens", "temperature", "logprobs", "top_p")
    answers, asked, endpoint = talk(script, script, times=3)
    assert all(isinstance(a, Reply) for a in answers)
    assert asked.dialect.token_limit == "max_completion_tokens"
    assert asked.facts["temperature_zero"] is False
    assert len(endpoint.requests) == 3, "what the probe has learnt is not learnt again"
    assert endpoint.requests[0].keys() == {"model", "messages", "seed", "max_completion_tokens"}


def test_a_rejection_that_the_probe_did_not_meet_is_learnt_from_the_first_request() -> None:
    answers, asked, endpoint = talk(rejecting("seed"), times=2)
    assert [type(a) for a in answers] == [Reply, Reply]
    assert len(endpoint.requests) == 3
    assert "seed" in asked.dialect.dropped


def test_a_system_role_that_is_not_supported_is_folded_for_every_item() -> None:
    def script(body: dict[str, Any], _: int) -> Answer:
        if body["messages"][0]["role"] == "system":
            return error(400, "", "System role not supported")
        return completion("Positive")

    _, asked, endpoint = talk(script, times=2)
    assert asked.facts["system"] is False
    assert endpoint.requests[-1]["messages"] == [{"role": "user", "content": "rules\n\ntext"}]


def test_a_model_without_a_chat_template_is_asked_for_a_completion() -> None:
    def script(body: dict[str, Any], _: int) -> Answer:
        if "messages" in body:
            return error(400, "", "this model has no chat template")
        return Answer({"choices": [{"text": " Positive", "finish_reason": "stop"}], "model": "base"})

    answers, _, endpoint = talk(script)
    assert isinstance(answers[0], Reply)
    assert answers[0].text == " Positive"
    assert endpoint.requests[-1]["prompt"] == "rules\n\nUser: text\n\nAssistant:"
    assert endpoint.requests[-1]["logprobs"] == 5


@pytest.mark.parametrize(
    ("owner", "field"),
    [("vllm", "structured_outputs"), ("llamacpp", "grammar"), ("someone", "response_format")],
)
def test_labels_are_enforced_where_a_probe_shows_that_they_are(owner: str, field: str) -> None:
    def probe(body: dict[str, Any], _: int) -> Answer:
        return completion("Zebra" if field in body else "hello")

    _, asked, endpoint = talk(lambda *_: completion("Positive"), probe, listing(owner, "m"))
    assert len(endpoint.probes) == 2, "a plain question, then one with a constraint"
    assert field in endpoint.requests[0]
    assert asked.facts["choices"] != "none"
    if owner == "vllm":
        assert endpoint.requests[0]["repetition_penalty"] == 1.0
        assert endpoint.requests[0]["structured_outputs"] == {"choice": list(LABELS)}


def test_a_constraint_that_is_silently_ignored_is_not_relied_on() -> None:
    _, asked, endpoint = talk(lambda *_: completion("Positive"), models=listing("vllm", "m"))
    assert asked.facts["choices"] == "none"
    assert "structured_outputs" not in endpoint.requests[0]


def test_a_constraint_that_is_rejected_is_not_used() -> None:
    script = rejecting("response_format")
    _, asked, endpoint = talk(script, script)
    assert asked.facts["choices"] == "none"
    assert "response_format" not in endpoint.requests[0]


def test_a_configured_constraint_needs_no_probe() -> None:
    _, _, endpoint = talk(lambda *_: completion("Positive"), choices="grammar")
    assert endpoint.probes == []
    assert endpoint.requests[0]["grammar"] == 'root ::= "Negative" | "Positive"'


def test_a_local_server_that_does_not_know_the_model_is_an_error() -> None:
    with pytest.raises(EndpointError, match=r"unknown model 'm': .* has other"):
        talk(lambda *_: completion("Positive"), models=listing("llamacpp", "other"))


def test_an_endpoint_that_is_down_while_it_is_probed_is_asked_again_later() -> None:
    async def work(endpoint: Endpoint) -> OpenAIModel:
        asked = model(endpoint)
        with pytest.raises(Transient):
            await asked.prepare(None)
        assert await asked.prepare(None) is not None
        await asked.close()
        return asked

    def probe(body: dict[str, Any], number: int) -> Answer:
        return error(500) if number == 1 else completion("Zebra" if "response_format" in body else "hello")

    with serve(lambda *_: completion("Positive"), probe) as endpoint:
        assert asyncio.run(work(endpoint)).facts["choices"] == "json_schema"


def test_a_known_dialect_is_taken_up_without_asking() -> None:
    async def work(endpoint: Endpoint) -> None:
        asked = model(endpoint)
        assert await asked.prepare(Dialect(choices="none", dropped=("seed",)).to_json()) is None
        await asked.answer(REQUEST)
        await asked.close()

    with serve(lambda *_: completion("Positive")) as endpoint:
        asyncio.run(work(endpoint))
        assert endpoint.probes == []
        assert "seed" not in endpoint.requests[0]


def test_azure_has_its_query_and_its_header(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_KEY", "azure-secret")
    answers, asked, endpoint = talk(
        lambda *_: completion("Positive"), api_key_env="AZURE_KEY", api_version="2026-01-01", choices="none"
    )
    assert endpoint.paths == ["/v1/chat/completions?api-version=2026-01-01"]
    assert endpoint.headers[0]["api-key"] == "azure-secret"
    assert isinstance(answers[0], Reply)
    assert asked.identity["api_version"] == "2026-01-01"


def test_a_proxy_is_used_and_exceptions_from_it_are_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    async def ask(url: str) -> Reply | Failure:
        asked = OpenAIModel("m", url, choices="none")
        try:
            return await asked.answer(REQUEST)
        finally:
            await asked.close()

    for name in ("HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with serve(lambda *_: completion("Positive")) as proxy, serve(lambda *_: completion("Negative")) as own:
        monkeypatch.setenv("HTTP_PROXY", proxy.base_url.removesuffix("/v1"))
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        through = asyncio.run(ask("http://model.example/v1"))
        direct = asyncio.run(ask(own.base_url))
    assert isinstance(through, Reply)
    assert isinstance(direct, Reply)
    assert (through.text, direct.text) == ("Positive", "Negative")
    assert proxy.paths == ["http://model.example/v1/chat/completions"]


def test_a_key_file_is_read_and_trimmed(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("from-a-file\n", encoding="utf-8")
    _, _, endpoint = talk(
        lambda *_: completion("Positive"), choices="none", api_key_file=str(tmp_path / "key")
    )
    assert endpoint.authorizations == ["Bearer from-a-file"]
    with pytest.raises(EndpointError, match=r"key file .*none: No such file"):
        talk(lambda *_: completion("Positive"), api_key_file=str(tmp_path / "none"))


def test_replicas_share_the_load() -> None:
    async def work(urls: list[str]) -> None:
        asked = OpenAIModel("m", urls, choices="none")
        await asked.prepare(None)
        await asyncio.gather(*(asked.answer(REQUEST) for _ in range(20)))
        await asked.close()

    def slow(body: dict[str, Any], _: int) -> Answer:
        time.sleep(0.02)
        return completion("Positive")

    with serve(slow) as one, serve(slow) as other:
        asyncio.run(work([one.base_url, other.base_url]))
        assert len(one.requests) + len(other.requests) == 20
        assert min(len(one.requests), len(other.requests)) >= 6


def test_the_deadline_counts_from_sending() -> None:
    def hang(body: dict[str, Any], _: int) -> Answer:
        time.sleep(1.5)
        return completion("Positive")

    started = time.perf_counter()
    with pytest.raises(Transient, match="no answer within"):
        talk(hang, choices="none", deadline=0.3)
    assert time.perf_counter() - started < 1.4


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry_After": "1"}, 1.0),
        ({"retry_after_ms": "700"}, 0.7),
    ],
)
def test_retry_after_in_its_forms(headers: dict[str, str], seconds: float) -> None:
    with pytest.raises(Transient) as raised:
        talk(lambda *_: error(429, **headers), choices="none")
    assert raised.value.retry_after == pytest.approx(seconds)
    assert raised.value.throttled


def test_retry_after_as_a_date() -> None:
    at = formatdate(time.time() + 3600, usegmt=True)
    with pytest.raises(Transient) as raised:
        talk(lambda *_: error(429, Retry_After=at), choices="none")
    assert raised.value.retry_after == pytest.approx(3600, abs=60)


def test_an_endpoint_that_asks_for_a_pause_is_left_alone_by_all() -> None:
    times: list[float] = []

    def script(body: dict[str, Any], number: int) -> Answer:
        times.append(time.monotonic())
        return error(429, Retry_After="0.6") if number == 1 else completion("Positive")

    async def work(endpoint: Endpoint) -> None:
        asked = model(endpoint, choices="none")
        await asked.prepare(None)
        with pytest.raises(Transient):
            await asked.answer(REQUEST)
        await asyncio.gather(*(asked.answer(REQUEST) for _ in range(5)))
        await asked.close()

    with serve(script) as endpoint:
        asyncio.run(work(endpoint))
    assert min(times[1:]) - times[0] >= 0.55


def test_a_rate_limit_header_that_says_nothing_is_left_is_heeded() -> None:
    times: list[float] = []

    def script(body: dict[str, Any], _: int) -> Answer:
        times.append(time.monotonic())
        answer = completion("Positive")
        headers = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "400ms"}
        return Answer(answer.body, headers=headers)

    talk(script, times=2, choices="none")
    assert times[1] - times[0] >= 0.38


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.sampled_from(["error", "choices", "message", "content", "usage", "x"]), inner)
    ),
)


@given(JSON)
def test_whatever_a_200_holds_it_is_a_reply_a_failure_or_transient(body: Any) -> None:
    with suppress(Transient, EndpointError):
        assert isinstance(wire.read(body), Reply | Failure)


@given(st.integers(400, 599), JSON)
def test_whatever_an_error_holds_it_is_classified(status: int, body: Any) -> None:
    with suppress(Transient, EndpointError, refusals.Rejected):
        assert isinstance(refusals.classify(status, body, Dialect()), Failure)


def test_reasoning_that_used_up_the_budget_is_a_cut_reply() -> None:
    reply = wire.read(
        {"choices": [{"finish_reason": "length", "message": {"content": None, "reasoning": "hmm"}}]}
    )
    assert isinstance(reply, Reply)
    assert (reply.text, reply.finish_reason) == ("", "length")


def test_a_body_says_every_sampling_value() -> None:
    sampling: Mapping[str, Any] = {**SAMPLING, "frequency_penalty": 0.0, "presence_penalty": 0.0}
    sent = wire.body("m", Request({}, (Message("user", "u"),), sampling), Dialect(server="vllm"))
    for name in ("temperature", "top_p", "top_k", "min_p", "repetition_penalty", "frequency_penalty", "seed"):
        assert name in sent


def test_a_key_in_any_part_of_a_reply_is_hidden() -> None:
    """Also where the bytes spell it in a way that is not its own, as UTF-16 and JSON's escapes do."""
    key = "sk-hidden-0123456789abcdef"
    keep_secret(key)
    token = {"token": key, "logprob": -0.1, "top_logprobs": [{"token": f"a {key}", "logprob": -3.0}]}
    message = {"content": f"Positive {key}"}
    for reason in ("stop", key, f"error {key}"):
        choice = {"finish_reason": reason, "message": message, "logprobs": {"content": [token]}}
        read = wire.read({"model": key, "system_fingerprint": key, "choices": [choice]})
        assert isinstance(read, Reply | Failure)
        assert key not in repr(read)
    failed = wire.read(
        {"choices": [{"finish_reason": "stop", "error": {"message": key}, "message": message}]}
    )
    assert isinstance(failed, Failure)
    assert key not in repr(failed)
