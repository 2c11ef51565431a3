"""Counterfactual rows: whose label they have, how they are balanced, and what is told of them."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.augment.doubts import LABEL, QUESTION, TEXT, Doubts
from harness.augment.rows import COLUMNS, Augmenter, Row, digest
from harness.core import Case, Document, Substitution
from harness.suites import lexicon
from tests.commands import called

TEXTS = """text,label
The man was kind.,Positive
The woman was kind.,Negative
The actress bored us.,Negative
The  man was kind.,Positive
A red car.,Positive
"""
LEXICON = """
[attribute.gender.groups]
male = ["man", "actor"]
female = ["woman", "actress"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "texts.csv").write_text(TEXTS, encoding="utf-8")
    (tmp_path / "words.toml").write_text(LEXICON, encoding="utf-8")
    return tmp_path


def augmented(folder: Path, out: str, *more: str) -> list[dict[str, object]]:
    by = ("--task", "sst2", "--lexicon", "words.toml", *more)
    done = called(folder, "augment", "texts.csv", "--out", out, *by)
    assert done.returncode == 0, done.stderr
    path = folder / out
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            return [{name: cell or None for name, cell in row.items()} for row in csv.DictReader(file)]
    if path.suffix == ".jsonl":
        lines = path.read_text(encoding="utf-8").splitlines()
        return [{name: cell or None for name, cell in json.loads(line).items()} for line in lines]
    return [{name: cell or None for name, cell in row.items()} for row in pl.read_parquet(path).to_dicts()]


def test_versions_have_the_gold_label_and_their_provenance(folder: Path) -> None:
    rows = augmented(folder, "more.csv")
    assert list(rows[0]) == list(COLUMNS)
    (version,) = [row for row in rows if row["kind"] == "counterfactual"]
    assert version == {
        "id": version["id"],
        "text": "The actor bored us.",
        "label": "Negative",
        "label_may_not_hold": None,
        "kind": "counterfactual",
        "origin": "3",
        "origin_label": "Negative",
        "attribute": "gender",
        "words_from": "actress",
        "words_to": "actor",
        "group_from": "female",
        "group_to": "male",
    }


def test_a_version_that_is_another_original_is_left_out_since_that_has_its_own_label(folder: Path) -> None:
    rows = augmented(folder, "more.jsonl")
    kept = [(row["text"], row["label"]) for row in rows]
    assert kept == [
        ("The man was kind.", "Positive"),
        ("The woman was kind.", "Negative"),
        ("The actress bored us.", "Negative"),
        ("The actor bored us.", "Negative"),
        ("A red car.", "Positive"),
    ]


def test_every_kind_of_file_has_the_same_rows(folder: Path) -> None:
    rows = augmented(folder, "more.csv")
    assert rows == augmented(folder, "more.jsonl") == augmented(folder, "more.parquet")
    assert not list(folder.glob(".parts*"))


