"""Where results and words go, the forms of a report, and a gate that cannot be decided."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.cli import app

MODELS = """
def even(text):
    return "Positive"

def biased(text):
    return "Negative" if "actress" in text else "Positive"

def silent(text):
    return "I would rather not say."

def broken(text):
    raise ValueError("boom")
"""
TEXTS = "text,label\n" + "\n".join(f"The British actor number {n} was a delight.,Positive" for n in range(4))
Hinter = Callable[..., Result]


@pytest.fixture
def hinter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hinter:
    """Runs ``hinter`` in this process, in a folder of its own; ``code`` is what it would exit with."""
    (tmp_path / "texts.csv").write_text(TEXTS, encoding="utf-8")
    (tmp_path / "scripted_result_models.py").write_text(MODELS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(app, arguments, standalone_mode=False, catch_exceptions=False)

    return run


def audit(model: str, *options: str) -> tuple[str, ...]:
    words = ("run", "--data", "texts.csv", "--attributes", "gender", "--order", "1", "--parser", "none")
    return (*words, "--model", f"python:scripted_result_models:{model}", "--out", model, *options)


def test_findings_go_to_standard_output_and_words_about_the_run_to_the_other(hinter: Hinter) -> None:
    done = hinter(*audit("biased"))
    assert "biased on imdb" in done.stdout
    assert "changed its answer on" in done.stdout
    assert "Report:" not in done.stdout
    assert "requests sent" not in done.stdout
    assert done.stderr.splitlines()[-1] == "Report: biased/report.html"
    again = hinter("report", "biased")
    assert again.stdout == done.stdout
    assert again.stderr.splitlines()[-1] == "Report: biased/report.html"


@pytest.mark.parametrize("command", ["run", "report", "compare"])
def test_with_json_nothing_else_is_on_standard_output(hinter: Hinter, command: str) -> None:
    hinter(*audit("even"))
    hinter(*audit("biased"))
    lines = {"run": audit("biased"), "report": ("report", "biased"), "compare": ("compare", "even", "biased")}
    done = hinter(*lines[command], "--json")
    assert json.loads(done.stdout)["schema"] == 1
    assert "gender" in done.stderr


def test_a_comparison_is_a_result(hinter: Hinter) -> None:
    hinter(*audit("even"))
    hinter(*audit("biased"))
    done = hinter("compare", "even", "biased")
    assert "Case by case" in done.stdout
    assert done.stderr == ""


def test_an_explanation_is_a_result(hinter: Hinter) -> None:
    hinter(*audit("biased"))
    done = hinter("explain", "biased", "--limit", "1")
    assert "actress" in done.stdout
    assert "requests sent" not in done.stdout
    assert "Report: biased/report.html" in done.stderr


def test_a_report_as_markdown_or_json_writes_nothing(hinter: Hinter) -> None:
    hinter(*audit("biased"))
    page = Path("biased/report.html")
    page.unlink()
    markdown = hinter("report", "biased", "--format", "md")
    assert markdown.stdout.startswith("# Audit of python:scripted\\_result\\_models:biased\n")
    assert "| gender | " in markdown.stdout
    figures = json.loads(hinter("report", "biased", "--format", "json").stdout)
    assert figures == json.loads(Path("biased/summary.json").read_text(encoding="utf-8"))
    assert markdown.stderr == ""
    assert not page.exists()
    assert hinter("report", "biased", "--format", "html").return_value is None
    assert page.exists()


def test_a_report_of_a_foreign_summary_is_one_line(hinter: Hinter) -> None:
    hinter(*audit("biased"))
    file = Path("biased/summary.json")
    figures = json.loads(file.read_text(encoding="utf-8"))
    figures["results"][0]["tests"] = "many"
    file.write_text(json.dumps(figures), encoding="utf-8")
    for line in (("report", "biased"), ("compare", "biased", "texts.csv"), ("explain", "biased")):
        done = subprocess.run(
            [sys.executable, "-m", "harness", *line], capture_output=True, text=True, env=os.environ
        )
        assert (done.returncode, done.stdout) == (2, ""), done.stderr
        assert (
            "summary.json: 'results.0.tests': input should be a valid integer" in done.stderr.splitlines()[-1]
        )


@pytest.mark.parametrize(
    ("model", "options", "code", "says"),
    [
        ("even", ("--fail-above", "0.05"), 0, None),
        ("biased", ("--fail-above", "0.05"), 1, "gender: rate 1.0000 is above 0.05"),
        ("biased", ("--fail-above", "1"), 0, None),
        (
            "silent",
            ("--fail-above", "0.05"),
            3,
            "gate not decided: 8 of 8 answers are not labels (first: 'I ",
        ),
        ("silent", (), 3, "no test could be decided: 8 of 8 answers are not labels (first: 'I would rather"),
        (
            "broken",
            ("--fail-above", "0.05"),
            3,
            "gate not decided: 8 of 8 answers failed permanently (first: ",
        ),
    ],
)
def test_the_gate(hinter: Hinter, model: str, options: tuple[str, ...], code: int, says: str | None) -> None:
    done = hinter(*audit(model, "--quiet", *options))
    assert done.return_value == code
    assert done.stdout == ""
    if says is None:
        assert done.stderr == ""
    else:
        assert done.stderr.splitlines()[-1].startswith(f"hinter: {says}")


def test_the_failure_that_kept_a_gate_from_being_decided_is_named(hinter: Hinter) -> None:
    assert "boom" in hinter(*audit("broken", "--quiet", "--fail-above", "0.05")).stderr.splitlines()[-1]


def test_a_gate_on_no_test_at_all_is_not_decided(hinter: Hinter) -> None:
    Path("texts.csv").write_text("text\nNothing to see.\n", encoding="utf-8")
    done = hinter(*audit("even", "--fail-above", "0.05", "--quiet"))
    assert (done.return_value, done.stderr) == (3, "hinter: gate not decided: nothing was tested\n")
    assert hinter(*audit("even", "--quiet")).return_value == 0


def test_a_closed_pipe_is_no_crossed_gate(hinter: Hinter) -> None:
    hinter(*audit("biased"))
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as closed:
        done = subprocess.run(
            [sys.executable, "-m", "harness", "report", "biased"],
            stdout=closed,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 141
    assert "Traceback" not in done.stderr
