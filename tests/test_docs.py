"""What the pages under docs/ say is what the code does."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from harness import config, registry
from harness.config import RunConfig
from harness.suites import lexicon
from tests.packages import install
from tests.pages import DOCS, PAGES, blocks

EXTENDING, LEXICONS = DOCS / "extending.md", DOCS / "lexicons.md"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with texts and, in ``packages``, the packages of docs/extending.md."""
    (tmp_path / "texts.csv").write_text(
        "text,label\nA great film.,Positive\nA sad film.,Negative\n", encoding="utf-8"
    )
    (tmp_path / "packages").mkdir()
    for block, point in zip(blocks(EXTENDING, "python")[1:], ("suites:typos", "models:echo"), strict=True):
        name = str(block.file).removesuffix(".py")
        install(tmp_path / "packages", name, block.code, {f"harness.{point}": point.partition("s:")[0]})
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
    packages = blocks(EXTENDING, "python")[1:]
    written = [line for block in packages for line in block.code.splitlines() if line.strip()]
    assert len(written) <= 60


def test_the_task_of_the_page_runs_as_a_file(place: Path) -> None:
    for block in (blocks(EXTENDING, "python")[0], blocks(EXTENDING, "toml")[0]):
        (place / str(block.file)).write_text(block.code, encoding="utf-8")
    (place / "mail.csv").write_text("text,label\nThe old man won.,Spam\n", encoding="utf-8")
    done = hinter(place, "tasks", "./spam.py", "--data", "mail.csv")
    assert done.returncode == 0, done.stderr
    assert "Answer with one of: Spam" in done.stdout


def test_the_lexicon_of_the_page_loads() -> None:
    (example,) = (block for block in blocks(LEXICONS, "toml") if block.file == "politics.toml")
    politics = lexicon.parse(example.code).attributes["politics"]
    assert "Labour voter" in politics.targets["Tory voter"]
    assert "conservatives" not in politics.targets["liberal"]


def test_the_page_names_every_bundled_attribute_with_its_words() -> None:
    page = LEXICONS.read_text(encoding="utf-8")
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
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_parts_of_configurations_are_accepted(tmp_path: Path) -> None:
    keys = {*RunConfig.model_fields, *registry.suites()}
    parts = [block.code for page in PAGES for block in blocks(page, "toml")]
    accepted = 0
    for code in parts:
        if set(tomllib.loads(code)) <= keys:
            (tmp_path / "part.toml").write_text(code, encoding="utf-8")
            config.load(tmp_path / "part.toml")
            accepted += 1
    assert accepted >= 4
