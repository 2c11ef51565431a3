"""Every command that a page shows runs here, or is parsed here and runs in a test that is named.

A page's commands run in order in one folder with a few small texts, in this process. Models at addresses are
played by a server on this machine; all else of a command is as it stands.
"""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import pytest

from harness.cli import app
from tests.commands import called
from tests.pages import DOCS, PAGES, ROOT, blocks, commands, split
from tests.servers import Answer, Endpoint, completion, serve

TEXTS = ("A British waiter won and she was glad.", "A young woman left.", "The old king wept.")
LABELLED = ("negative", "neutral", "positive")
SENTENCES = ("I hate this seat.", "I love this crew.", "The film is not bad.", "It was a very good trip.")
FILES: Mapping[str, str] = {
    "reviews.csv": "text,label\n" + "".join(f"{text},Positive\n" for text in TEXTS),
    "mine.csv": "text\n" + "\n".join(TEXTS),
    "messages.csv": "text,label\n" + "".join(f"{text},Spam\n" for text in TEXTS),
    "mails.csv": "v1,v2\n" + "".join(f"Spam,{text}\n" for text in TEXTS),
    "mail.csv": "body,team\n" + "".join(f"{text},Billing\n" for text in TEXTS),
    "complaints.csv": "body,urgency\n" + "".join(f"{text},low\n" for text in TEXTS),
    "sentences.csv": "text,label\n"
    + "".join(f"{text},{LABELLED[n % 3]}\n" for n, text in enumerate(SENTENCES)),
    "my_module.py": "def my_function(text):\n    return 'Negative' if 'she' in text else 'Positive'\n",
}
LABELS = ("Positive", "Spam", "Billing", "right", "low")
"""What the server answers: the first of these that the question names, else a number."""

NOT_HERE: Mapping[str, str] = {
    r"(pip|python -m venv|\. \.venv|ruff|mypy|pytest)\b.*": ".ci/run installs the package and runs these",
    r"head\b.*": "shows the lines of another command",
    r"vllm run-batch .*": "another program",
    r"hinter import-batch .*": "reads what vLLM has answered: tests/audit/test_batching.py",
    r"hinter run .*--batch": "needs a server with a batch API: tests/audit/test_batching.py",
    r"hinter run .*vllm(:|\.toml).*": "needs vLLM: tests/models/test_vllm.py",
    r"hinter coverage .*": "needs a classifier and an extra: tests/studies/test_coverage.py",
    r"hinter run .*transformers:.*": "needs weights and an extra: tests/models/test_transformers.py",
    r"hinter compare runs/first .*": "needs two classifiers: tests/studies/test_encoders.py",
    r"hinter run .*--dataset .*": "reads the hub: tests/documents/test_documents.py",
    r"hinter .*--workers 8": "starts eight processes: tests/audit/test_generation.py",
    r"hinter generate .*--engine ray.*": "needs Ray: tests/audit/test_generation.py",
    r"hinter fluency .*": "needs a model that scores texts: tests/studies/test_fluency.py",
    r"hinter review .*": "people fill in the sheet in between: tests/studies/test_review.py",
    r"hinter view.*": "serves until Ctrl-C: tests/view/test_view.py",
    r"hinter run .*inspect:.*": "needs an extra and an account: tests/models/test_inspect.py",
    r"hinter guard .*": "serves until it is told to end: tests/guard/test_server.py",
    r"(uvicorn|curl) .*": "the service of a page, which serves: tests/guard/test_service.py",
    r"docker .*": "needs Docker",
    r"nice python benchmarks/.*": "takes an hour, and a package of its own",
    r"hinter run .*(--suite typos|echo:loud).*": "needs the page's packages: tests/test_docs.py",
}
UNKNOWN_HERE = r"hinter run .*(--suite typos|echo:loud).*"
"""Commands with options of packages that are not installed here, which not even the parser knows."""

SETTINGS = sorted((ROOT / "configs").glob("*.toml"))
PLACES = [page for page in PAGES if page.name != "tutorial.md" and any(commands(page))]


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    with serve(lambda body, number: reply(json.dumps(body["messages"]))) as running:
        yield running


