"""``vllm:NAME``: a vLLM server that starts with a run's first request and stops with the run."""

from __future__ import annotations

import asyncio
import os
import re
import threading
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from dataclasses import replace
from typing import TypeVar

from harness.core import Capabilities, Failure, JsonObject, Reply, Request
from harness.dialect import Wanted
from harness.errors import ConfigError, EndpointError, ModelError, Transient
from harness.models.openai import CEILING, OpenAIModel
from harness.models.vllm_server import VllmServer
from harness.models.vllm_settings import ServerOptions, Settings
from harness.plugins import BatchAccess, Dialect, Model, ModelKit, ModelPlugin

OURS = {
    "--api-key",
    "--config",
    "--headless",
    "--host",
    "--port",
    "--root-path",
    "--served-model-name",
    "--ssl-certfile",
    "--ssl-keyfile",
    "--uds",
}
"""Flags without which, or with others of which, we would not find our own server."""

HASHED = re.compile(r"vllm-.+-[0-9a-f]{8}")
"""A fingerprint of vLLM's own: its version, and a hash of its configuration, which covers the dtype."""
FACTS = "vllm"
"""The key of the server's facts, in a summary and in what is kept for the next run."""

Answer = TypeVar("Answer")


class VllmModel(Model):
    """A model behind a vLLM server of its own, which starts with the first request that is sent."""

    capabilities = Capabilities(choices=True, logprobs=True)

    def __init__(self, settings: Settings, concurrency: int = CEILING, choices: Wanted = "auto") -> None:
        self.name = f"vllm:{settings.name}"
        self.concurrency = concurrency
        self._choices: Wanted = choices
        self._server = VllmServer(settings)
        self.identity = settings.identity(self._server.invariance.on)
        self._starting: Future[None] | None = None
        self._client: OpenAIModel | None = None
        self._prefix_cache: JsonObject | None = None
        self._asked = Dialect(server="vllm").facts
        self._recalled: JsonObject = {}
        self._erred = False

    @property
    def context(self) -> int | None:
        """The maximum number of tokens of prompt and answer, where it was set."""
        return self._server.settings.max_model_len

    @property
    def batch(self) -> BatchAccess:
        """Access for ``vllm run-batch`` files, which need no server."""
        settings, invariant = self._server.settings, self._server.invariance.on
        return BatchAccess(
            settings.name,
            Dialect(server="vllm"),
            command=lambda requests, replies: settings.batch_command(requests, replies, invariant),
        )

    @property
    def facts(self) -> JsonObject:
        """The server's version, flags, start-up time and cache hits, and the client's dialect."""
        server = {
            **{k: self._recalled.get(k) if value is None else value for k, value in self._measured().items()},
            "flags": self._server.settings.arguments()[1:],
            "batch_invariant": self._server.invariance.on,
            "batch_invariance": self._server.invariance.why,
        }
        return {**(self._client.facts if self._client else self._asked), FACTS: server}

    def _measured(self) -> JsonObject:
        """Return what only a server that was started tells; None for what it did not."""
        return {
            "version": self._server.version,
            "dtype": self._server.dtype,
            "startup_seconds": self._server.startup,
            "prefix_cache": self._prefix_cache,
        }

    @property
    def waiting(self) -> str:
        """The server that loads or ends, and since when; "" before it is needed and when it is ready."""
        return self._server.waiting

    async def prepare(self, known: JsonObject | None) -> JsonObject | None:
        """Start the server and adopt the dialect ``known`` from an earlier run, or return a new one.

        What is returned has the server's facts, too. Raises ``EndpointError`` where the server has ended.
        """
        client = await self._ready()
        learnt = await self._alive(client.prepare(known))
        record = {**(learnt or known or {}), FACTS: self._measured()}
        return None if record == known else record

    def recall(self, known: JsonObject) -> None:
        """Adopt the facts that an earlier run recorded."""
        facts = known.get(FACTS)
        self._recalled = facts if isinstance(facts, Mapping) else {}
        self._asked = Dialect.from_json(known).facts

    async def answer(self, request: Request) -> Reply | Failure:
        """Make one attempt. Raises ``EndpointError`` where the server, or its engine, has ended."""
        client = await self._ready()
        answer = await self._alive(client.answer(request))
        if isinstance(answer, Failure) or self._server.dtype is None:
            return answer
        origin = answer.fingerprint or ""
        if HASHED.fullmatch(origin):  # also in what vllm run-batch answers, which tells no dtype
            return answer
        return replace(answer, fingerprint=f"{origin} {self._server.dtype}".strip())

    async def _alive(self, work: Awaitable[Answer]) -> Answer:
        """Return the result of ``work``. Raises ``EndpointError`` if the server or its engine has ended."""
        try:
            return await work
        except Transient as error:
            if (failure := await asyncio.to_thread(self._server.failure, str(error))) is not None:
                raise EndpointError(failure) from error
            self._erred = self._erred or "HTTP 5" in str(error)
            raise

    async def close(self) -> None:
        """Close the client and stop the server."""
        if self._client is not None:
            await self._client.close()
        if self._starting is not None:
            await asyncio.to_thread(self._stop)

    def _stop(self) -> None:
        if self._server.startup is not None and self._server.ended() is None:
            self._prefix_cache = self._server.prefix_cache() or self._prefix_cache
        if self._erred:
            self._server.keep_log()
        self._server.stop()

    async def _ready(self) -> OpenAIModel:
        """Return the client of the running server; the first caller starts it, and the others wait."""
        if self._client is None:
            self._starting = self._starting or _in_thread(self._server.start)
            started = asyncio.wrap_future(self._starting)
            started.add_done_callback(lambda f: f.cancelled() or f.exception())  # perhaps nobody waits
            await asyncio.shield(started)
            self._client = self._client or OpenAIModel(
                self._server.settings.name,
                self._server.url,
                api_key_file=self._server.key_file,
                choices=self._choices,
                ceiling=self.concurrency,
                identity=self.identity,
            )
        return self._client


def _in_thread(work: Callable[[], None]) -> Future[None]:
    """Run ``work`` in a thread that, unlike an executor's, does not delay the end of the process."""
    future: Future[None] = Future()

    def run() -> None:
        """Resolve the future with the outcome of ``work``."""
        try:
            work()
            future.set_result(None)
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, name="vllm-start", daemon=True).start()
    return future


def _make(options: ServerOptions, kit: ModelKit) -> VllmModel:
    """Make the model of ``--model vllm:NAME`` without starting its server."""
    if not kit.name:
        raise ModelError("name a model after 'vllm:', as in vllm:HuggingFaceTB/SmolLM2-135M-Instruct")
    for flag in options.flags:
        if (word := flag.partition("=")[0].replace("_", "-")) in OURS:
            raise ModelError(f"model.vllm.flags: {word} is set by hinter: use hinter serve, then --base-url")
    name, settings = os.path.expanduser(kit.name), kit.settings
    server = Settings(name=name, revision=settings.revision, **options.model_dump())
    fixed = settings.concurrency if isinstance(settings.concurrency, int) else CEILING
    return VllmModel(server, fixed, settings.choices)


def _no_scorer(options: ServerOptions, kit: ModelKit) -> None:
    raise ConfigError(f"vllm:{kit.name}: start it with hinter serve {kit.name}, then give --base-url")


plugin = ModelPlugin(
    name="vllm",
    about="a model on a vLLM server of our own, started for the run",
    options=ServerOptions,
    make=_make,
    scorer=_no_scorer,
)
