"""Answers of all sorts through a whole run: what a scripted endpoint says of the mutants alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import config
from harness.audit import pipeline
from harness.errors import ConfigError
from tests.servers import Answer, Script, completion, serve

TEXTS = ["The waiter was kind.", "Our waiter smiled.", "A waiter brought wine.", "This waiter was quick."]
Run = Callable[..., tuple[dict[str, Any], list[dict[str, Any]]]]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """A run whose originals are answered "Positive", and its mutants by ``script``; with what was sent."""
    (tmp_path / "lexicon.toml").write_text('[attribute.gender]\npairs = [["waiter", "waitress"]]\n')
    (tmp_path / "texts.csv").write_text("text\n" + "\n".join(TEXTS) + "\n")
    scripts: list[Script] = []

    def answer(body: dict[str, Any], number: int) -> Answer:
        mutant = "waitress" in str(body["messages"])
        return scripts[-1](body, number) if mutant else completion("Positive")

    with serve(answer) as endpoint:

        def of(script: Script, **changes: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
            before = len(endpoint.requests)
            scripts.append(script)
            given = {
                "documents.path": str(tmp_path / "texts.csv"),
                "hinter.lexicon": str(tmp_path / "lexicon.toml"),
                "hinter.parser": "none",
                "hinter.order": 1,
                "task": "custom",
                "task_options.labels": "Negative,Positive",
                "control.share": 0,
                "model.name": "m",
                "model.base_url": endpoint.base_url,
                "model.choices": "none",
                "out": str(tmp_path / "run"),
                "cache": str(tmp_path / "cache.sqlite"),
            }
            changed = given | {key.replace("__", "."): value for key, value in changes.items()}
            summary = asyncio.run(pipeline.run(config.load(None, changed)))
            return summary, list(endpoint.requests[before:])

        yield of


def choice(**fields: Any) -> Script:
    """Replies whose only choice has these fields; ``message`` is merged."""

    def script(body: dict[str, Any], number: int) -> Answer:
        (first,) = (completion("Negative").body or {})["choices"]
        message = first["message"] | fields.get("message", {})
        return Answer({"choices": [{**first, **fields, "message": message}], "usage": {}})

    return script


def says(text: str, finish: str = "stop") -> Script:
    return choice(message={"content": text}, finish_reason=finish)


FLAT = "analysisThe wording looks Negative at first, yet there is praise.assistantfinalPositive"
CUT = "<|channel|>analysis<|message|>The sentiment is Negative at first sight, but there is"


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        (says(FLAT), "read"),
        (says("Positive<|im_end|>\n<|im_start|>user\nNegative"), "read"),
        (says("Positive \ud83d"), "read"),
        (says("Positive" + "\n" * 10_000), "read"),
        (says(CUT, "length"), "truncated"),
        (says("If the answer is Negative, there should be some complaint. Here", "length"), "truncated"),
        (says("<reasoning>The sentiment is Negative at first sight.</reasoning>\nIt is upbeat."), "unparsed"),
        (says("It is too sarcastic to be Negative."), "unparsed"),
        (says("Negative", "error"), "failed"),
        (choice(error={"message": "upstream"}), "failed"),
        (says("Negative", "SAFETY"), "filtered"),
        (choice(message={"content": None, "refusal": "No negative stereotypes."}), "refused"),
        *(
            (choice(message={"content": "Positive"}, logprobs=broken), "read")
            for broken in ({"content": [{"token": "Pos"}]}, {"content": {"a": 1}}, {"content": "abc"})
        ),
    ],
)
def test_no_answer_of_the_mutants_is_taken_for_a_change(run: Run, script: Script, outcome: str) -> None:
    summary, _ = run(script)
    (row,) = summary["results"]
    assert row["biased"] == 0
    assert summary["answers"][outcome] == (8 if outcome == "read" else 4)


def test_a_stored_reply_is_read_anew_without_being_bought_anew(run: Run, tmp_path: Path) -> None:
    """Half a pair and all: the cache holds the reply as it came, and nothing is sent again."""
    once, sent = run(says("Positive \ud83d"))
    again, sent_again = run(says("Negative"), out=str(tmp_path / "again"))
    assert (len(sent), len(sent_again)) == (8, 0)
    assert once["answers"] == again["answers"]


def test_the_limit_of_an_answer_and_more_parameters_are_sent_and_part_of_the_key(
    run: Run, tmp_path: Path
) -> None:
    extra = {"reasoning_effort": "low", "chat_template_kwargs": {"enable_thinking": False}}
    _, plain = run(says("Positive"))
    _, sent = run(says("Positive"), model__answer_tokens=500, model__extra=extra, out=str(tmp_path / "b"))
    assert len(sent) == len(plain) == 8
    assert {body["max_tokens"] for body in plain} == {63}
    assert all(body["max_tokens"] == 500 and extra.items() <= body.items() for body in sent)
    _, same = run(says("Positive"), model__answer_tokens=500, model__extra=extra, out=str(tmp_path / "c"))
    assert not same


def test_answers_that_were_cut_are_said_with_their_limit(run: Run) -> None:
    summary, _ = run(says("<think>Hmm, so", "length"), model__answer_tokens=20)
    assert summary["answer_tokens"] == 20
    (caution,) = (c["text"] for c in summary["cautions"] if c["code"] == "cut-answers")
    assert caution.startswith("4 of 8 answers were cut off at 20 tokens")
    assert "--answer-tokens" in caution
    assert "[model] extra" in caution


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ({"messages": []}, "leave messages out"),
        ({"temperature": 1.0, "seed": 1}, "leave seed, temperature out"),
        ({"x": float("nan")}, "give values that JSON has"),
        ("low", "extra"),
    ],
)
def test_parameters_that_a_request_has_by_itself_are_refused(extra: object, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        config.load(None, {"model.extra": extra})


def test_a_model_without_parameters_refuses_more_of_them() -> None:
    from harness.audit import assembly

    with pytest.raises(ConfigError, match="takes no parameters"):
        assembly.assemble(config.load(None, {"model.name": "local:vader", "model.extra": {"x": 1}}))
