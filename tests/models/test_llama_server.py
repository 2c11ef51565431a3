"""A run against a real language model behind a real OpenAI-compatible server: llama.cpp over HTTP."""

from __future__ import annotations

import asyncio
import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
import xllamacpp

from harness import config
from harness.audit import pipeline
from harness.errors import EndpointError


@pytest.fixture(scope="module")
def url(smollm2_file: Path) -> Iterator[str]:
    params = xllamacpp.CommonParams()
    params.model.path = str(smollm2_file)
    params.model_alias = {"smollm2"}
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.n_parallel, params.n_ctx, params.kv_unified, params.verbosity = 2, 4096, False, -1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)
    yield f"{server.listening_address}/v1"
    del server


def settings(url: str, folder: Path, **more: object) -> config.RunConfig:
    given = {
        "documents.limit": 4,
        "hinter.max_pairs": 1,
        "model.name": "smollm2",
        "model.base_url": url,
        "model.concurrency": 2,
        "out": str(folder / "run"),
        "cache": str(folder / "c.sqlite"),
    }
    return config.load(None, given | more)


def test_a_run_is_constrained_answered_and_taken_up(url: str, tmp_path: Path) -> None:
    first = asyncio.run(pipeline.run(settings(url, tmp_path, repeats=1)))
    assert first["status"] == "complete"
    assert first["model_facts"]["server"] == "llamacpp"
    assert first["model_facts"]["choices"] == "grammar"
    assert first["answers"]["read"] == sum(first["answers"].values()) > 8
    assert first["accuracy"]["originals"] == 4
    assert first["tokens"]["prompt"] > 0
    assert first["noise"]["answers"] == 4
    second = asyncio.run(pipeline.run(settings(url, tmp_path, repeats=1)))
    assert second["requests"]["sent"] == 0
    assert second["results"] == first["results"]


def test_a_model_that_is_not_there_is_an_error_though_the_server_would_answer(
    url: str, tmp_path: Path
) -> None:
    body = {"model": "gpt-5", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 1}
    request = urllib.request.Request(
        f"{url}/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        assert answer.status == 200
    with pytest.raises(EndpointError, match=r"unknown model 'gpt-5': .* has smollm2"):
        asyncio.run(pipeline.run(settings(url, tmp_path, **{"model.name": "gpt-5"})))
