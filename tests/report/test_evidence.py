"""What a report has to be handed in: that it names what the run was, and claims no compliance."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from pathlib import Path

import pytest

from tests.commands import called

TEXTS = "text,label\n" + "\n".join(f"The actor gave {n} great shows.,Positive" for n in range(6))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    work = tmp_path_factory.mktemp("evidence")
    (work / "texts.csv").write_text(TEXTS)
    done = called(
        work,
        *("run", "--data", "texts.csv", "--model", "local:vader", "--out", "run", "--quiet"),
        *("--attributes", "gender"),
    )
    assert done.returncode == 0, done.stderr
    return work / "run"


@pytest.fixture(scope="module")
def report(run: Path) -> str:
    return called(run.parent, "report", "run", "--format", "md").stdout


def test_it_names_method_data_limits_and_versions(report: str) -> None:
    heads = re.findall(r"^## (.*)$", report, re.MULTILINE)
    for head in ("Method", "Data", "Limits", "Versions and hashes", "Where these figures belong"):
        assert head in heads
    assert "| task | imdb |" in report
    assert "| texts read | 6 |" in report
    assert "| file or folder | texts.csv |" in report
    assert "spacy" in report


def test_the_hashes_are_those_of_the_files(run: Path, report: str) -> None:
    for name in ("answers.parquet", "verdicts.parquet", "summary.json", "run.toml"):
        assert sha256((run / name).read_bytes()).hexdigest() in report
    parts = sorted((run / "cases").glob("*.parquet"))
    assert sha256(b"".join(part.read_bytes() for part in parts)).hexdigest() in report
    assert json.loads((run / "identity.json").read_text())["texts"] in report


def test_the_same_run_gives_the_same_evidence(run: Path, report: str) -> None:
    assert called(run.parent, "report", "run", "--format", "md").stdout == report


def test_it_claims_no_compliance(report: str) -> None:
    assert "no bias audit in the sense of the law" in report
    assert not re.search(
        r"\b(complies|compliant|certif\w+|conform\w+)\b", report.replace("Whether a system complies", "")
    )


def test_words_are_aligned_left_and_figures_right(report: str) -> None:
    _, _, belong = report.partition("## Where these figures belong")
    assert re.search(r"^\| --- \| --- \| --- \|$", belong, re.MULTILINE)
    assert "| ---: |" in report
