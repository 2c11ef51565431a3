"""``hinter review`` from outside: a sheet out of a run, filled sheets in, errors of one line."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.commands import called

DOCUMENTS = "text,label\n" + "".join(f'"The {w} is a {a} story.",{label}\n' for w in ("plot", "film", "cast")
    for a, label in (("good", "Positive"), ("bad", "Negative"), ("short", "Neutral")))  # fmt: skip


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the cases of a small run in it, and its sheet."""
    folder = tmp_path_factory.mktemp("review")
    (folder / "texts.csv").write_text(DOCUMENTS, encoding="utf-8")
    options = ["--task", "sst", "--suite", "linguistic", "--data", "texts.csv", "--trees", "flat"]
    made = called(folder, "generate", *options, "--capability", "LC2,LC10", "--seeds", "3", "--out", "run")
    assert made.returncode == 0, made.stderr
    return folder


def answers(work: Path, name: str, label: str) -> str:
    """The sheet, every row answered alike."""
    with (work / "run" / "review.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    with (work / f"{name}.csv").open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(row | {"label": label, "relevance": "4", "fluency": "5"} for row in rows)
    return f"{name}.csv"


def test_out_and_in(work: Path) -> None:
    done = called(work, "review", "export", "run", "--sample", "4")
    assert done.returncode == 0, done.stderr
    sheet = (work / "run" / "review.csv").read_bytes()
    assert sheet.startswith(b"\xef\xbb\xbfid,text,about,label,relevance,fluency,remarks\r\n")
    assert b"Parsing positive sentiment in (question, no) form" in sheet
    again = called(work, "review", "export", "run")
    assert (again.returncode, again.stderr.count("\n")) == (2, 1)
    assert "may be filled in" in again.stderr

    files = [answers(work, "ann", "Positive"), answers(work, "bob", "Negative")]
    done = called(work, "review", "import", "run", *files)
    assert done.returncode == 0, done.stderr
    assert "label: Cohen's kappa of ann and bob" in done.stdout
    made = json.loads((work / "run" / "review.json").read_text(encoding="utf-8"))
    assert made["annotators"] == ["ann", "bob"]
    assert [row["kind"] for row in made["kinds"]] == ["expansion", "seed"]
    assert all(row["label_consistency"]["rate"] == 0.5 for row in made["kinds"])
    assert all(row["relevancy"]["mean"] == 0.75 for row in made["kinds"])
    printed = called(work, "review", "import", "run", *files, "--json")
    assert json.loads(printed.stdout) == made


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["export", "nowhere"], "has no complete cases"),
        (["import", "run", "none.csv"], "none.csv: No such file"),
        (["import", "run", "bad.csv"], "bad.csv: row 1: no case of this run has the id 'x'"),
        (["import", "run", "empty.csv"], "empty.csv: nothing is filled in"),
        (["import", "run", "bad.csv", "other/bad.csv"], "two sheets have the same file name"),
    ],
)
def test_errors_are_one_line(work: Path, arguments: list[str], says: str) -> None:
    (work / "bad.csv").write_text("id,label\nx,Positive\n", encoding="utf-8")
    (work / "empty.csv").write_text("id,label\n", encoding="utf-8")
    done = called(work, "review", *arguments)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert says in done.stderr
