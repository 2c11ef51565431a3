"""``hinter compare`` from outside: runs, score files, both, and what it refuses in one line."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from harness.cli import compare, run
from harness.errors import DocumentError, RunError
from harness.studies import comparing
from harness.suites.eec.corpus import load, sentences

MODELS = """
def even(text):
    return "Positive"

def odd(text):
    return "Negative" if "woman" in text else "Positive"

def brittle(text):
    return "Negative" if sum(map(ord, text)) % 7 == 0 else "Positive"
"""
TEXTS = "text,label\n" + "\n".join(f"The tall man number {n} was a delight.,Positive" for n in range(8))


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "texts.csv").write_text(TEXTS, encoding="utf-8")
    (tmp_path / "scripted_compared_models.py").write_text(MODELS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


@pytest.fixture
def audit(work: Path) -> Callable[..., None]:
    def make(out: str, model: str, *options: str) -> None:
        model = model if ":" in model else f"python:scripted_compared_models:{model}"
        arguments = ["--model", model, "--out", out, "--cache", "c.sqlite", "--quiet", *options]
        done = CliRunner().invoke(run.command, arguments, catch_exceptions=False, standalone_mode=False)
        assert done.return_value == 0

    return make


WORDS = ("--data", "texts.csv", "--attributes", "gender", "--order", "1", "--parser", "none")


def scores(path: Path, female: float) -> str:
    draw = random.Random(path.name)  # not the folder, which differs from run to run
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["ID", "Intensity Score", "Affect Dimension"])
        for s in sentences(load()):
            shift = female if s.traits["gender"] == "female" else 0
            rows.writerow([s.id, f"{0.5 + draw.gauss(0, 0.01) + shift:.5f}", "joy"])
    return str(path)


def called(*arguments: str) -> Result:
    return CliRunner().invoke(compare.command, arguments, catch_exceptions=False)


def printed(*arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(called(*arguments, "--json").stdout)
    return found


def test_two_models_on_the_same_cases(audit: Callable[..., None], work: Path) -> None:
    audit("even", "even", *WORDS)
    audit("odd", "odd", *WORDS)
    found = printed("even", "odd", "--out", "both")
    assert found["schema"] == 1
    assert found == json.loads((work / "both" / "comparison.json").read_text(encoding="utf-8"))
    (row,) = found["paired"]
    assert (row["first"], row["second"], row["only_first"]) == ("even", "odd", 0)
    assert row["only_second"] == row["cases"] - row["neither"] >= 8
    assert "odd is biased on more cases than even of gender." in found["headline"]
    (whole,) = found["frequencies"]
    assert (whole["tests"], whole["biased_first"]) == (row["cases"], 0)
    assert whole["difference"] == whole["biased_second"] / whole["tests"]
    assert whole["ci95"][0] < whole["difference"] <= whole["ci95"][1]
    assert f"odd is biased on {whole['difference']:.1%}".replace("%", " %") in found["headline"]
    page = (work / "both" / "compare.html").read_text(encoding="utf-8")
    assert "Case by case" in page
    assert "McNemar" in page


def test_the_finding_is_who_is_treated_worse_and_by_whom(audit: Callable[..., None], work: Path) -> None:
    spoken = [f"The {('man', 'woman')[n % 2]} of film number {n} was a delight.,Positive" for n in range(24)]
    (work / "both.csv").write_text("text,label\n" + "\n".join(spoken), encoding="utf-8")
    (work / "more.csv").write_text("text,label\n" + "\n".join(spoken[1:]), encoding="utf-8")
    audit("unfair", "odd", *WORDS, "--data", "both.csv")
    audit("brittle", "brittle", *WORDS, "--data", "both.csv")
    found = printed("unfair", "brittle")
    assert found["headline"].startswith(
        "unfair treats woman worse than man (gender): Positive is 100.0 points"
    )
    [gap] = found["contrasts"]
    assert {gap["from"], gap["to"]} == {"man", "woman"}
    assert (gap["texts"], gap["first"], gap["second"]) == (24, "unfair", "brittle")
    assert gap["p_holm"] <= 0.05
    assert [len(side["cautions"]) for side in found["runs"]] == [
        len(json.loads((work / name / "summary.json").read_text(encoding="utf-8"))["cautions"])
        for name in ("unfair", "brittle")
    ]
    audit("shifted", "brittle", *WORDS, "--data", "more.csv")
    assert "they have no text in common" in printed("unfair", "shifted")["headline"]


def test_suites_on_one_model(audit: Callable[..., None]) -> None:
    audit("h", "odd", *WORDS)
    audit("m", "odd", "--data", "texts.csv", "--suite", "mtnlp")
    audit("e", "odd", "--suite", "eec", "--instances", "1", "--task", "imdb")
    found = printed("h", "m", "e")
    assert [row["suite"] for row in found["suites"]] == ["hinter", "mtnlp", "eec"]
    assert all(row["biased"] > 0 for row in found["suites"])
    assert found["paired"] == []


def test_score_files_are_compared_as_the_paper_does(work: Path) -> None:
    files = [scores(work / "fair.csv", 0.0), scores(work / "biased.csv", 0.03)]
    found = printed(*files)
    groups = {
        block["system"]: next(
            row["group"] for row in block["results"] if (row["attribute"], row["subset"]) == ("gender", "all")
        )
        for block in found["systems"]
    }
    assert groups == {"fair.csv": "none", "biased.csv": "female"}
    table = next(s for s in found["sections"] if s["title"] == "female – male, all sentences")
    assert [row[:3] for row in table["table"]["rows"]] == [
        ["joy", "no difference", 1],
        ["joy", "female higher", 1],
        ["joy", "male higher", 0],
        ["joy", "all", 2],
    ]
    assert [len(plot["boxes"]) for plot in table["plots"]] == [2]
    assert "a difference in 1 of 2 comparisons, 1 of them robust to other" in found["headline"]


def test_scores_on_another_scale_are_refused(work: Path) -> None:
    scores(work / "shares.csv", 0.0)
    rows = list(csv.reader((work / "shares.csv").read_text(encoding="utf-8").splitlines()))
    with (work / "percent.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(
            [rows[0], *([name, 100 * float(score), rated] for name, score, rated in rows[1:])]
        )
    with pytest.raises(RunError, match=r"percent\.csv has scores from 4\S+ to 5\S+: bring them to") as raised:
        called("shares.csv", "percent.csv")
    assert "\n" not in str(raised.value)


def test_a_run_beside_a_score_file(audit: Callable[..., None], work: Path) -> None:
    audit("v", "local:vader", "--suite", "eec", "--task", "valence", "--instances", "3")
    found = printed("v", scores(work / "s.csv", 0.0))
    assert [(block["system"], block["task"]) for block in found["systems"]] == [
        ("v", "valence"),
        ("s.csv", "joy"),
    ]


def test_sentences_without_a_score_are_counted(work: Path) -> None:
    whole = Path(scores(work / "whole.csv", 0.0)).read_text(encoding="utf-8").splitlines(keepends=True)
    (work / "half.csv").write_text("".join(whole[:4001]), encoding="utf-8")
    found = printed("whole.csv", "half.csv")
    assert [(b["scored"], b["sentences"]) for b in found["systems"]] == [(8640, 8640), (4000, 8640)]
    assert found["headline"].endswith(" half.csv has scores for 4,000 of 8,640 sentences.")
    (work / "one.csv").write_text("".join(whole[:2]), encoding="utf-8")
    with pytest.raises(RunError, match=r"one\.csv has no pair of sentences of the corpus 'eec'"):
        called("whole.csv", "one.csv")


def test_what_cannot_be_compared_is_said(audit: Callable[..., None], work: Path) -> None:
    audit("even", "even", *WORDS)
    audit("other", "even", *WORDS, "--task", "sst2")
    scores(work / "scores.csv", 0.0)
    (work / "unended").mkdir()
    (work / "broken").mkdir()
    (work / "broken" / "summary.json").write_text("{}", encoding="utf-8")
    (work / "ids.csv").write_text("id,score\nunknown,0.5\n", encoding="utf-8")
    for arguments, kind, says in (
        (("even", "other"), RunError, "other is of task 'sst2', even of 'imdb': compare runs of one task"),
        (("even", "nowhere"), RunError, "nowhere: no such run or score file"),
        (("even", "unended"), RunError, "unended has no summary.json"),
        (("even", "./even"), RunError, "even is named twice"),
        (("even", "broken"), RunError, "'schema' is missing: not the summary of a run"),
        (("even", "ids.csv"), RunError, "even has no scores of the suite eec"),
        (("ids.csv", "scores.csv"), DocumentError, "none of its 1 ids is in the corpus"),
    ):
        with pytest.raises(kind, match=says) as raised:
            called(*arguments)
        assert "\n" not in str(raised.value)
    assert called("even").exit_code == 2


def test_runs_that_end_alike_are_told_apart() -> None:
    assert comparing.names([Path("a/run"), Path("b/run")]) == ["a/run", "b/run"]
    assert comparing.names([Path("a/one"), Path("b/two")]) == ["one", "two"]
