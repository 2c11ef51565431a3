"""How fast requests are sent and cached replies are read, and what a prefix cache can reuse.

    python benchmarks/answering.py [--requests 5000] [--cached 100000] [--kills 10] [--rounds 3]

Each part compares with a naive way in the same run; the part ``commands`` (see ``commands.py``) with
lm-evaluation-harness. Needs the shared reviews for the prefix part (environment variable HINTER_SHARED,
default ../shared).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import random
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import commands

from harness import registry
from harness.answering import render, rows
from harness.answering.cache import ResponseCache
from harness.answering.limiter import Limiter
from harness.answering.parse import LabelReader
from harness.answering.plan import Planner
from harness.answering.runner import Runner
from harness.core import Case, Reply, Request
from harness.dialect import Dialect
from harness.models import wire
from harness.models.openai import OpenAIModel
from harness.plugins import Model

ROOT = Path(__file__).parents[1]
SHARED = (ROOT / os.environ.get("HINTER_SHARED", "../shared") / "data").resolve()
TEXTS = {"imdb": "biasfinder/imdb_small", "ecthr": "lexglue/ecthr_derived_rmu.jsonl"}
PREFIXES = (("imdb", 60, 2_000), ("ecthr", 20, 10_000))  # task, texts, blocks that are kept
CONCURRENCY = 64
BLOCK = 16  # tokens in a block of vLLM's prefix cache
CHARACTERS_A_TOKEN = 4


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--requests", type=int, default=5000)
    options.add_argument("--cached", type=int, default=100_000)
    options.add_argument("--kills", type=int, default=10)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--environment", type=Path, help="a folder that keeps lm-evaluation-harness")
    options.add_argument("--only", choices=["commands", "throughput", "cached", "prefix", "kills", "vllm"])
    options.add_argument("--vllm", metavar="MODEL", help="a model folder for a real vLLM server (on PATH)")
    options.add_argument("--child", type=int, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.child:
        print(json.dumps(read_cached(given.child)))
        return
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    parts: dict[str, Callable[[], object]] = {
        "commands": lambda: commands.compare(given.rounds, CONCURRENCY, given.environment),
        "throughput": lambda: throughput(given.requests),
        "cached": lambda: cached(given.cached),
        "prefix": prefix,
        "kills": lambda: kills(given.kills),
        "vllm": lambda: vllm_order(given.vllm) if given.vllm else None,
    }
    for name, part in parts.items():
        if given.only in (None, name):
            part()


@contextmanager
def instant(delay: float = 0.0, keep: Path | None = None) -> Iterator[str]:
    """The base URL of a server in a process of its own that answers at once, or after ``delay`` seconds.

    What is posted is written to the file ``keep``.
    """
    command = [sys.executable, str(Path(__file__).with_name("instant_server.py")), str(delay)]
    server = subprocess.Popen(
        [*command, *([] if keep is None else [str(keep)])], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
    finally:
        server.kill()
        server.wait()


def planner(model: OpenAIModel) -> Planner:
    task = registry.task("imdb")
    return Planner(task, render.load(task.prompt, task.labels), model)


def texts(number: int) -> Iterator[Case]:
    """Cases of review-like length, all different."""
    words = (
        "waiter",
        "place",
        "kind",
        "film",
        "showed",
        "heart",
        "evening",
        "story",
        "never",
        "the",
        "of",
        "was",
    )
    draw = random.Random(0)
    for n in range(number):
        text = f"{n} " + " ".join(draw.choices(words, k=60))
        yield Case(str(n), str(n), str(n), "original", text)


def throughput(number: int) -> None:
    """Requests a second of the runner (with its cache) over a bare httpx2 loop with the same bodies."""
    with instant() as url, tempfile.TemporaryDirectory() as folder:
        model = OpenAIModel("instant", url, choices="none")
        requests = [planner(model).request(case) for case in texts(number)]
        pairs = [
            (
                _metered(_bare(url, requests), number),
                _metered(_ours(model, requests, Path(folder) / f"{n}.sqlite"), number),
            )
            for n in range(5)
        ]
        print(f"throughput at concurrency {CONCURRENCY}, {number} requests to an instant server")
        for name, some in zip(("bare httpx2.AsyncClient", "ours"), zip(*pairs, strict=True), strict=True):
            rate, cpu = (statistics.median(values) for values in zip(*some, strict=True))
            print(f"  {name:<23} {rate:>8,.0f} requests/s, {cpu:.2f} ms of the processor a request")
        rate, cpu = (statistics.median(o[n] / b[n] for b, o in pairs) for n in range(2))
        print(f"  ratio {rate:.2f} by the clock, {1 / cpu:.2f} by processor time")


def _metered(sending: Coroutine[None, None, float], number: int) -> tuple[float, float]:
    """Requests a second by the clock, and milliseconds of this process's processor time a request."""
    before = time.process_time()
    rate = asyncio.run(sending)
    return rate, 1000 * (time.process_time() - before) / number


