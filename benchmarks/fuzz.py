"""Whatever an endpoint sends, one request has one outcome: from bytes to outcome, thousands of replies.

    python benchmarks/fuzz.py [--replies 10000] [--seed 1]

A server on this machine answers with replies that are altered at random: bytes, headers, status, fields,
sizes, encodings, cuts, delays. A client process asks, reads each answer as a run does, and writes it to a
response cache. Prints the outcomes, the exceptions that are none of ours, whether the key is in anything that
was said or kept, the longest wait, and the client's peak memory.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
KEY = "sk-fuzz-0123456789abcdef"
SLOTS = 8
GOOD: dict[str, Any] = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "system_fingerprint": "fp",
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": "Positive", "refusal": None},
            "logprobs": {
                "content": [
                    {
                        "token": "Positive",
                        "logprob": -0.1,
                        "bytes": [80],
                        "top_logprobs": [{"token": "Negative", "logprob": -2.0, "bytes": [78]}],
                    }
                ]
            },
        }
    ],
    "usage": {"prompt_tokens": 11, "completion_tokens": 2, "total_tokens": 13},
}
ODD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1e308, -(10**30), 0.5, "", " ", "Positive", "Negative", "stop", "length"),
    *([], {}, [None], [[]], {"a": 1}, "\ud800", "\x1b[31m", "\x00", "😀" * 50, "x" * 5000, KEY),
    *("<think>" * 200, "NaN", ["Positive"], [{"type": "text", "text": "Positive"}], {"text": "Positive"}),
)
HEADERS = (
    *("retry-after: nan", "retry-after: 0.01", "x-ratelimit-reset-requests: 1e9", "content-type: text/html"),
    *(
        "content-encoding: gzip",
        "content-encoding: br",
        "x-odd: \xff\xfe",
        "set-cookie: a=b",
        "server: uvicorn",
    ),
    *("content-type: text/event-stream", "location: http://127.0.0.1:9/v1", "x-long: " + "y" * 4000),
)
STATUSES = (200,) * 12 + (201, 204, 302, 307, 400, 401, 403, 404, 413, 422, 429, 451, 500, 502, 503, 529, 999)


def altered(value: Any, chance: random.Random, depth: int = 0) -> Any:
    """Return ``value`` with some parts replaced, dropped, doubled or put elsewhere."""
    if chance.random() < 0.06:
        return chance.choice(ODD)
    if isinstance(value, dict):
        pairs = [(key, altered(part, chance, depth + 1)) for key, part in value.items()]
        pairs = [pair for pair in pairs if chance.random() > 0.04]
        if chance.random() < 0.04:
            pairs.append(
                (chance.choice(["error", "choices", "content", "reasoning", "x"]), chance.choice(ODD))
            )
        return dict(pairs)
    if isinstance(value, list):
        parts = [altered(part, chance, depth + 1) for part in value]
        return parts * 2 if chance.random() < 0.04 else parts
    return value


def body(chance: random.Random) -> bytes:
    """Return the body of a reply."""
    kind = chance.random()
    if kind < 0.02:
        return bytes(chance.randrange(256) for _ in range(chance.randrange(400)))
    if kind < 0.03:
        return json.dumps({**GOOD, "pad": "z" * chance.randrange(1, 12_000_000)}).encode()
    if kind < 0.04:
        return b"[" * chance.randrange(1, 200_000)
    if kind < 0.05:
        return b"data: " + json.dumps(GOOD).encode() + b"\n\ndata: [DONE]\n\n"
    text = json.dumps(altered(GOOD, chance), ensure_ascii=chance.random() < 0.7)
    made = text.encode(chance.choice(["utf-8"] * 8 + ["utf-16", "utf-7"]), "surrogatepass")
    if chance.random() < 0.05:
        made = made[: chance.randrange(len(made))]
    if chance.random() < 0.05 and made:
        at = chance.randrange(len(made))
        made = made[:at] + bytes([chance.randrange(256)]) + made[at + 1 :]
    return made


def response(chance: random.Random) -> tuple[bytes, float]:
    """Return the bytes of a reply, and the seconds to wait in its middle."""
    content = body(chance)
    size = len(content)
    if chance.random() < 0.02:
        size += chance.choice([-1, 1, 10**6])
    heads = [f"content-length: {size}", "content-type: application/json"]
    if chance.random() < 0.15:
        heads.append(chance.choice(HEADERS))
    if chance.random() < 0.02:
        heads[0] = "content-length: many"
    status = chance.choice(STATUSES)
    start = f"HTTP/1.1 {status} OK" if chance.random() > 0.01 else "ICY 200"
    lines = "\r\n".join([start, *heads, "connection: close", "", ""]).encode("latin-1")
    wait = 0.05 if chance.random() < 0.02 else 0.0
    return (lines + content)[: None if chance.random() > 0.02 else chance.randrange(1, 400)], wait


def serve(listening: socket.socket, seed: int) -> None:
    """Answer each connection with one reply, and close it."""
    numbers = iter(range(10**9))

    def answer(connection: socket.socket, number: int) -> None:
        with connection:
            try:
                connection.settimeout(5)
                asked = b""
                while b"\r\n\r\n" not in asked:
                    asked += connection.recv(65536)
                sent, wait = response(random.Random(seed * 10**6 + number))
                connection.sendall(sent[:20])
                time.sleep(wait)
                connection.sendall(sent[20:])
            except OSError:
                return

    while True:
        try:
            connection, _ = listening.accept()
        except OSError:
            return
        threading.Thread(target=answer, args=(connection, next(numbers)), daemon=True).start()


async def ask(url: str, replies: int, place: Path) -> dict[str, Any]:
    """Ask ``replies`` times, read and keep each answer; return what was seen."""
    from harness import config, registry
    from harness.answering.cache import ResponseCache
    from harness.answering.plan import Planner
    from harness.answering.reading import Reader
    from harness.audit.assembly import resolve_task
    from harness.core import Case, Failure, Reply
    from harness.errors import EndpointError, Transient

    loaded = config.load(None, {"task": "sst2", "model.name": "m", "model.base_url": url}, one_text=True)
    task, prompt, _ = resolve_task(loaded)
    model = registry.make_model(loaded.model, loaded.model_options)
    planner = Planner(task, prompt, model, 0, 0)
    reader = Reader.of(task, planner.constrained, task.favourable, prompt.question)
    seen: Counter[str] = Counter()
    strange: Counter[str] = Counter()
    said: list[str] = []
    longest = 0.0
    numbers = iter(range(replies))

    async def slot(cache: ResponseCache) -> None:
        nonlocal longest
        for number in numbers:
            request = planner.request(Case(f"c{number}", "g", "d", "original", f"text {number}"))
            began = time.monotonic()
            try:
                answer = await model.answer(request)
                if isinstance(answer, Reply):
                    cache.keep(request, answer)
                elif isinstance(answer, Failure):
                    said.append(answer.message)
                outcome = reader.outcome(answer)
                seen["read" if outcome.read else str(outcome.reason)] += 1
            except (Transient, EndpointError) as error:
                seen[type(error).__name__] += 1
                said.append(str(error))
            except Exception as error:
                strange[f"{type(error).__name__}: {str(error)[:80]}"] += 1
                traceback.print_exc()
            longest = max(longest, time.monotonic() - began)

    async with ResponseCache(place / "responses.sqlite") as cache:
        await asyncio.gather(*(slot(cache) for _ in range(SLOTS)))
    await model.close()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    leaked = sum(KEY in text for text in said)
    return {"seen": seen, "strange": strange, "leaked": leaked, "longest": longest, "peak": peak}


def main() -> None:
    """Start the server, and the client as a process of its own, whose memory is its own."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--replies", type=int, default=10_000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--ask", help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.ask:
        with tempfile.TemporaryDirectory() as place:
            found = asyncio.run(ask(given.ask, given.replies, Path(place)))
            found["leaked"] += sum(KEY.encode() in file.read_bytes() for file in Path(place).iterdir())
            print(json.dumps(found))
        return
    with socket.create_server(("127.0.0.1", 0), backlog=256) as listening:
        threading.Thread(target=serve, args=(listening, given.seed), daemon=True).start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        words = [sys.executable, __file__, "--ask", url, "--replies", str(given.replies)]
        environment = os.environ | {"PYTHONPATH": str(ROOT), "OPENAI_API_KEY": KEY}
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    figures = json.loads(done.stdout)
    print(f"{given.replies:,} replies, seed {given.seed}: {dict(figures['seen'])}")
    print(f"exceptions that are none of ours: {sum(figures['strange'].values())} {figures['strange']}")
    leaked = figures["leaked"] + (KEY in done.stderr)
    print(f"tracebacks: {done.stderr.count('Traceback')}; texts or files with the key: {leaked}")
    print(f"longest wait {figures['longest']:.1f} s; peak memory {figures['peak'] / 2**20:.0f} MB")


if __name__ == "__main__":
    main()
