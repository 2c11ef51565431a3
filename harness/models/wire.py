"""Chat completions as JSON: writes requests in an endpoint's dialect and interprets its answers.

A ``Dialect`` is learnt from the endpoint's own answers, never from a list of model names.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from harness.core import Failure, Json, JsonObject, Reply, Request
from harness.dialect import Choices, Dialect
from harness.disclosure import one_line
from harness.errors import Transient
from harness.models import completion
from harness.models.completion import first_choice as first_choice
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
    if not (completion.speaks(choice) or choice.get("error")):
        raise Refused("the reply has no message")
    return completion.said(answer, choice, tokens_kept)


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