async def _bare(url: str, requests: Sequence[Request]) -> float:
    import httpx2

    queue = iter(requests)
    limits = httpx2.Limits(max_connections=CONCURRENCY, max_keepalive_connections=CONCURRENCY)
    async with httpx2.AsyncClient(limits=limits, timeout=60) as client:

        async def work() -> None:
            for request in queue:
                body = wire.body("instant", request, Dialect(choices="none"))
                answer = await client.post(f"{url}/chat/completions", json=body)
                wire.read(answer.json())

        started = time.perf_counter()
        await asyncio.gather(*(work() for _ in range(CONCURRENCY)))
        return len(requests) / (time.perf_counter() - started)


async def _ours(model: OpenAIModel, requests: Sequence[Request], path: Path) -> float:
    started = time.perf_counter()
    async with (
        ResponseCache(path) as cache,
        Runner(model, cache, Limiter(CONCURRENCY, CONCURRENCY)) as runner,
    ):
        batches = [requests[n : n + 256] for n in range(0, len(requests), 256)]
        await asyncio.gather(*(runner.replies(batch) for batch in batches))
        assert runner.counts.sent == len(requests)
    taken = time.perf_counter() - started
    await model.close()
    return len(requests) / taken


def cached(number: int) -> None:
    """Replies a second of a run answered from the cache, and memory against a tenth of it."""
    small, large = (_child(n) for n in (number // 10, number))
    print(f"fully cached: {large['rate']:,.0f} replies/s over {number:,} requests (made, looked up, read)")
    ratio = large["rate"] / large["naive"]
    print(f"  looked up one by one {large['naive']:,.0f} replies/s, ratio {ratio:.2f}")
    print(
        f"  peak memory {small['memory']:.0f} MB for {number // 10:,}, {large['memory']:.0f} for {number:,}"
    )


def _child(number: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--child", str(number)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def read_cached(number: int) -> dict[str, float]:
    """In a process of its own: fill a cache, then read all of it as a run does."""
    model = OpenAIModel("instant", "http://127.0.0.1:9/v1", choices="none")
    plan, read = planner(model), LabelReader(("Negative", "Positive"))

    async def fill(path: Path) -> None:
        async with ResponseCache(path) as cache:
            for n, case in enumerate(texts(number)):
                cache.keep(plan.request(case), Reply("Positive", prompt_tokens=100, completion_tokens=2))
                if n % 1000 == 0:
                    await asyncio.sleep(0.01)

    async def look(path: Path) -> float:
        cases = texts(number)
        started = time.perf_counter()
        async with ResponseCache(path) as cache, Runner(model, cache, Limiter(4, 4)) as runner:
            while some := list(islice(cases, 256)):
                answers = await runner.replies([plan.request(case) for case in some])
                assert all(read(a).read for a in answers.values() if isinstance(a, Reply))
            assert runner.counts.cached == number
        return number / (time.perf_counter() - started)

    def naive(path: Path) -> float:
        started = time.perf_counter()
        with closing(sqlite3.connect(path)) as db:
            for case in texts(number):
                found = db.execute("SELECT reply FROM replies WHERE key = ?", (plan.request(case).key,))
                assert read(rows.decode(found.fetchone()[0])).read
        return number / (time.perf_counter() - started)

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "c.sqlite"
        asyncio.run(fill(path))
        rate = asyncio.run(look(path))
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return {"rate": rate, "naive": naive(path), "memory": memory}


def prompts_of(task: str, model: Model, limit: int, pairs: int) -> list[list[Request]]:
    """The requests of some texts of a task, a list a text, each in the order in which they are sent."""
    from harness import config
    from harness.audit.assembly import assemble

    path = SHARED / TEXTS[task]
    if not path.exists():
        sys.exit(f"no texts at {path}: set HINTER_SHARED")
    given = {"task": task, "documents.path": str(path), "documents.limit": limit, "hinter.max_pairs": pairs}
    audit = assemble(
        config.load(None, given | {"model.name": "m", "model.base_url": "http://127.0.0.1:9/v1"})
    )
    plan = replace(audit.planner, model=model)
    groups: dict[str, list[Case]] = {}
    for case in audit.suite.cases(audit.documents()):
        if case.valid:
            groups.setdefault(case.group, []).append(case)
    return [[plan.request(c) for c in sorted(some, key=lambda c: c.text)] for some in groups.values()]


def prefix() -> None:
    """The share of prompt tokens that a prefix cache of vLLM's kind can reuse, as a run's requests arrive.

    Beside it what the best order there is could reuse, which is all that a cache can that forgets nothing,
    and the same requests shuffled.
    """
    for task, limit, blocks in PREFIXES:
        prompts = arriving(task, limit)
        ours, best = reusable(prompts, blocks), reusable(prompts, sys.maxsize)
        mixed = reusable(random.Random(0).sample(prompts, len(prompts)), blocks)
        print(f"prefix order, {task}: {len(prompts):,} requests about {limit} texts, {blocks:,} blocks")
        print(
            f"  ours {ours:.1%} of prompt tokens reusable, {ours / best:.3f} of the best order's {best:.1%};"
        )
        print(f"  shuffled {mixed:.1%}, {mixed / best:.3f} of it", flush=True)


def arriving(task: str, limit: int) -> list[str]:
    """The prompts of a whole run as published, in the order in which its requests reach the server."""
    with tempfile.TemporaryDirectory() as folder:
        posted = Path(folder) / "posted"
        with instant(keep=posted) as url:
            command = [
                sys.executable,
                "-m",
                "harness",
                "run",
                "--task",
                task,
                "--data",
                str(SHARED / TEXTS[task]),
            ]
            command += ["--limit", str(limit), "--max-pairs", "4", "--like-the-paper", "--quiet"]
            command += ["--model", "instant", "--base-url", url, "--concurrency", str(CONCURRENCY)]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if done.returncode not in (0, 3):  # 3: this server's answer is no label of every task
            sys.exit(f"{' '.join(command)} failed: {done.stderr[-2000:]}")
        bodies = map(json.loads, posted.read_text(encoding="utf-8").splitlines())
        return ["\n".join(message["content"] for message in body["messages"]) for body in bodies]


def vllm_order(folder: str) -> None:
    """Throughput of a real vLLM server with a small prefix cache, in our order and shuffled."""
    from harness.models.vllm import VllmModel
    from harness.models.vllm_settings import Settings

    flags = (
        "--enforce-eager",
        "--block-size",
        "32",
        "--max-num-seqs",
        "8",
        "--num-gpu-blocks-override",
        "160",
    )
    for name in ("ours", "shuffled"):
        model = VllmModel(Settings(name=folder, dtype="float32", max_model_len=1024, flags=flags), 8, "none")
        requests = [r for group in prompts_of("imdb", model, 40, 3) for r in group]
        if name == "shuffled":
            requests = random.Random(0).sample(requests, len(requests))
        rate = asyncio.run(_timed(model, requests))
        facts: Any = model.facts
        hits = facts["vllm"]["prefix_cache"]["hit_rate"]
        print(f"  real vLLM, {len(requests)} requests, {name}: {rate:.2f}/s, {hits:.1%} of prompt tokens hit")


async def _timed(model: Any, requests: Sequence[Request]) -> float:
    with tempfile.TemporaryDirectory() as folder:
        async with (
            ResponseCache(Path(folder) / "c.sqlite") as cache,
            Runner(model, cache, Limiter(8, 8)) as runner,
        ):
            await runner.replies(requests[:1])  # starts the server
            started = time.perf_counter()
            await runner.replies(requests[1:])
            rate = (len(requests) - 1) / (time.perf_counter() - started)
        await model.close()
    return rate


def reusable(prompts: Sequence[str], blocks: int) -> float:
    """Blocks found in a least-recently-used cache of prefixes, by blocks asked for."""
    kept: dict[int, None] = {}
    hits = asked = 0
    size = BLOCK * CHARACTERS_A_TOKEN
    for prompt in prompts:
        found = True
        for end in range(size, len(prompt) + 1, size):
            name = hash(prompt[:end])
            asked += 1
            found = found and name in kept
            hits += found
            kept.pop(name, None)
            kept[name] = None
            if len(kept) > blocks:
                del kept[next(iter(kept))]
    return hits / asked


def kills(times: int) -> None:
    """``kill -9`` at random moments over some 2,000 requests: what is sent in all, and the figures."""
    with instant(delay=0.01) as url, tempfile.TemporaryDirectory() as folder:
        rows = "\n".join(f'"The British waiter {n} was kind to the old women.",Positive' for n in range(95))
        (Path(folder) / "t.csv").write_text(f"text,label\n{rows}\n", encoding="utf-8")
        arguments = ["run", "--data", "t.csv", "--model", "instant", "--base-url", url, "--max-pairs", "5"]
        arguments += ["--json", "--quiet", "--concurrency", "8"]
        command = [sys.executable, "-m", "harness", *arguments]
        for moment in sorted(random.Random(0).sample(range(20, 1900), times)):
            run = subprocess.Popen([*command, "--out", "k"], cwd=folder, stdout=subprocess.DEVNULL)
            while answered(url) < moment and run.poll() is None:
                time.sleep(0.01)
            run.kill()
            run.wait()
        last = _figures([*command, "--out", "k"], folder)
        sent = answered(url)
        whole = _figures([*command, "--out", "w", "--cache", "w.sqlite"], folder)
        same = all(last[key] == whole[key] for key in ("results", "answers", "cases"))
        unique = whole["requests"]["unique"]
        print(f"kill -9 at {times} random moments over {unique:,} requests of 10 ms, 8 at a time")
        print(f"  {sent:,} sent in all: {sent - unique} replies lost and asked again, probes included")
        print(f"  figures equal to an undisturbed run: {same}")


def answered(url: str) -> int:
    """How many requests the server has answered."""
    import httpx2

    return int(httpx2.get(f"{url}/count").text)


def _figures(command: Sequence[str], folder: str) -> dict[str, dict[str, int]]:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    figures: dict[str, dict[str, int]] = json.loads(done.stdout)
    return figures


if __name__ == "__main__":
    main()
