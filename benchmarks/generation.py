"""How fast mutants are made and decided, against the published algorithm taken literally.

    python benchmarks/generation.py [literal] [people] [warm] [workers] [runs] [large] [growth] [memory]

Literally means: the changed sentences of each mutant parsed one at a time, every time, with the same
spaCy model, as spaCy does it (the original's sentences are parsed once and not counted): all of them, and,
as Algorithm 3 returns at once, only up to the first that does not conform. The literal side runs on a seeded
sample of the mutants and is extrapolated; its verdicts must be those of ours on all that both decided.
Word pairs are the published ones (bundled where it says so), attributes three, order 2. Needs the shared
data (environment variable HINTER_SHARED, default ../shared). Without arguments: all but ``large``.

One process against itself is timed by its processor seconds, so that what else runs on the machine does not
count; ``workers`` and ``runs`` by the clock.
"""

from __future__ import annotations

import os
import platform
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from commands import server, timed

from harness import config, registry
from harness.audit import generation
from harness.audit.assembly import assemble
from harness.core import Case, Document, DocumentOptions
from harness.language.entities import Entity, Resolution
from harness.language.parse import Chosen, Sentence
from harness.language.parsers import CachedParser, Parse, Parser, SpacyParser, Split, default_pipeline
from harness.language.verdict_cache import VerdictCache
from harness.suites import lexicon
from harness.suites.hinter import pairs, persons
from harness.suites.hinter.places import REASONS
from harness.suites.hinter.suite import Hinter
from harness.suites.hinter.tag_comparison import SENTENCES, compare

ROOT = Path(__file__).parents[1]
SHARED = (ROOT / os.environ.get("HINTER_SHARED", "../shared") / "data").resolve()
REVIEWS = SHARED / "biasfinder" / "imdb_small"
FACTS = SHARED / "lexglue" / "ecthr_derived_rmu.jsonl"
ATTRIBUTES = ("race", "gender", "body")

T = TypeVar("T")


def main() -> None:
    if not REVIEWS.is_dir():
        sys.exit(f"no reviews at {REVIEWS}: set HINTER_SHARED")
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    parts: dict[str, Callable[[], None]] = {
        "literal": literal,
        "people": people,
        "warm": warm,
        "workers": workers,
        "runs": runs,
        "large": large,
        "growth": growth,
        "memory": memory,
    }
    for name in sys.argv[1:] or [name for name in parts if name != "large"]:
        if name not in parts:
            sys.exit(f"no part {name!r}: {', '.join(parts)}")
        parts[name]()


def reviews(limit: int) -> list[Document]:
    return list(registry.task("imdb").documents(DocumentOptions(str(REVIEWS), limit=limit)))


def facts(limit: int) -> list[Document]:
    """Fact sections of the European Court of Human Rights."""
    return list(registry.task("ecthr").documents(DocumentOptions(str(FACTS), limit=limit)))


def published(share: float = 1.0) -> lexicon.Lexicon:
    """The published pairs of the three attributes, or an even share of them."""
    texts = []
    for name in ATTRIBUTES:
        read = pairs.read(pairs.files([SHARED / "hinter" / "data" / name]))
        texts.append(pairs.to_toml(name, read))
    whole = lexicon.parse("\n".join(texts), "the published pairs")
    if share == 1.0:
        return whole
    thinner = {}
    for name, attribute in whole.attributes.items():
        kept = random.Random(0).sample(attribute.pairs, round(share * len(attribute.pairs)))
        exchanges = lexicon.by_source(lexicon.Exchange(*pair, *pair) for pair in kept)
        thinner[name] = lexicon.Attribute(name, exchanges, {})
    return lexicon.Lexicon(thinner, f"{share:.0%} of the published pairs")


class Timed(Parser):
    """A parser that adds up the processor time it takes, and keeps what it was asked, if wanted."""

    def __init__(self, parser: Parser, keep: bool = False) -> None:
        self._parser = parser
        self.name = parser.name
        self.seconds = 0.0
        self.sentences = 0
        self.kept: list[str] | None = [] if keep else None

    def split(self, text: str) -> Split:
        return self._parser.split(text)

    def parse(self, sentences: Sequence[str]) -> list[Parse]:
        return self._timed(sentences, lambda: self._parser.parse(sentences))

    def read(self, sentences: Sequence[str], chosen: Chosen) -> list[Sentence]:
        return self._timed(sentences, lambda: self._parser.read(sentences, chosen))

    def _timed(self, sentences: Sequence[str], work: Callable[[], T]) -> T:
        started = time.process_time()
        found = work()
        self.seconds += time.process_time() - started
        self.sentences += len(sentences)
        if self.kept is not None:
            self.kept += sentences
        return found


