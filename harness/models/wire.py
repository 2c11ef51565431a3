"""Chat completions as JSON: writes requests in an endpoint's dialect and interprets its answers.

A ``Dialect`` is learnt from the endpoint's own answers, never from a list of model names.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from harness.core import Failure, Json, JsonObject, Reply, Request
from harness.dialect import Choices, Dialect
from harness.errors import EndpointError, Transient
from harness.models import completion
from harness.models.completion import first_choice as first_choice
from harness.models.completion import mapping as mapping
from harness.replies import whole

TOP_LOGPROBS = 5
TOKENS_KEPT = 16
TRANSIENT_STATUS = {408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529}
THROTTLED_STATUS = {429, 503, 529}
LIMITS = {"max_tokens", "max_completion_tokens"}
TERMINAL_CODES = {"insufficient_quota", "billing_hard_limit_reached", "invalid_api_key", "model_not_found"}
TOO_LONG = (
    "context_length_exceeded",
    "exceed_context_size",
    "maximum context length",
    "context size",
    "too long",
)
FILTERED = ("content_filter", "content_policy", "responsibleaipolicyviolation")
NO_SYSTEM = ("system role not supported", "system role is not supported", "system message is not supported")
NO_CHAT = ("chat template", "not a chat model")
# Parameters that a greedy answer can do without; a server that rejects one is asked without it.
OPTIONAL = {
    "temperature",
    "top_p",
    "seed",
    "frequency_penalty",
    "presence_penalty",
    "logprobs",
    "top_logprobs",
    "response_format",
    "structured_outputs",
    "grammar",
    "top_k",
    "min_p",
    "repetition_penalty",
    "repeat_penalty",
}
# What a kind of server would otherwise take from elsewhere (vLLM: the model's generation_config.json).
OWN_DEFAULTS: Mapping[str, Mapping[str, float]] = {
    "vllm": {"top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0},
    "llamacpp": {"repeat_penalty": 1.0},
}


class Rejected(Exception):
    """The endpoint refused the form of the request: ask again in ``dialect``."""

    def __init__(self, dialect: Dialect, message: str) -> None:
        super().__init__(message)
        self.dialect = dialect


def path(dialect: Dialect) -> str:
    """Return the path of the API that the dialect uses."""
    return "/chat/completions" if dialect.chat else "/completions"


def body(name: str, request: Request, dialect: Dialect) -> dict[str, Json]:
    """Return a request in an endpoint's dialect, with every sampling value explicit."""
    sampling: dict[str, Json] = dict(request.sampling)
    limit = sampling.pop("max_tokens", None)
    if sampling.get("logprobs"):
        sampling["top_logprobs"] = TOP_LOGPROBS
    else:
        sampling.pop("logprobs", None)
    sampling |= OWN_DEFAULTS.get(dialect.server, {})
    if limit is not None:
        sampling[dialect.token_limit] = limit
    if request.choices:
        sampling |= _constraint(request.choices, dialect.choices)
    if not dialect.chat:
        sampling |= {"logprobs": sampling.pop("top_logprobs")} if sampling.pop("logprobs", None) else {}
    accepted = {key: value for key, value in sampling.items() if key not in dialect.dropped}
    return {"model": name, **_conversation(request, dialect), **accepted}


def read(answer: object, tokens_kept: int | None = TOKENS_KEPT) -> Reply | Failure:
    """Return the reply in a completion, with the log-probabilities of its first ``tokens_kept`` tokens.

    Raises ``Transient`` for an error in a 200 response, or for one without content.
    """
    if not isinstance(answer, Mapping):
        raise Transient("the reply is not a JSON object")
    if answer.get("error"):
        return classify(200, answer)
    choice = first_choice(answer)
    if choice is None:
        raise Transient("the reply has no choices")
    if not (completion.speaks(choice) or choice.get("error")):
        raise Transient("the reply has no message")
    return completion.said(answer, choice, tokens_kept)


def classify(
    status: int, answer: object, dialect: Dialect | None = None, retry_after: float | None = None
) -> Failure:
    """Return the ``Failure`` that an error means for this request alone.

    Raises ``Rejected`` where another dialect than ``dialect`` may work, ``Transient`` where a later attempt
    may, and ``EndpointError`` where nothing will.
    """
    inside = answer.get("error", answer) if isinstance(answer, Mapping) else answer
    error: Mapping[str, object] = inside if isinstance(inside, Mapping) else {"message": str(inside)}
    named = (error.get("code"), error.get("type"), mapping(error.get("innererror")).get("code"))
    codes = {str(code or "").lower() for code in named}
    message = one_line(error.get("message") or error.get("detail") or f"HTTP {status}")
    words = f"{' '.join(sorted(codes))} {message}".lower()
    if any(word in words for word in FILTERED):
        return Failure("filtered", message)
    if any(word in words for word in TOO_LONG) and status < 500:
        return Failure("too-long", message)
    if dialect is not None and status in (400, 404, 422):
        better = adapted(dialect, str(error.get("param") or ""), words)
        if better is not None:
            raise Rejected(better, words)
    if codes & TERMINAL_CODES or (status >= 400 and status not in TRANSIENT_STATUS):
        raise EndpointError(f"HTTP {status}: {message}")
    raise Transient(f"HTTP {status}: {message}", retry_after, throttled=status in THROTTLED_STATUS)


def adapted(dialect: Dialect, parameter: str, words: str) -> Dialect | None:
    """Return a dialect that avoids what the error's ``parameter`` or ``words`` say was not understood.

    None where they name nothing that has an alternative.
    """
    if dialect.system and any(word in words for word in NO_SYSTEM):
        return replace(dialect, system=False)
    if dialect.chat and any(word in words for word in NO_CHAT):
        return replace(dialect, chat=False)
    parameter = parameter.partition(".")[0]
    candidates = [parameter] if parameter else [p for p in sorted(OPTIONAL | LIMITS) if f"'{p}'" in words]
    for name in candidates:
        if name in LIMITS and dialect.token_limit == name:
            return replace(dialect, token_limit=next(iter(LIMITS - {name})))
        if name in OPTIONAL and name not in dialect.dropped:
            also = ("top_logprobs",) if name == "logprobs" else ()
            return replace(dialect, dropped=(*dialect.dropped, name, *also))
    return None


def one_line(text: object) -> str:
    """Return ``text`` on one line of at most 300 characters."""
    return " ".join(whole(str(text)).split())[:300]


def _constraint(labels: Sequence[str], how: Choices) -> JsonObject:
    if how == "structured_outputs":
        return {"structured_outputs": {"choice": list(labels)}}
    if how == "grammar":
        return {"grammar": "root ::= " + " | ".join(json.dumps(label) for label in labels)}
    if how == "json_schema":
        schema: JsonObject = {
            "type": "object",
            "properties": {"answer": {"type": "string", "enum": list(labels)}},
            "required": ["answer"],
            "additionalProperties": False,
        }
        return {
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "answer", "strict": True, "schema": schema},
            }
        }
    return {}


def _conversation(request: Request, dialect: Dialect) -> JsonObject:
    """Return the messages; where necessary with the system turn folded into the user's, or as one prompt."""
    turns = [(m.role, m.content) for m in request.messages]
    if not dialect.chat:
        prompt = [f"{role.capitalize()}: {text}" if role != "system" else text for role, text in turns]
        return {"prompt": "\n\n".join([*prompt, "Assistant:"])}
    if not dialect.system and turns and turns[0][0] == "system":
        (_, rules), (role, first), *later = turns
        turns = [(role, f"{rules}\n\n{first}"), *later]
    return {"messages": [{"role": role, "content": text} for role, text in turns]}
