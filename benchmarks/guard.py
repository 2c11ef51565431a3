"""What checks of answers as they are given cost, find and heal, and what the proxy adds to a request.

    python benchmarks/guard.py [steps] [healing] [proxy] [faults] [--texts 400] [--seconds 60] [--rate 500]

Real texts are those of SST and IMDB among the shared data (environment variable HINTER_SHARED, default
../shared); parts that need data or packages that are not there say so and are left out.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import json
import os
import platform
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

import polars as pl

from harness import config
from harness.audit import pipeline
from harness.guard import Guard
from harness.guard.records import Heard, Place
from harness.guard.steps import Steps
from harness.settings import GuardSettings

ROOT = Path(__file__).parents[1]
SHARED = (ROOT / os.environ.get("HINTER_SHARED", "../shared")).resolve()
ENCODER = SHARED / "fixtures" / "sst2-minilm"
SST, IMDB = SHARED / "data/sst/sst2_binary_{}.tsv", SHARED / "data/biasfinder/imdb_small"
FIRST = (1, 2, 3, 4, 6, 8, 12)
ALL = 1_000_000
PARTS = ("steps", "healing", "proxy", "faults")
CONNECTIONS = 32
LONGEST_TEXT = 2_000

PLANTED = '''
"""Systems whose bias is known: a base answer by text, and a bias against women in some of the texts.

The base answer depends on the words that are in no dictionary and begin with no capital, so that it is the
same for all versions of a text.
"""
import re
from functools import cache
from hashlib import sha256

from harness.language.people import people
from harness.suites import lexicon

WORD = re.compile(r"[^\\W\\d_]+")
HERS = frozenset("she her hers herself".split())


@cache
def known():
    attributes = lexicon.load().attributes.values()
    words = {p.lower() for attribute in attributes for word in attribute.words for p in WORD.findall(word)}
    return words | set(people().genders) | set("a an mr mrs ms".split())


def women():
    return HERS | {word for word, gender in people().genders.items() if gender == "female"}


def number(text, salt):
    return int(sha256(f"{salt}/{text}".encode()).hexdigest()[:8], 16) / 2**32


def skeleton(text):
    return " ".join(w for w in WORD.findall(text) if w[0].islower() and w not in known())


def base(text):
    return "Positive" if number(skeleton(text), "base") < 0.5 else "Negative"


def of_a_woman(text):
    return not women().isdisjoint(word.lower() for word in WORD.findall(text))


def systematic(text, seed=0):
    """Every version about a woman has the other answer in one text of five."""
    biased = number(skeleton(text), f"biased {seed}") < 0.2
    return other(base(text)) if biased and of_a_woman(text) else base(text)


def partial(text, seed=0):
    """In one text of five, half of the versions about a woman have the other answer."""
    biased = number(skeleton(text), f"biased {seed}") < 0.2 and number(text, f"half {seed}") < 0.5
    return other(base(text)) if biased and of_a_woman(text) else base(text)


def noisy(text, seed=0):
    """Nobody is treated worse, and one answer of fifty is the other one."""
    return other(base(text)) if number(text, f"noise {seed}") < 0.02 else base(text)


def system(kind, seed):
    def answer(text):
        return kind(text, seed)

    return answer


for kind in (systematic, partial, noisy):
    for seed in range(10):
        globals()[f"{kind.__name__}_{seed}"] = system(kind, seed)


def other(label):
    return "Negative" if label == "Positive" else "Positive"
'''


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("parts", nargs="*", default=[])
    options.add_argument("--texts", type=int, default=400)
    options.add_argument("--local-texts", type=int, default=40, help="texts for the embedded model")
    options.add_argument("--systems", default="systematic,partial,noisy,vader,encoder,smollm2")
    options.add_argument("--suites", default="biasfinder,hinter")
    options.add_argument("--seconds", type=float, default=60)
    options.add_argument("--rate", type=int, default=500)
    given = options.parse_args()
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        sys.path.insert(0, folder)
        Path("planted_guard_systems.py").write_text(PLANTED, encoding="utf-8")
        for part in given.parts or PARTS:
            {"steps": steps, "healing": healing, "proxy": proxy, "faults": faults}[part](given)


# Two steps against all versions


def steps(given: argparse.Namespace) -> None:
    """Print, over the number of first versions, the requests saved and the biased texts missed."""
    print("\nTwo steps against the full check: requests for versions saved, biased texts missed")
    for suite, about, texts, least in (each for each in SETTINGS if each[0] in given.suites.split(",")):
        named = _with_places(suite, texts(), given.texts, least)
        for name, models in _models(given.systems):
            number = given.local_texts if name == "smollm2" else given.texts
            replays = [asyncio.run(_replayed(suite, model, named[:number])) for model in models]
            _print_steps(f"{about}; {name}", replays)


def _print_steps(about: str, replays: Sequence[Mapping[int, Replay]]) -> None:
    """Print what came of the checks of one system, or of several of one kind together."""
    together = {first: [one for replay in replays for one in replay[first]] for first in (ALL, *FIRST)}
    full = together[ALL]
    asked, unfair = sum(n for _, n in full), sum(found for found, _ in full)
    print(f"{about}: {len(full)} texts, {asked} versions, {unfair} biased")
    for first in FIRST:
        sent = sum(n for _, n in together[first])
        missed = sum(was and not found for (was, _), (found, _) in zip(full, together[first], strict=True))
        share = f"{missed / unfair:6.1%}" if unfair else "     –"
        print(f"  first {first:2}: saved {1 - sent / asked:6.1%}, missed {share} ({missed} of {unfair})")


def _with_places(suite: str, texts: Iterator[tuple[str, str]], number: int, least: int) -> Named:
    """Return ``number`` texts with their versions, of which there are ``least``."""
    guard = Guard({"task": "sst2", "suite": suite, "model.name": "local:vader"})
    made = ((text, guard.versions.made(text)) for text, _ in texts)
    return list(islice(((text, places) for text, places in made if len(_texts(places)) >= least), number))


def _texts(places: Sequence[Place]) -> list[str]:
    return list(dict.fromkeys(v for place in places for of_group in place.groups.values() for v in of_group))


def _models(systems: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the name of each system with its models: of a planted kind, several that differ by chance."""
    for name in systems.split(","):
        if name in ("systematic", "partial", "noisy"):
            yield name, [f"python:planted_guard_systems:{name}_{seed}" for seed in range(10)]
        elif name != "encoder":
            yield name, [f"local:{name}"]
        elif ENCODER.exists() and find_spec("torch"):
            yield name, [f"transformers:{ENCODER}"]
        else:
            print(f"left out: {ENCODER}, or torch, is not here")


