"""What a request costs in a whole command: ``hinter run`` beside lm-evaluation-harness.

    python benchmarks/commands.py [--rounds 3] [--concurrency 64] [--environment FOLDER]

Both ask the same instant server about the same texts, as many at a time, and both are timed from outside: by
the clock and in processor seconds of the whole process. A run of some 9,600 requests less one of some 2,000,
by the difference of their requests, leaves out what a command costs before its first request. ``hinter run``
makes the mutants and their controls, keeps each reply in its cache, judges and reports; in the second row the
cases were made before, as they are for lm-evaluation-harness in any case. The commands take turns, and a
ratio is the median of the rounds' ratios.

lm-evaluation-harness is installed into an environment of its own, in FOLDER if it is to be kept.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import polars as pl

PEER = "lm_eval[api]==0.4.13"
PEER_NAME = "lm-evaluation-harness"
TEXTS = (95, 475)  # some 2,000 and 9,600 requests
SERVER = Path(__file__).with_name("instant_server.py")
TASK = """\
task: instant
dataset_path: json
dataset_kwargs:
  data_files:
    test: {file}
test_split: test
output_type: generate_until
doc_to_text: "{{{{text}}}}\\n\\nIs the sentiment of the text positive or negative?"
doc_to_target: Positive
generation_kwargs:
  until: ["\\n\\n"]
  max_gen_toks: 16
  do_sample: false
metric_list:
  - metric: exact_match
    aggregation: mean
    higher_is_better: true
"""


@dataclass(frozen=True)
class Cost:
    """Seconds of a command, by the clock and of the processor."""

    wall: float
    cpu: float

    def a_request(self, less: Cost, requests: int) -> Cost:
        """Return what each of ``requests`` that ``less`` did not make cost, in milliseconds."""
        return Cost(1000 * (self.wall - less.wall) / requests, 1000 * (self.cpu - less.cpu) / requests)

    def over(self, other: Cost) -> Cost:
        return Cost(self.wall / other.wall, self.cpu / other.cpu)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--concurrency", type=int, default=64)
    options.add_argument("--environment", type=Path)
    given = options.parse_args()
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    compare(given.rounds, given.concurrency, given.environment)


def compare(rounds: int, concurrency: int, environment: Path | None = None) -> None:
    with tempfile.TemporaryDirectory() as folder, server() as url:
        bench = Bench(Path(folder), url, concurrency)
        sides: dict[str, Callable[[int], Cost]] = {"hinter run": bench.run, "cases made before": bench.judged}
        peer = installed(environment or Path(folder) / "peer")
        if peer is not None:
            sides[PEER_NAME] = lambda texts: bench.peer(peer, texts)
        report({name: [] for name in sides}, sides, bench, rounds)


def report(
    found: dict[str, list[Cost]], sides: dict[str, Callable[[int], Cost]], bench: Bench, rounds: int
) -> None:
    requests = [bench.prepare(texts) for texts in TEXTS]
    more = requests[1] - requests[0]
    for _ in range(rounds):
        for name, side in sides.items():
            fewer, many = (side(texts) for texts in TEXTS)
            found[name].append(many.a_request(fewer, more))
    print(f"whole commands, {requests[1]:,} requests less {requests[0]:,}, {bench.concurrency} at a time")
    theirs = found.get(PEER_NAME)
    for name, costs in found.items():
        wall, cpu = median(c.wall for c in costs), median(c.cpu for c in costs)
        print(f"  {name:<22} {wall:.2f} ms a request, {cpu:.2f} ms of the processor")
        if theirs and costs is not theirs:
            ratios = [ours.over(peer) for ours, peer in zip(costs, theirs, strict=True)]
            wall, cpu = median(r.wall for r in ratios), median(r.cpu for r in ratios)
            print(f"  {'':<22} of {PEER_NAME}: {wall:.2f}, {cpu:.2f} of the processor")


def median(values: Iterator[float]) -> float:
    return statistics.median(values)


class Bench:
    """The commands, with their files in ``folder``."""

    def __init__(self, folder: Path, url: str, concurrency: int) -> None:
        self.folder = folder
        self.concurrency = concurrency
        self._url = url
        self._runs = 0

    def prepare(self, texts: int) -> int:
        """Write the files for a number of texts, and return how many requests they take."""
        with (self.folder / f"{texts}.csv").open("w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file)
            rows.writerow(["text", "label"])
            rows.writerows(
                [f"The British waiter {n} was kind to the old women.", "Positive"] for n in range(texts)
            )
        self._hinter("generate", texts, self.folder / f"{texts}-cases")
        cases = pl.scan_parquet(self.folder / f"{texts}-cases" / "cases" / "*.parquet")
        asked = cases.filter(pl.col("valid")).select("text").collect()["text"].to_list()
        with (self.folder / f"{texts}.jsonl").open("w", encoding="utf-8") as file:
            file.writelines(json.dumps({"text": text}) + "\n" for text in asked)
        tasks = self.folder / f"{texts}-task"
        tasks.mkdir()
        (tasks / "instant.yaml").write_text(TASK.format(file=self.folder / f"{texts}.jsonl"))
        return len(asked)

    def run(self, texts: int) -> Cost:
        """Run everything: texts to report."""
        return self._hinter("run", texts, self._new(texts))

    def judged(self, texts: int) -> Cost:
        """Run with the cases made before."""
        out = self._new(texts)
        shutil.copytree(self.folder / f"{texts}-cases", out)
        return self._hinter("run", texts, out)

    def peer(self, python: Path, texts: int) -> Cost:
        """Run lm-evaluation-harness on as many texts."""
        model = f"model=instant,base_url={self._url}/chat/completions,num_concurrent={self.concurrency}"
        command = [str(python), "-m", "lm_eval", "--model", "local-chat-completions", "--tasks", "instant"]
        command += [
            "--model_args",
            f"{model},max_retries=3,tokenized_requests=False",
            "--apply_chat_template",
        ]
        command += [
            "--include_path",
            str(self.folder / f"{texts}-task"),
            "--output_path",
            str(self._new(texts)),
        ]
        return timed(command, self.folder, HF_HUB_OFFLINE="1", HF_HOME=str(self.folder / "hub"))

    def _new(self, texts: int) -> Path:
        self._runs += 1
        return self.folder / f"{texts}-{self._runs}"

    def _hinter(self, name: str, texts: int, out: Path) -> Cost:
        command = [sys.executable, "-m", "harness", name, "--data", str(self.folder / f"{texts}.csv")]
        command += ["--model", "instant", "--base-url", self._url, "--max-pairs", "5", "--out", str(out)]
        if name == "run":
            command += ["--quiet", "--concurrency", str(self.concurrency), "--cache", f"{out}.sqlite"]
        return timed(command, self.folder)


def timed(command: Sequence[str], folder: Path, **variables: str) -> Cost:
    """Run a command, its output thrown away, and return what it cost."""
    started, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, **variables}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed: {done.stderr[-2000:]}")
    return Cost(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def installed(folder: Path) -> Path | None:
    """Return the Python of an environment with lm-evaluation-harness, or None, saying so."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    done = subprocess.run([python, "-m", "pip", "install", "--quiet", PEER], capture_output=True, text=True)
    if done.returncode:
        print(f"{PEER} cannot be installed here, so that nothing is compared with it: {done.stderr[-300:]}")
        return None
    return python


@contextmanager
def server() -> Iterator[str]:
    """The base URL of the instant server, in a process of its own."""
    with subprocess.Popen([sys.executable, str(SERVER)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


if __name__ == "__main__":
    main()
