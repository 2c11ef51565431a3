"""``vllm:NAME``: a vLLM server of our own, started with a run's first request and stopped with the run."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any

from harness.core import Capabilities, Failure, Reply, Request
from harness.errors import EndpointError, ModelError, Transient
from harness.models.openai import CEILING, OpenAIModel
from harness.models.vllm_server import Settings, VllmServer

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


def load(name: str, section: Any) -> VllmModel:
    """The model that ``--model vllm:NAME`` stands for, from ``[model]``. Starts nothing yet."""
    if not name:
        raise ModelError("name a model after 'vllm:', as in vllm:HuggingFaceTB/SmolLM2-135M-Instruct")
    own = getattr(section, "vllm", None)
    flags = {} if own is None else own.model_dump()
    settings = Settings(os.path.expanduser(name), getattr(section, "revision", None), **flags)
    for flag in settings.flags:
        if (word := flag.partition("=")[0].replace("_", "-")) in OURS:
            raise ModelError(f"model.vllm.flags: {word} is set by hinter: use hinter serve, then --base-url")
    fixed = section.concurrency if isinstance(section.concurrency, int) else CEILING
    return VllmModel(settings, fixed, getattr(section, "choices", "auto"))


class VllmModel:
    """The model behind a server of our own, which starts with the first request that is really sent."""

    def __init__(self, settings: Settings, concurrency: int = CEILING, choices: str = "auto") -> None:
        self.name = f"vllm:{settings.name}"
        self.concurrency = concurrency
        self.context: int | None = settings.max_model_len
        self.capabilities = Capabilities(choices=True, logprobs=True)
        self._choices = choices
        self._server = VllmServer(settings)
        self.identity: Mapping[str, Any] = settings.identity(self._server.invariance.on)
        self._starting: Future[None] | None = None
        self._client: OpenAIModel | None = None
        self._prefix_cache: Mapping[str, float] | None = None

    @property
    def facts(self) -> Mapping[str, Any]:
        server = {
            "version": self._server.version,
            "flags": self._server.settings.arguments()[1:],
            "batch_invariant": self._server.invariance.on,
            "batch_invariance": self._server.invariance.why,
            "startup_seconds": self._server.startup,
            "prefix_cache": self._prefix_cache,
        }
        return {**(self._client.facts if self._client else {}), "vllm": server}

    async def prepare(self, known: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
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
