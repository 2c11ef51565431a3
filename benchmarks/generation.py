"""How fast mutants are made and decided, against the published algorithm taken literally.

    python benchmarks/generation.py [--reviews 100] [--sample 400] [--published]

Literally means: the changed sentences of each mutant parsed one at a time, every time, with the same
spaCy model (the original's sentences are parsed once and not counted). The literal side runs on a seeded
sample of the mutants and is extrapolated; the verdicts of the sample must be identical on both sides.
Needs the shared reviews (environment variable HINTER_SHARED, default ../shared).
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness import documents
from harness.core import Case, Document, DocumentOptions
from harness.language.parsers import CachedParser, Parser, SpacyParser, default_pipeline
from harness.suites.hinter import Hinter, lexicon, pairs
from harness.suites.hinter.invariant import SENTENCES, compare

ROOT = Path(__file__).parents[1]
SHARED = (ROOT / os.environ.get("HINTER_SHARED", "../shared") / "data").resolve()
REVIEWS = SHARED / "biasfinder" / "imdb_small"
ATTRIBUTES = ("race", "gender", "body")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--reviews", type=int, default=100)
    options.add_argument("--sample", type=int, default=400, help="mutants that the literal side decides")
    options.add_argument(
        "--published", action="store_true", help="the published word pairs, not the bundled ones"
    )
    given = options.parse_args()
    if not REVIEWS.is_dir():
        sys.exit(f"no reviews at {REVIEWS}: set HINTER_SHARED")
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    texts = list(documents.read(DocumentOptions(str(REVIEWS), limit=given.reviews), ("0", "1")))
    compare_with_literal(
        texts, published() if given.published else lexicon.load().select(ATTRIBUTES), given.sample
    )
    memory()
    start_up()


def published() -> lexicon.Lexicon:
    """The published pairs of the three attributes."""
    texts = []
    for attribute in ATTRIBUTES:
        files = pairs.files([SHARED / "hinter" / "data" / attribute])
        texts.append(pairs.to_toml(attribute, pairs.read(files)))
    return lexicon.parse("\n".join(texts), "the published pairs")


def compare_with_literal(texts: list[Document], words: lexicon.Lexicon, sample: int) -> None:
    parser = SpacyParser(default_pipeline())
    cached = CachedParser(parser)
    started = time.perf_counter()
    made = list(Hinter(words, cached).cases(iter(texts)))
    ours = time.perf_counter() - started
    mutants = [case for case in made if case.role != "original"]
    originals = {case.document: case.text for case in made if case.role == "original"}
    chosen = random.Random(0).sample(mutants, min(sample, len(mutants)))
    kept = {
        text: [parser.parse([text[a:b]])[0] for a, b in parser.split(text).spans]
        for text in originals.values()
    }
    started = time.perf_counter()
    literal = [decide(parser, originals[case.document], case, kept) for case in chosen]
    per_mutant = (time.perf_counter() - started) / len(chosen)
    assert literal == [case.reason for case in chosen], "the verdicts differ"
    rate = len(mutants) / ours
    valid = sum(case.valid for case in mutants)
    print(f"{len(texts)} reviews, {words.source}: {len(mutants):,} mutants, {valid:,} valid")
    print(f"  ours      {rate:>9,.0f} mutants/s ({ours:.1f} s, {cached.parsed:,} sentences parsed)")
    print(f"  literally {1 / per_mutant:>9,.0f} mutants/s (extrapolated from {len(chosen)}; same verdicts)")
    print(f"  ratio     {rate * per_mutant:>9.1f}")


def decide(parser: Parser, original: str, case: Case, kept: dict[str, list]) -> str | None:  # type: ignore[type-arg]
    """Algorithm 3 for one mutant, its changed sentences parsed one by one."""
    before = [original[a:b] for a, b in parser.split(original).spans]
    after = [case.text[a:b] for a, b in parser.split(case.text).spans]
    if len(before) != len(after):
        return SENTENCES
    for number, (old, new) in enumerate(zip(before, after, strict=True)):
        if old != new and (reason := compare(kept[original][number], parser.parse([new])[0])):
            return reason
    return None


def memory() -> None:
    """Peak resident memory of ``hinter generate`` by number of reviews."""
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


def start_up() -> None:
    """Median wall time of ``hinter --help``."""
    times = []
    for _ in range(11):
        started = time.perf_counter()
        subprocess.run([sys.executable, "-m", "harness", "--help"], capture_output=True, check=True)
        times.append(time.perf_counter() - started)
    print(f"  hinter --help: {statistics.median(times):.3f} s")


if __name__ == "__main__":
    main()
