"""A scripted server for each family of providers, with the errors that it is documented or known to send."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Collection
from typing import Any

import pytest

from harness.core import Failure, Message, Reply, Request
from harness.models.openai import OpenAIModel
from tests.servers import Answer, Endpoint, Script, completion, serve

SAMPLING = {
    "temperature": 0.0,
    "top_p": 1.0,
    "seed": 0,
    "frequency_penalty": 0.0,
    "presence_penalty": 0.0,
    "max_tokens": 16,
    "logprobs": True,
}
LABELS = ("Negative", "Positive")
REQUEST = Request({"name": "m"}, (Message("system", "rules"), Message("user", "text")), SAMPLING, LABELS)

Body = dict[str, Any]
Rule = Callable[[Body], Answer | None]


def refusing(*rules: Rule) -> Script:
    """A server that refuses what the first rule that applies refuses, and answers anything else."""

    def script(body: Body, _: int) -> Answer:
        refusals = (rule(body) for rule in rules)
        return next((answer for answer in refusals if answer is not None), completion("Positive"))

    return script


def having(
    name: str, answer: Callable[[str], Answer], if_value: Callable[[Any], bool] = lambda _: True
) -> Rule:
    return lambda body: answer(name) if name in body and if_value(body[name]) else None


def fault(message: str, status: int = 400, **more: Any) -> Answer:
    return Answer({"error": {"message": message, **more}}, status)


def openai(name: str) -> Answer:
    other = " Use 'max_completion_tokens' instead." if name == "max_tokens" else ""
    message = f"Unsupported parameter: '{name}' is not supported with this model.{other}"
    return fault(message, type="invalid_request_error", param=name, code="unsupported_parameter")


def warm(_: str) -> Answer:
    message = (
        "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is"
        " supported."
    )
    return fault(message, param="temperature", code="unsupported_value")


def azure(name: str) -> Answer:
    return fault(f"Unrecognized request argument supplied: {name}", type="invalid_request_error", code=None)


def gemini(name: str) -> Answer:
    message = f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.'
    details = [{"@type": "type.googleapis.com/google.rpc.BadRequest"}]
    error = {"code": 400, "message": message, "status": "INVALID_ARGUMENT", "details": details}
    return Answer([{"error": error}], 400)


def gemini_logprobs(_: str) -> Answer:
    message = "Logprobs is not enabled for models/gemini-2.5-pro"
    return Answer([{"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}], 400)


def claude(_: str) -> Answer:
    message = "`temperature` and `top_p` cannot both be specified for this model. Please use only one."
    error = {"type": "invalid_request_error", "message": message}
    return Answer({"type": "error", "error": error, "request_id": "req_1"}, 400)


def xai(name: str) -> Answer:
    first, *rest = name.split("_")
    camel = first + "".join(map(str.capitalize, rest))
    message = f"Argument not supported on this model: {camel}"
    return Answer({"code": "Client specified an invalid argument", "error": message}, 400)


def deepseek(name: str) -> Answer:
    message = f"deepseek-reasoner does not support the parameter `{name}`"
    return fault(message, type="invalid_request_error", param=None, code="invalid_request_error")


def mistral(name: str) -> Answer:
    detail = [
        {
            "type": "extra_forbidden",
            "loc": ["body", name],
            "msg": "Extra inputs are not permitted",
            "input": 0,
        }
    ]
    error = {"object": "error", "message": {"detail": detail}, "type": "invalid_request_error", "param": None}
    return Answer(error, 422)


def mistral_in_a_string(name: str) -> Answer:
    detail = {"detail": [{"loc": ["body", name], "msg": "Extra inputs are not permitted"}]}
    return Answer({"object": "error", "message": json.dumps(detail), "code": "1000", "param": None}, 422)


def groq(name: str) -> Answer:
    return fault(f"`{name}` is not supported with this model", type="invalid_request_error")


def openrouter(name: str) -> Answer:
    raw = json.dumps({"error": {"message": f"Unsupported parameter: '{name}'", "code": "x"}})
    return fault("Provider returned error", code=400, metadata={"raw": raw, "provider_name": "OpenAI"})


def openrouter_unnamed(_: str) -> Answer:
    return fault("No endpoints found that can handle the requested parameters.", 404, code=404)


def tgi(message: str) -> Callable[[str], Answer]:
    return lambda _: Answer({"error": f"Input validation error: {message}", "error_type": "validation"}, 422)


def ollama(name: str) -> Answer:
    message = f"json: cannot unmarshal number into Go struct field ChatCompletionRequest.{name} of type int"
    return fault(message, type="invalid_request_error", param=None, code=None)


def lm_studio(name: str) -> Answer:
    return Answer({"error": f"Unrecognized key(s) in object: '{name}'"}, 400)


def sglang(name: str) -> Answer:
    message = f"1 validation error: {name}: Extra inputs are not permitted"
    return Answer({"object": "error", "message": message, "type": "BadRequestError", "code": 400}, 400)


def vllm(_: str) -> Answer:
    message = "Requested sample logprobs of 5, which is greater than max allowed: 1"
    return fault(message, type="BadRequestError", param=None, code=400)


def llama_cpp(name: str) -> Answer:
    return fault(f"{name} is not supported by this server", 501, code=501, type="not_supported_error")


def bare(_: str) -> Answer:
    return Answer(b"", 400)


def no_system(message: str) -> Rule:
    return lambda body: fault(message) if body["messages"][0]["role"] == "system" else None


FAMILIES: dict[str, tuple[list[Rule], set[str]]] = {
    "OpenAI": (
        [having(name, openai) for name in ("max_tokens", "logprobs", "top_p", "presence_penalty")]
        + [having("temperature", warm, lambda value: value != 1)],
        {"max_tokens", "logprobs", "top_logprobs", "top_p", "presence_penalty", "temperature"},
    ),
    "Azure": ([having(name, azure) for name in ("seed", "top_logprobs")], {"seed", "top_logprobs"}),
    "Gemini": (
        [
            having("frequency_penalty", gemini),
            having("seed", gemini),
            having("logprobs", gemini_logprobs),
            no_system("Developer instruction is not enabled for models/gemma-3-1b-it"),
        ],
        {"frequency_penalty", "seed", "logprobs", "top_logprobs"},
    ),
    "Claude": (
        [lambda body: claude("") if {"temperature", "top_p"} <= body.keys() else None],
        {"top_p"},
    ),
    "xAI": (
        [having(name, xai) for name in ("presence_penalty", "frequency_penalty")],
        {"presence_penalty", "frequency_penalty"},
    ),
    "DeepSeek": (
        [having(name, deepseek) for name in ("temperature", "presence_penalty", "logprobs")],
        {"temperature", "presence_penalty", "logprobs", "top_logprobs"},
    ),
    "Mistral": (
        [having("seed", mistral), having("logprobs", mistral_in_a_string)],
        {"seed", "logprobs", "top_logprobs"},
    ),
    "Groq": ([having(name, groq) for name in ("logprobs", "seed")], {"logprobs", "top_logprobs", "seed"}),
    "OpenRouter": (
        [having("temperature", openrouter), having("seed", openrouter_unnamed)],
        {"temperature", "seed"},
    ),
    "TGI": (
        [
            having("temperature", tgi("`temperature` must be strictly positive"), lambda value: not value),
            having("top_p", tgi("`top_p` must be > 0.0 and < 1.0"), lambda value: value >= 1),
        ],
        {"top_p"},
    ),
    "Ollama": ([having("seed", ollama)], {"seed"}),
    "LM Studio": ([having("logprobs", lm_studio)], {"logprobs", "top_logprobs"}),
    "SGLang": ([having("seed", sglang)], {"seed"}),
    "vLLM": (
        [
            having("top_logprobs", vllm, lambda value: value > 1),
            no_system("Conversation roles must alternate user/assistant/user/assistant/..."),
        ],
        set(),
    ),
    "llama.cpp": ([having("logprobs", llama_cpp)], {"logprobs", "top_logprobs"}),
    "one that names nothing": (
        [having("seed", bare), having("presence_penalty", bare), having("max_tokens", bare)],
        {"seed", "presence_penalty", "max_tokens"},
    ),
    "one that forbids": (
        [having("logprobs", lambda _: fault("You are not allowed to request logprobs from this model", 403))],
        {"logprobs", "top_logprobs"},
    ),
    "one without a system role that does not say so": (
        [lambda body: bare("") if body["messages"][0]["role"] == "system" else None],
        set(),
    ),
}


def talk(
    script: Script, times: int = 3, **options: Any
) -> tuple[list[Reply | Failure], OpenAIModel, Endpoint]:
    """Prepare a model on a server whose every answer is scripted, and ask it at once ``times`` times."""

    async def work(endpoint: Endpoint) -> tuple[list[Reply | Failure], OpenAIModel]:
        asked = OpenAIModel("m", endpoint.base_url, **options)
        try:
            await asked.prepare(None)
            return list(await asyncio.gather(*(asked.answer(REQUEST) for _ in range(times)))), asked
        finally:
            await asked.close()

    with serve(script, script) as endpoint:
        answers, asked = asyncio.run(work(endpoint))
        return answers, asked, endpoint


@pytest.mark.parametrize("choices", ["auto", "none", "json_schema"])
@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_is_asked_and_answers(family: str, choices: str) -> None:
    rules, left_out = FAMILIES[family]
    answers, asked, endpoint = talk(refusing(*rules), choices=choices)
    assert [type(answer) for answer in answers] == [Reply] * 3
    sent = endpoint.requests[-1]
    assert not left_out & sent.keys()
    assert _wanted() - left_out <= sent.keys() | {"max_tokens"}, "nothing is left out in vain"
    assert {"max_tokens", "max_completion_tokens"} & sent.keys()
    assert endpoint.requests[-2] == sent == endpoint.requests[-3], "what was learnt is not learnt again"
    assert asked.facts["temperature_zero"] is (sent.get("temperature") == 0.0)


def test_a_value_is_adjusted_where_the_endpoint_says_what_it_takes() -> None:
    _, tgi_model, tgi_server = talk(refusing(*FAMILIES["TGI"][0]))
    assert 0 < tgi_server.requests[-1]["temperature"] < 0.1
    assert tgi_model.facts["temperature_zero"] is False
    _, _, vllm_server = talk(refusing(*FAMILIES["vLLM"][0]))
    assert vllm_server.requests[-1]["top_logprobs"] == 1


@pytest.mark.parametrize("omit", [("seed",), ("logprobs", "temperature"), ("system", "max_tokens")])
def test_what_the_configuration_omits_is_never_sent(omit: Collection[str]) -> None:
    _, asked, endpoint = talk(refusing(), omit=omit)
    for body in (*endpoint.probes, *endpoint.requests):
        assert not {*omit} & body.keys()
    assert ("system" in omit) is (endpoint.requests[-1]["messages"][0]["role"] == "user")
    assert asked.identity["omit"] == sorted(omit)


def test_what_was_learnt_is_taken_up_by_the_next_run() -> None:
    async def work(endpoint: Endpoint) -> None:
        first = OpenAIModel("m", endpoint.base_url)
        learnt = await first.prepare(None)
        await first.close()
        asked = len(endpoint.probes)
        second = OpenAIModel("m", endpoint.base_url)
        assert await second.prepare(learnt) is None
        await second.answer(REQUEST)
        await second.close()
        assert len(endpoint.probes) == asked
        assert len(endpoint.requests) == 1

    script = refusing(*FAMILIES["TGI"][0])
    with serve(script, script) as endpoint:
        asyncio.run(work(endpoint))


def _wanted() -> set[str]:
    return {*SAMPLING, "top_logprobs"}