def made(suite: Hinter, texts: Iterable[Document]) -> tuple[int, int, float]:
    """Mutants, valid ones, and processor seconds; nothing is kept."""
    started = time.process_time()
    counts = Counter(case.valid for case in suite.cases(iter(texts)) if case.role != "original")
    return counts.total(), counts[True], time.process_time() - started


def literal() -> None:
    """Ours against the algorithm taken literally."""
    for name, texts, words, sample in (
        ("100 reviews", reviews(100), lexicon.load().select(ATTRIBUTES), 400),
        ("100 reviews", reviews(100), published(), 400),
        ("20 fact sections", facts(20), published(), 150),
    ):
        parser = SpacyParser(default_pipeline())
        timed = Timed(parser)
        suite = Hinter(words, CachedParser(timed))
        started = time.process_time()
        cases = list(suite.cases(iter(texts)))
        ours = time.process_time() - started
        mutants = [case for case in cases if case.role != "original" and case.reason != "duplicate"]
        originals = {case.document: case.text for case in cases if case.role == "original"}
        chosen = random.Random(0).sample(mutants, min(sample, len(mutants)))
        early, whole = by_the_letter(parser, originals, chosen)
        rate, valid = len(mutants) / ours, sum(case.valid for case in mutants)
        print(f"{name}, {words.source}: {len(mutants):,} mutants, {valid:,} valid")
        share = timed.seconds / ours
        print(f"  ours      {rate:>9,.0f} mutants/s ({ours:.1f} s, {share:.0%} in the parser,")
        exact = suite.conformity.exact if suite.conformity else 0
        print(f"            {timed.sentences:,} sentences parsed, {exact} mutants decided on the whole text)")
        sample_of = f"extrapolated from {len(chosen)}; same verdicts"
        print(f"  literally {1 / whole:>9,.1f} mutants/s ({sample_of}),")
        print(f"            {1 / early:>9,.1f} with the early return")
        print(f"  ratio     {rate * whole:>9.1f}, {rate * early:.1f} with the early return", flush=True)


def people() -> None:
    """Mutants about people: what telling persons apart costs, against parsing each mutant whole."""
    for name, texts, sample in (("100 reviews", reviews(100), 200), ("20 fact sections", facts(20), 40)):
        words, parser = lexicon.load().select(ATTRIBUTES), SpacyParser(default_pipeline())
        timed, resolver = Timed(parser), TimedResolver()
        suite = Hinter(words, CachedParser(timed), resolver=resolver)
        started = time.process_time()
        cases = [case for case in suite.cases(iter(texts)) if case.role != "original"]
        ours = time.process_time() - started
        resolutions = list(persons.resolver().resolve([text.text for text in texts]))
        occurrences = [words.find(text.text) for text in texts]
        started = time.process_time()
        for resolution, found in zip(resolutions, occurrences, strict=True):
            suite.recaster.text(resolution).recast(found)
        checks = resolver.linking + time.process_time() - started
        decided = [case for case in cases if case.reason not in REASONS]
        chosen = random.Random(0).sample(decided, min(sample, len(decided)))
        started = time.process_time()
        for case in chosen:
            parser.parse_apart([case.text[a:b] for a, b in parser.split(case.text).spans])
        whole = (time.process_time() - started) / len(chosen)
        spacy = timed.seconds + resolver.reading
        print(
            f"{name}, {words.source}: {len(decided):,} mutants decided, {sum(c.valid for c in cases):,} valid"
        )
        print(f"  ours      {len(decided) / ours:>9,.0f} mutants/s ({ours:.1f} s)")
        print(
            f"  whole     {1 / whole:>9,.1f} mutants/s, each whole: ratio {whole * len(decided) / ours:.1f}"
        )
        print(f"  checks    {checks:>9.2f} s, {checks / spacy:.0%} of spaCy's {spacy:.2f} s", flush=True)


