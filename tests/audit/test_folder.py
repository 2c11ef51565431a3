"""A run folder can be trusted: one process at a time, nothing lost in it, nothing of others deleted."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import tomli_w

from harness import config
from harness.audit import pipeline
from harness.errors import RunError
from harness.folder import RunFolder
from tests.commands import called, command, environment
from tests.servers import Answer, completion, serve

DOCUMENTS = 70  # three chunks
LEXICON = '[attribute.role]\npairs = [["waiter", "waitress"]]\n'

Settings = Callable[..., config.RunConfig]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A configuration over three chunks of short texts, with changes."""
    (tmp_path / "lexicon.toml").write_text(
        '[attribute.role]\npairs = [["waiter", "waitress"]]\n', encoding="utf-8"
    )
    lines = [f"Visit {n}: the waiter was kind." for n in range(DOCUMENTS)]
    (tmp_path / "texts.csv").write_text("\n".join(["text", *lines]), encoding="utf-8")

    def make(**changes: Any) -> config.RunConfig:
        given = {
            "task": "sst2",
            "documents.path": str(tmp_path / "texts.csv"),
            "hinter.lexicon": str(tmp_path / "lexicon.toml"),
            "hinter.parser": "none",
            "hinter.order": 1,
            "control.share": 0,
            "model.name": "local:vader",
            "out": str(tmp_path / "run"),
            "cache": str(tmp_path / "cache.sqlite"),
        }
        return config.load(None, given | {key.replace("__", "."): value for key, value in changes.items()})

    return make


def run(configuration: config.RunConfig, **more: Any) -> dict[str, Any]:
    return asyncio.run(pipeline.run(configuration, **more))


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


HOLD = """
import sys, time
from pathlib import Path
from harness.folder import RunFolder
with RunFolder(Path(sys.argv[1])).held():
    print("held", flush=True)
    time.sleep(60)
"""


