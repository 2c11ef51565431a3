"""Runs that are stopped at random moments: nothing lost, nothing bought twice, the same figures.

    python benchmarks/faults.py [--rounds 2] [--seed 1] [--only kills|batch|together]

``kills``: SIGKILL, SIGTERM, SIGINT and two SIGINTs over automatic and fixed concurrency, one worker process
and two, with and without a budget; the run is then taken up until it is complete. ``batch``: the same for
--batch. ``together``: four processes at a time on one cache, with one folder and with four.
"""

from __future__ import annotations

# ruff: noqa: E402 - the servers are those of the tests, which are beside this folder
import argparse
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests import waiters
from tests.batch_server import BatchServer, serve_batches, text_of
from tests.batch_server import reply as line_of
from tests.servers import Answer, completion, serve

TEXTS, GROUP = 40, 8
REQUESTS = TEXTS * GROUP
DELAY = 0.02
FLIPS = ("waiter3", "waiter5")
FIGURES = ("results", "answers", "cases", "documents")
HALF_A_SECOND = 0.5  # what a killed process may not have on disk
STOPS = {
    "KILL": [signal.SIGKILL],
    "TERM": [signal.SIGTERM],
    "INT": [signal.SIGINT],
    "INT INT": [signal.SIGINT] * 2,
}


@dataclass
class Tally:
    """What was seen over all rounds."""

    rounds: int = 0
    wrong_figures: int = 0
    above_the_cap: int = 0
    lost_replies: list[float] = field(default_factory=list)
    twice: list[int] = field(default_factory=list)
    too_often: int = 0
    strange_ends: Counter[str] = field(default_factory=Counter)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rounds", type=int, default=2)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--only", choices=["kills", "batch", "together"])
    given = options.parse_args()
    chance = random.Random(given.seed)
    parts: dict[str, Callable[[], None]] = {
        "kills": lambda: kills(given.rounds, chance),
        "batch": lambda: batches(given.rounds, chance),
        "together": together,
    }
    for name, part in parts.items():
        if given.only in (None, name):
            part()


def reply(text: str) -> str:
    return "Negative" if any(word in text for word in FLIPS) else "Positive"


class Counting:
    """A script that counts the posts and the replies by text."""

    def __init__(self) -> None:
        self.posts: Counter[str] = Counter()
        self.replies = 0
        self._lock = threading.Lock()

    def __call__(self, body: dict[str, Any], _: int) -> Answer:
        text = str(body["messages"][-1]["content"])
        with self._lock:
            self.posts[text] += 1
        time.sleep(DELAY)
        with self._lock:
            self.replies += 1
        return completion(reply(text))


