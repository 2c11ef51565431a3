"""Findings on answers in free form beside langfair's counterfactual metrics, on the same answers.

    python benchmarks/counterfactual.py [--seeds 50] [--environment FOLDER] [--encoder FOLDER] [--run FOLDER]

The planted writers of ``free.py`` answer sentences about men and women for each seed: one is only brittle,
the others praise men in a share of the texts. langfair's metrics compare the answer about a man with that
about a woman, text by text, and give a number with neither an interval nor controls. So the table shows its
mean and range over the seeds, and in brackets how often a reader would tell the writer from the brittle one
by it who knew what the brittle one gives: in how many seeds it is beyond the outermost 5 % of that one's. A
reader of a single run does not know this. Beside it stands in how many seeds our findings, which know nothing
of the brittle writer, claim a difference between the groups. ``--run`` adds the answers of a run of task
``free``.

langfair is installed into an environment of its own, in FOLDER if it is to be kept. Its cosine similarity
needs a sentence encoder (``--encoder``, a folder), BLEU the tokenizer data of NLTK: what cannot run is left
out, and the table says so.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path

import polars as pl
from free import WRITERS, Answered, Claimed, claimed, generate

from harness import tables
from harness.core import Case
from harness.findings.likeness import hidden
from harness.folder import RunFolder
from harness.report import summary

PEER = ("langfair==0.8.0", "pyarrow<22")  # it needs NumPy 1, which later releases of pyarrow do not take
METRICS = Path(__file__).with_name("langfair_metrics.py")
OUTERMOST = 0.05
BRITTLE = "brittle"
Pairs = tuple[list[str], list[str]]
"""The answers about men, and those about women of the same texts."""
Values = Mapping[str, float | None]
"""langfair's metrics by name; None of what cannot run."""


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--environment", type=Path)
    parser.add_argument("--encoder", type=Path)
    parser.add_argument("--run", type=Path)
    given = parser.parse_args()
    environment, encoder, run = (
        path and path.resolve() for path in (given.environment, given.encoder, given.run)
    )
    with tempfile.TemporaryDirectory() as folder:
        peer = installed(environment or Path(folder) / "peer")
        if peer is not None:
            compare(generate(Path(folder)), given.seeds, peer, encoder)
            if run is not None:
                of_run(RunFolder.ended(run), peer, encoder)


def compare(folder: RunFolder, seeds: int, peer: Path, encoder: Path | None) -> None:
    """Print a row for each writer and metric."""
    cases = list(tables.read_cases(sorted((folder.path / "cases").glob("*.parquet"))))
    found: dict[str, list[Claimed]] = {}
    asked: dict[str, Pairs] = {}
    for name, writer in WRITERS.items():
        for seed in range(seeds):
            found.setdefault(name, []).append(claimed(Answered.by(writer, folder, cases, seed)))
            asked[f"{name}|{seed}"] = paired(cases, {case.id: writer(case.text, seed) for case in cases})
    values = measured(peer, encoder, asked)
    by_writer = {name: [values[f"{name}|{seed}"] for seed in range(seeds)] for name in WRITERS}
    print(f"| writer, {seeds} seeds | measure | mean | lowest | highest | found | the wrong way |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for name, claims in found.items():
        for metric in by_writer[name][0]:
            print(row(name, metric, by_writer))
        right, wrong = sum(bool(each.right) for each in claims), sum(bool(each.wrong) for each in claims)
        print(f"| {name} | **ours**: claims of sentiment, agentic, length | | | | {right} | {wrong} |")


def row(name: str, metric: str, by_writer: Mapping[str, Sequence[Values]]) -> str:
    """Return the line of one metric for one writer."""
    known = {
        writer: [value for values in each if (value := values[metric]) is not None]
        for writer, each in by_writer.items()
    }
    mine, null = known[name], sorted(known[BRITTLE])
    if not mine:
        return f"| {name} | langfair {metric} | cannot run here | | | | |"
    outside = max(1, round(OUTERMOST * len(null)))
    biased = "Sentiment" in metric
    limit = null[-outside] if biased else null[outside - 1]
    beyond = sum(value > limit if biased else value < limit for value in mine)
    figures = " | ".join(f"{value:.3f}" for value in (statistics.mean(mine), min(mine), max(mine)))
    return f"| {name} | langfair {metric} | {figures} | ({beyond}) | |"


def of_run(folder: RunFolder, peer: Path, encoder: Path | None) -> None:
    """Print langfair's metrics and our findings on the answers of a run."""
    cases = [case for case in folder.read_cases() if case.valid]
    read = folder.scan("answers").filter(pl.col("outcome") == "read").select("case", "reply").collect()
    answers = dict(read.iter_rows())
    pairs = paired([case for case in cases if case.id in answers], answers)
    ended = summary.read(folder.summary)
    print(f"\n{ended.model}: {len(pairs[0])} pairs")
    for metric, value in measured(peer, encoder, {"run": pairs})["run"].items():
        print(f"  langfair {metric:<28} {'cannot run here' if value is None else f'{value:.3f}'}")
    for contrast in ended.contrasts:
        print(
            f"  {contrast.outcome:<12} {contrast.source} → {contrast.target} {contrast.effect:+.3f}"
            f" {contrast.ci95}, p {contrast.p_holm}"
        )
    for likeness in ended.likeness:
        print(
            f"  unlike {likeness.unlike:.3f}, controls {likeness.control_unlike:.3f}, repeats"
            f" {likeness.repeat_unlike}, excess {likeness.excess:+.3f} {likeness.ci95}, p {likeness.p_holm}"
        )


def paired(cases: Sequence[Case], answers: Mapping[str, str]) -> Pairs:
    """Return the answers about men and about women, of each original and of its mutants of one change.

    Without the words that tell who is spoken of, which langfair masks by a list of its own.
    """
    men, women = [], []
    for before, after in _mutants(cases):
        (change,) = after.substitutions
        if {change.source_group, change.target_group} == {"male", "female"}:
            one, other = (hidden(answers[case.id], before.text, after.text) for case in (before, after))
            to_women = change.target_group == "female"
            men.append(one if to_women else other)
            women.append(other if to_women else one)
    return men, women


def _mutants(cases: Sequence[Case]) -> Iterator[tuple[Case, Case]]:
    for _, members in groupby((case for case in cases if case.valid), key=lambda case: case.group):
        group = list(members)
        original = next((case for case in group if case.role == "original"), None)
        for case in group:
            if original is not None and case.role == "atomic":
                yield original, case


def measured(peer: Path, encoder: Path | None, pairs: Mapping[str, Pairs]) -> dict[str, Values]:
    """Return langfair's metrics of each of ``pairs``, computed in its own environment."""
    asked = json.dumps({"encoder": encoder and str(encoder), "pairs": pairs})
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "PYTHONPATH": ""}
    done = subprocess.run([peer, METRICS], input=asked, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"langfair failed: {done.stderr[-2000:]}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def installed(folder: Path) -> Path | None:
    """Return the Python of an environment with langfair, or None, saying so."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    done = subprocess.run([python, "-m", "pip", "install", "--quiet", *PEER], capture_output=True, text=True)
    if done.returncode:
        print(f"{PEER[0]} cannot be installed here, so that nothing is compared: {done.stderr[-300:]}")
        return None
    return python


if __name__ == "__main__":
    main()
