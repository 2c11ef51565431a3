"""``vllm:NAME``: a vLLM server of our own, started with a run's first request and stopped with the run."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future

from harness.core import Capabilities, Failure, JsonObject, Reply, Request
from harness.dialect import Wanted
from harness.errors import ConfigError, EndpointError, ModelError, Transient
from harness.models.openai import CEILING, OpenAIModel
from harness.models.vllm_server import ServerOptions, Settings, VllmServer
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


class VllmModel(Model):
    """The model behind a server of our own, which starts with the first request that is really sent."""

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

    @property
    def context(self) -> int | None:
        return self._server.settings.max_model_len

    @property
    def batch(self) -> BatchAccess:
        """Files for ``vllm run-batch``: no server is started for them."""
        return BatchAccess(self._server.settings.name, Dialect(server="vllm"))

    @property
    def facts(self) -> JsonObject:
        server = {
            "version": self._server.version,
            "flags": self._server.settings.arguments()[1:],
            "batch_invariant": self._server.invariance.on,
            "batch_invariance": self._server.invariance.why,
            "startup_seconds": self._server.startup,
            "prefix_cache": self._prefix_cache,
        }
        return {**(self._client.facts if self._client else {}), "vllm": server}

    async def prepare(self, known: JsonObject | None) -> JsonObject | None:
        return await (await self._ready()).prepare(known)

    async def answer(self, request: Request) -> Reply | Failure:
        client = await self._ready()
        try:
            return await client.answer(request)
        except Transient as error:
            if (end := self._server.ended()) is not None:
                raise EndpointError(self._server.fault(end)) from error
            raise

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()
        if self._starting is not None:
            await asyncio.to_thread(self._stop)

    def _stop(self) -> None:
        if self._server.startup is not None and self._server.ended() is None:
            self._prefix_cache = self._server.prefix_cache() or self._prefix_cache
        self._server.stop()

    async def _ready(self) -> OpenAIModel:
        """The client of the running server; whoever comes first starts it, the others wait with them."""
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
    """Unlike an executor's, the thread does not hold up the end of the process."""
    future: Future[None] = Future()

    def run() -> None:
        try:
            work()
            future.set_result(None)
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, name="vllm-start", daemon=True).start()
    return future


def _make(options: ServerOptions, kit: ModelKit) -> VllmModel:
    """Make the model that ``--model vllm:NAME`` stands for. Starts nothing yet."""
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
