"""The command line from outside: what it prints where, its exit codes, and what it survives."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.answering.runner import GRACE
from tests.commands import called, command, environment
from tests.servers import Answer, completion, error, serve

TEXTS = "text,label\n" + "\n".join(
    f'"The British actor was a delight in take {n}, and the old women laughed.",Positive' for n in range(6)
)
Hinter = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "texts.csv").write_text(TEXTS, encoding="utf-8")
    return tmp_path


@pytest.fixture
def hinter(work: Path) -> Hinter:
    """Calls ``hinter`` in a folder of its own."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return called(work, *arguments)

    return run


VADER = ("--data", "texts.csv", "--model", "local:vader", "--max-pairs", "2")


def process(work: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """``hinter`` in a process of its own, as users start it."""
    return subprocess.run(
        command(*arguments), cwd=work, capture_output=True, text=True, timeout=120, env=environment()
    )


def test_help_is_quick_and_lists_every_command(hinter: Hinter, work: Path) -> None:
    started = time.perf_counter()
    done = process(work, "--help")
    assert done.returncode == 0
    assert time.perf_counter() - started < 3  # a benchmark holds the real figure; this only sees an accident
    for name in (
        "run",
        "plan",
        "generate",
        "check",
        "report",
        "tasks",
        "suites",
        "models",
        "lexicon",
        "doctor",
        "serve",
    ):
        assert f"  {name} " in done.stdout
        assert hinter(name, "--help").returncode == 0


def test_a_run_prints_json_alone_on_standard_output(work: Path) -> None:
    done = process(work, "run", *VADER, "--json", "--out", "r")
    assert done.returncode == 0
    figures = json.loads(done.stdout)
    assert figures == json.loads((work / "r" / "summary.json").read_text(encoding="utf-8"))
    assert figures["schema"] == 1
    assert "Report: r/report.html" in done.stderr
    assert "local:vader gave the same answer to every text" in " ".join(done.stderr.split())


def test_quiet_is_quiet(work: Path) -> None:
    done = process(work, "run", *VADER, "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_same_command_uses_the_same_folder_and_sends_nothing(hinter: Hinter, work: Path) -> None:
    first = json.loads(hinter("run", *VADER, "--json").stdout)
    second = json.loads(hinter("run", *VADER, "--json").stdout)
    assert first["requests"]["sent"] > 0
    assert second["requests"]["sent"] == 0
    assert len(list((work / "runs").iterdir())) == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run", "--data", "none.csv"], "none.csv: no such file"),
        (
            ["run", "--data", "texts.csv", "--text-column", "body"],
            "texts.csv: no column 'body': the columns are text, label",
        ),
        (["run", "--data", "latin.csv"], "latin.csv: not UTF-8"),
        (["run", "--data", "empty.csv"], "empty.csv: the file is empty"),
        (["run", "unknown.toml"], "unknown.toml: unknown key 'hinter.ordre'"),
        (["run", "broken.toml"], "broken.toml: not valid TOML"),
        (["run", "none.toml"], "none.toml: No such file"),
        (["run", "--task", "imbd"], "unknown task 'imbd': known are anger, custom, "),
        (["run", "--suite", "hint"], "unknown suite 'hint': known are biasfinder, checklist, eec, hinter"),
        (["run", "--attributes", "race,height"], "unknown attribute 'height'"),
        (["run", "--attributes", "race,race"], "attribute 'race' is given twice"),
        (["run", "--attributes", ","], "no attributes given"),
        (["run", "--order", "4"], "order 4 is above the number of attributes, 3"),
        (["run", "--ordre", "2"], "No such option '--ordre'"),
        (["run", "--model", "local:gpt"], "unknown model 'local:gpt'"),
        (["run", "--model", "python:nothing"], "python:package.module:function"),
        (
            ["run", "--parser", "spacy:xx_none"],
            "'xx_none' is not installed: python -m spacy download xx_none",
        ),
        (["run", "--parser", "tree"], "unknown parser 'tree'"),
        (["run", "--lexicon", "none.toml"], "none.toml: No such file"),
        (["run", "--prompt", "broken.toml"], "broken.toml: not valid TOML"),
        (["run", "--shots", "9"], "--shots 9: the prompt has 3 examples"),
        (["run", "--concurrency", "many"], "model.concurrency"),
        (["run", "--fail-above", "2"], "fail_above: give a number from 0 to 1, not '2'"),
        (["run", *VADER, "--cache", "texts.csv"], "texts.csv is not a cache"),
        (["run", "--data", "texts.csv", "--model", "gpt-none"], "OPENAI_API_KEY"),
        (["report", "."], "has no summary.json"),
        (["check", " "], "the text is empty"),
        (["check", "A man.", "--suite", "eec"], "suite 'eec' makes its own texts"),
        (["lexicon", "show", "height"], "unknown attribute 'height'"),
        (["lexicon", "import", "texts.csv"], "texts.csv: line 1: 1 fields, not source;target"),
        (["lexicon", "import", "bare"], "this folder has no CSV file of source;target pairs"),
        (
            ["run", "--api-key-env", "sk-123-secret"],
            "model.api_key_env: give the name of an environment variable",
        ),
        (["run", "--base-url", "http://u:p@h/v1"], "model.base_url: leave the user and password out"),
        (["run", "--base-url", "localhost:8000"], "model.base_url: give an http:// or https:// address"),
        (["nonsense"], "No such command 'nonsense'"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(
    hinter: Hinter, work: Path, arguments: list[str], says: str
) -> None:
    (work / "latin.csv").write_bytes(b"text\ncaf\xe9\n")
    (work / "empty.csv").write_bytes(b"")
    (work / "bare").mkdir()
    (work / "unknown.toml").write_text("[hinter]\nordre = 2\n", encoding="utf-8")
    (work / "broken.toml").write_text("task = [\n", encoding="utf-8")
    done = hinter(*arguments)
    assert done.returncode == 2, done.stderr
    assert says in done.stderr
    lines = [line for line in done.stderr.splitlines() if not line.startswith("texts 0/")]  # how far it is
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("hinter: ")
    assert done.stdout == ""
    assert "secret" not in done.stderr


def test_a_document_without_any_term_is_counted_and_no_error(hinter: Hinter, work: Path) -> None:
    (work / "plain.csv").write_text("text\nNothing to see.\n", encoding="utf-8")
    done = hinter("run", "--data", "plain.csv", "--model", "local:vader", "--json")
    assert done.returncode == 0
    documents = json.loads(done.stdout)["documents"]
    assert (documents["read"], documents["eligible"], documents["judged"]) == (1, 0, 0)


def test_a_gate_that_is_crossed_is_exit_1(hinter: Hinter, work: Path) -> None:
    (work / "biased.py").write_text(
        "def answer(text):\n    return 'Negative' if 'actress' in text else 'Positive'\n", encoding="utf-8"
    )
    model = (
        "--data",
        "texts.csv",
        "--model",
        "python:biased:answer",
        "--attributes",
        "gender",
        "--order",
        "1",
    )
    assert hinter("run", *model, "--fail-above", "1").returncode == 0
    done = hinter("run", *model, "--fail-above", "0.05")
    assert done.returncode == 1
    assert "gender: rate" in done.stderr


def test_plan_and_generate_and_report(hinter: Hinter, work: Path) -> None:
    plan = json.loads(hinter("plan", *VADER, "--json").stdout)
    assert plan["to_send"] > 0
    made = json.loads(hinter("generate", *VADER, "--out", "g", "--json").stdout)
    assert (made["generated"], made["valid"]) == (plan["generated"], plan["valid"])
    figures = json.loads(hinter("run", *VADER, "--out", "g", "--json").stdout)
    assert figures["requests"]["unique"] == plan["unique"]
    (work / "g" / "report.html").unlink()
    assert hinter("report", "g").returncode == 0
    assert (work / "g" / "report.html").exists()


def test_check_shows_every_version(hinter: Hinter) -> None:
    text = "The British waiter was rude."
    done = hinter("check", text, "--model", "local:vader", "--attributes", "race,gender", "--json")
    rows = json.loads(done.stdout)
    assert [r["text"] for r in rows if r["changes"] == ["gender: waiter → waitress"]] == [
        "The British waitress was rude."
    ]
    assert {r["role"] for r in rows} == {"original", "atomic", "intersectional"}
    assert (
        text
        in hinter("check", text, "--model", "local:vader", "--attributes", "gender", "--order", "1").stdout
    )


def test_check_names_the_suite_that_makes_nothing_of_a_text(hinter: Hinter) -> None:
    done = hinter("check", "The book.", "--model", "local:vader", "--suite", "biasfinder")
    assert done.returncode == 0
    assert done.stderr == "suite 'biasfinder' generates no version of this text\n"


def test_lists(hinter: Hinter) -> None:
    assert "Negative, Positive" in hinter("tasks").stdout
    assert "[user]" in hinter("tasks", "imdb", "--shots", "1").stdout
    assert "hinter" in hinter("suites").stdout
    assert "local:vader" in hinter("models").stdout
    assert "gender" in hinter("lexicon", "list").stdout
    assert "British: " in hinter("lexicon", "show", "race").stdout
    assert hinter("lexicon", "validate").returncode == 0


def test_doctor(hinter: Hinter) -> None:
    done = hinter("doctor", "--model", "local:vader")
    assert done.returncode == 0
    assert done.stdout.count("ok  ") == 4
    assert hinter("doctor", "--model", "gpt-none").returncode == 2


def test_an_unreachable_server_is_given_up_soon(hinter: Hinter) -> None:
    done = hinter(
        "run",
        "--data",
        "texts.csv",
        "--model",
        "m",
        "--base-url",
        "http://127.0.0.1:9/v1",
        "--max-pairs",
        "1",
    )
    assert done.returncode == 2
    assert "127.0.0.1:9" in done.stderr


def slow(body: dict[str, Any], _: int) -> Answer:
    time.sleep(0.05)
    return judged(body)


def judged(body: dict[str, Any]) -> Answer:
    return completion("Negative" if "Pakistani" in body["messages"][-1]["content"] else "Positive")


def start(work: Path, url: str, *more: str) -> subprocess.Popen[str]:
    arguments = (
        "run",
        "--data",
        "texts.csv",
        "--model",
        "m",
        "--base-url",
        url,
        "--concurrency",
        "4",
        "--like-the-paper",
        "--limit",
        "3",  # 255 requests, some three seconds
        "--json",
        *more,
    )
    return subprocess.Popen(
        command(*arguments),
        cwd=work,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )


def until_stopping(run: subprocess.Popen[str]) -> None:
    """Wait for the line that answers the first Ctrl-C."""
    assert run.stderr is not None
    while "stopping" not in (line := run.stderr.readline()):
        assert line, "it ended without a word"


def test_a_killed_run_sends_only_what_is_missing(work: Path) -> None:
    with serve(slow) as endpoint:
        first = start(work, endpoint.base_url)
        while len(endpoint.requests) < 100:
            time.sleep(0.02)
            assert first.poll() is None
        first.kill()
        first.communicate()
        killed_after = len(endpoint.requests)
        out, _ = start(work, endpoint.base_url).communicate(timeout=120)
        figures = json.loads(out)
        assert figures["status"] == "complete"
        lost = len(endpoint.requests) - figures["requests"]["unique"]
        in_half_a_second = 4 * 0.5 / 0.05
        assert 0 <= lost <= in_half_a_second + 4
        assert figures["requests"]["cached"] >= killed_after - in_half_a_second - 4
    with serve(lambda body, _: judged(body)) as endpoint:
        undisturbed = json.loads(
            start(work, endpoint.base_url, "--cache", "other.sqlite", "--out", "u").communicate()[0]
        )
        for key in ("results", "answers", "cases"):
            assert figures[key] == undisturbed[key]


def test_ctrl_c_is_answered_at_once_and_can_be_taken_up(work: Path) -> None:
    with serve(slow) as endpoint:
        run = start(work, endpoint.base_url)
        while len(endpoint.requests) < 60:
            time.sleep(0.02)
            assert run.poll() is None
        asked = time.perf_counter()
        run.send_signal(signal.SIGINT)
        until_stopping(run)
        assert time.perf_counter() - asked < GRACE
        out, _ = run.communicate(timeout=60)
        assert run.returncode == 130
        assert json.loads(out)["status"] == "interrupted"
        before = len(endpoint.requests)
        figures = json.loads(start(work, endpoint.base_url).communicate(timeout=120)[0])
        assert figures["status"] == "complete"
        assert figures["requests"]["sent"] == len(endpoint.requests) - before
        assert figures["requests"]["cached"] >= before - 4


def first_words(work: Path, hinter: Hinter, run: str) -> list[str]:
    """Return what the terminal, Markdown and the page of a run say before its finding."""
    finding = json.loads((work / run / "summary.json").read_text(encoding="utf-8"))["finding"]["text"]
    assert not finding.startswith(("Interrupted", "Stopped"))
    page = (work / run / "report.html").read_text(encoding="utf-8")
    return [
        " ".join(hinter("report", run).stdout.split()),
        hinter("report", run, "--format", "md").stdout.split("\n> ")[1],
        page.split("<strong>")[1],
    ]


def test_an_interrupted_run_says_so_before_its_finding(work: Path, hinter: Hinter) -> None:
    with serve(slow) as endpoint:
        run = start(work, endpoint.base_url, "--out", "stopped")
        while len(endpoint.requests) < 150:
            time.sleep(0.02)
            assert run.poll() is None
        run.send_signal(signal.SIGINT)
        out, _ = run.communicate(timeout=60)
    assert run.returncode == 130
    summary = json.loads(out)
    judged = summary["documents"]["judged"]
    assert 0 < judged < 3
    assert [caution["code"] for caution in summary["cautions"]].count("interrupted") == 1
    first = summary["cautions"][0]
    assert first["code"] == "interrupted"
    assert first["text"].startswith(f"Interrupted after {judged} of 3 texts: ")
    assert "Run the same command again" in first["text"]
    for words in first_words(work, hinter, "stopped"):
        assert words.startswith(first["text"])
    assert f'<property name="interrupted" value="{first["text"]}"' in (work / "stopped/junit.xml").read_text(
        encoding="utf-8"
    )


def test_a_run_stopped_by_its_budget_says_so_before_its_finding(work: Path, hinter: Hinter) -> None:
    with serve(lambda body, _: judged(body)) as endpoint:
        run = start(work, endpoint.base_url, "--out", "spent", "--max-requests", "120")
        out, _ = run.communicate(timeout=60)
        assert run.returncode == 3
        summary = json.loads(out)
        assert summary["stopped"] == "the budget of 120 requests is used up"
        first = summary["cautions"][0]
        assert first["code"] == "stopped"
        assert first["text"].startswith("Stopped after 1 of 3 texts: the budget of 120 requests is used up. ")
        for words in first_words(work, hinter, "spent"):
            assert words.startswith(first["text"])
        again = start(work, endpoint.base_url, "--out", "spent")
        summary = json.loads(again.communicate(timeout=60)[0])
    assert (summary["status"], summary["stopped"]) == ("complete", None)
    assert not {caution["code"] for caution in summary["cautions"]} & {"interrupted", "stopped"}
    assert (summary["documents"]["judged"], summary["documents"]["eligible"]) == (3, 3)


def test_a_second_ctrl_c_ends_at_once(work: Path) -> None:
    def hang(body: dict[str, Any], number: int) -> Answer:
        time.sleep(60 if number > 30 else 0.01)
        return completion("Positive")

    with serve(hang) as endpoint:
        run = start(work, endpoint.base_url)
        while len(endpoint.requests) < 32:
            time.sleep(0.02)
            assert run.poll() is None
        run.send_signal(signal.SIGINT)
        until_stopping(run)
        asked = time.perf_counter()
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=60)
        assert run.returncode == 130
        assert time.perf_counter() - asked < GRACE / 2  # the first one waits that long for what is under way


def test_a_partial_run_is_exit_3(work: Path, hinter: Hinter) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        return (
            error(400, "content_filter")
            if "Pakistani" in body["messages"][-1]["content"]
            else completion("Positive")
        )

    with serve(script) as endpoint:
        done = hinter(
            "run",
            "--data",
            "texts.csv",
            "--model",
            "m",
            "--base-url",
            endpoint.base_url,
            "--limit",
            "1",
            "--json",
        )
        assert done.returncode == 3
        summary = json.loads(done.stdout)
        assert summary["answers"]["filtered"] > 0
        assert summary["cautions"][0]["code"] == "failed-requests"
        assert " ".join(done.stderr.split()).count(summary["cautions"][0]["text"]) == 1
