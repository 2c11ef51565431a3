"""What the pages under docs/ say is what the code does."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from harness.suites import lexicon
from tests.packages import install

DOCS = Path(__file__).parents[1] / "docs"
FENCE = re.compile(r"```(?P<language>\w+)\n(?P<code>.*?)```", re.DOTALL)


def blocks(page: str, language: str) -> list[str]:
    """The fenced blocks of a page that are in ``language``, in order."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return [block["code"] for block in FENCE.finditer(text) if block["language"] == language]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with texts and, in ``packages``, the packages of docs/extending.md."""
    (tmp_path / "texts.csv").write_text(
        "text,label\nA great film.,Positive\nA sad film.,Negative\n", encoding="utf-8"
    )
    (tmp_path / "packages").mkdir()
    for code, point in zip(
        blocks("extending.md", "python")[1:], ("suites:typos", "models:echo"), strict=True
    ):
        name = code.split("\n")[0].removeprefix("# ").removesuffix(".py")
        install(tmp_path / "packages", name, code, {f"harness.{point}": point.partition("s:")[0]})
    return tmp_path


def hinter(place: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(place / "packages")}
    command = [sys.executable, "-W", "error", "-m", "harness", *arguments]
    return subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, timeout=120)


def test_the_suite_and_the_model_of_the_page_run_together(place: Path) -> None:
    asked = (
        "--suite",
        "typos",
        "--letters",
        "2",
        "--versions",
        "3",
        "--model",
        "echo:loud",
        "--answer",
        "Negative",
    )
    done = hinter(place, "run", "--data", "texts.csv", *asked, "--json")
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert (summary["suite"], summary["model"]) == ("typos", "echo:loud")
    assert summary["cases"]["valid"] == 6
    assert summary["accuracy"]["correct"] == 1
    (row,) = summary["results"]
    assert (row["attributes"], row["tests"], row["biased"]) == (["typo"], 6, 0)


def test_they_take_their_sections_of_a_configuration(place: Path) -> None:
    settings = (
        'suite = "typos"\n[documents]\npath = "texts.csv"\n[typos]\nversions = 1\n'
        '[model]\nname = "echo:loud"\n[model.echo]\nanswer = "Negative"\n'
    )
    (place / "demo.toml").write_text(settings, encoding="utf-8")
    done = hinter(place, "plan", "demo.toml", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["generated"] == 2


def test_both_packages_are_at_most_60_lines_together() -> None:
    written = [
        line for code in blocks("extending.md", "python")[1:] for line in code.splitlines() if line.strip()
    ]
    assert len(written) <= 60


def test_the_task_of_the_page_runs_as_a_file(place: Path) -> None:
    task, prompt = blocks("extending.md", "python")[0], blocks("extending.md", "toml")[0]
    (place / "spam.py").write_text(task, encoding="utf-8")
    (place / "spam.toml").write_text(prompt, encoding="utf-8")
    (place / "mail.csv").write_text("text,label\nThe old man won.,Spam\n", encoding="utf-8")
    done = hinter(place, "tasks", "./spam.py", "--data", "mail.csv")
    assert done.returncode == 0, done.stderr
    assert "Answer with one of: Spam" in done.stdout


def test_the_lexicon_of_the_page_loads() -> None:
    (example,) = (block for block in blocks("lexicons.md", "toml") if "attribute.politics" in block)
    politics = lexicon.parse(example).attributes["politics"]
    assert "Labour voter" in politics.targets["Tory voter"]
    assert "conservatives" not in politics.targets["liberal"]


def test_the_page_names_every_bundled_attribute_with_its_words() -> None:
    page = (DOCS / "lexicons.md").read_text(encoding="utf-8")
    for attribute in lexicon.load().attributes.values():
        assert re.search(rf"\| `{attribute.name}` \|.*\| {len(attribute.words)} \|", page), attribute.name


def test_the_reference_is_what_the_code_gives() -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(DOCS)!r}); import generate; print(generate.reference(), end='')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout == (DOCS / "reference.md").read_text(encoding="utf-8"), "run python docs/generate.py"


def test_links_between_pages_lead_somewhere() -> None:
    for page in [*DOCS.glob("*.md"), DOCS.parent / "README.md"]:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