def start(folder: Path, url: str, *more: str) -> subprocess.Popen[str]:
    usual = ("--data", "texts.csv", "--lexicon", "lexicon.toml", "--order", "1", "--parser", "none")
    model = ("--task", "sst2", "--control", "0", "--model", "m", "--base-url", url, "--json", "--quiet")
    line = [sys.executable, "-m", "harness", "run", *usual, *model, *more]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OPENAI_API_KEY": "none"}
    return subprocess.Popen(
        line, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finished(process: subprocess.Popen[str]) -> tuple[int, dict[str, Any] | None, str]:
    out, said = process.communicate(timeout=300)
    try:
        return process.returncode, json.loads(out), said
    except ValueError:
        return process.returncode, None, said


def undisturbed(url: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as place:
        waiters.prepare(Path(place), TEXTS, GROUP)
        code, figures, said = finished(start(Path(place), url, "--out", "out"))
        assert code == 0, said
        assert figures is not None
        return {name: figures[name] for name in FIGURES}


def kills(rounds: int, chance: random.Random) -> None:
    tally = Tally()
    with serve(Counting()) as endpoint:
        truth = undisturbed(endpoint.base_url)
    kinds = itertools.product(STOPS, ("auto", "8"), ("1", "2"), (False, True))
    for (stop, concurrency, workers, capped), _ in itertools.product(kinds, range(rounds)):
        counting = Counting()
        with serve(counting) as endpoint, tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            waiters.prepare(folder, TEXTS, GROUP)
            cap = chance.randrange(5 * GROUP, REQUESTS) if capped else None
            more = ["--out", "out", "--cache", "c.sqlite", "--concurrency", concurrency, "--workers", workers]
            limited = [*more, "--max-requests", str(cap)] if cap else more
            moment = chance.randrange(1, REQUESTS - 16)
            process = start(folder, endpoint.base_url, *limited)
            while sum(counting.posts.values()) < moment and process.poll() is None:
                time.sleep(0.002)
            for number in STOPS[stop]:
                process.send_signal(number)
                time.sleep(0.05 * (len(STOPS[stop]) > 1))
            code, figures, said = finished(process)
            posted = sum(counting.posts.values()) + len(endpoint.probes)
            tally.rounds += 1
            tally.above_the_cap += cap is not None and posted > cap
            if code not in (0, 3, 130, -9, -15):
                tally.strange_ends[f"{stop}: {code} {said[-200:]}"] += 1
            if figures is not None and counting.replies >= 5 * GROUP:
                tally.lost_replies.append(1 - figures["answers"]["read"] / counting.replies)
            code, figures, said = finished(start(folder, endpoint.base_url, *more))
            same = figures is not None and {name: figures[name] for name in FIGURES} == truth
            tally.wrong_figures += not same or code != 0
            twice = sum(counting.posts.values()) - REQUESTS
            under_way = 8 if concurrency == "8" else 64
            hard = stop in ("KILL", "INT INT")  # what came in the last half second may not be on disk
            most = under_way * (1 + hard * HALF_A_SECOND / DELAY)
            tally.twice.append(twice)
            tally.too_often += not 0 <= twice <= most
    print(f"killed and taken up: {tally.rounds} runs of {REQUESTS} requests")
    print(f"  figures other than undisturbed {tally.wrong_figures}, above the cap {tally.above_the_cap}")
    lost = tally.lost_replies
    print(
        f"  replies not judged when a run ended by itself: {100 * sum(lost) / max(1, len(lost)):.1f} % on"
        f" average, {100 * max(lost, default=0):.1f} % at most, over {len(lost)} runs"
    )
    print(
        f"  bought twice: {sum(tally.twice) / tally.rounds:.1f} on average, {max(tally.twice)} at most;"
        f" more than was under way {tally.too_often}"
    )
    print(f"  ends that nobody expects: {dict(tally.strange_ends) or 'none'}")


def batches(rounds: int, chance: random.Random) -> None:
    wrong = twice = 0
    truth = None
    total = 0
    for stop, _ in itertools.product([None, *STOPS], range(rounds)):
        server = BatchServer(lambda line: [line_of(line, reply(text_of(line)))])
        with serve_batches(server), tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            waiters.prepare(folder, TEXTS, GROUP)
            more = ["--out", "out", "--cache", "c.sqlite", "--batch"]
            process = start(folder, server.base_url, *more)
            if stop is not None:
                time.sleep(chance.uniform(1.0, 4.0))
                for number in STOPS[stop]:
                    process.send_signal(number)
            finished(process)
            _, figures, _ = finished(start(folder, server.base_url, *more))
            found = figures and {name: figures[name] for name in FIGURES}
            truth = truth or found
            wrong += found is None or found != truth
            twice += len(server.jobs) - 1
            total += 1
    print(
        f"batch jobs: {total} runs stopped and taken up: other figures {wrong}, jobs paid for twice {twice}"
    )


def together() -> None:
    counting = Counting()
    with serve(counting) as endpoint, tempfile.TemporaryDirectory() as place:
        truth = undisturbed(endpoint.base_url)
        folder = Path(place)
        waiters.prepare(folder, TEXTS, GROUP)
        for name, outs in (("one folder", ["out"] * 4), ("four folders", [f"out{n}" for n in range(4)])):
            cache = f"{name.replace(' ', '-')}.sqlite"
            running = [start(folder, endpoint.base_url, "--out", out, "--cache", cache) for out in outs]
            ends = list(map(finished, running))
            right = sum(
                figures is not None and {part: figures[part] for part in FIGURES} == truth
                for _, figures, _ in ends
            )
            refused = sum(code == 2 and "is in use by process" in said for code, _, said in ends)
            print(f"four at a time on one cache and {name}: {right} right, {refused} say who has the folder")


if __name__ == "__main__":
    main()
