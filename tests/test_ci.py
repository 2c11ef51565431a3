"""Where teams work: the step for GitHub Actions, the fixture for pytest, the schema for editors."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from tests.commands import called

ROOT = Path(__file__).parents[1]
TEXTS = "text,label\n" + "\n".join(f"The actor gave {n} great shows.,Positive" for n in range(6))
CONFIG = """
[documents]
path = "texts.csv"
[model]
name = "local:vader"
[hinter]
attributes = ["gender"]
"""
SCHEMA = json.loads((ROOT / "docs" / "config.schema.json").read_text(encoding="utf-8"))


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "texts.csv").write_text(TEXTS)
    (tmp_path / "audit.toml").write_text(CONFIG)
    return tmp_path


def test_the_report_is_appended_as_markdown(work: Path) -> None:
    (work / "job.md").write_text("# The job\n")
    done = called(work, "run", "audit.toml", "--quiet", "--summary-md", "job.md")
    assert done.returncode == 0
    written = (work / "job.md").read_text()
    assert written.startswith("# The job\n# Audit of local:vader")
    assert "| " in written
    refused = called(work, "run", "audit.toml", "--quiet", "--summary-md", "nowhere/job.md")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)


class TestAction:
    """The step ``Audit`` of action.yml, run by bash as a runner does."""

    ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))

    @pytest.fixture(autouse=True)
    def _bash(self) -> None:
        if shutil.which("bash") is None:
            pytest.skip("needs bash")

    def step(self, work: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
        (audit,) = [step for step in self.ACTION["runs"]["steps"] if step.get("id") == "audit"]
        (work / "bin").mkdir(exist_ok=True)
        (work / "bin" / "hinter").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m harness "$@"\n')
        (work / "bin" / "hinter").chmod(0o755)
        given = {
            name.upper().replace("-", "_"): inputs.get(name.replace("-", "_"), str(about.get("default", "")))
            for name, about in self.ACTION["inputs"].items()
        }
        environment = os.environ | {
            **{name: given[name] for name in audit["env"]},
            "PATH": f"{work / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "GITHUB_OUTPUT": str(work / "output"),
            "GITHUB_STEP_SUMMARY": str(work / "summary.md"),
        }
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", audit["run"]],
            cwd=work,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def test_every_input_is_used_and_none_is_part_of_a_script(self) -> None:
        text = (ROOT / "action.yml").read_text(encoding="utf-8")
        for name in self.ACTION["inputs"]:
            assert f"inputs.{name}" in text, name
        for step in self.ACTION["runs"]["steps"]:
            assert "${{" not in step.get("run", "")

    def test_it_writes_the_summary_and_its_outputs(self, work: Path) -> None:
        done = self.step(work, config="audit.toml", args="--limit 3 --quiet", out="kept")
        assert done.returncode == 0, done.stderr
        assert "Audit of local:vader" in (work / "summary.md").read_text()
        output = dict(line.split("=", 1) for line in (work / "output").read_text().splitlines())
        assert output["folder"] == "kept"
        assert "local:vader" in output["headline"]
        assert (work / "kept" / "report.html").is_file()

    def test_a_crossed_limit_fails_the_job_and_keeps_the_report(self, work: Path) -> None:
        (work / "models.py").write_text(
            "def biased(text):\n    return 'Negative' if 'actress' in text else 'Positive'\n"
        )
        done = self.step(
            work, config="audit.toml", args="--model python:models:biased --quiet", fail_above="rate=0.05"
        )
        assert done.returncode == 1, done.stderr
        assert (work / "output").read_text().startswith("folder=hinter-run\n")
        assert (work / "hinter-run" / "junit.xml").is_file()

    @pytest.mark.parametrize("name", ["config", "fail_above", "out", "args"])
    def test_no_text_of_an_input_is_a_command(self, work: Path, name: str) -> None:
        self.step(work, **{"config": "audit.toml", name: '"; touch pwned; echo "$(touch pwned)`touch pwned`'})
        assert not (work / "pwned").exists()


TESTS = """
def test_alike(hinter):
    run = hinter("audit.toml")
    assert run.summary.status == "complete"
    assert not run.faults("rate=0.5")

def test_other_settings(hinter):
    run = hinter("audit.toml", {"model.name": "python:models:biased"})
    assert run.faults("rate=0.05") == []

def test_without_a_file(hinter):
    run = hinter({"documents.path": "texts.csv", "model.name": "local:vader", "documents.limit": 2})
    assert run.summary.documents.read == 2
    assert (run.folder / "report.html").is_file()
    print("sent", run.summary.requests.sent)
"""


def test_the_fixture_of_pytest(work: Path) -> None:
    (work / "test_model.py").write_text(TESTS)
    (work / "models.py").write_text(
        "def biased(text):\n    return 'Negative' if 'actress' in text else 'Positive'\n"
    )

    def session() -> subprocess.CompletedProcess[str]:
        words = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-rP", "test_model.py"]
        return subprocess.run(words, cwd=work, capture_output=True, text=True, timeout=300, check=False)

    first = session()
    assert "1 failed, 2 passed" in first.stdout, first.stdout + first.stderr
    assert "gender: rate 1.0000 is above 0.05" in first.stdout
    told = [line for line in first.stdout.splitlines() if line.startswith("test_model.py::")]
    assert sorted(line.split(": ")[0] for line in told) == [
        f"test_model.py::{name}" for name in ("test_alike", "test_other_settings", "test_without_a_file")
    ]
    assert "sent 0" in session().stdout
    assert not (work / "runs").exists()


@pytest.mark.parametrize("path", sorted((ROOT / "configs").glob("*.toml")), ids=lambda path: path.stem)
def test_the_schema_takes_the_configurations_that_there_are(path: Path) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(tomllib.loads(path.read_text(encoding="utf-8")), SCHEMA)


@pytest.mark.parametrize(
    "wrong",
    [
        {"modle": {}},
        {"model": {"nmae": "m"}},
        {"hinter": {"order": 0}},
        {"hinter": {"invariant": "loose"}},
        {"documents": {"limit": "many"}},
        {"model": {"vllm": {"nothing": 1}}},
    ],
)
def test_the_schema_refuses_what_a_run_refuses(wrong: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, SCHEMA)
