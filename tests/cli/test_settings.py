"""Settings on the command line: every suite's options, built in or of a package, and what they are told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.cli.guard import KEYS
from harness.cli.options import HEADINGS, ONLY_RUN, SECTIONS, Configured
from harness.cli.run import command as run
from harness.config import RunConfig
from harness.settings import Options, flags
from tests.commands import called
from tests.packages import TYPOS, install

Hinter = Callable[..., "subprocess.CompletedProcess[str]"]
TEXTS = "text,label\nThe British actor was great.,Positive\nThe old man was sad.,Negative\n"
VADER = ("--data", "texts.csv", "--model", "local:vader", "--parser", "none")
OWN = '[attribute.religion]\npairs = [["old", "jewish"], ["British", "muslim"]]\n'
TASK = """
from pathlib import Path
from harness import documents
from harness.core import Task

def read(options):
    return documents.read(options, ("Ham", "Spam"))

labels = ("Ham", "Spam")
task = Task(name="spam", title="Spam", labels=labels, documents=read, prompt="spam", sample="mails.csv")
"""


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "texts.csv").write_text(TEXTS, encoding="utf-8")
    (tmp_path / "own.toml").write_text(OWN, encoding="utf-8")
    (tmp_path / "packages").mkdir()
    return tmp_path


@pytest.fixture
def hinter(work: Path) -> Hinter:
    """Calls ``hinter`` in a folder of its own; with the packages there, in a process of its own."""

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        if not any((work / "packages").iterdir()):
            return called(work, *arguments)
        command = [sys.executable, "-W", "error", "-m", "harness", *arguments]
        environment = os.environ | {"COLUMNS": "100", "PYTHONPATH": str(work / "packages")}
        return subprocess.run(command, cwd=work, capture_output=True, text=True, timeout=120, env=environment)

    return call


def planned(done: subprocess.CompletedProcess[str]) -> int:
    assert done.returncode == 0, done.stderr
    return int(json.loads(done.stdout)["generated"])


def test_every_setting_is_under_one_heading() -> None:
    keys = [key for keys in HEADINGS.values() for key in keys]
    models: dict[str, type[Options]] = {"": RunConfig, **SECTIONS}
    all_ = {
        f"{section}.{name}".removeprefix(".")
        for section, model in models.items()
        for name in flags(model).values()
    }
    assert sorted([*keys, *ONLY_RUN, *(key for key in KEYS if key.startswith("guard."))]) == sorted(all_)
    assert isinstance(run, Configured)


def test_no_option_of_a_bundled_suite_or_model_takes_a_name_that_is_taken() -> None:
    assert isinstance(run, Configured)
    assert run.faults == []


def test_help_has_a_heading_for_each_suite(hinter: Hinter, work: Path) -> None:
    install(work / "packages", "typos_package", TYPOS, {"harness.suites:typos": "plugin"})
    install(work / "packages", "broken_package", "1 / 0", {"harness.suites:broken": "plugin"})
    clash = TYPOS.replace('"typos"', '"clash"').replace("letters: Positive", "seed: Positive")
    install(work / "packages", "clash_package", clash, {"harness.suites:clash": "plugin"})
    done = hinter("run", "--help")
    assert done.returncode == 0, done.stderr
    headings = [line[:-1] for line in done.stdout.splitlines() if line and line[0] != " " and line[-1] == ":"]
    assert headings[:2] == ["What is tested", "This command"]
    suites = [heading.removeprefix("Suite ") for heading in headings if heading.startswith("Suite ")]
    assert suites == ["hinter", "biasfinder", "eec", "linguistic", "checklist", "clash", "typos"]
    of_typos = done.stdout.partition("Suite typos:")[2]
    assert "--letters INTEGER RANGE  Letters swapped in each text. [1]" in of_typos
    assert "--upper / --no-upper" in of_typos
    said = " ".join(done.stdout.split())
    assert (
        "Not listed: harness.suites: 'broken' of package broken_package does not load: ZeroDivision" in said
    )
    assert "--seed of suite 'clash', because the name is taken: set clash.seed in the TOML" in " ".join(
        done.stdout.split()
    )


def test_the_suite_of_a_package_runs(hinter: Hinter, work: Path) -> None:
    install(work / "packages", "typos_package", TYPOS, {"harness.suites:typos": "plugin"})
    (work / "typos.toml").write_text("suite = 'typos'\n[typos]\nletters = 3\n", encoding="utf-8")
    texts = ("--data", "texts.csv", "--model", "local:vader")
    done = hinter("run", "typos.toml", *texts, "--out", "one")
    assert done.returncode == 0, done.stderr
    assert "2 texts, 2 texts; 6 typos, 6 valid" in done.stderr
    said = " ".join(done.stdout.split())
    assert "local:vader changed its answer on" in said
    assert "typos of a single attribute" in said
    figures = json.loads((work / "one" / "summary.json").read_text(encoding="utf-8"))
    assert figures["nouns"] == {"case": "typo", "source": "text", "eligible": ""}
    assert (figures["letters"], figures["typos"]) == (3, {"letters": 3})
    assert [section["title"] for section in figures["sections"]] == ["Letters swapped"]
    assert "<dt>Typos</dt>" in (work / "one" / "report.html").read_text(encoding="utf-8")
    resolved = (work / "one" / "run.toml").read_text(encoding="utf-8")
    assert "[typos]\nletters = 3\nupper = false\n" in resolved
    more = hinter(
        "run", "typos.toml", *texts, "--letters", "1", "--upper", "--workers", "2", "--out", "two", "--json"
    )
    assert json.loads(more.stdout)["cases"]["generated"] == 2
    assert "letters swapped" in hinter("suites").stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ["--suite", "typos", "--letters", "0"],
            "Invalid value for '--letters': 0 is not in the range x>=1.",
        ),
        (["--suite", "typos", "--order", "3"], "--order is not an option of suite 'typos'"),
        (["--suite", "typos", "--parser", "none"], "--parser is not an option of suite 'typos'"),
        (["--suite", "eec", "--letters", "3"], "--letters is not an option of suite 'eec'"),
        (["--suite", "eec", "--order", "3"], "--order is not an option of suite 'eec'"),
        (["--suite", "mtnlp", "--attributes", "race"], "--attributes is not an option of suite 'mtnlp'"),
        (
            ["--suite", "typos", "--budget", "9"],
            "budget.adaptive: the mutants of suite 'typos' cannot be explored",
        ),
        (
            ["--suite", "broken"],
            "harness.suites: 'broken' of package broken_package does not load: ZeroDivision",
        ),
        (["--model", "local:vader", "--prompt", "prompt.toml"], "--prompt: local:vader reads the bare text"),
        (
            ["--model", "local:vader", "--shots", "1"],
            "--shots: local:vader reads the bare text and no prompt",
        ),
        (["--task", "./none.py"], "./none.py: No such file"),
        (["--task", "./syntax.py"], "./syntax.py, line 2: SyntaxError"),
        (["--task", "./empty.py"], "./empty.py: has no 'task': write task = Task(…)"),
        (["--lexicon", "+own.toml,own.toml"], "own.toml: attribute 'religion' is in own.toml, too"),
        (
            ["--lexicon", "own.toml", "--order", "2"],
            "order 2 is above the number of attributes, 1 (religion)",
        ),
        (
            ["--suggester-url", "http://u:secret@h/v1", "--suite", "linguistic"],
            "linguistic.suggester_base_url: leave",
        ),
        (
            ["--suggester-api-key-env", "sk-secret", "--suite", "linguistic"],
            "linguistic.suggester_api_key_env: give the name of an environment variable",
        ),
    ],
)
def test_what_does_not_fit_is_one_line_and_exit_2(
    hinter: Hinter, work: Path, arguments: list[str], says: str
) -> None:
    install(work / "packages", "typos_package", TYPOS, {"harness.suites:typos": "plugin"})
    install(work / "packages", "broken_package", "1 / 0", {"harness.suites:broken": "plugin"})
    (work / "prompt.toml").write_text("system = 'S'\nquestion = 'Q?'\n", encoding="utf-8")
    (work / "syntax.py").write_text("x = 1\ndef (", encoding="utf-8")
    (work / "empty.py").write_text("", encoding="utf-8")
    done = hinter("plan", *arguments)
    assert done.returncode == 2, done.stderr
    assert says in done.stderr
    assert done.stderr.startswith("hinter: ")
    assert done.stderr.count("\n") == 1, done.stderr
    assert "secret" not in done.stderr


def test_a_prompt_for_a_function_of_the_bare_text_is_refused(hinter: Hinter, work: Path) -> None:
    (work / "prompt.toml").write_text("system = 'S'\nquestion = 'Q?'\n", encoding="utf-8")
    functions = "def bare(text):\n    return 'Positive'\n\n\ndef asked(prompt):\n    return 'Positive'\n"
    (work / "bare_or_asked.py").write_text(functions, encoding="utf-8")
    settings = ("--data", "texts.csv", "--parser", "none", "--prompt", "prompt.toml", "--model")
    refused = hinter("plan", *settings, "python:bare_or_asked:bare")
    says = "--prompt: python:bare_or_asked:bare reads the bare text and no prompt: leave --prompt out"
    assert (refused.returncode, refused.stderr) == (2, f"hinter: {says}\n")
    assert hinter("plan", *settings, "python:bare_or_asked:asked").returncode == 0


def test_an_order_that_nobody_gave_suits_the_attributes(hinter: Hinter) -> None:
    one = planned(hinter("plan", *VADER, "--attributes", "gender", "--json"))
    assert one == planned(hinter("plan", *VADER, "--attributes", "gender", "--order", "1", "--json"))
    two = planned(hinter("plan", *VADER, "--attributes", "race,gender", "--json"))
    assert two == planned(hinter("plan", *VADER, "--attributes", "race,gender", "--order", "2", "--json"))


def test_a_lexicon_stands_alone_or_adds_to_the_bundled_one(hinter: Hinter, work: Path) -> None:
    assert planned(hinter("plan", *VADER, "--lexicon", "own.toml", "--json")) == 2
    done = hinter("run", *VADER, "--lexicon", "+own.toml", "--max-pairs", "1", "--json")
    assert json.loads(done.stdout)["attributes"] == ["race", "gender", "body", "religion"]
    (work / "c.toml").write_text('[hinter]\nlexicon = ["+own.toml"]\nattributes = "gender, religion"\n')
    done = hinter("run", "c.toml", *VADER, "--max-pairs", "1", "--json")
    assert json.loads(done.stdout)["attributes"] == ["gender", "religion"]


def test_a_task_file_runs_as_it_is(hinter: Hinter, work: Path) -> None:
    """Its prompt and its sample are beside it, also where the command is run elsewhere."""
    tasks = work / "tasks"
    tasks.mkdir()
    (tasks / "spam.py").write_text(TASK, encoding="utf-8")
    (tasks / "spam.toml").write_text(
        "system = 'You sort mail.'\nquestion = 'Ham or spam?'\n", encoding="utf-8"
    )
    (tasks / "mails.csv").write_text("text,label\nThe British man won a prize.,Spam\n", encoding="utf-8")
    (work / "model.py").write_text("def answer(text):\n    return 'Spam' if 'woman' in text else 'Ham'\n")
    assert "You sort mail." in hinter("tasks", "./tasks/spam.py").stdout
    command = (
        "run",
        "--task",
        "./tasks/spam.py",
        "--model",
        "python:model:answer",
        "--parser",
        "none",
        "--json",
    )
    done = hinter(*command, "--workers", "2", "--out", "r")
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert (figures["task"], figures["documents"]["read"]) == ("spam", 1)
    assert hinter(*command, "--out", "r").returncode == 0
    (tasks / "spam.py").write_text(TASK + "\n# another\n", encoding="utf-8")
    done = hinter(*command, "--out", "r")
    assert done.returncode == 2
    assert "other settings" in done.stderr


def test_a_mistyped_command_is_asked_about(hinter: Hinter) -> None:
    done = hinter("comprae")
    assert done.returncode == 2
    assert "hinter: No such command 'comprae'. Did you mean 'compare'" in done.stderr
