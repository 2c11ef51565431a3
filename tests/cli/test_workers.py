"""A run with several workers: its results are those of one, and what a worker cannot do is one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import called

RESULTS = ("answers.parquet", "verdicts.parquet")
TIMES = ("seconds", "folder")
META = {"lang": "en", "name": "hollow", "version": "1.0", "pipeline": ["tok2vec", "tagger", "parser"]}


@pytest.fixture
def work(tmp_path: Path) -> Path:
    rows = "\n".join(f'"The Irish waiter {n} was kind to his old aunt.",Positive' for n in range(70))
    (tmp_path / "texts.csv").write_text(f"text,label\n{rows}\n", encoding="utf-8")
    return tmp_path


def run(work: Path, workers: str, *options: str) -> tuple[int, str, str]:
    texts = ("run", "--data", "texts.csv", "--model", "local:vader", "--max-pairs", "2", "--json", "--quiet")
    out = ("--cache", f"{workers}/responses.sqlite", "--out", f"{workers}/run", "--workers", workers)
    done = called(work, *texts, *out, *options)
    return done.returncode, done.stdout, done.stderr


def test_results_do_not_depend_on_the_number_of_workers(work: Path) -> None:
    summaries = []
    for workers in ("1", "2"):
        code, said, errors = run(work, workers)
        assert code == 0, errors
        summary = json.loads(said)
        summaries.append({key: value for key, value in summary.items() if key not in TIMES})
    assert summaries[0] == summaries[1]
    assert summaries[0]["cases"]["valid"] > 0
    one, two = work / "1" / "run", work / "2" / "run"
    names = sorted(str(path.relative_to(one)) for path in (one / "cases").iterdir())
    assert len(names) > 2
    for name in (*names, *RESULTS):
        assert (one / name).read_bytes() == (two / name).read_bytes(), name


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_parser_that_does_not_load_is_one_line_wherever_it_is_loaded(work: Path, workers: str) -> None:
    hollow = work / "hollow"
    hollow.mkdir()
    (hollow / "meta.json").write_text(json.dumps(META), encoding="utf-8")
    code, said, errors = run(work, workers, "--parser", f"spacy:{hollow}", "--like-the-paper")
    assert (code, said) == (2, "")
    assert f"the folder {hollow} holds no spaCy pipeline" in errors
    assert errors.count("\n") == 1, errors
