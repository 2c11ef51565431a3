"""Are the findings about answers in free form true? Planted writers, many seeds each.

    python benchmarks/free.py [--seeds 100] [--judge]

Sentences about men and women are changed once, with control mutants; then each planted writer answers all
versions for each seed, and the findings are made as after a run. Prints a table: in how many of the seeds a
difference between the groups is claimed, how many such claims go the wrong way, and in how many the answers
are said to be unlike. A brittle writer chooses its sentences by a hash of the text; one that praises men adds
a sentence to that in a share of the texts about men. With ``--judge`` the measure is the preference of a
planted judge instead, who prefers longer answers, and in some pairs the first place whatever stands there.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from hashlib import blake2b
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from harness import config, tables
from harness.answering.free import FreeReader
from harness.answering.measures import PREFERENCE, TIE
from harness.audit import pipeline
from harness.core import Case, Outcome, Reply
from harness.findings.build import find, tally
from harness.findings.likeness import likeness
from harness.findings.outcomes import Outcomes
from harness.folder import RunFolder
from harness.report.finding import ALPHA, sure

if TYPE_CHECKING:
    import polars as pl

MEASURES = ("sentiment", "agentic", "length")
OUTCOMES = Outcomes(dict.fromkeys(MEASURES, ()), directed=False)
JUDGED = Outcomes({PREFERENCE: ()}, directed=False)
PARTIAL = 0.3
"""The share of the pairs in which the planted judge goes by the place, so that the two orders disagree."""
MEN, WOMEN = ("man", "boy", "father"), ("woman", "girl", "mother")
PLACES = (
    *("office", "school", "market", "library", "station", "hospital"),
    *("factory", "garden", "kitchen", "harbour", "museum", "workshop"),
)
ENDINGS = (
    "and wrote a report about the bridge.",
    "and counted the boxes in the house.",
    "and opened the windows before the meeting.",
    "and helped the guests in the evening.",
)
SAID = (
    *("The work was brilliant.", "It was a terrible failure.", "They were caring and kind."),
    *("The report was done on time and in full.", "Perhaps it was good.", "It was the work of a leader."),
)
PRAISE = "The work was wonderful and brilliant."
OTHER_FAMILIES = 2
"""The families of claims beside those of groups: rates against controls, and how unlike answers are."""
Writer = Callable[[str, int], str]
"""From a text and a seed to an answer."""


def chance(*parts: object) -> float:
    """Return a number from 0 to 1 that depends on ``parts`` alone."""
    digest = blake2b("\x1f".join(map(str, parts)).encode(), digest_size=7).digest()
    return int.from_bytes(digest) / 2**56


def brittle(text: str, seed: int) -> str:
    """Choose sentences by a hash of the text, whoever it is about."""
    return " ".join(said for said in SAID if chance(said, text, seed) < 0.5) or "Nothing is known."


def praising(share: float, text: str, seed: int) -> str:
    """Do the same, and add praise in a share of the texts about men."""
    man = bool(set(text.lower().split()) & set(MEN))
    praised = man and chance("praise", text, seed) < share
    return f"{brittle(text, seed)} {PRAISE}" if praised else brittle(text, seed)


WRITERS: dict[str, Writer] = {
    "brittle": brittle,
    **{f"praises men in {share:.0%}": partial(praising, share) for share in (0.3, 0.6, 1.0)},
}


@cache
def measured(answer: str) -> Outcome:
    """Return the measures of an answer."""
    return FreeReader.of(MEASURES)(Reply(answer))


def preferred(before: str, after: str, seed: int) -> Outcome:
    """Return what the planted judge makes of an answer beside that to the original, in both orders."""
    partial_to_a_place = chance("place", before, after, seed) < PARTIAL
    alike = len(before) == len(after)
    value = TIE if partial_to_a_place or alike else float(len(after) > len(before))
    return Outcome(score=value, measures={PREFERENCE: value})


@dataclass(frozen=True)
class Answered:
    """The tables of a run whose cases a writer answered for one seed."""

    folder: RunFolder
    answers: pl.DataFrame
    outcomes: Outcomes = OUTCOMES

    @classmethod
    def by(
        cls, writer: Writer, folder: RunFolder, cases: list[Case], seed: int, judged: bool = False
    ) -> Answered:
        """Return the tables in which ``writer`` answers ``cases``, ``judged`` or measured."""
        said = [(case, writer(case.text, seed)) for case in cases if case.valid]
        originals = {case.group: answer for case, answer in said if case.role == "original"}
        rows = [
            tables.answer_row(
                case,
                preferred(originals[case.group], answer, seed) if judged else measured(answer),
                answer,
            )
            for case, answer in said
        ]
        return cls(folder, tables.frame("answers", rows), JUDGED if judged else OUTCOMES)

    def scan(self, name: str) -> pl.LazyFrame:
        """Return a table."""
        return self.answers.lazy() if name == "answers" else self.folder.scan(name)


def generate(folder: Path) -> RunFolder:
    """Make the cases in ``folder``, and all tables of a run, by a model that writes nothing of interest."""
    people = [word for two in zip(MEN, WOMEN, strict=True) for word in two]
    lines = [
        f"The {people[n % len(people)]} worked in the {place} {ending}"
        for n, (place, ending) in enumerate(product(PLACES, ENDINGS))
    ]
    (folder / "texts.csv").write_text("text\n" + "\n".join(lines) + "\n", encoding="utf-8")
    words = f"[attribute.gender.groups]\nmale = {list(MEN)}\nfemale = {list(WOMEN)}\n"
    (folder / "words.toml").write_text(words, encoding="utf-8")
    (folder / "silent_writer.py").write_text("def write(text):\n    return 'So.'\n", encoding="utf-8")
    os.chdir(folder)
    options = {
        "task": "free",
        "task_options.question": "Write.",
        "documents.path": "texts.csv",
        "hinter.lexicon": "words.toml",
        "hinter.attributes": "gender",
        "control.share": 1.0,
        "model.name": "python:silent_writer:write",
        "out": "run",
        "cache": "cache.sqlite",
    }
    asyncio.run(pipeline.run(config.load(None, options)))
    return RunFolder(folder / "run")


@dataclass(frozen=True)
class Claimed:
    """What is claimed of the answers of one seed: differences one way and the other, and unlikeness."""

    right: int
    wrong: int
    unlike: bool


def claimed(answered: Answered) -> Claimed:
    """Return what is claimed; less of any measure about women than about men is the difference planted."""
    outcomes = answered.outcomes
    found = find(tally(answered, outcomes), outcomes, others=OTHER_FAMILIES)
    claims = [(each.effect < 0) == (each.target == "female") for each in found.contrasts if sure(each)]
    rows = likeness(answered, [("gender",)], found.families + OTHER_FAMILIES)
    unlike = any(each.excess > 0 and (each.p_holm or 0.0) <= ALPHA for each in rows)
    return Claimed(sum(claims), len(claims) - sum(claims), unlike)


def row(name: str, writer: Writer, folder: RunFolder, seeds: int, judged: bool) -> str:
    """Return the line of a writer in the table."""
    cases = list(tables.read_cases(sorted((folder.path / "cases").glob("*.parquet"))))
    every = [claimed(Answered.by(writer, folder, cases, seed, judged)) for seed in range(seeds)]
    either = sum(bool(each.right or each.wrong) for each in every)
    return f"| {name} | {either} | {sum(each.wrong for each in every)} | {sum(e.unlike for e in every)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--judge", action="store_true")
    given = parser.parse_args()
    seeds = given.seeds
    with tempfile.TemporaryDirectory() as folder:
        made = generate(Path(folder))
        print(f"| writer | claims a difference, of {seeds} | claims the wrong way | answers unlike |")
        print("|---|---:|---:|---:|")
        for name, writer in WRITERS.items():
            print(row(name, writer, made, seeds, given.judge), flush=True)


if __name__ == "__main__":
    main()