def sst(split: str = "train") -> Iterator[tuple[str, str]]:
    """Yield sentences with labels, the same random ones every time."""
    with Path(str(SST).format(split)).open(encoding="utf-8") as file:
        rows = [(row["sentence"], row["label"]) for row in csv.DictReader(file, delimiter="\t", quoting=3)]
    random.Random(0).shuffle(rows)
    return iter(rows)


def imdb() -> Iterator[tuple[str, str]]:
    """Yield the shorter reviews with labels."""
    for name in ("train", "test"):
        with (IMDB / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            for label, text in csv.reader(file, delimiter="\t"):
                if len(text) < LONGEST_TEXT:
                    yield text, label


Named = list[tuple[str, list[Place]]]
SETTINGS = (
    ("biasfinder", "IMDB, BiasFinder, templates with names (30 of each gender)", imdb, 40),
    ("hinter", "IMDB, HINTER (race, gender and body)", imdb, 2),
    ("hinter", "SST, HINTER (race, gender and body)", sst, 2),
)
"""Suite, words, texts, and the versions that a text has at least."""


Replay = list[tuple[bool, int]]
"""For each text whether its answer is found unfair, and the versions that were asked about."""


async def _replayed(suite: str, model: str, named: Named) -> dict[int, Replay]:
    """Ask about all versions of ``named`` texts, and replay checks by the number of first versions."""
    by = {"task": "sst2", "suite": suite, "model.name": model, "cache": f"steps-{suite}.sqlite"}
    async with Guard(by) as guard:
        heard: dict[str, Heard] = {}
        for text, places in named:
            heard |= await guard.answers(list(dict.fromkeys([text, *_texts(places)])))

        async def ask(asked: Sequence[str]) -> Mapping[str, Heard]:
            return {text: heard[text] for text in asked}

        replays: dict[int, Replay] = {}
        for first in (ALL, *FIRST):
            checks = Steps(GuardSettings(first=first, most=ALL), guard.steps.outcomes)
            done = [await checks.check(text, heard[text], places, ask) for text, places in named]
            replays[first] = [(checked.verdict == "unfair", checked.requests - 1) for checked in done]
        return replays


# Healing


def healing(given: argparse.Namespace) -> None:
    """Print how much bias is left, and what accuracy is, before and after healing."""
    print("\nHealing: biased tests as a run finds them, accuracy on the texts and on their versions")
    models = [models[0] for name, models in _models(given.systems) if name not in ("noisy", "smollm2")]
    for suite in given.suites.split(","):
        texts, least = (imdb, 40) if suite == "biasfinder" else (sst, 2)
        labels = dict(texts())
        with Path(f"{suite}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["text", "label"])
            writer.writerows((t, labels[t]) for t, _ in _with_places(suite, texts(), given.texts, least))
        for model in models:
            for ties in ("", "original", "favourable"):
                _healed(suite, model, ties)


def _healed(suite: str, model: str, ties: str) -> None:
    """Run an audit of ``model``, as it is or healed with ``ties`` so resolved, and print its figures."""
    name = re.split(r"[:/]", model)[-1]
    file = Path(f"{suite}-{name}-{ties}.toml")
    key, value = ("names_a_class", 8) if suite == "biasfinder" else ("order", 1)
    file.write_text(
        f'task = "sst2"\nsuite = "{suite}"\ncache = "healing.sqlite"\n[{suite}]\n{key} = {value}\n'
        f'[model]\nname = "{model}"\n[guard]\naction = "heal"\nties = "{ties or "original"}"\n',
        encoding="utf-8",
    )
    by: dict[str, object] = {"task": "sst2", "suite": suite, f"{suite}.{key}": value, "control.share": 0}
    by |= {"documents.path": f"{suite}.csv", "model.name": f"guard:{file}" if ties else model}
    by |= {"out": f"runs/{file.stem}", "cache": f"outer-{ties}.sqlite"}
    started = time.perf_counter()
    asyncio.run(pipeline.run(config.load(None, by)))
    folder = Path(f"runs/{file.stem}")
    verdicts = Counter(pl.read_parquet(folder / "verdicts.parquet")["status"].to_list())
    tests = verdicts["biased"] + verdicts["benign"]
    right = _accuracy(folder)
    how = f"healed, ties {ties}" if ties else "as it is"
    print(
        f"{suite:10} {name:14} {how:23}: biased {verdicts['biased']:6} of {tests:6}"
        f" ({verdicts['biased'] / tests:6.2%}), accuracy of texts {right['original']:6.2%},"
        f" of versions {right['version']:6.2%} ({time.perf_counter() - started:.0f} s)"
    )


def _accuracy(folder: Path) -> dict[str, float]:
    cases = pl.read_parquet(folder / "cases/*.parquet").filter(pl.col("valid"))
    answers = pl.read_parquet(folder / "answers.parquet").rename({"case": "id"})
    gold = cases.filter(pl.col("role") == "original").select("group", gold=pl.col("expected").list.first())
    joined = cases.join(answers, on="id").join(gold, on="group").filter(pl.col("outcome") == "read")
    right = joined.with_columns(
        kind=pl.when(pl.col("role") == "original").then(pl.lit("original")).otherwise(pl.lit("version")),
        right=pl.col("labels").list.first() == pl.col("gold"),
    )
    return dict(right.group_by("kind").agg(pl.col("right").mean()).iter_rows())


# The proxy


@dataclass
class Load:
    """What came of requests: seconds each took, and how each ended."""

    seconds: list[float] = field(default_factory=list)
    ends: Counter[str] = field(default_factory=Counter)

    def quantile(self, share: float) -> float:
        """Return a quantile in milliseconds."""
        ordered = sorted(self.seconds)
        return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))]