class TimedResolver:
    """The resolver of the suite, its processor time split into reading by spaCy and linking."""

    def __init__(self) -> None:
        self._resolver = persons.resolver()
        self.name = self._resolver.name
        self.reading = self.linking = 0.0

    def resolve(self, texts: Iterable[str]) -> Iterator[Resolution]:
        readings = self._resolver.reader.read(texts)
        while True:
            started = time.process_time()
            reading = next(readings, None)
            self.reading += time.process_time() - started
            if reading is None:
                return
            started = time.process_time()
            resolution = self._resolver.link(reading)
            self.linking += time.process_time() - started
            yield resolution

    def entities(self, text: str) -> tuple[Entity, ...]:
        return next(self.resolve([text])).entities


def by_the_letter(
    parser: SpacyParser, originals: dict[str, str], cases: Sequence[Case]
) -> tuple[float, float]:
    """Seconds a mutant, with and without the early return; the verdicts must be ours."""
    kept = {}
    for name in {case.document for case in cases}:
        text = originals[name]
        kept[name] = [parser.parse_apart([text[a:b]])[0] for a, b in parser.split(text).spans]
    early = whole = 0.0
    for case in cases:
        started = time.process_time()
        found: float | None = None
        reasons = []
        for reason in decide(parser, originals[case.document], case, kept[case.document]):
            reasons.append(reason)
            if reason is not None and found is None:
                found = time.process_time() - started
        took = time.process_time() - started
        whole += took
        early += took if found is None else found
        assert case.valid is (not any(reasons)), "the verdicts differ"
    return early / len(cases), whole / len(cases)


def decide(parser: SpacyParser, original: str, case: Case, kept: Sequence[Parse]) -> Iterator[str | None]:
    """Algorithm 3 for one mutant, its changed sentences parsed one by one: what each shows."""
    before = [original[a:b] for a, b in parser.split(original).spans]
    after = [case.text[a:b] for a, b in parser.split(case.text).spans]
    if len(before) != len(after):
        yield SENTENCES
        return
    for number, (old, new) in enumerate(zip(before, after, strict=True)):
        if old != new:
            yield compare(kept[number], parser.parse_apart([new])[0])


def warm() -> None:
    """With the verdicts of an earlier run on disk."""
    texts, words = reviews(100), published()
    with tempfile.TemporaryDirectory() as folder:
        seconds = []
        for _ in range(2):
            kept = VerdictCache(Path(folder) / "verdicts.sqlite")
            parser = CachedParser(SpacyParser(default_pipeline()))
            count, valid, took = made(Hinter(words, parser, verdicts=kept), texts)
            seconds.append(took)
    print(f"100 reviews, {words.source}: {count:,} mutants, {valid:,} valid")
    print(
        f"  cold {seconds[0]:.1f} s, warm {seconds[1]:.2f} s: ratio {seconds[0] / seconds[1]:.1f}", flush=True
    )


def workers() -> None:
    """One process against two, cases written to disk; the parsers' loading is counted."""
    took: dict[int, float] = {}
    for number in (1, 2, 1, 2):
        with tempfile.TemporaryDirectory() as folder:
            settings = generated(folder, 200)
            audit = assemble(config.load(None, settings))
            audit.folder.open(audit.resolved, audit.identity)
            started = time.perf_counter()
            generation.make(audit, audit.folder, number)
            took[number] = min(took.get(number, 1e9), time.perf_counter() - started)
    print(
        f"200 reviews to disk: one process {took[1]:.1f} s, two {took[2]:.1f} s: {took[1] / took[2]:.2f}",
        flush=True,
    )


def runs() -> None:
    """``hinter run`` on 300 reviews against an instant server: one worker against two, in turn."""
    with tempfile.TemporaryDirectory() as folder, server() as url:
        rounds = [(ran(folder, url, 1), ran(folder, url, 2)) for _ in range(3)]
    ratios = [two / one for one, two in rounds]
    seconds = ", ".join(f"{one:.1f} and {two:.1f}" for one, two in rounds)
    print(f"hinter run on 300 reviews, one worker and two: {seconds} s by the clock")
    print(f"  ratio {min(ratios):.2f} at best, median {statistics.median(ratios):.2f}", flush=True)


def ran(folder: str, url: str, number: int) -> float:
    """Seconds of a whole run with a number of workers, nothing kept of an earlier one."""
    with tempfile.TemporaryDirectory(dir=folder) as out:
        command = [
            sys.executable,
            "-m",
            "harness",
            "run",
            "--data",
            str(REVIEWS),
            "--limit",
            "300",
            "--quiet",
        ]
        command += ["--model", "instant", "--base-url", url, "--concurrency", "64", "--workers", str(number)]
        command += ["--out", f"{out}/run", "--cache", f"{out}/responses.sqlite"]
        return timed(command, Path(out)).wall


