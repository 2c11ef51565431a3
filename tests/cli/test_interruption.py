"""What would take hours is said before it begins, and Ctrl-C ends every command at once."""

from __future__ import annotations

import asyncio
import importlib
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from harness.interruption import Interrupted, in_thread
from tests.commands import called, command, environment
from tests.servers import completion, serve

PATIENCE = 5.0
"""Seconds within which a command ends on a loaded machine, and which none of them would need by itself."""


def words(name: str, number: int) -> str:
    listed = ", ".join(f'["{name}", "{name}{number}"]' for number in range(number))
    return f"[attribute.{name}]\npairs = [{listed}]\n"


def lexicon(work: Path, number: int) -> None:
    names = ("waiter", "actor", "singer")
    (work / "lexicon.toml").write_text("".join(words(name, number) for name in names), encoding="utf-8")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    text = "The waiter met an actor, and the actor met a singer."
    (tmp_path / "texts.csv").write_text(f'text\n"{text}"\n' * 1, encoding="utf-8")
    return tmp_path


USUAL = (
    "--data",
    "texts.csv",
    "--lexicon",
    "lexicon.toml",
    "--model",
    "m",
    "--control",
    "0",
    "--parser",
    "none",
)


def test_mutants_are_counted_before_they_are_made(work: Path) -> None:
    lexicon(work, 2000)
    done = called(work, "plan", *USUAL, "--order", "3", "--base-url", "http://127.0.0.1:9/v1")
    assert done.returncode == 2
    number = 3 * 2000 + 3 * 2000**2 + 2000**3
    assert f"makes {number:,} mutants at order 3, and 1,000,000 are the most" in done.stderr
    assert "--max-mutants-per-document" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "--out", "out"),
        ("run", "--out", "out", "--workers", "2"),
        ("generate", "--out", "out"),
        ("generate", "--out", "out", "--workers", "2"),
        ("plan",),
        ("export-batch", "batch.jsonl"),
    ],
)
def test_ctrl_c_ends_what_is_being_generated(work: Path, arguments: tuple[str, ...]) -> None:
    """One text of half a million mutants: a single step of generation."""
    lexicon(work, 80)
    with serve(lambda *_: completion("Positive")) as endpoint:
        line = command(*arguments, *USUAL, "--order", "3", "--base-url", endpoint.base_url)
        running = subprocess.Popen(
            line, cwd=work, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert running.stderr is not None
        assert "531,440 mutants" in running.stderr.readline()
        time.sleep(0.5)
        assert running.poll() is None
        asked = time.monotonic()
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=60)
        assert running.returncode == 130, said
        assert time.monotonic() - asked < PATIENCE
    assert all("waiter" not in str(body) for body in endpoint.requests), "no text was sent"


def test_a_thread_ends_when_its_task_is_cancelled_and_only_then() -> None:
    seen: list[str] = []

    def endless() -> None:
        try:
            while True:
                time.sleep(0.001)
        except Interrupted:
            seen.append("interrupted")
            raise

    async def cancelled() -> None:
        task = asyncio.create_task(in_thread(endless))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    async def work() -> list[int]:
        for _ in range(20):
            await cancelled()
        return [await in_thread(partial(abs, number)) for number in range(50)]

    assert asyncio.run(work()) == [*range(50)]
    assert seen == ["interrupted"] * 20


def test_a_text_that_is_too_long_for_the_parser_is_found_before_anything_is_sent(work: Path) -> None:
    lexicon(work, 1)
    long = "The waiter was kind. " * 50_000
    rows = ["The waiter was kind."] * 40 + [long]
    (work / "texts.csv").write_text("\n".join(["text", *rows]), encoding="utf-8")
    with serve(lambda *_: completion("Positive")) as endpoint:
        usual = (*USUAL[:-2], "--base-url", endpoint.base_url)
        done = called(work, "run", *usual, "--order", "1")
        assert done.returncode == 2
        assert done.stderr.startswith("hinter: text 41 (id 41) has 1,050,000 characters, and 1,000,000 are")
        assert done.stderr.count("\n") == 1
        assert not endpoint.requests


def test_an_import_is_not_left_half_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = "import time\nfor _ in range(50):\n    time.sleep(0.01)\nWHOLE = True\n"
    (tmp_path / "slow_to_import.py").write_text(module, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)

    def work() -> None:
        importlib.import_module("slow_to_import")
        while True:
            time.sleep(0.01)

    async def stopped() -> None:
        task = asyncio.create_task(in_thread(work))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(stopped())
    assert sys.modules.pop("slow_to_import").WHOLE
