"""While a run is in progress, nothing is added to its folder: one line says who works in it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.folder import RunFolder
from tests.commands import called
from tests.servers import Answer, completion, serve

LEXICON = '[attribute.role]\npairs = [["waiter", "waitress"]]\n'


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a finished run in ``run``, of a model that is still there, and a copy of it."""
    place = tmp_path_factory.mktemp("additions")
    (place / "lexicon.toml").write_text(LEXICON, encoding="utf-8")
    lines = [f"Visit {n}: the waiter was kind." for n in range(20)]
    (place / "texts.csv").write_text("\n".join(["text", *lines]), encoding="utf-8")

    def biased(body: dict[str, Any], _: int) -> Answer:
        return completion("Negative" if "waitress" in str(body) else "Positive")

    with serve(biased) as endpoint:
        line = ["run", "--data", "texts.csv", "--lexicon", "lexicon.toml", "--out", "run", "--model", "m"]
        line += ["--base-url", endpoint.base_url, "--parser", "none", "--task", "sst2", "--control", "0"]
        assert called(place, *line, "--order", "1").returncode == 0
        shutil.copytree(place / "run", place / "copy")
        yield place


WRITING = {
    "report": ("report", "run"),
    "explain": ("explain", "run", "--limit", "1"),
    "fluency": ("fluency", "run", "--languagetool", "http://127.0.0.1:9"),
    "coverage": ("coverage", "run", "--model", "transformers:nowhere"),
    "review export": ("review", "export", "run"),
    "compare": ("compare", "run", "copy", "--out", "run"),
}
READING = {
    "report": ("report", "run", "--format", "md"),
    "flips": ("flips", "run"),
    "review export": ("review", "export", "run", "--out", "sheet.csv"),
    "compare": ("compare", "run", "copy"),
}


def files(folder: Path) -> dict[Path, bytes]:
    """All files but those of the lock."""
    found = (file for file in folder.rglob("*") if file.is_file() and file.name not in LOCK)
    return {file: file.read_bytes() for file in found}


LOCK = ("run.lock", "run.lock-journal", "run.holder")


@pytest.mark.parametrize("name", WRITING)
def test_what_writes_into_a_run_is_refused_while_one_is_in_progress(work: Path, name: str) -> None:
    before = files(work / "run")
    with RunFolder(work / "run").held():
        done = called(work, *WRITING[name])
    said = [line for line in done.stderr.splitlines() if line.startswith("hinter:")]
    assert done.returncode == 2
    assert said[-1].startswith(f"hinter: run is in use by process {os.getpid()} since")
    assert said[-1].endswith("wait for it to end")
    assert files(work / "run") == before


@pytest.mark.parametrize("name", READING)
def test_only_reading_needs_no_lock(work: Path, name: str) -> None:
    before = files(work / "run")
    with RunFolder(work / "run").held():
        done = called(work, *READING[name])
    assert (done.returncode, files(work / "run")) == (0, before), done.stderr


@pytest.mark.parametrize("name", ["report", "explain"])
def test_afterwards_it_is_written_and_free(work: Path, name: str) -> None:
    done = called(work, *WRITING[name])
    assert done.returncode == 0, done.stderr
    assert not (work / "run" / "run.holder").exists()
    with RunFolder(work / "run").held():
        pass