def generated(folder: str, limit: int) -> dict[str, object]:
    """Settings of a run that only makes cases, as published and by the published pairs."""
    words = Path(folder) / "words"
    words.mkdir()
    for attribute in ATTRIBUTES:
        read = pairs.read(pairs.files([SHARED / "hinter" / "data" / attribute]))
        (words / f"{attribute}.toml").write_text(pairs.to_toml(attribute, read), encoding="utf-8")
    return {
        "documents.path": str(REVIEWS),
        "documents.limit": limit,
        "model.name": "local:vader",
        "hinter.lexicon": str(words),
        "hinter.like_the_paper": True,
        "control.share": 0,
        "out": f"{folder}/run",
        "cache": f"{folder}/responses.sqlite",
    }


def large() -> None:
    """1,000 reviews to disk in a process of their own: time, peak memory, and what spaCy alone needs."""
    with tempfile.TemporaryDirectory() as folder:
        settings = generated(folder, 1000)
        audit = assemble(config.load(None, settings))
        audit.folder.open(audit.resolved, audit.identity)
        timed = Timed(SpacyParser(default_pipeline()), keep=True)
        object.__setattr__(audit.suite, "parser", CachedParser(timed))
        started, clock = time.process_time(), time.perf_counter()
        generation.make(audit, audit.folder)
        whole, clock = time.process_time() - started, time.perf_counter() - clock
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        rows = audit.folder.scan("cases").select("role", "valid").collect()
        mutants = rows.filter(rows["role"] != "original")
        size = sum(file.stat().st_size for file in audit.folder.cases.glob("*.parquet")) / 1e6
    alone = list(dict.fromkeys(timed.kept or ()))
    parser = SpacyParser(default_pipeline())
    spacy, others = 0.0, 0
    for start in range(0, len(alone), 4000):
        some = alone[start : start + 4000]
        started = time.process_time()
        apart = parser.parse_apart(some)
        spacy += time.process_time() - started
        others += sum(one != other for one, other in zip(parser.parse(some), apart, strict=True))
    print(
        f"1,000 reviews: {mutants.height:,} mutants, {mutants['valid'].sum():,} valid, {size:.0f} MB of cases"
    )
    print(
        f"  {whole:.0f} s of processor time ({clock:.0f} s by the clock), "
        f"{mutants.height / whole:,.0f} mutants/s, peak memory {peak:,.0f} MB"
    )
    print(
        f"  {len(alone):,} distinct sentences; spaCy alone {spacy:.0f} s: {whole / spacy:.2f} of it;"
        f" {others:,} sentences read otherwise",
        flush=True,
    )


def growth() -> None:
    """How time grows with documents, terms and order."""
    print("  documents  pairs  order    mutants  sentences  seconds")
    for limit, share, order in (
        (25, 1.0, 2),
        (50, 1.0, 2),
        (100, 1.0, 2),
        (50, 0.25, 2),
        (50, 0.5, 2),
        (50, 0.25, 1),
        (50, 0.25, 3),
    ):
        timed = Timed(SpacyParser(default_pipeline()))
        suite = Hinter(published(share), CachedParser(timed), order)
        count, _, took = made(suite, reviews(limit))
        print(
            f"  {limit:>9}  {share:>5.0%}  {order:>5}  {count:>9,}  {timed.sentences:>9,}  {took:>7.1f}",
            flush=True,
        )


def memory() -> None:
    """Peak resident memory of ``hinter generate`` by number of reviews, and how soon help is there."""
    for limit in (250, 500):
        code = (
            "import resource, sys; from harness.cli import main\n"
            "try: main()\n"
            "finally: print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, file=sys.stderr)"
        )
        with tempfile.TemporaryDirectory() as out:
            arguments = ["generate", "--data", str(REVIEWS), "--limit", str(limit), "--out", f"{out}/run"]
            arguments += ["--model", "local:vader"]
            done = subprocess.run(
                [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True, cwd=out
            )
        print(f"  peak memory of hinter generate on {limit} reviews: {done.stderr.split()[-1]} MB")
    times = []
    for _ in range(11):
        started = time.perf_counter()
        subprocess.run([sys.executable, "-m", "harness", "--help"], capture_output=True, check=True)
        times.append(time.perf_counter() - started)
    print(f"  hinter --help: {statistics.median(times):.3f} s", flush=True)


if __name__ == "__main__":
    main()
