"""Faults of hinter's own end with exit code 70 and a traceback kept; what the user can mend ends with 2."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands import called
from tests.conftest import ROOT
from tests.packages import install

TEXT = "The British actor was a delight, and the old men laughed."
CRASHING = """
import polars

from harness.plugins import Case, Options, Suite, SuitePlugin

class Nothing(Options):
    pass

class Crash(Suite):
    name = "crash"
    def cases(self, documents):
        for document in documents:
            if document.text == "no case":
                raise RecursionError
            if document.text == "no room":
                raise MemoryError
            if document.text == "panic":
                raise polars.exceptions.PanicException("index out of bounds")
            yield Case(document.id, document.id, document.id, "original", document.text)
    def judge(self, group, outcomes):
        raise TypeError("no judge\\nof \\x1b[31manything [/red]")

plugin = SuitePlugin(name="crash", about="crashes", options=Nothing, make=lambda options, kit: Crash())
"""
VADER = ("--data", "texts.csv", "--model", "local:vader", "--parser", "none")
Hinter = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "texts.csv").write_text(
        f"text,label\n{TEXT!r},Positive\n".replace("'", '"'), encoding="utf-8"
    )
    install(tmp_path, "crashing", CRASHING, {"harness.suites:crash": "plugin"})
    return tmp_path


@pytest.fixture
def hinter(work: Path) -> Hinter:
    """Calls ``hinter`` in a folder of its own, for the suite ``crash`` with the package that has it.

    ``most``: no file may grow above so many bytes.
    """

    def run(*arguments: str, most: int | None = None) -> subprocess.CompletedProcess[str]:
        if most is None and "crash" not in arguments:
            return called(work, *arguments)
        path = os.pathsep.join((str(work), str(ROOT)))
        environment = {**os.environ, "PYTHONPATH": path, "HINTER_CACHE_DIR": str(work / "kept")}
        command = [sys.executable, "-m", "harness", *arguments]
        if most is not None:
            command = ["bash", "-c", f'ulimit -f {most // 1024}; exec "$@"', "limited", *command]
        return subprocess.run(command, cwd=work, capture_output=True, text=True, timeout=120, env=environment)

    return run


def last(done: subprocess.CompletedProcess[str]) -> str:
    assert "Traceback" not in done.stderr
    return done.stderr.strip().splitlines()[-1]


def test_a_fault_is_one_line_and_its_traceback_is_in_the_log_of_the_run(hinter: Hinter, work: Path) -> None:
    done = hinter("run", *VADER[:-2], "--suite", "crash", "--out", "out")
    assert done.returncode == 70
    assert last(done) == (
        "hinter: internal error: TypeError: no judge of \\x1b[31manything [/red]"
        " (the traceback is in out/run.log); please report it"
    )
    log = (work / "out" / "run.log").read_text(encoding="utf-8")
    assert "started: hinter 0" in log
    assert "Traceback" in log
    assert "in judge" in log
    assert TEXT not in log


def test_a_fault_without_a_run_leaves_a_file_that_its_owner_alone_may_read(
    hinter: Hinter, work: Path
) -> None:
    done = hinter("check", "no case", "--suite", "crash", "--model", "local:vader")
    assert done.returncode == 70
    assert last(done).startswith("hinter: internal error: RecursionError (the traceback is in ")
    [file] = (work / "kept").glob("fault-*.log")
    assert str(file) in last(done)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "in cases" in file.read_text(encoding="utf-8")


def test_memory_that_is_exhausted_is_one_line(hinter: Hinter, work: Path) -> None:
    """Where Python is told so. Where compiled code is, it aborts the process, which nothing can catch."""
    (work / "texts.csv").write_text("text\nno room\n", encoding="utf-8")
    done = hinter("run", "--suite", "crash", "--data", "texts.csv", "--model", "local:vader")
    assert done.returncode == 2
    assert done.stderr.startswith("hinter: out of memory: ")
    assert done.stderr.count("\n") == 1


def test_a_panic_of_compiled_code_is_a_fault_like_any(hinter: Hinter, work: Path) -> None:
    (work / "texts.csv").write_text("text\npanic\n", encoding="utf-8")
    done = hinter("run", "--suite", "crash", "--data", "texts.csv", "--model", "local:vader")
    assert done.returncode == 70, "1 means that a gate was crossed"
    assert "hinter: internal error: PanicException: index out of bounds (" in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_log_says_when_a_run_began_and_how_it_ended(hinter: Hinter, work: Path) -> None:
    for _ in range(2):
        assert hinter("run", *VADER, "--max-pairs", "1", "--out", "out").returncode == 0
    log = (work / "out" / "run.log").read_text(encoding="utf-8")
    began = [line for line in log.splitlines() if "started: " in line]
    ended = [line for line in log.splitlines() if "ended: complete" in line]
    assert (len(began), len(ended)) == (2, 2)
    assert "suite hinter on 1 texts" in began[0]
    assert TEXT not in log


@pytest.mark.parametrize("content", ["{", "[]", "", '{"a": ' * 100_000])
def test_a_damaged_identity_is_named(hinter: Hinter, work: Path, content: str) -> None:
    arguments = ("run", *VADER, "--max-pairs", "1", "--out", "out")
    assert hinter(*arguments).returncode == 0
    (work / "out" / "identity.json").write_text(content, encoding="utf-8")
    done = hinter(*arguments)
    assert done.returncode == 2
    assert last(done).startswith("hinter: out/identity.json: damaged (")


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("cases/part-00000-00000.parquet", "run"),
        ("verdicts.parquet", "report"),
    ],
)
def test_a_damaged_table_is_named(hinter: Hinter, work: Path, name: str, command: str) -> None:
    arguments = ("run", *VADER, "--max-pairs", "1", "--out", "out")
    assert hinter(*arguments).returncode == 0
    file = work / "out" / name
    file.write_bytes(
        bytes(file.stat().st_size)
    )  # a file that is cut off is made again where that is possible
    done = hinter(*arguments) if command == "run" else hinter(command, "out")
    assert done.returncode == 2
    assert last(done).startswith(f"hinter: out/{name}: cannot be read: ")


@pytest.mark.parametrize("out", ["texts.csv/run", "/proc/run", "texts.csv"])
def test_a_folder_that_cannot_be_written_is_named(hinter: Hinter, out: str) -> None:
    done = hinter("run", *VADER, "--max-pairs", "1", "--out", out)
    assert done.returncode == 2
    assert last(done).startswith(f"hinter: {out} cannot be a run folder (")


def test_a_file_that_cannot_be_written_whole_is_named_and_the_old_one_stays(
    hinter: Hinter, work: Path
) -> None:
    """A limit on the size of files stands for a full disk: the write fails half-way."""
    arguments = ("run", *VADER, "--max-pairs", "1", "--out", "out")
    assert hinter(*arguments).returncode == 0
    before = (work / "out" / "report.html").read_bytes()
    done = hinter("report", "out", most=8192)
    assert done.returncode == 2
    assert last(done) == "hinter: out/report.html: File too large"
    assert (work / "out" / "report.html").read_bytes() == before
    assert not list((work / "out").glob("*.tmp"))


def test_names_that_look_like_markup_are_names(hinter: Hinter, work: Path) -> None:
    (work / "words.toml").write_text(
        '[attribute."[/red]".groups]\none = ["British"]\ntwo = ["Irish"]\n',
        encoding="utf-8",
    )
    done = hinter(
        "run", *VADER, "--lexicon", "words.toml", "--attributes", "[/red]", "--order", "1", "--out", "out"
    )
    assert done.returncode == 0, done.stderr
    assert "[/red]" in done.stderr + done.stdout
    summary = json.loads((work / "out" / "summary.json").read_text(encoding="utf-8"))
    assert summary["results"][0]["attributes"] == ["[/red]"]
