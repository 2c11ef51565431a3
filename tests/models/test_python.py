"""A user's own function as the system under test."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import harness
from harness.core import Failure, Message, Reply, Request
from harness.errors import ModelError
from harness.models import python
from harness.models.python import FunctionModel

REQUEST = Request({}, (Message("system", "s"), Message("user", "the text, asked")), {}, text="the text")


def ask(model: FunctionModel) -> Reply | Failure:
    return asyncio.run(model.answer(REQUEST))


def by_request(request: Request) -> str:
    return request.text


def by_messages(messages: list[dict[str, str]]) -> str:
    return messages[0]["content"]


def by_prompt(prompt: str) -> str:
    return prompt


async def by_text(text: str) -> Reply:
    await asyncio.sleep(0)
    return Reply(text.upper())


@pytest.mark.parametrize(
    ("given", "answer"),
    [(by_request, "the text"), (by_messages, "s"), (by_prompt, "the text, asked"), (by_text, "THE TEXT")],
)
def test_the_parameter_says_what_the_function_is_given(given: Any, answer: str) -> None:
    reply = ask(FunctionModel("python:x", given))
    assert isinstance(reply, Reply)
    assert reply.text == answer


def test_a_function_that_raises_is_data() -> None:
    def broken(text: str) -> str:
        raise ValueError("out of words")

    assert ask(FunctionModel("python:x", broken)) == Failure("failed", "ValueError: out of words")


def test_a_function_of_the_wrong_kind_is_an_error() -> None:
    def number(text: str) -> int:
        return 1

    with pytest.raises(ModelError, match="returned int"):
        ask(FunctionModel("python:x", number))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("json", "package.module:function"),
        ("no_such_module:f", "no_such_module"),
        ("json:no_such", "has no 'no_such'"),
        ("json:__name__", "not a function"),
    ],
)
def test_what_cannot_be_loaded(path: str, says: str) -> None:
    with pytest.raises(ModelError, match=says):
        python.load(path)


def test_edited_code_is_another_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "mine_a.py").write_text("def f(text):\n    return 'a'\n")
    (tmp_path / "mine_b.py").write_text("def f(text):\n    return 'b'\n")
    one, other = python.load("mine_a:f"), python.load("mine_b:f")
    assert one.identity["source"] != other.identity["source"]


def test_the_working_folder_is_searched_last_and_what_stands_in_is_named(tmp_path: Path) -> None:
    (tmp_path / "polars.py").write_text("raise SystemExit('the wrong one')\n", encoding="utf-8")
    (tmp_path / "statistics.py").write_text("def mean(text): return 'x'\n", encoding="utf-8")
    (tmp_path / "mine.py").write_text("def answer(text): return 'Positive'\n", encoding="utf-8")
    code = (
        "import sys; from harness.models import python\n"
        "print(python.load('mine:answer').name); import polars; print(polars.__version__)\n"
        "python.load('statistics:mean')"
    )
    root = Path(harness.__file__).parent.parent
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.stdout.splitlines()[0] == "python:mine:answer"
    assert "the wrong one" not in done.stderr
    assert len(done.stdout.splitlines()) == 2
    assert "ModelError: python:statistics:mean: statistics is " in done.stderr
    assert "not statistics.py of this folder: give your module another name" in done.stderr
