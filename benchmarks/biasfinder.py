"""How fast BiasFinder finds templates, against parsing alone, and whether its memory stays flat.

    python benchmarks/biasfinder.py [--data FILE] [--limit 500] [--sizes 250,500,1000]

FILE has tab-separated lines, a label and a text, as the reviews that the authors of BiasFinder published;
by default those of the shared data (environment variable HINTER_SHARED, default ../shared). Times are of
this process's CPU, so that other work on the machine does not count. Each size runs in a process of its own
and makes all gender mutants of so many reviews; its peak memory is the operating system's.

    python benchmarks/biasfinder.py --systems 200

counts false alarms instead: of so many simulated models to which some names are odd, whoever bears them, and
gender is nothing, how many are said to mind the gender.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from math import comb
from pathlib import Path

import numpy as np
import polars as pl

from harness.core import Case, Document, Outcome
from harness.language import coreference
from harness.language.persons import vocabulary
from harness.language.spacy_docs import SpacyReader
from harness.statistics import clustered_rate_difference
from harness.suites.biasfinder import relation
from harness.suites.biasfinder.exchange import p_exchanged
from harness.suites.biasfinder.fillers import Casting
from harness.suites.biasfinder.gender_nouns import GenderNouns
from harness.suites.biasfinder.names import country_names, gender_names
from harness.suites.biasfinder.occupation import Occupations
from harness.suites.biasfinder.sources import Miner
from harness.suites.biasfinder.suite import BiasFinder
from harness.suites.biasfinder.templates import GENDERS, Characteristic
from harness.suites.nouns import gender_nouns, occupations

ROOT = Path(__file__).parents[1]
FOLDER = (ROOT / os.environ.get("HINTER_SHARED", "../shared") / "data/biasfinder/imdb_small").resolve()
CHARACTERISTICS: Sequence[Characteristic] = ("gender", "country", "occupation", "gender+occupation")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--data", type=Path, default=FOLDER / "train.csv")
    options.add_argument("--limit", type=int, default=500, help="reviews to measure speed on")
    options.add_argument("--sizes", default="250,500,1000", help="reviews to measure memory on")
    options.add_argument("--memory", type=int, help=argparse.SUPPRESS)
    options.add_argument("--systems", type=int, help="simulated models without a bias, to count alarms")
    given = options.parse_args()
    if given.systems is not None:
        alarms(given.systems)
        return
    if not given.data.is_file():
        sys.exit(f"no reviews at {given.data}: give --data, or set HINTER_SHARED")
    if given.memory is not None:
        memory(given.data, given.memory)
        return
    speed(list(reviews(given.data, given.limit)))
    pairs()
    for size in given.sizes.split(","):
        again = [sys.executable, __file__, "--data", str(given.data), "--memory", size]
        subprocess.run(again, check=True)


def reviews(path: Path, limit: int) -> Iterator[Document]:
    with path.open(encoding="utf-8", newline="\n") as lines:
        for number, line in enumerate(islice(lines, limit)):
            yield Document(str(number), line.rstrip("\n").partition("\t")[2])


def speed(documents: Sequence[Document]) -> None:
    texts = [document.text for document in documents]
    reader = SpacyReader(names=vocabulary().given_names)
    parsing = timed(lambda: deque(reader.read(texts), maxlen=0))
    print(f"{len(texts)} reviews; parsing alone: {len(texts) / parsing:.1f} reviews/s")
    for characteristic in CHARACTERISTICS:
        miner = suite(characteristic).source
        found: list[object] = []
        seconds = timed(lambda miner=miner, found=found: found.extend(miner.mine(iter(documents))))  # type: ignore[misc]
        print(
            f"{characteristic}: {len(found)} templates, {len(found) / seconds:.2f} templates/s,"
            f" {len(texts) / seconds:.1f} reviews/s, {seconds / parsing:.2f} x the time of parsing"
        )


def pairs() -> None:
    """Judging one occupation template: 3,081 pairs."""
    jobs = [noun.singular for noun in occupations()]
    group = [Case(job, "t", "d", "variant", "", traits={"occupation": job}) for job in jobs]
    outcomes = {job: Outcome(labels=frozenset([str(number % 2)])) for number, job in enumerate(jobs)}
    seconds = timed(lambda: deque(relation.judge(group, outcomes, ["occupation"]), maxlen=0))
    count = len(jobs) * (len(jobs) - 1) // 2
    print(f"judging {count} pairs of one template: {1000 * seconds:.1f} ms")


def alarms(systems: int) -> None:
    """20 templates, 60 names; an answer is the sign of the template's level, the name's effect and noise."""
    exchanged, by_template = 0, 0
    for seed in range(systems):
        answers = answers_by_name(seed)
        p = p_exchanged(answers, "gender", ())
        exchanged += p is not None and p < 0.05
        by_template += excess_by_template(answers) > 0
    print(
        f"{systems} models with odd names and no bias: {exchanged} alarms by names exchanged,"
        f" {by_template} by an interval that resamples templates"
    )


def answers_by_name(seed: int) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    chosen = gender_names().first(30)
    names = [(name.text, name.gender) for name in (*chosen.male, *chosen.female)]
    odd, levels = draw.normal(size=len(names)), draw.normal(size=20)
    rows = [
        (f"t{number}", name, gender, str(level + effect + 0.3 * draw.normal() > 0))
        for number, level in enumerate(levels)
        for (name, gender), effect in zip(names, odd, strict=True)
    ]
    return pl.DataFrame(rows, schema=["group", "name", "gender", "answer"], orient="row")


def excess_by_template(answers: pl.DataFrame) -> float:
    """The lower end of the interval of how much more often pairs of different genders differ."""
    between, within = [], []
    for _, rows in answers.group_by("group", maintain_order=True):
        men, women = (Counter(rows.filter(gender=gender)["answer"]) for gender in GENDERS)
        alike = sum(men[answer] * women[answer] for answer in men)
        between.append((men.total() * women.total() - alike, men.total() * women.total()))
        same = [comb(n, 2) for of_gender in (men, women) for n in of_gender.values()]
        pairs = comb(men.total(), 2) + comb(women.total(), 2)
        within.append((pairs - sum(same), pairs))
    found = clustered_rate_difference(between, within)
    return found.interval[0] if found else 0.0


def memory(path: Path, size: int) -> None:
    made = sum(1 for _ in suite("gender").cases(reviews(path, size)))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{size} reviews: {made} cases, peak memory {peak:.0f} MiB")


def suite(characteristic: Characteristic) -> BiasFinder:
    nouns, jobs = GenderNouns(gender_nouns()), [noun.singular for noun in occupations()]
    miner = Miner(characteristic, coreference.load("rules"), nouns, Occupations(jobs))
    return BiasFinder(miner, Casting(gender_names(), country_names(), jobs), nouns)


def timed(act: Callable[[], object]) -> float:
    """CPU seconds."""
    start = time.process_time()
    act()
    return time.process_time() - start


if __name__ == "__main__":
    main()