def test_rows_can_be_read_again_as_texts_with_labels(folder: Path) -> None:
    augmented(folder, "more.csv")
    done = called(folder, "plan", "--task", "sst2", "--data", "more.csv", "--model", "local:vader", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["documents"] == 5


def test_versions_alone_and_counts(folder: Path) -> None:
    rows = augmented(folder, "more.csv", "--only-versions")
    assert {row["kind"] for row in rows} == {"counterfactual"}
    by = ("--task", "sst2", "--lexicon", "words.toml", "--json")
    counts = json.loads(called(folder, "augment", "texts.csv", "--out", "n.csv", *by).stdout)
    assert counts["texts"] == 5
    assert counts["repeated_texts"] == 1
    assert counts["groups"] == {"gender": {"female": 3, "male": 3}}
    assert counts["file"] == "n.csv"
    assert (folder / "n.datasheet.md").exists()


def test_the_datasheet_tells_what_was_done(folder: Path) -> None:
    augmented(folder, "more.csv")
    sheet = (folder / "more.datasheet.md").read_text(encoding="utf-8")
    for told in ("| all | 5 |", "texts.csv, SHA-256", "| gender | female | 3 |", "split by origin", "sst2"):
        assert told in sheet


def test_a_label_that_follows_from_the_person_is_not_carried_over(folder: Path) -> None:
    (folder / "texts.csv").write_text("text,label\nThe actress left.,Yes\n", encoding="utf-8")
    asked = ("--task", "custom", "--labels", "Yes, No", "--question", "Is the applicant a woman?")
    done = called(folder, "augment", "texts.csv", "--out", "a.jsonl", "--lexicon", "words.toml", *asked)
    assert done.returncode == 0, done.stderr
    original, version = map(json.loads, (folder / "a.jsonl").read_text(encoding="utf-8").splitlines())
    assert (original["label"], original["label_may_not_hold"]) == ("Yes", "")
    assert (version["label"], version["origin_label"]) == (None, "Yes")
    assert version["label_may_not_hold"] == f"gender: {QUESTION}"
    assert "labels not carried over: 1" in done.stdout


@pytest.mark.parametrize(
    ("asked", "labels", "text", "attribute", "why"),
    [
        ("Is it positive?", ["Positive"], "She won.", "gender", ""),
        ("What is the gender of the writer?", ["A"], "She won.", "gender", QUESTION),
        ("Is the applicant a man?", ["Yes"], "She won.", "gender", QUESTION),
        ("Is it positive?", ["female"], "She won.", "gender", LABEL),
        ("Which post?", ["Actress"], "She won.", "gender", LABEL),
        ("Is it hateful?", ["Yes"], "A film about sexism.", "gender", TEXT),
        ("Is it hateful?", ["Yes"], "A film about racism.", "race", TEXT),
        ("Which article of the European Convention?", ["8"], "A Turkish man won.", "race", ""),
        ("Who wrote this, a person or a machine?", ["person"], "A man won.", "gender", ""),
        ("Is it positive?", ["Yes"], "An eyed man.", "eye_colour", ""),
        ("Which eye colour has he?", ["blue"], "A man.", "eye_colour", QUESTION),
    ],
)
def test_when_a_label_may_not_hold(
    asked: str, labels: list[str], text: str, attribute: str, why: str
) -> None:
    doubts = Doubts(asked, lexicon.load())
    change = Substitution(attribute, "x-eyed", "y-eyed")
    told = doubts.why([change], labels, text)
    assert told == (f"{attribute}: {why}" if why else "")


def test_bad_use_is_one_line(folder: Path) -> None:
    for arguments, said in (
        (("texts.csv", "--out", "more.txt"), "ends in .csv, .jsonl, .parquet"),
        (("none.csv", "--out", "more.csv"), "none.csv"),
        (("--suite", "eec", "--task", "valence", "--out", "more.csv"), "makes its own texts"),
    ):
        done = called(folder, "augment", *arguments)
        assert done.returncode == 2
        assert said in done.stderr
        assert len(done.stderr.splitlines()) == 1
        assert not (folder / "more.csv").exists()


GROUPS = st.dictionaries(st.sampled_from("abcde"), st.integers(1, 4), min_size=1, max_size=4)


@given(places=st.lists(GROUPS, max_size=4), each=st.integers(1, 4))
def test_groups_are_in_balance_at_every_place(places: list[dict[str, int]], each: int) -> None:
    """The text speaks of group "o" everywhere; at each place some other groups have some versions."""
    document = Document("d", "text", frozenset({"Positive"}))
    cases = [Case("d#0", "d", "d", "original", "text")]
    for number, groups in enumerate(places):
        for group, size in groups.items():
            for version in range(size):
                name = f"{number} {group} {version}"
                change = Substitution("origin", f"word {number}", name, source_group="o", target_group=group)
                cases.append(Case(name, "d", "d", "atomic", name, (change,)))
    rows = made(document, cases, each)
    assert rows[0].case is None
    assert len({digest(row.text) for row in rows}) == len(rows), "no text is there twice"
    for number, groups in enumerate(places):
        of_place = Counter(
            row.case.substitutions[0].target_group for row in rows if row.case and row.text[0] == str(number)
        )
        assert of_place == dict.fromkeys(groups, 1), "the text itself is the one version of its own group"


def made(document: Document, cases: list[Case], each: int) -> list[Row]:
    return list(Augmenter(Doubts("", lexicon.load()), frozenset(), each).rows(document, cases))
