"""Systems in process: ``local:smollm2`` (a real language model through llama.cpp) and ``local:vader``."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from math import log, log1p
from pathlib import Path
from threading import Lock
from typing import Any

from harness.core import Capabilities, Failure, Reply, Request, Token
from harness.errors import ModelError, Transient
from harness.models import weights

CONTEXT = 4096
TOKENIZE_SECONDS = 60.0
SENTIMENTS = ("Negative", "Neutral", "Positive")
VADER_NEUTRAL = 0.05  # a compound score nearer to zero is neutral (Hutto and Gilbert's own cut-offs)
VADER_ROUNDED = 2.5e-5  # half a step of its four decimals, moved to 0..1


class LlamaModel:
    """A GGUF model in this process. One slot and one request at a time: its answers repeat exactly."""

    concurrency = 1

    def __init__(self, name: str, digest: str, file: Callable[[], Path]) -> None:
        self.name = name
        self._file = file
        self.capabilities = Capabilities(choices=True, logprobs=True)
        self.identity: Mapping[str, Any] = {
            "kind": "llama.cpp",
            "sha256": digest,
            "xllamacpp": version("xllamacpp"),
            "context": CONTEXT,
        }
        self.context: int | None = CONTEXT
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="llama")
        self._opening = Lock()
        self._server: Any = None
        self._client: Any = None

    async def prepare(self, known: Mapping[str, Any] | None) -> None:
        return None

    async def answer(self, request: Request) -> Reply | Failure:
        loop = asyncio.get_running_loop()
        return _reply(await loop.run_in_executor(self._thread, self._complete, _body(request)))

    def _complete(self, body: dict[str, Any]) -> Mapping[str, Any]:
        """Runs in the model's thread."""
        answer: Mapping[str, Any] = self._open().handle_chat_completions(body)
        return answer

    def count_tokens(self, text: str) -> int:
        """Tokens of ``text`` alone, without the chat's own. Any thread may ask; no text is evaluated."""
        import httpx2

        address = self._open().listening_address  # on loopback: of its calls in process none tokenizes
        with self._opening:
            if self._client is None:
                self._client = httpx2.Client(base_url=address, trust_env=False, timeout=TOKENIZE_SECONDS)
        answer = self._client.post("/tokenize", content=json.dumps({"content": text}))
        answer.raise_for_status()
        return len(answer.json()["tokens"])

    def _open(self) -> Any:
        """The model, loaded when first needed: a run whose texts are short and cached needs none."""
        with self._opening:
            if self._server is None:
                self._server = _server(self._file(), self.name)
            return self._server

    @property
    def facts(self) -> Mapping[str, Any]:
        return {}

    async def close(self) -> None:
        self._thread.shutdown(wait=True, cancel_futures=True)
        if self._client is not None:
            self._client.close()
        self._client = self._server = None


def smollm2(model_file: str | None = None) -> LlamaModel:
    """SmolLM2-135M-Instruct (or a GGUF of the user's own), its weights fetched on first use."""
    if model_file is None:
        return LlamaModel("local:smollm2", weights.SHA256, weights.fetch)
    file = Path(model_file)
    if not file.is_file():
        raise ModelError(f"{file}: no such model file")
    return LlamaModel(f"local:{file.stem}", weights.digest(file), lambda: file)


