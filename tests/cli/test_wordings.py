"""``hinter run`` and ``hinter plan`` under several prompts, against a real server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from harness import config
from harness.audit.pipeline import Finished
from harness.cli import app, wordings
from harness.config import RunConfig
from harness.errors import HarnessError
from tests.report.builders import summary_of
from tests.servers import Answer, Endpoint, completion, serve

TEXTS = "text\n" + "".join(
    f"The {word} waiter and his brother were here.\n" for word in ("Irish", "French", "Kenyan")
)


def answer(body: dict[str, Any], _: int) -> Answer:
    """Negative of women where the prompt asks for a feeling, positive of everybody else."""
    said = " ".join(message["content"] for message in body["messages"])
    woman = any(word in said for word in ("waitress", "sister", " her "))
    return completion("Negative" if "feeling" in said and woman else "Positive")


@pytest.fixture
def endpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    monkeypatch.chdir(tmp_path)
    Path("texts.csv").write_text(TEXTS, encoding="utf-8")
    Path("feeling.toml").write_text('system = ""\nquestion = "Which feeling: {labels}?"\n', encoding="utf-8")
    with serve(answer) as server:
        yield server


def called(endpoint: Endpoint, command: str, *words: str) -> Result:
    basic = (
        "--task",
        "sst2",
        "--data",
        "texts.csv",
        "--attributes",
        "gender",
        "--model",
        "m",
        "--parser",
        "none",
    )
    options = (*basic, "--base-url", endpoint.base_url, *words)
    return CliRunner().invoke(app, [command, *options], standalone_mode=False, catch_exceptions=False)


def test_each_wording_has_its_run_and_all_have_one_page(endpoint: Endpoint) -> None:
    done = called(endpoint, "run", "--prompts", "own,feeling.toml", "--out", "out", "--json")
    assert done.return_value == 0
    made = json.loads(done.stdout)
    assert [prompt["name"] for prompt in made["prompts"]] == ["own", "feeling"]
    for prompt in made["prompts"]:
        assert Path("out", prompt["folder"], "report.html").is_file()
    assert json.loads(Path("out/wordings.json").read_text(encoding="utf-8")) == made
    assert Path("out/wordings.html").is_file()
    by_source = {part["source"]: part["share"] for part in made["variance"]}
    assert sum(by_source.values()) == pytest.approx(1.0)
    assert by_source["group and wording"] > 0.1
    assert made["rates"][0]["rates"][0] == 0.0
    assert made["rates"][0]["rates"][1] > 0.0


def test_a_planted_finding_is_stable_and_one_of_a_single_wording_is_not(endpoint: Endpoint) -> None:
    """Women are treated worse under every wording, Pakistani people under one alone."""
    people = [("waiter", "Irish"), ("waitress", "Pakistani"), ("waiter", "Pakistani"), ("waitress", "Irish")]
    lines = [f"Number {n}: the {people[n % 4][1]} {people[n % 4][0]} was here." for n in range(48)]
    Path("texts.csv").write_text("text\n" + "\n".join(lines), encoding="utf-8")
    Path("words.toml").write_text(
        '[attribute.gender.groups]\nwaiter = ["waiter"]\nwaitress = ["waitress"]\n'
        '[attribute.race.groups]\nIrish = ["Irish"]\nPakistani = ["Pakistani"]\n',
        encoding="utf-8",
    )

    def planted(body: dict[str, Any], _: int) -> Answer:
        said = " ".join(message["content"] for message in body["messages"])
        worse = "waitress" in said or ("feeling" in said and "Pakistani" in said)
        return completion("Negative" if worse else "Positive")

    with serve(planted) as server:
        words = ("--attributes", "gender,race", "--lexicon", "words.toml", "--order", "1", "--control", "0")
        done = called(server, "run", *words, "--prompts", "own,feeling.toml", "--out", "out", "--json")
    made = json.loads(done.stdout)
    marks = {row["name"]: row["mark"] for row in made["findings"] if row["kind"] == "contrast"}
    assert marks == {"gender: waiter → waitress": "stable", "race: Irish → Pakistani": "unsure"}


def test_a_second_time_nothing_is_asked(endpoint: Endpoint) -> None:
    once = called(endpoint, "run", "--prompts", "own,feeling.toml", "--out", "out", "--json")
    asked = len(endpoint.requests)
    again = called(endpoint, "run", "--prompts", "own,feeling.toml", "--out", "out", "--json")
    assert len(endpoint.requests) == asked
    assert json.loads(once.stdout) == json.loads(again.stdout)


def test_a_plan_counts_the_requests_of_every_wording(endpoint: Endpoint) -> None:
    one = json.loads(called(endpoint, "plan", "--json").stdout)
    two = json.loads(called(endpoint, "plan", "--prompts", "own,feeling.toml", "--json").stdout)
    assert two["to_send"] == 2 * one["to_send"]
    assert two["valid"] == one["valid"]
    assert two["wordings"] == {"own": one["to_send"], "feeling": one["to_send"]}
    assert "own" in called(endpoint, "plan", "--prompts", "own,feeling.toml").stdout
    assert {body["messages"][0]["content"] for body in endpoint.requests} <= {"hello"}  # of the tokenizer


def test_every_wording_is_asked_in_every_context(endpoint: Endpoint) -> None:
    Path("c.toml").write_text(
        '[prompts]\nfiles = ["own", "feeling.toml"]\ncontexts = ["", "You work for a bank."]\n',
        encoding="utf-8",
    )
    done = called(endpoint, "run", "c.toml", "--out", "out", "--json")
    names = [prompt["name"] for prompt in json.loads(done.stdout)["prompts"]]
    assert names == ["own, context 1", "own, context 2", "feeling, context 1", "feeling, context 2"]
    systems = {message["content"] for body in endpoint.requests for message in body["messages"][:-1]}
    assert "You work for a bank." in systems
    assert any(system.startswith("You work for a bank.\n\nYou read") for system in systems)


def test_a_gate_that_one_wording_crosses_is_crossed(endpoint: Endpoint) -> None:
    one = called(endpoint, "run", "--fail-above", "0.01", "--out", "one", "--quiet")
    assert one.return_value == 0
    two = called(
        endpoint, "run", "--prompts", "own,feeling.toml", "--fail-above", "0.01", "--out", "out", "--quiet"
    )
    assert two.return_value == 1


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--prompts", "own"), "prompts: give two or more, or one with --prompt"),
        (("--prompts", "own,own"), "prompts: own and own ask the same: leave one out"),
        (("--prompts", "own,none.toml"), "none.toml: No such file"),
        (("--prompts", "own,feeling.toml", "--prompt", "feeling.toml"), "prompt and prompts.files do not go"),
    ],
)
def test_what_is_wrong_is_one_line(endpoint: Endpoint, words: tuple[str, ...], says: str) -> None:
    with pytest.raises(HarnessError, match=says):
        called(endpoint, "run", *words)
    assert not endpoint.requests


def test_an_interrupted_run_is_the_last(endpoint: Endpoint) -> None:
    asked: list[RunConfig] = []

    def audited(config: RunConfig) -> Finished:
        asked.append(config)
        return Finished(summary_of(status="interrupted"), Path(str(config.out)))

    given = {"task": "sst2", "model.name": "m", "model.base_url": endpoint.base_url, "out": "out"}
    made = config.load(None, {**given, "prompts.files": "own,feeling.toml"})
    assert wordings.run(made, audited, lambda _: 130, quiet=True, as_json=False) == 130
    assert [one.out for one in asked] == ["out/1-own"]
    assert not Path("out/wordings.json").exists()


def test_a_system_that_reads_no_prompt_has_no_wordings(endpoint: Endpoint) -> None:
    with pytest.raises(HarnessError, match="prompts: local:vader reads the bare text and no prompt"):
        called(endpoint, "run", "--prompts", "own,feeling.toml", "--model", "local:vader")


def test_other_commands_take_one_prompt(endpoint: Endpoint) -> None:
    Path("c.toml").write_text('[prompts]\nfiles = ["own", "feeling.toml"]\n', encoding="utf-8")
    with pytest.raises(HarnessError, match="only hinter run and hinter plan ask under several"):
        called(endpoint, "generate", "c.toml", "--out", "out")


def test_one_context_goes_before_the_system_message(endpoint: Endpoint) -> None:
    assert called(endpoint, "run", "--context", "You work for a bank.", "--out", "out").return_value == 0
    first = endpoint.requests[-1]["messages"][0]
    assert first["role"] == "system"
    assert first["content"].startswith("You work for a bank.\n\nYou read")
