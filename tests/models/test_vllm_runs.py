"""Whole runs on a managed vLLM server, the stand-in: how they end, what they keep, what they say."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.commands import Done, command, environment
from tests.models.test_vllm_log import LOGS
from tests.models.vllm_starts import free_port, nothing_is_left, starts

TEXTS = 8
STOPPING = "hinter: stopping; everything answered so far is saved (Ctrl-C again to quit at once)\n"
PATIENCE = 8.0
"""Seconds within which a stopped run ends on a loaded machine; by itself the loading would never end."""
LEXICON = '[attribute.role]\npairs = [["waiter", "waitress"]]\n'


@pytest.fixture
def work(home: Path) -> Path:
    """A folder with texts, a lexicon and a configuration for the stand-in."""
    (home / "lexicon.toml").write_text(LEXICON, encoding="utf-8")
    lines = [f"Visit {n}: the waiter was kind." for n in range(TEXTS)]
    (home / "texts.csv").write_text("\n".join(["text", *lines]), encoding="utf-8")
    (home / "run.toml").write_text(
        """
task = "sst2"
out = "out"
cache = "cache.sqlite"
[documents]
path = "texts.csv"
[hinter]
lexicon = "lexicon.toml"
parser = "none"
[control]
share = 0
[model]
name = "vllm:org/m"
concurrency = 2
""",
        encoding="utf-8",
    )
    return home


def hinter(work: Path, *arguments: str) -> Done:
    return subprocess.run(
        command(*arguments), cwd=work, env=environment(), capture_output=True, text=True, timeout=120
    )


def started(work: Path, *arguments: str) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command(*arguments), cwd=work, env=environment(), stdout=pipe, stderr=pipe, text=True
    )


def summary(work: Path, out: str = "out") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((work / out / "summary.json").read_text(encoding="utf-8"))
    return found


def kept_log(work: Path) -> Path:
    (log,) = (work / "logs").glob("hinter-vllm-*/*")
    assert log.name == "server.log"
    return log


def said(done: Done) -> str:
    """Return the line about the server, without what names the run."""
    (line,) = [
        line for line in done.stderr.splitlines() if "vllm serve org/m: " in line and "Stopped" not in line
    ]
    return line.removeprefix("hinter: ")


@pytest.mark.parametrize(
    ("mode", "after", "what"),
    [
        ("dies", "0", "ended with exit status 1 before it was ready"),
        ("killed", "0", "killed by signal 9"),
        ("late", "0", "ended with exit status 3"),
        ("dead", "0", "its engine has died"),
        ("killed", "9", "killed by signal 9"),
        ("dead", "9", "its engine has died"),
    ],
    ids=["start", "contact", "contact-exit", "contact-engine", "later", "later-engine"],
)
def test_a_server_that_ends_is_said_one_way_with_the_cause(
    work: Path, monkeypatch: pytest.MonkeyPatch, mode: str, after: str, what: str
) -> None:
    monkeypatch.setenv("FAKE_VLLM", mode)
    monkeypatch.setenv("FAKE_VLLM_AFTER", after)
    monkeypatch.setenv("FAKE_VLLM_LOG", str(LOGS / "no_room.log"))
    done = hinter(work, "run", "run.toml")
    line = said(done)
    assert line.startswith(
        f"vllm serve org/m: {what}: ValueError: Available memory on node 0 (12.2/17.46 GiB)"
    )
    assert line.endswith(f"; its log: {kept_log(work)}")
    assert "Traceback" not in done.stderr
    assert done.returncode == (3 if after == "9" else 2)
    if after == "9":
        requests = summary(work)["requests"]
        assert (requests["failed"], requests["kept"]) == (0, requests["sent"] - requests["unfinished"])
        assert requests["kept"] > 0
        assert f"{requests['kept']} replies are kept" in summary(work)["cautions"][0]["text"]
    assert nothing_is_left(work)


def test_a_server_that_is_killed_without_a_word_is_one_line(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_VLLM", "killed")
    monkeypatch.setenv("FAKE_VLLM_AFTER", "9")
    line = said(hinter(work, "run", "run.toml"))
    why = "killed by signal 9, by somebody or for want of memory"
    assert line == f"vllm serve org/m: {why}; its log: {kept_log(work)}"
    assert line in summary(work)["stopped"]


def test_the_log_of_a_server_that_answers_with_errors_is_kept(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_VLLM", "errs")
    monkeypatch.setenv("FAKE_VLLM_AFTER", "3")
    done = hinter(work, "run", "run.toml")
    assert f"vllm serve org/m answered with errors; its log is kept: {kept_log(work)}" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_stopped_while_the_model_loads_ends_in_one_line(
    work: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    monkeypatch.setenv("FAKE_VLLM", "never")
    with started(work, "run", "run.toml") as run:
        assert run.stderr is not None
        assert "starting vllm serve org/m" in run.stderr.readline()
        while not starts(work):
            time.sleep(0.05)
        run.send_signal(number)
        began = time.monotonic()
        out, errors = run.communicate(timeout=60)
        assert time.monotonic() - began < PATIENCE
    assert (run.returncode, out) == (130, "")
    assert errors == STOPPING
    assert nothing_is_left(work, 5)
    assert list((work / "logs").iterdir()) == []


def test_a_run_says_what_it_waits_for_and_since_when(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_VLLM", "never")
    with started(work, "run", "run.toml") as run:
        assert run.stderr is not None
        run.stderr.readline()
        line = run.stderr.readline()
        run.send_signal(signal.SIGINT)
        _, errors = run.communicate(timeout=60)
    assert errors == STOPPING, "nothing else, however long it has been loading"
    assert line.startswith(f"texts 0/{TEXTS}: vllm serve org/m is loading since ")
    assert line.endswith(" s)\n")


def test_a_run_repeated_from_the_cache_keeps_what_was_recorded(work: Path) -> None:
    assert hinter(work, "run", "run.toml").returncode == 0
    first = summary(work)
    assert first["model_facts"]["vllm"]["version"] == "0.32.0+fake"
    assert first["model_facts"]["vllm"]["prefix_cache"]["hit_rate"] == 0.75
    assert hinter(work, "run", "run.toml").returncode == 0
    second = summary(work)
    assert second["requests"]["sent"] == 0
    assert len(starts(work)) == 1
    assert second["model_facts"] == first["model_facts"]
    assert hinter(work, "run", "run.toml", "--out", "elsewhere").returncode == 0
    third = summary(work, "elsewhere")["model_facts"]
    assert third["vllm"] == {**first["model_facts"]["vllm"], "prefix_cache": None}, "the cache knows the rest"
    assert {**third, "vllm": 0} == {**first["model_facts"], "vllm": 0}


def test_replies_of_two_versions_are_counted_and_bought_once(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert hinter(work, "run", "run.toml", "--limit", "3").returncode == 0
    bought = summary(work)["requests"]["sent"]
    monkeypatch.setenv("FAKE_VLLM_VERSION", "0.33.0+fake")
    assert hinter(work, "run", "run.toml", "--out", "more").returncode == 0
    requests, cautions = summary(work, "more")["requests"], summary(work, "more")["cautions"]
    assert requests["cached"] == bought
    (changed,) = [caution["text"] for caution in cautions if caution["code"] == "model-changed"]
    assert f"org/m vllm-0.32.0+fake ({bought}), org/m vllm-0.33.0+fake ({requests['sent']})" in changed
    assert summary(work, "more")["model_facts"]["vllm"]["version"] == "0.33.0+fake"


def test_replies_of_two_dtypes_are_counted(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_VLLM_SAYS", "Initializing a V1 LLM engine with config: dtype=torch.bfloat16")
    assert hinter(work, "run", "run.toml", "--limit", "3").returncode == 0
    monkeypatch.setenv("FAKE_VLLM_SAYS", "Initializing a V1 LLM engine with config: dtype=torch.float16")
    assert hinter(work, "run", "run.toml", "--out", "more").returncode == 0
    cautions = summary(work, "more")["cautions"]
    (changed,) = [caution["text"] for caution in cautions if caution["code"] == "model-changed"]
    assert "vllm-0.32.0+fake bfloat16 (6), org/m vllm-0.32.0+fake float16 (10)" in changed


def test_the_page_names_version_dtype_and_invariance(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_VLLM_SAYS", "Initializing a V1 LLM engine with config: dtype=torch.bfloat16")
    assert hinter(work, "run", "run.toml").returncode == 0
    words = "vLLM 0.32.0+fake, bfloat16, not batch-invariant (no GPU is visible (CUDA_VISIBLE_DEVICES))"
    assert f"<dt>Served by</dt><dd>{words}</dd>" in (work / "out" / "report.html").read_text(encoding="utf-8")
    assert summary(work)["model_facts"]["vllm"]["dtype"] == "bfloat16"
    markdown = hinter(work, "report", "out", "--format", "md").stdout.replace("\\", "")
    assert f"Served by {words}." in markdown


def test_a_killed_run_leaves_nothing_for_long(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_VLLM", "never")
    with started(work, "run", "run.toml") as run:
        while not list(work.glob("start-*")):
            time.sleep(0.05)
        run.kill()
    (left,) = (work / "logs").iterdir()
    assert left.stat().st_mode & 0o777 == 0o700
    assert {file.name: file.stat().st_mode & 0o777 for file in left.iterdir()} == {
        "key": 0o600,
        "lock": 0o600,
        "server.log": 0o600,
    }
    assert nothing_is_left(work)
    kept = work / "logs" / "hinter-vllm-kept"
    kept.mkdir()
    (kept / "server.log").write_text("why it failed", encoding="utf-8")
    monkeypatch.setenv("FAKE_VLLM", "")
    assert hinter(work, "run", "run.toml").returncode == 0
    assert list((work / "logs").iterdir()) == [kept], "a log that was kept for the user stays"


def test_a_run_does_not_clear_the_folder_of_another(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_VLLM", "never")
    with started(work, "run", "run.toml") as run:
        while not list(work.glob("start-*")):
            time.sleep(0.05)
        (held,) = (work / "logs").iterdir()
        monkeypatch.setenv("FAKE_VLLM", "")
        second = ("--out", "second", "--cache", "second.sqlite")
        assert hinter(work, "run", "run.toml", *second).returncode == 0
        assert (held / "key").exists()
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=60)


BATCH = """import json, sys
sys.path.insert(0, {folder!r})
from fake_vllm import completion
words = sys.argv[1:]
asked, replies = (open(words[words.index(flag) + 1], mode) for flag, mode in (("-i", "r"), ("-o", "w")))
open({told!r}, "w").write(json.dumps(words))
for line in map(json.loads, asked):
    response = {{"status_code": 200, "body": completion(line["body"])}}
    print(json.dumps({{"custom_id": line["custom_id"], "response": response, "error": None}}), file=replies)
