"""A GGUF model in this process: llama.cpp's server without a network in between, one request at a time."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING
from weakref import finalize

from harness.core import Json, JsonObject
from harness.errors import ModelError
from harness.models import weights

if TYPE_CHECKING:
    import httpx2
    import xllamacpp

CONTEXT = 4096
TOKENIZE_SECONDS = 60.0
METADATA = 64 * 2**20
"""Bytes of a model file that may hold metadata, most of which is the vocabulary."""
CHAT_TEMPLATE = (23).to_bytes(8, "little") + b"tokenizer.chat_template"
"""The metadata key as GGUF writes it, after its length."""
SPINS = "1000"
"""How often a thread of llama.cpp looks whether the others are done before it sleeps.

OpenMP's usual 300,000 take the cores from the very threads that it waits for where other processes compute,
too: an answer takes seven times as long. So few cost nothing where none does.
"""


class Llama:
    """A model that loads on first use; it has one slot, so that its answers repeat exactly.

    It computes in ``threads`` threads, one for each core if None.

    ``identity`` holds everything that can change an answer; ``chat_template`` tells whether the file has one,
    None where that is not in question. Raises ``ModelError`` where the model does not
    load.
    """

    def __init__(
        self,
        name: str,
        digest: str,
        file: Callable[[], Path],
        chat_template: bool | None = None,
        threads: int | None = None,
    ) -> None:
        self.name = name
        self.chat_template = chat_template
        self.identity: JsonObject = {
            "kind": "llama.cpp",
            "sha256": digest,
            "xllamacpp": version("xllamacpp"),
            "context": CONTEXT,
        }
        self._file = file
        self._threads = threads or _cores()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="llama")
        self._opening = Lock()
        self._server: xllamacpp.Server | None = None
        self._client: httpx2.Client | None = None

    async def chat(self, body: JsonObject) -> Mapping[str, object]:
        """Return llama.cpp's answer to a chat completion."""
        return await self._in_thread(lambda: self._open().handle_chat_completions(body))

    async def complete(self, body: JsonObject) -> Mapping[str, object]:
        """Return llama.cpp's answer to a completion."""
        return await self._in_thread(lambda: self._open().handle_completions(body))

    def complete_now(self, body: JsonObject) -> Mapping[str, object]:
        """Return llama.cpp's answer to a completion, in the calling thread."""
        answer: Mapping[str, object] = self._open().handle_completions(body)
        return answer

    def tokens(self, text: str, special: bool = False) -> list[int]:
        """Split ``text`` into token ids; with ``special``, add the model's start token, if it has one.

        Safe to call from any thread; the model does not evaluate the text.
        """
        import httpx2

        address = self._open().listening_address  # on loopback: of its calls in process none tokenizes
        with self._opening:
            if self._client is None:
                self._client = httpx2.Client(base_url=address, trust_env=False, timeout=TOKENIZE_SECONDS)
                finalize(self, self._client.close)  # also where nobody closes the model
        body: dict[str, Json] = {"content": text, **({"add_special": True} if special else {})}
        answer = self._client.post("/tokenize", content=json.dumps(body))
        if not answer.is_success:
            raise ModelError(f"{self.name}: llama.cpp cannot tokenize: HTTP {answer.status_code}")
        return list(answer.json()["tokens"])

    async def close(self) -> None:
        """Release the model and its thread."""
        self._thread.shutdown(wait=True, cancel_futures=True)
        if self._client is not None:
            self._client.close()
        self._client = self._server = None

    async def _in_thread(self, work: Callable[[], Mapping[str, object]]) -> Mapping[str, object]:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _open(self) -> xllamacpp.Server:
        """Return the loaded model, loading it on the first call: a run answered from the cache needs none."""
        with self._opening:
            if self._server is None:
                self._server = _server(self._file(), self.name, self._threads)
            return self._server


def smollm2(model_file: str | None = None, threads: int | None = None) -> Llama:
    """Return SmolLM2-135M-Instruct, with weights fetched on first use, or the GGUF model at ``model_file``.

    Raises ``ModelError`` where there is no such file.
    """
    if model_file is None:
        return Llama("local:smollm2", weights.SHA256, weights.fetch, threads=threads)
    file = Path(model_file)
    if not file.is_file():
        raise ModelError(f"{file}: no such model file")
    return Llama(f"local:{file.stem}", weights.digest(file), lambda: file, has_chat_template(file), threads)


def has_chat_template(file: Path) -> bool:
    """Return whether the metadata of a GGUF file, which precede its weights, hold a chat template."""
    with file.open("rb") as opened:
        return CHAT_TEMPLATE in opened.read(METADATA)


def _server(file: Path, name: str, threads: int) -> xllamacpp.Server:
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", SPINS)  # read once, when the library is loaded
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
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    try:
        return xllamacpp.Server(params)
    except (RuntimeError, ValueError) as error:
        raise ModelError(f"{file}: llama.cpp cannot load it: {str(error) or 'not a GGUF model?'}") from error


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
