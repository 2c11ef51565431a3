"""From outside: which texts a run reads, and what is said of those it leaves out."""

from __future__ import annotations

import json
from pathlib import Path

from tests.commands import called

SETTINGS = ("--model", "local:vader", "--parser", "none", "--attributes", "gender")


def test_what_is_left_out_is_said_and_stands_in_the_summary_and_the_log(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "a.csv").write_text("text,score\nThe actor was fine.,0.5\nThe actor was good.,0.9\n")
    (data / "README.md").write_text("about")
    done = called(tmp_path, "run", "--data", "data", "--task", "sst2", *SETTINGS, "--out", "run")
    notes = ["data: left out, as no data files: README.md", "1 of 2 rows are left out: not for task 'sst2'"]
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[:2] == [f"hinter: {note}" for note in notes]
    assert "1 row left out" in " ".join(done.stderr.split())
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert (summary["documents"]["left_out"], summary["documents"]["notes"]) == (1, notes)
    log = (tmp_path / "run" / "run.log").read_text()
    assert all(note in log for note in notes)
    assert (
        called(tmp_path, "plan", "--data", "data", "--task", "sst2", *SETTINGS).stderr
        == done.stderr[: sum(len(f"hinter: {note}\n") for note in notes)]
    )


def test_standard_input_is_read_and_the_same_command_resumes(tmp_path: Path) -> None:
    texts = "id;text;label\n1;The actor, he said, was good.;Positive\n"
    command = ("run", "--data", "-", *SETTINGS, "--out", "run", "--json")
    first, again = (called(tmp_path, *command, give=texts) for _ in range(2))
    assert first.returncode == again.returncode == 0, first.stderr
    assert json.loads(first.stdout)["documents"]["read"] == 1
    assert json.loads(again.stdout)["requests"]["sent"] == 0
    other = called(tmp_path, *command, give=texts.replace("good", "bad"))
    assert (other.returncode, other.stderr.count("\n")) == (2, 1)
    nothing = called(tmp_path, "plan", "--data", "-", *SETTINGS, give="")
    assert (nothing.returncode, nothing.stderr) == (2, "hinter: standard input: the file is empty\n")