class VaderModel:
    """VADER (Hutto and Gilbert 2014): a rule-based sentiment system, not a language model.

    Its compound score, moved to 0..1, stands for the probability of Positive, so that a label has a margin: a
    near tie is then about what VADER's authors call neutral (a compound score within 0.05).

    ``rates`` is all that it can rate a text for.
    """

    name = "local:vader"
    rates = ("valence",)
    concurrency = 1
    context: int | None = None

    def __init__(self) -> None:
        from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

        self.capabilities = Capabilities(choices=True, chat=False)
        self.identity: Mapping[str, Any] = {
            "kind": "vader",
            "version": version("vaderSentiment"),
            "probabilities": "compound",
        }
        self._analyzer = SentimentIntensityAnalyzer()

    async def prepare(self, known: Mapping[str, Any] | None) -> None:
        return None

    async def answer(self, request: Request) -> Reply | Failure:
        """The label by the compound score (-1..1): by its sign alone where no label is Neutral. Where the
        choices are numbers, that score itself. As the reply's score it is moved to 0..1."""
        rating = bool(request.choices) and all(map(_is_number, request.choices))
        if not rating and (not set(SENTIMENTS) >= set(request.choices) or not request.choices):
            raise ModelError(f"{self.name} knows the labels {', '.join(SENTIMENTS)} only: use another model")
        await asyncio.sleep(0)
        compound = float(self._analyzer.polarity_scores(request.text)["compound"])
        score = (compound + 1) / 2
        cut = VADER_NEUTRAL if "Neutral" in request.choices else 0.0
        label = "Positive" if compound >= cut else "Neutral" if compound > -cut else "Negative"
        if rating:
            return Reply(text=f"{score:.4f}", score=score, model=self.name)
        logprobs = (_label_token(label, score),) if "Neutral" not in request.choices else None
        return Reply(text=label, score=score, model=self.name, logprobs=logprobs)

    @property
    def facts(self) -> Mapping[str, Any]:
        return {}

    async def close(self) -> None:
        return None


def _label_token(label: str, score: float) -> Token:
    """The answer with both labels' log-probabilities; a score of 0 or 1 is one that was rounded."""
    positive = min(max(score, VADER_ROUNDED), 1 - VADER_ROUNDED)
    listed = {"Positive": log(positive), "Negative": log1p(-positive)}
    return Token(label, listed[label], tuple(listed.items()))


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdecimal()


def _server(file: Path, name: str) -> Any:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(file)
    params.model_alias = {name}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_parallel = 1
    params.n_ctx = CONTEXT
    params.kv_unified = False
    params.verbosity = -1
    params.warmup = False  # a run on nothing, which changes no answer and takes longer than to load
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = _cores()
    try:
        return xllamacpp.Server(params)
    except (RuntimeError, ValueError) as error:
        raise ModelError(f"{file}: llama.cpp cannot load it: {str(error) or 'not a GGUF model?'}") from error


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _body(request: Request) -> dict[str, Any]:
    body: dict[str, Any] = {
        "messages": [{"role": m.role, "content": m.content} for m in request.messages],
        **request.sampling,
        "cache_prompt": True,
    }
    if request.sampling.get("logprobs"):
        body["top_logprobs"] = 10
    if request.choices:
        body["grammar"] = "root ::= " + " | ".join(json.dumps(label) for label in request.choices)
    return body


def _reply(answer: Mapping[str, Any]) -> Reply | Failure:
    if "error" in answer:
        error = answer["error"]
        if error.get("type") == "exceed_context_size_error":
            return Failure("too-long", str(error.get("message", "")))
        raise Transient(str(error.get("message", error)))
    choice, usage = answer["choices"][0], answer.get("usage", {})
    tokens = (choice.get("logprobs") or {}).get("content")
    return Reply(
        text=choice["message"].get("content") or "",
        finish_reason=choice.get("finish_reason") or "stop",
        prompt_tokens=usage.get("prompt_tokens", 0),
        completion_tokens=usage.get("completion_tokens", 0),
        cached_tokens=usage.get("prompt_tokens_details", {}).get("cached_tokens", 0),
        logprobs=tuple(_token(t) for t in tokens) if tokens else None,
        model=answer.get("model", ""),
        fingerprint=answer.get("system_fingerprint"),
    )


def _token(token: Mapping[str, Any]) -> Token:
    tops = tuple((t["token"], t["logprob"]) for t in token.get("top_logprobs", ()))
    return Token(token["token"], token["logprob"], tops)
