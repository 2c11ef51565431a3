"""Chat completions as JSON: writes requests in an endpoint's dialect and interprets its answers.

A ``Dialect`` is learnt from the endpoint's own answers, never from a list of model names.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from harness.core import Failure, Json, JsonObject, Reply, Request, Token
from harness.dialect import Choices, Dialect
from harness.disclosure import one_line, redacted
from harness.errors import Transient
from harness.models.parameters import TOP_LOGPROBS
from harness.models.refusals import Refused, classify, mapping

TOKENS_KEPT = 16
# What a kind of server would otherwise take from elsewhere (vLLM: the model's generation_config.json).
OWN_DEFAULTS: Mapping[str, Mapping[str, float]] = {
    "vllm": {"top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0},
    "llamacpp": {"repeat_penalty": 1.0},
}


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
    sampling |= {key: value for key, value in dialect.values.items() if key in sampling}
    dropped = {*dialect.dropped, *(("top_logprobs",) if "logprobs" in dialect.dropped else ())}
    accepted = {key: value for key, value in sampling.items() if key not in dropped}
    return {"model": name, **_conversation(request, dialect), **accepted}


def read(answer: object, tokens_kept: int | None = TOKENS_KEPT) -> Reply | Failure:
    """Return the reply in a completion, with the log-probabilities of its first ``tokens_kept`` tokens.

    Raises ``Transient`` for an error in a 200 response, ``Refused`` for a response without an answer.
    """
    if not isinstance(answer, Mapping):
        raise Transient("the reply is not a JSON object")
    if answer.get("error"):
        return classify(200, answer)
    choice = first_choice(answer)
    if choice is None:
        if (blocked := _blocked(answer)) is not None:
            return Failure("filtered", blocked)
        raise Refused("the reply has no choices")
    reason = str(choice.get("finish_reason") or "stop")
    if reason == "content_filter":
        return Failure("filtered", "stopped by the content filter")
    message, text = choice.get("message"), choice.get("text")
    if not isinstance(message, Mapping) and not isinstance(text, str):
        raise Refused("the reply has no message")
    usage = mapping(answer.get("usage"))
    return Reply(
        text=redacted(_words(message) if isinstance(message, Mapping) else str(text)),
        finish_reason=reason,
        prompt_tokens=_count(usage.get("prompt_tokens")),
        completion_tokens=_count(usage.get("completion_tokens")),
        cached_tokens=_count(mapping(usage.get("prompt_tokens_details")).get("cached_tokens")),
        logprobs=_tokens(choice.get("logprobs"), tokens_kept),
        model=redacted(str(answer.get("model") or "")),
        fingerprint=redacted(str(answer["system_fingerprint"])) if answer.get("system_fingerprint") else None,
    )


def first_choice(answer: Mapping[str, object]) -> Mapping[str, object] | None:
    """Return the first choice of a completion; None where it has none."""
    choices = answer.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    return choice if isinstance(choice, Mapping) else None


def _blocked(answer: Mapping[str, object]) -> str | None:
    """Return why a provider's filter blocked a prompt; None where it does not say so."""
    for name in ("promptFeedback", "prompt_feedback"):
        feedback = mapping(answer.get(name))
        reason = feedback.get("blockReason") or feedback.get("block_reason")
        if reason:
            return one_line(f"the prompt was blocked: {reason}")
    return None


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


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0


def _words(message: Mapping[str, object]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    return str(content if content is not None else message.get("refusal") or "")


def _tokens(logprobs: object, most: int | None) -> tuple[Token, ...] | None:
    """Return the first tokens with their alternatives, in the chat form; None where there are none."""
    content = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    if not content:
        return None
    return tuple(
        Token(
            t["token"], t["logprob"], tuple((o["token"], o["logprob"]) for o in t.get("top_logprobs") or ())
        )
        for t in content[:most]
    )