@contextmanager
def endpoint(delay: float = 0.0) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A chat endpoint that answers at once, in a process of its own."""
    with _process(sys.executable, str(ROOT / "benchmarks/instant_server.py"), str(delay)) as running:
        yield running


@contextmanager
def guarding(base_url: str, *settings: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The proxy before ``base_url``, in a process of its own."""
    Path("proxy.toml").write_text(
        f'task = "sst2"\n[model]\nname = "m"\nbase_url = "{base_url}"\n', encoding="utf-8"
    )
    with _process(
        sys.executable, "-m", "harness", "guard", "proxy.toml", "--port", "0", *settings
    ) as running:
        yield running


@contextmanager
def _process(*command: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


class Connections:
    """Connections to a server that are kept, each for one request at a time."""

    def __init__(self, address: str) -> None:
        self._host, _, port = address.removeprefix("http://").removesuffix("/v1").partition(":")
        self._port = int(port)
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def post(self, text: str, load: Load, patience: float = 30) -> None:
        """Ask about ``text`` and note how that ends."""
        body = json.dumps({"model": "m", "messages": [{"role": "user", "content": text}]}).encode()
        head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: {self._host}:{self._port}\r\n"
        head += "Authorization: Bearer sk-none\r\nContent-Type: application/json\r\n"
        head += f"Content-Length: {len(body)}\r\n\r\n"
        started = time.perf_counter()
        try:
            async with asyncio.timeout(patience):
                reader, writer = await self._connection()
                writer.write(head.encode() + body)
                answer = await reader.readuntil(b"\r\n\r\n")
                length = int(answer.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
                content = await reader.readexactly(length)
            json.loads(content)
            self._idle.append((reader, writer))
            load.ends[f"HTTP {answer[9:12].decode()}"] += 1
            load.seconds.append(time.perf_counter() - started)
        except TimeoutError:
            load.ends["no answer"] += 1
        except (OSError, asyncio.IncompleteReadError, ValueError) as error:
            load.ends[type(error).__name__] += 1

    async def _connection(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        while self._idle:
            reader, writer = self._idle.pop()
            if not reader.at_eof() and not writer.is_closing():
                return reader, writer
        return await asyncio.open_connection(self._host, self._port)


async def in_turn(address: str, texts: Sequence[str], number: int) -> Load:
    """Ask ``number`` times, one after the other."""
    connections, load = Connections(address), Load()
    for place in range(number):
        await connections.post(texts[place % len(texts)], load)
    return load


async def at_rate(
    address: str,
    texts: Sequence[str],
    rate: int,
    seconds: float,
    tell: Callable[[float], None] = lambda _: None,
) -> Load:
    """Ask ``rate`` times a second, whether or not earlier requests are answered."""
    connections, load = Connections(address), Load()
    tasks: set[asyncio.Task[None]] = set()
    started = time.perf_counter()
    for number in range(int(rate * seconds)):
        due = started + number / rate
        if (wait := due - time.perf_counter()) > 0:
            await asyncio.sleep(wait)
        task = asyncio.create_task(connections.post(texts[number % len(texts)], load))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        if number % rate == 0:
            tell(number / rate)
    await asyncio.gather(*tasks)
    return load


def nobody(number: int = 500) -> list[str]:
    """Return sentences of SST that name nobody."""
    guard = Guard({"task": "sst2", "model.name": "local:vader"})
    return list(islice((text for text, _ in sst() if not guard.audit.suite.concerns(text)), number))


def resident(process: subprocess.Popen[str]) -> float:
    """Return the memory of a process in MB."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def processor_time(process: subprocess.Popen[str]) -> float:
    """Return the seconds of processor time that a process has used."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def proxy(given: argparse.Namespace) -> None:
    """Print the overhead for texts that name nobody, one at a time and at a rate, and the memory."""
    texts = nobody()
    print(f"\nThe proxy before an endpoint that answers at once; {len(texts)} texts that name nobody")
    with endpoint() as (_, base), guarding(base) as (process, address):
        asyncio.run(in_turn(address, texts, 500))
        direct, through = Load(), Load()
        for _ in range(10):  # in turn, so that the machine's moods are those of both
            for where, load in ((base, direct), (address, through)):
                part = asyncio.run(in_turn(where, texts, 300))
                load.seconds += part.seconds
        print("one at a time, milliseconds:")
        for share in (0.5, 0.9, 0.99):
            there, here = direct.quantile(share), through.quantile(share)
            print(f"  p{100 * share:.0f}: direct {there:.2f}, through {here:.2f}, added {here - there:.2f}")
        memory: list[float] = []
        before = processor_time(process)
        load = asyncio.run(
            at_rate(address, texts, given.rate, given.seconds, lambda _: memory.append(resident(process)))
        )
        spent = (processor_time(process) - before) / sum(load.ends.values())
        print(f"processor time of the proxy: {1000 * spent:.2f} ms a request")
        plain = asyncio.run(at_rate(base, texts, given.rate, min(given.seconds, 10)))
        reached = sum(load.ends.values()) / given.seconds
        print(f"{given.rate} a second for {given.seconds:.0f} s: {dict(load.ends)}, {reached:.0f} a second")
        for share in (0.5, 0.9, 0.99):
            here, there = load.quantile(share), plain.quantile(share)
            print(f"  p{100 * share:.0f}: direct {there:.2f}, through {here:.2f}, added {here - there:.2f}")
        half = len(memory) // 2
        print(
            f"memory, MB: first {memory[0]:.1f}, mean of the first half {statistics.mean(memory[:half]):.1f},"
            f" of the second {statistics.mean(memory[half:]):.1f}, last {memory[-1]:.1f}"
        )
        _checked(process, address)


def _checked(process: subprocess.Popen[str], address: str) -> None:
    """Print the time and memory of checks of texts that name somebody, none of them twice."""
    named = [text for text, _ in sst()]
    memory, load = [], Load()
    for part in range(5):
        texts = named[1000 * part : 1000 * (part + 1)]
        load.seconds += asyncio.run(in_turn(address, texts, len(texts))).seconds
        memory.append(resident(process))
    print(
        f"5,000 sentences of SST, a part of which name somebody: p50 {load.quantile(0.5):.1f} ms,"
        f" p90 {load.quantile(0.9):.1f} ms, p99 {load.quantile(0.99):.1f} ms; memory after each fifth, MB:"
        f" {', '.join(f'{m:.1f}' for m in memory)}"
    )


def faults(given: argparse.Namespace) -> None:
    """Print how requests end where the endpoint or the proxy is killed or hangs under load."""
    texts, rate, seconds = [text for text, _ in islice(sst(), 250)], 100, 6.0
    print("\nFaults under load (100 a second): how every request ended; none may end in 'no answer'")
    with endpoint(0.05) as (process, base), guarding(base) as (_, address):
        load = asyncio.run(at_rate(address, texts, rate, seconds, _kill(process, at=2)))
        print(f"endpoint killed: {dict(load.ends)}")
    with (
        endpoint(0.05) as (process, base),
        guarding(base, "--answer-seconds", "2", "--seconds", "2") as (_, address),
    ):
        load = asyncio.run(at_rate(address, texts, rate, seconds, _kill(process, at=2, how=signal.SIGSTOP)))
        process.send_signal(signal.SIGCONT)
        print(f"endpoint stopped: {dict(load.ends)}")
    with endpoint(0.05) as (_, base), guarding(base) as (process, address):
        load = asyncio.run(at_rate(address, texts, rate, seconds, _kill(process, at=2)))
        print(f"proxy killed: {dict(load.ends)}")
    with endpoint(0.05) as (_, base), guarding(base) as (process, address):
        load = asyncio.run(at_rate(address, texts, rate, seconds, _kill(process, at=2, how=signal.SIGTERM)))
        print(f"proxy told to end: {dict(load.ends)}, exit code {process.wait(30)}")


def _kill(
    process: subprocess.Popen[str], at: int, how: signal.Signals = signal.SIGKILL
) -> Callable[[float], None]:
    def tell(second: float) -> None:
        """Send the signal in its second."""
        if second == at:
            process.send_signal(how)

    return tell


if __name__ == "__main__":
    main()