"""


def test_the_printed_command_answers_a_batch_as_the_server_would(work: Path) -> None:
    flags = (
        '[model.vllm]\ndtype = "float32"\nquantization = "awq"\nmax_model_len = 2048\nseed = 3\n'
        'flags = ["--block-size", "32", "--chat-template-kwargs", \'{"a": "b c"}\']\n'
    )
    with (work / "run.toml").open("a", encoding="utf-8") as file:
        file.write(f'revision = "abc"\n{flags}')
    done = hinter(work, "export-batch", "asked.jsonl", "run.toml")
    assert done.returncode == 0, done.stderr
    run_batch, take_in = done.stdout.splitlines()[-2:]
    told = work / "told.json"
    script = BATCH.format(folder=str(Path(__file__).parent), told=str(told))
    (work / "bin" / "vllm").write_text(f"#!{sys.executable}\n{script}", encoding="utf-8")
    subprocess.run(run_batch, shell=True, cwd=work, check=True)
    words = json.loads(told.read_text())
    assert words[:7] == ["run-batch", "-i", "asked.jsonl", "-o", "asked.replies.jsonl", "--model", "org/m"]
    assert words[7:] == [
        *("--enable-prefix-caching", "--enable-prompt-tokens-details", "--generation-config", "vllm"),
        *("--seed", "3", "--revision", "abc", "--max-model-len", "2048", "--dtype", "float32"),
        *("--quantization", "awq", "--block-size", "32", "--chat-template-kwargs", '{"a": "b c"}'),
    ]
    assert take_in == "hinter import-batch asked.replies.jsonl --cache cache.sqlite"
    assert hinter(work, *take_in.split()[1:]).returncode == 0
    assert hinter(work, "run", "run.toml").returncode == 0
    assert summary(work)["requests"]["sent"] == 0


def test_the_version_is_asked_of_a_server_of_ones_own(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own, port = ("--model", "org/m", "--concurrency", "2"), free_port()
    for out, version in (("one", "0.32.0"), ("one", "0.32.0"), ("two", "0.33.0")):
        monkeypatch.setenv("FAKE_VLLM_VERSION", version)
        with started(work, "serve", "org/m", "--port", port) as server:
            assert server.stdout is not None
            url = server.stdout.readline().strip()
            limit = ("--limit", "3") if out == "one" else ()
            assert (
                hinter(work, "run", "run.toml", *own, "--base-url", url, "--out", out, *limit).returncode == 0
            )
            server.send_signal(signal.SIGINT)
            server.communicate(timeout=60)
        words = f"vLLM {version}; its dtype and batch invariance are not told"
        assert f"<dt>Served by</dt><dd>{words}</dd>" in (work / out / "report.html").read_text(
            encoding="utf-8"
        )
        assert summary(work, out)["model_facts"]["versions"] == [version]
    assert summary(work, "one")["requests"]["cached"] == 6
    (changed,) = [c["text"] for c in summary(work, "two")["cautions"] if c["code"] == "model-changed"]
    assert "org/m vllm-0.32.0 (6), org/m vllm-0.33.0 (10)" in changed