def holder(folder: Path) -> subprocess.Popen[str]:
    """A process that holds ``folder``."""
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(folder)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def started(line: list[str], work: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        line, cwd=work, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_a_second_process_says_who_has_the_folder_and_changes_nothing(
    settings: Settings, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    before = run(settings())
    there = contents(folder / "cases")
    other = holder(folder)
    try:
        says = rf"run is in use by process {other.pid} since \d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d: wait"
        with pytest.raises(RunError, match=says):
            run(settings())
        with pytest.raises(RunError, match=says):
            run(settings(hinter__max_pairs=1), overwrite=True)
        with pytest.raises(RunError, match=says):
            asyncio.run(pipeline.generate(settings()))
        assert contents(folder / "cases") == there
    finally:
        other.kill()
        other.communicate()
    again = run(settings())  # what a dead process held is free
    assert again["results"] == before["results"]
    assert not (folder / "run.holder").exists()


def test_two_runs_of_one_process_are_two(settings: Settings) -> None:
    async def both() -> list[Any]:
        ends = await asyncio.gather(*(pipeline.run(settings()) for _ in range(2)), return_exceptions=True)
        return list(ends)

    ends: list[Any] = asyncio.run(both())
    (refused,) = [end for end in ends if isinstance(end, RunError)]
    assert f"in use by process {os.getpid()}" in str(refused)
    (figures,) = [end for end in ends if isinstance(end, dict)]
    assert (figures["status"], figures["documents"]["judged"]) == ("complete", DOCUMENTS)


def test_a_run_started_again_while_it_goes_on_loses_nothing(settings: Settings, tmp_path: Path) -> None:
    """The same command twice, the second one interrupted, as somebody does who thinks that it hangs."""

    go_on = threading.Event()

    def slow(_: dict[str, Any], number: int) -> Answer:
        if number >= 20:
            go_on.wait(60)
        return completion("Positive")

    with serve(slow) as endpoint:
        configured = settings(model__name="m", model__base_url=endpoint.base_url).resolved()
        (tmp_path / "run.toml").write_text(tomli_w.dumps(configured), encoding="utf-8")
        line = command("run", "run.toml", "--json")
        pipes: dict[str, Any] = {
            "cwd": tmp_path,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "text": True,
        }
        first = subprocess.Popen(line, env=environment(), **pipes)
        while len(endpoint.requests) < 20:
            time.sleep(0.02)
            assert first.poll() is None
        second = started(line, tmp_path)
        _, said = second.communicate(timeout=60)
        go_on.set()
        assert second.returncode == 2
        assert f"in use by process {first.pid} since" in said.splitlines()[-1]
        out, _ = first.communicate(timeout=120)
    assert first.returncode == 0
    figures = json.loads(out)
    assert (figures["status"], figures["answers"]["read"]) == ("complete", 2 * DOCUMENTS)


def test_cases_that_are_missing_are_made_again(settings: Settings, tmp_path: Path) -> None:
    before = run(settings())
    cases = tmp_path / "run" / "cases"
    there = contents(cases)
    files = sorted(cases.glob("part-*.parquet"))
    assert len(files) == 3
    damages: list[Callable[[], object]] = [
        files[1].unlink,
        lambda: deque(map(Path.unlink, files)),
        lambda: files[0].write_bytes(files[0].read_bytes()[:-20]),
        lambda: files[2].write_bytes(b""),
        lambda: (cases / "complete").write_bytes(b""),
        lambda: (cases / "complete").write_text("[]", encoding="utf-8"),
        lambda: (cases / "part-00001.whole").unlink(),
        lambda: (cases / "part-00001.whole").write_bytes(b"{"),
        lambda: deque(map(Path.unlink, list(cases.iterdir()))),
    ]
    for damage in damages:
        damage()
        again = run(settings())
        assert again["requests"]["sent"] == 0
        for key in ("status", "results", "answers", "cases", "documents"):
            assert again[key] == before[key]
        assert contents(cases) == there


def test_rows_that_go_missing_while_a_run_goes_on_are_an_error(settings: Settings, tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    run(settings())
    parts = folder.path / "answers.parts"
    with folder.parts("answers") as writer:
        writer.add(pl.read_parquet(folder.path / "answers.parquet").row(0, named=True))
    assert len(list(parts.iterdir())) == 1
    with pytest.raises(RunError, match=r"answers\.parquet has 1 rows, not the 2 of this run"):
        folder.merge("answers", 2)


def test_overwrite_deletes_files_of_ours_alone(settings: Settings, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    inside = str(folder / "cache.sqlite")
    run(settings(cache=inside))
    (folder / "notes.txt").write_text("mine", encoding="utf-8")
    (folder / "cases" / "mine.txt").write_text("mine, too", encoding="utf-8")
    (folder / "summary.json").write_text("{}", encoding="utf-8")
    replaced = run(settings(cache=inside, documents__limit=5), overwrite=True)
    assert replaced["documents"]["judged"] == 5
    assert replaced["requests"]["sent"] == 0, "the cache in the folder is not part of the run"
    assert (folder / "notes.txt").read_text(encoding="utf-8") == "mine"
    assert (folder / "cases" / "mine.txt").exists()
    assert len(list((folder / "cases").glob("*.parquet"))) == 1


@pytest.mark.parametrize(
    ("batch", "says"),
    [
        (
            {"schema": 1, "writing": None, "jobs": [{"requests": 7, "done": False}]},
            "7 requests in batch jobs",
        ),
        ("damaged", "1 requests in batch jobs"),
    ],
)
def test_overwrite_keeps_jobs_that_are_paid_for(
    settings: Settings, tmp_path: Path, batch: object, says: str
) -> None:
    run(settings())
    (tmp_path / "run" / "batch.json").write_text(json.dumps(batch), encoding="utf-8")
    there = contents(tmp_path / "run" / "cases")
    with pytest.raises(RunError, match=says):
        run(settings(documents__limit=5), overwrite=True)
    assert contents(tmp_path / "run" / "cases") == there


def test_overwrite_replaces_a_run_whose_identity_is_damaged(settings: Settings, tmp_path: Path) -> None:
    run(settings())
    (tmp_path / "run" / "identity.json").write_text("{", encoding="utf-8")
    with pytest.raises(RunError, match="--overwrite"):
        run(settings())
    assert run(settings(), overwrite=True)["status"] == "complete"


@pytest.mark.parametrize("name", ["run[1]", "o[/red]", "a*?", "{b}"])
def test_a_folder_may_have_any_name(settings: Settings, tmp_path: Path, name: str) -> None:
    for _ in range(2):
        assert run(settings(out=str(tmp_path / name)))["documents"]["judged"] == DOCUMENTS


def test_what_a_damaged_cache_lost_is_bought_again_only_if_that_is_said(
    settings: Settings, tmp_path: Path
) -> None:
    cache = tmp_path / "cache.sqlite"
    with serve(lambda *_: completion("Positive")) as endpoint:
        changes = {"model__name": "m", "model__base_url": endpoint.base_url, "model__choices": "none"}
        before = run(settings(**changes))
        with cache.open("r+b") as file:
            file.truncate(cache.stat().st_size // 2)
        posted = len(endpoint.requests)
        done = called(tmp_path, "run", "run/run.toml", "--json")
        assert (done.returncode, len(endpoint.requests)) == (2, posted)
        assert done.stderr.splitlines()[-1].startswith(
            f"hinter: cache {cache} is damaged, and what cannot be"
        )
        exported = called(tmp_path, "cache", "export", "saved.jsonl", "--cache", str(cache))
        assert exported.returncode == 3
        saved = len((tmp_path / "saved.jsonl").read_text(encoding="utf-8").splitlines())
        assert 0 < saved < posted
        done = called(tmp_path, "run", "run/run.toml", "--json", "--buy-again")
        assert done.returncode == 0
        figures = json.loads(done.stdout)
        assert figures["results"] == before["results"]
        assert len(endpoint.requests) - posted == figures["requests"]["sent"] == posted - saved
    log = (tmp_path / "run" / "run.log").read_text(encoding="utf-8")
    assert f"{saved} replies could be read and are kept" in log


def test_a_damaged_reply_is_asked_for_again_and_said(settings: Settings, tmp_path: Path) -> None:
    before = run(settings())
    with closing(sqlite3.connect(tmp_path / "cache.sqlite")) as db:
        db.execute("UPDATE replies SET reply = substr(reply, 1, 20) WHERE rowid IN (3, 4)")
        db.commit()
    again = run(settings())
    assert (again["requests"]["sent"], again["results"]) == (2, before["results"])
    (said,) = [caution["text"] for caution in again["cautions"] if caution["code"] == "damaged-replies"]
    assert said.startswith("In the response cache, 2 replies were damaged and asked for again")
    assert "damaged-replies" not in {caution["code"] for caution in run(settings())["cautions"]}
