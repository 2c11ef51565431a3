"""Models in this process: ``local:smollm2`` (a language model run by llama.cpp) and ``local:vader``."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from importlib.metadata import version
from math import log, log1p

from harness.core import Capabilities, Failure, Json, JsonObject, Reply, Request, Token
from harness.errors import ModelError, Transient
from harness.models import llama, refusals, wire
from harness.models.llama import CONTEXT, Llama
from harness.models.llama_likelihood import LlamaLikelihood
from harness.plugins import Model, ModelKit, ModelPlugin, Options, Scorer

SENTIMENTS = ("Negative", "Neutral", "Positive")
VADER_NEUTRAL = 0.05  # a compound score nearer to zero is neutral (Hutto and Gilbert's own cut-offs)
VADER_ROUNDED = 2.5e-5  # half a step of its four decimals, moved to 0..1


class LlamaModel(Model):
    """A GGUF model in this process, one request at a time."""

    capabilities = Capabilities(choices=True, logprobs=True)
    context = CONTEXT

    def __init__(self, llama: Llama) -> None:
        self.name = llama.name
        self.identity = llama.identity
        self._llama = llama

    @property
    def facts(self) -> JsonObject:
        """Whether a model file of the user's has a chat template of its own."""
        known = self._llama.chat_template
        return {} if known is None else {"chat_template": known}

    async def answer(self, request: Request) -> Reply | Failure:
        """Return llama.cpp's reply to the chat; a ``Failure`` where the request exceeds the context."""
        return _reply(await self._llama.chat(_body(request)))

    def count_tokens(self, text: str) -> int:
        """Count the tokens of ``text``, without those of the chat template. Safe to call from any thread."""
        return len(self._llama.tokens(text))

    async def close(self) -> None:
        """Release the model."""
        await self._llama.close()


class VaderModel(Model):
    """VADER (Hutto and Gilbert 2014): a rule-based sentiment system, not a language model.

    Its compound score, mapped to 0..1, serves as the probability of Positive, so that a label has a margin: a
    near tie then corresponds to what VADER's authors call neutral (a compound score within 0.05).

    ``rates`` is the only quality for which it can rate a text.
    """

    name = "local:vader"
    rates = ("valence",)
    capabilities = Capabilities(choices=True, chat=False)

    def __init__(self) -> None:
        from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

        self.identity = {
            "kind": "vader",
            "version": version("vaderSentiment"),
            "probabilities": "compound",
        }
        self._analyzer = SentimentIntensityAnalyzer()

    async def answer(self, request: Request) -> Reply | Failure:
        """Return the label by the compound score (-1..1), or that score itself where the choices are numbers.

        Without Neutral among the choices the sign alone decides. The reply's ``score`` is mapped to 0..1.
        """
        rating = bool(request.choices) and all(map(_is_number, request.choices))
        if not rating and (not set(SENTIMENTS) >= set(request.choices) or not request.choices):
            raise ModelError(f"{self.name} only knows the labels {', '.join(SENTIMENTS)}: use another model")
        await asyncio.sleep(0)
        compound = float(self._analyzer.polarity_scores(request.text)["compound"])
        score = (compound + 1) / 2
        cut = VADER_NEUTRAL if "Neutral" in request.choices else 0.0
        label = "Positive" if compound >= cut else "Neutral" if compound > -cut else "Negative"
        if rating:
            return Reply(text=f"{score:.4f}", score=score, model=self.name)
        logprobs = (_label_token(label, score),) if "Neutral" not in request.choices else None
        return Reply(text=label, score=score, model=self.name, logprobs=logprobs)


def _label_token(label: str, score: float) -> Token:
    """Return the answer with both labels' log-probabilities, treating a score of 0 or 1 as rounded."""
    positive = min(max(score, VADER_ROUNDED), 1 - VADER_ROUNDED)
    listed = {"Positive": log(positive), "Negative": log1p(-positive)}
    return Token(label, listed[label], tuple(listed.items()))


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdecimal()


def _body(request: Request) -> JsonObject:
    body: dict[str, Json] = {
        "messages": [{"role": m.role, "content": m.content} for m in request.messages],
        **request.sampling,
        "cache_prompt": True,
    }
    if request.sampling.get("logprobs"):
        body["top_logprobs"] = 10
    if request.choices:
        body["grammar"] = "root ::= " + " | ".join(json.dumps(label) for label in request.choices)
    return body


def _reply(answer: Mapping[str, object]) -> Reply | Failure:
    if "error" in answer:
        error = refusals.mapping(answer["error"])
        if error.get("type") == "exceed_context_size_error":
            return Failure("too-long", str(error.get("message", "")))
        raise Transient(str(error.get("message", answer["error"])))
    return wire.read(answer, tokens_kept=None)


def _make(options: Options, kit: ModelKit) -> Model:
    if kit.name == "smollm2":
        return LlamaModel(llama.smollm2(kit.settings.model_file))
    if kit.name == "vader":
        return VaderModel()
    raise ModelError(
        f"unknown model 'local:{kit.name}': use local:smollm2 (also with --model-file) or local:vader"
    )


def _scorer(options: Options, kit: ModelKit) -> Scorer | None:
    return LlamaLikelihood(llama.smollm2(kit.settings.model_file)) if kit.name == "smollm2" else None


plugin = ModelPlugin(
    name="local",
    about="a model in this process",
    options=Options,
    make=_make,
    lists={
        "local:smollm2": "SmolLM2-135M-Instruct in this process (llama.cpp), the default",
        "local:vader": "VADER, a rule-based sentiment system, instant",
    },
    scorer=_scorer,
)
