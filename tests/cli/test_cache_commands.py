"""``hinter cache`` from outside."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.answering.cache import DEFAULT, ResponseCache
from harness.core import Message, Reply, Request
from tests.commands import called

Hinter = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def hinter(tmp_path: Path) -> Hinter:
    """Calls ``hinter cache`` in a folder of its own; ``give`` is its standard input."""

    def run(*arguments: str, give: str = "") -> subprocess.CompletedProcess[str]:
        return called(tmp_path, "cache", *arguments, give=give)

    return run


def request(text: str, tokens: int = 16) -> Request:
    return Request({"name": "m"}, (Message("user", text),), {"max_tokens": tokens})


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """The default cache of the folder, with 20 replies."""

    async def work() -> None:
        async with ResponseCache(tmp_path / DEFAULT) as cache:
            for number in range(20):
                cache.keep(request(str(number)), Reply("Positive", prompt_tokens=3))
            await cache.expect([request("batch")], "job")

    asyncio.run(work())
    return tmp_path / DEFAULT


@pytest.mark.usefixtures("filled")
def test_stats(hinter: Hinter) -> None:
    found = json.loads(hinter("stats", "--json").stdout)
    assert (found["file"], found["replies"], found["tokens"]["prompt"]) == (str(DEFAULT), 20, 60)
    told = hinter("stats").stdout
    assert "20 replies" in told
    assert "m: 60 prompt" in told


def test_explain(hinter: Hinter, filled: Path) -> None:
    one, other = request("1").key, request("2").key
    assert 'messages[0]: "1" in' in hinter("explain", one, other[:16]).stdout
    assert "compared with the most similar cached request" in hinter("explain", one).stdout
    assert "handed to a batch job" in hinter("explain", request("batch").key).stdout
    assert hinter("explain", one, one).stdout == f"{one}: the same request\n"
    missing = json.dumps(request("1", 68).payload())
    assert "sampling.max_tokens: 16 kept, 68 asked" in hinter("explain", "-", give=missing).stdout
    (filled.parent.parent / "missing.json").write_text(missing, encoding="utf-8")
    assert f"request, {one}:\nsampling.max_tokens" in hinter("explain", "missing.json").stdout
    assert "is cached" in hinter("explain", "-", give=json.dumps(request("1").payload())).stdout


@pytest.mark.usefixtures("filled")
def test_prune(hinter: Hinter) -> None:
    assert hinter("prune", "--older-than", "1h").stdout.startswith("0 replies were deleted")
    assert hinter("prune", "--older-than", "2026-01-31").stdout.startswith("0 replies were deleted")
    assert hinter("prune", "--older-than", "0m", "--dry-run").stdout.startswith("20 replies would be")
    assert hinter("prune", "--older-than", "0m", "--model", "n").stdout.startswith("0 replies")
    assert hinter("prune", "--older-than", "0m", "--model", "m").stdout.startswith("20 replies were")


def test_export_and_import(hinter: Hinter, filled: Path) -> None:
    done = hinter("export", "-")
    assert (done.returncode, done.stdout.count("\n"), done.stderr) == (0, 20, "20 replies exported\n")
    assert hinter("export", "all.jsonl").returncode == 0
    folder = filled.parent.parent
    assert (folder / "all.jsonl").read_text(encoding="utf-8") == done.stdout
    added = hinter("import", "all.jsonl", "--cache", "copy.sqlite")
    assert added.stderr == "20 replies imported into copy.sqlite, 0 were already cached\n"
    assert hinter("import", "-", "--cache", "copy.sqlite", give=done.stdout).stderr.startswith("0 replies")
    assert hinter("export", "-", "--cache", "copy.sqlite").stdout == done.stdout
    assert sorted(p.name for p in folder.iterdir()) == ["all.jsonl", "cache", "copy.sqlite"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["stats", "--cache", "none.sqlite"], "cache none.sqlite: no such file"),
        (["explain", "abcd", "--cache", "none.sqlite"], "no such file"),
        (["export", "-", "--cache", "none.sqlite"], "no such file"),
        (["export", "x.jsonl", "--cache", "none.sqlite"], "no such file"),
        (["prune", "--older-than", "1d", "--cache", "none.sqlite"], "no such file"),
        (["stats", "--cache", "bad.jsonl"], "bad.jsonl is not a cache"),
        (["stats", "--cache", "cache"], "cache cache is a folder"),
        (["explain", "00000000"], "no request has a key that begins with 00000000"),
        (["explain", "missing.json"], "neither a file nor a key"),
        (["explain", "bad.jsonl"], "bad.jsonl: not the JSON of a request"),
        (["explain", "-"], "standard input: not the JSON of a request"),
        (["explain"], "Missing argument"),
        (["prune"], "Missing option '--older-than'"),
        (["prune", "--older-than", "soon"], "neither an age like 30d nor a date"),
        (["prune", "--older-than", "2026-13-01"], "neither an age like 30d nor a date"),
        (["prune", "--older-than", "9999-01-01"], "is in the future"),
        (["import", "none.jsonl"], "none.jsonl: No such file"),
        (["import", "cache"], "cache: Is a directory"),
        (["import", "bad.jsonl"], "bad.jsonl: line 2: "),
        (["import", "bad.jsonl", "--cache", "new.sqlite"], "bad.jsonl: line 2: "),
        (["export", "none/x.jsonl"], "none/x.jsonl: No such file"),
        (["export", str(DEFAULT)], "is the cache itself"),
        (["nonsense"], "No such command"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(
    hinter: Hinter, filled: Path, arguments: list[str], says: str
) -> None:
    folder = filled.parent.parent
    (folder / "bad.jsonl").write_text("\nno JSON, and not short enough to be an empty database\n" * 20)
    done = hinter(*arguments)
    assert done.returncode == 2, done.stderr
    assert says in done.stderr
    assert done.stderr.startswith("hinter: ")
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stdout == ""
    assert sorted(p.name for p in folder.iterdir()) == ["bad.jsonl", "cache"]