def reply(asked: str) -> Answer:
    return completion(next((label for label in LABELS if label in asked), "7"))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that pages name, with the content that a page shows, and a finished run."""
    folder = tmp_path_factory.mktemp("reader")
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    shutil.copytree(ROOT / "configs", folder / "configs")
    (folder / "tests.jsonl").write_text(blocks(DOCS / "checklist.md", "json")[0].code, encoding="utf-8")
    (folder / "tests.txt").write_text(blocks(DOCS / "checklist.md", "text")[0].code, encoding="utf-8")
    (folder / "my_templates.txt").write_text(blocks(DOCS / "biasfinder.md", "text")[0].code, encoding="utf-8")
    (folder / "key").write_text("sk-none", encoding="utf-8")
    (folder / "key").chmod(0o600)
    for page in PAGES:
        write_files(page, folder)
    flaw = ("--data", "reviews.csv", "--model", "python:my_module:my_function", "--attributes", "gender")
    done = called(folder, "run", *flaw, "--out", "runs/reviews", "--quiet")
    assert done.returncode == 0, done.stderr
    return folder


def write_files(page: Path, folder: Path) -> None:
    """Save the blocks of ``page`` whose first line names a file."""
    for block in blocks(page):
        if block.file:
            (folder / block.file).write_text(block.code, encoding="utf-8")


@pytest.mark.parametrize("page", PLACES, ids=lambda page: page.name)
def test_the_commands_of_a_page_run(page: Path, place: Path, endpoint: Endpoint) -> None:
    write_files(page, place)
    for words in commands(page):
        run(words, place, endpoint)


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda settings: settings.stem)
def test_a_configuration_runs_by_the_command_in_its_first_line(
    settings: Path, place: Path, endpoint: Endpoint
) -> None:
    first = settings.read_text(encoding="utf-8").splitlines()[0]
    for words in split(first.removeprefix("# ")):
        assert words[0] == "hinter"
        run(words, place, endpoint)


def run(words: Sequence[str], place: Path, endpoint: Endpoint) -> None:
    """Run a command, or parse it where ``NOT_HERE`` says why it is not run."""
    line = " ".join(words)
    if any(re.fullmatch(pattern, line) for pattern in NOT_HERE):
        if words[0] == "hinter" and not re.fullmatch(UNKNOWN_HERE, line):
            parse(words[1:])
        return
    assert words[0] == "hinter", f"no test runs {line}"
    done = called(place, *offline(words[1:], place, endpoint))
    assert done.returncode in ((0, 1, 3) if "--fail-above" in words else (0,)), f"{line}\n{done.stderr}"


def offline(words: Sequence[str], place: Path, endpoint: Endpoint) -> list[str]:
    """Return a command as it runs here.

    Models at an address are at the server's, as is the one that would have to be fetched; a configuration
    without texts has three; words for expansions come from the texts.
    """
    command = [flip(place) if word == "CASE" else word for word in words]
    if command[0] not in ("run", "plan", "generate", "check"):
        return command
    settings = configuration(command, place)
    for address in ("--base-url", "--judge-base-url"):
        if address in command:
            command[command.index(address) + 1] = endpoint.base_url
    if "--base-url" not in command:
        model = option(command, "--model") or settings.get("model", {}).get("name")
        command += [] if model else ["--model", "any"]
        command += (
            [] if model and ":" in model else ["--base-url", endpoint.base_url, "--api-key-file", "key"]
        )
    suite = option(command, "--suite") or settings.get("suite")
    if (
        settings
        and suite != "eec"
        and "--data" not in command
        and "path" not in settings.get("documents", {})
    ):
        command += ["--data", "reviews.csv"]
    quick = ["--suggester", "ngram", "--fit", "none", "--trees", "flat"]
    return command + (quick if suite == "linguistic" else [])


def option(command: Sequence[str], name: str) -> str | None:
    return command[command.index(name) + 1] if name in command else None


def configuration(command: Sequence[str], place: Path) -> dict[str, Any]:
    """Return the configuration that a command names, if any."""
    if command[1:] and command[1].endswith(".toml"):
        return tomllib.loads((place / command[1]).read_text(encoding="utf-8"))
    return {}


def flip(place: Path) -> str:
    """Return the first flip of the finished run."""
    first = called(place, "flips", "runs/reviews", "--json").stdout.splitlines()[0]
    return str(json.loads(first)["case"])


def parse(words: Sequence[str]) -> None:
    """Let click read a command: an option or a command that does not exist is an error."""
    command, arguments = named(words)
    command.make_context(words[0], list(arguments))


def test_what_does_not_run_here_runs_in_a_test_that_there_is() -> None:
    lines = [" ".join(words) for page in PAGES for words in commands(page)]
    for pattern, reason in NOT_HERE.items():
        assert any(re.fullmatch(pattern, line) for line in lines), f"no page shows {pattern}"
        for file in re.findall(r"tests/[\w/]+\.py", reason):
            assert (ROOT / file).is_file(), reason


def test_commands_in_running_text_exist_with_their_options() -> None:
    for page in PAGES:
        for span in re.findall(r"`hinter ([^`]+)`", page.read_text(encoding="utf-8")):
            command, words = named(span.replace("…", "").split())
            options = {
                name for setting in command.params for name in (*setting.opts, *setting.secondary_opts)
            }
            used = {word.partition("=")[0].rstrip(",]") for word in words if word.startswith("--")}
            assert used <= options | {"--help"}, f"{page.name}: hinter {span}"


def named(words: Sequence[str]) -> tuple[click.Command, Sequence[str]]:
    """Return the command that ``words`` begin with, and the rest of them."""
    command: click.Command = app
    context = click.Context(app)
    while isinstance(command, click.Group) and words and re.fullmatch(r"[a-z][\w-]*", words[0]):
        found = command.get_command(context, words[0])
        assert found is not None, f"no command {' '.join(words)}"
        command, words = found, words[1:]
    return command, words


def test_the_python_of_the_api_page_runs(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    (block,) = blocks(DOCS / "api.md", "python")
    exec(block.code, {})
