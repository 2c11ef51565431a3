"""The tutorial, typed into a shell in an empty home, from its first command to its last."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness import files
from tests.pages import DOCS, ROOT, blocks
from tests.servers import completion, serve

PAGE = DOCS / "tutorial.md"
INSTALLING, FOLDER, DEMONSTRATION = "python3 -m venv", "mkdir -p ~/audit", "runs/demo"
ADDRESSES = ("--model gpt-4.1-mini", "--model my-model --base-url http://127.0.0.1:8000/v1")
COMMAND = f"#!{sys.executable}\nfrom harness.cli import main\nmain()\n"

Done = subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty home, and in ``bin`` the command ``hinter``."""
    folder = tmp_path_factory.mktemp("home")
    (folder / "bin").mkdir()
    (folder / "bin" / "hinter").write_text(COMMAND, encoding="utf-8")
    (folder / "bin" / "hinter").chmod(0o755)
    return folder


@pytest.fixture(scope="module")
def demonstration(home: Path, smollm2_file: Path) -> Done:
    """What the shell prints of the demonstration, which needs the embedded model's weights."""
    return shell(home, lambda code: FOLDER in code or DEMONSTRATION in code, on_one_core)


@pytest.fixture(scope="module")
def done(home: Path) -> Done:
    """What the shell prints of all else."""
    return shell(home, lambda code: not code.startswith(INSTALLING) and DEMONSTRATION not in code)


def shell(home: Path, wanted: Callable[[str], bool], before: Callable[[], None] | None = None) -> Done:
    """Type the commands of the blocks that are ``wanted`` and save the files, until a command fails."""
    with serve(lambda body, number: completion("Positive")) as endpoint:
        return subprocess.run(
            ["bash", "-e", "-c", typed(wanted, endpoint.base_url)],
            cwd=home,
            env=environment(home),
            capture_output=True,
            text=True,
            timeout=3600,
            preexec_fn=before,
        )


def typed(wanted: Callable[[str], bool], address: str) -> str:
    """Return the blocks that are ``wanted`` as a script, with ``address`` in place of those of the page."""
    lines = []
    for block in blocks(PAGE):
        if block.shell and wanted(block.code):
            lines.append(block.code)
        elif block.file:
            lines.append(f"cat > {block.file} <<'EOF'\n{block.code}EOF\n")
    script = "".join(lines)
    for written in ADDRESSES:
        script = script.replace(written, f"--model any --base-url {address}")
    return script


def environment(home: Path) -> dict[str, str]:
    own = {
        "HOME": str(home),
        "HINTER_CACHE_DIR": str(files.user_cache()),
        "PATH": f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "OPENAI_API_KEY": "sk-none",
        "COLUMNS": "80",
    }
    return {**os.environ, **own}


def on_one_core() -> None:
    """Stay on one core: the embedded model's threads wait by spinning, slow beside other processes."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-1:])


def test_the_demonstration_finds_what_the_page_says(demonstration: Done, home: Path) -> None:
    assert demonstration.returncode == 0, demonstration.stderr
    assert "this cannot be told from brittleness" in " ".join(demonstration.stdout.split())
    assert (home / "audit" / "runs" / "demo" / "report.html").stat().st_size > 0


def test_all_else_runs_from_the_first_command_to_the_last(done: Done, home: Path) -> None:
    assert done.returncode == 0, done.stderr
    for name in ("runs/mine/report.html", "runs/ci/junit.xml", "report.md", "flips.csv"):
        assert (home / "audit" / name).stat().st_size > 0


def test_it_prints_what_the_page_shows(done: Done) -> None:
    printed = done.stdout.splitlines()
    assert "179 valid" in done.stdout
    for block in blocks(PAGE, "text"):
        for line in block.code.splitlines():
            assert line in printed


def test_the_gates_end_as_the_page_says(done: Done) -> None:
    assert [line for line in done.stdout.splitlines() if line.startswith("exit code")] == [
        "exit code 1",
        "exit code 3",
    ]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_a_script_of_completion(shell: str, home: Path) -> None:
    script = complete(home, _HINTER_COMPLETE=f"{shell}_source")
    assert "_HINTER_COMPLETE" in script


def test_commands_and_options_and_choices_are_completed(home: Path) -> None:
    def offered(line: str) -> list[str]:
        words = str(len(line.split()) - 1)
        return complete(
            home, _HINTER_COMPLETE="bash_complete", COMP_WORDS=line, COMP_CWORD=words
        ).splitlines()

    assert offered("hinter re") == ["plain,report", "plain,review"]
    assert offered("hinter run --inv") == ["plain,--invariant"]
    assert offered("hinter run --invariant a") == ["plain,agreed"]


def complete(home: Path, **variables: str) -> str:
    """Return what ``hinter`` says to a shell that completes a line."""
    done = subprocess.run(
        ["hinter"], env=environment(home) | variables, capture_output=True, text=True, timeout=120
    )
    return done.stdout
