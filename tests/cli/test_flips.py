"""``hinter flips``: every flip of a run is a row, in CSV and in JSON lines."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.commands import called

MODEL = """
def biased(text):
    return "Negative" if "actress" in text or ("queen" in text and "kind" in text) else "Positive"
"""
TEXTS = ('"=The actor, a ""king"", was kind."', "The waiter was late.", '"The actor\nwas a delight."')
LEXICON = """
[attribute.gender]
pairs = [["actor", "actress"], ["king", "queen"]]
[attribute.mood]
pairs = [["kind", "grumpy"]]
"""


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run in it that has flips of one attribute and of two."""
    folder = tmp_path_factory.mktemp("flips")
    labelled = "".join(f"{text},Positive\n" for text in TEXTS)
    (folder / "texts.csv").write_text("text,label\n" + labelled, encoding="utf-8")
    (folder / "flipping_model.py").write_text(MODEL, encoding="utf-8")
    (folder / "own.toml").write_text(LEXICON, encoding="utf-8")
    settings = ("--data", "texts.csv", "--parser", "none", "--lexicon", "own.toml", "--control", "0")
    done = called(folder, "run", *settings, "--model", "python:flipping_model:biased", "--out", "run")
    assert done.returncode == 0, done.stderr
    return folder


def rows(work: Path, *options: str) -> list[dict[str, Any]]:
    done = called(work, "flips", "run", *options)
    assert (done.returncode, done.stderr) == (0, "")
    if "--json" in options:
        return [json.loads(line) for line in done.stdout.splitlines()]
    return list(csv.DictReader(io.StringIO(done.stdout, newline="")))


def test_every_flip_is_a_row_with_both_texts_and_both_answers(work: Path) -> None:
    flips = rows(work, "--json")
    results = json.loads((work / "run" / "summary.json").read_text(encoding="utf-8"))["results"]
    assert len(flips) == sum(row["biased"] for row in results) > 2
    assert sum(flip["hidden"] == "yes" for flip in flips) == sum(row["hidden"] for row in results)
    assert {(tuple(flip["other_answer"]), tuple(flip["answer"])) for flip in flips} == {
        (("Positive",), ("Negative",))
    }
    last = flips[-1]
    assert last["other_text"] == "The actor\nwas a delight."
    assert last["text"] == "The actress\nwas a delight."
    assert last["words"] == ["actor → actress"]
    assert (last["attributes"], last["expected"], last["near_tie"]) == (["gender"], ["Positive"], None)


def test_csv_says_the_same_with_cells_that_are_no_formulas(work: Path) -> None:
    listed, tabled = rows(work, "--json"), rows(work, "--csv")
    assert rows(work) == tabled
    assert [row["case"] for row in tabled] == [row["case"] for row in listed]
    assert list(tabled[0]) == list(listed[0])
    for row, flip in zip(tabled, listed, strict=True):
        formula = flip["text"].startswith("=")
        assert row["text"] == ("'" if formula else "") + flip["text"]
        assert row["attributes"] == ", ".join(flip["attributes"])
    assert tabled[0]["text"].startswith("'=The act")


def test_scores_and_pairs_and_a_run_without_flips(work: Path) -> None:
    done = called(work, "run", "--suite", "eec", "--task", "sst", "--model", "local:vader", "--out", "pairs")
    assert done.returncode == 0, done.stderr
    flips = [json.loads(line) for line in called(work, "flips", "pairs", "--json").stdout.splitlines()]
    assert flips
    assert all(flip["other"] and flip["answer"] != flip["other_answer"] for flip in flips)
    assert {group.split(":")[0] for flip in flips for group in flip["groups"]} <= {"gender", "race"}
    nothing = called(work, "flips", "nowhere")
    assert (nothing.returncode, nothing.stderr.count("\n")) == (2, 1)
