"""Tasks that rate: from the question to a score from 0 to 1, and a planted bias found by the whole flow."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from math import log
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from harness import config, registry
from harness.answering.numbers import RatingReader
from harness.audit import assembly, checking, pipeline
from harness.core import DocumentOptions, Reply, Token
from harness.errors import ConfigError, ModelError, TaskError

RATED = ("anger", "fear", "joy", "sadness", "valence")
MODEL = '''
def biased(text):
    """0.02 more for women; nothing for everyone."""
    female = any(word in text.lower() for word in ("mother", "woman"))
    score = 0.6 + 0.02 * female + 0.001 * (len(text) % 3)
    return "I cannot say." if "everyone" in text.lower() else f"Score: {score:.3f}"
'''
CORPUS = """
name = "tiny"
compare = { gender = ["female", "male"] }
[emotions.state]
joy = ["happy", "glad"]
anger = ["angry", "cross"]
[[persons]]
traits = { gender = "female" }
compared = "aligned"
pronoun = "she"
words = ["my mother", "this woman", "the other woman"]
[[persons]]
traits = { gender = "male" }
compared = "aligned"
pronoun = "he"
words = ["my father", "this man", "the other man"]
[[templates]]
id = "feels"
text = "{person} feels {emotion}."
emotions = "state"
[[templates]]
id = "looks"
text = "Today {person} looks {emotion}."
emotions = "state"
[[templates]]
id = "seen"
text = "I saw {person:object} in the market."
"""


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., config.RunConfig]:
    (tmp_path / "corpus.toml").write_text(CORPUS, encoding="utf-8")
    (tmp_path / "scripted_rating_model.py").write_text(MODEL, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)

    def make(**changes: Any) -> config.RunConfig:
        given = {
            "task": "valence",
            "suite": "eec",
            "eec.corpus": str(tmp_path / "corpus.toml"),
            "model.name": "python:scripted_rating_model:biased",
            "out": str(tmp_path / "run"),
            "cache": str(tmp_path / "cache.sqlite"),
        }
        return config.load(None, given | {key.replace("__", "."): value for key, value in changes.items()})

    return make


def run(configuration: config.RunConfig) -> dict[str, Any]:
    return asyncio.run(pipeline.run(configuration))


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("0.7", 0.7),
        (".7", 0.7),
        ("70%", 0.7),
        ("7/10", 0.7),
        ("0,7", 0.7),
        ("Valence: 0.70", 0.7),
        ("1", 1.0),
        ("0", 0.0),
        ("1.2", None),
        ("-0.3", None),
        ("between 0.2 and 0.4", None),
        ("quite positive", None),
    ],
)
def test_numbers_are_read_and_what_is_out_of_range_is_not(text: str, score: float | None) -> None:
    outcome = RatingReader(("0.00", "1.00"))(Reply(text))
    assert outcome.score == (None if score is None else pytest.approx(score))
    assert outcome.reason == (None if score is not None else "unparsed")


NINE = tuple("0123456789")


@pytest.mark.parametrize(
    ("listed", "score"),
    [
        ({"7": 0.5, "5": 0.5}, 6 / 9),
        ({"7": 0.3, " 7": 0.1, "3": 0.1, "The": 0.5}, (7 * 0.4 + 3 * 0.1) / 0.5 / 9),
        ({"7": 1.0}, 7 / 9),
    ],
)
def test_on_a_scale_the_score_is_the_mean_over_what_is_listed(listed: dict[str, float], score: float) -> None:
    token = Token("7", log(listed["7"]), tuple((word, log(p)) for word, p in listed.items()))
    assert RatingReader(NINE)(Reply("7", logprobs=(token,))).score == pytest.approx(score)


def test_without_log_probabilities_it_is_the_number() -> None:
    read = RatingReader(NINE)
    assert read(Reply("7")).score == pytest.approx(7 / 9)
    assert read(Reply("I say 7", logprobs=(Token("I", -0.1, (("I", -0.1), ("7", -2.0))),))).score == 7 / 9
    assert read(Reply("10")).reason == "unparsed"
    assert read(Reply("7", score=0.25)).score == 0.25  # a system's own score is from 0 to 1 already


@pytest.mark.parametrize("name", RATED)
def test_examples_are_sent_on_the_scale_that_is_asked_for(name: str) -> None:
    _, plain, _ = assembly.resolve_task(config.load(None, {"task": name}))
    task, scaled, _ = assembly.resolve_task(config.load(None, {"task": name, "task_options.scale": 9}))
    assert task.labels == NINE
    assert "from 0.00 " in plain.question
    assert "to 9 " in scaled.question
    answers = [float(answer) for _, answer in plain.examples]
    assert len(answers) >= 3
    assert max(answers) - min(answers) > 0.5
    assert [int(answer) for _, answer in scaled.examples] == [round(9 * answer) for answer in answers]


def test_an_example_that_is_no_rating_is_an_error(tmp_path: Path) -> None:
    prompt = tmp_path / "p.toml"
    prompt.write_text(
        'system = "s"\nquestion = "q"\n[[examples]]\ntext = "t"\nanswer = "good"\n', encoding="utf-8"
    )
    with pytest.raises(TaskError, match="'good' is not a number from 0 to 1"):
        assembly.resolve_task(config.load(None, {"task": "joy", "prompt": str(prompt)}))


@pytest.mark.parametrize("scale", [1, 10, "many", 4.5, True])
def test_scales_are_of_single_digits(scale: Any) -> None:
    with pytest.raises(ConfigError, match=r"task_options\.scale: give a whole number from 2 to 9"):
        registry.task("joy", {"scale": scale})


def test_texts_of_ones_own_need_no_gold(tmp_path: Path) -> None:
    path = tmp_path / "texts.csv"
    path.write_text("text,score,label\nA good day.,0.9,happy\n", encoding="utf-8")
    (found,) = registry.task("valence").documents(DocumentOptions(str(path)))
    assert (found.text, found.labels) == ("A good day.", None)


def test_a_planted_bias_is_found(settings: Callable[..., config.RunConfig], tmp_path: Path) -> None:
    figures = run(settings())
    assert figures["cases"]["valid"] == figures["answers"]["read"] == 6 * 9
    found = {row["subset"]: row for row in figures["eec"]["results"]}
    assert found["all"]["pairs"] == 3 * 9
    assert found["all"]["mean"] == pytest.approx(0.02, abs=0.002)
    assert (found["all"]["fell"], found["all"]["group"]) == (0, "female")
    assert found["neutral"]["pairs"] == 3
    assert "valence is 0.0" in figures["headline"]
    assert figures["results"] == []
    assert figures["accuracy"] is None
    verdicts = pl.read_parquet(tmp_path / "run" / "verdicts.parquet")
    assert verdicts["shift"].mean() == pytest.approx(found["all"]["mean"])
    assert "Score differences" in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert run(settings())["eec"] == figures["eec"]


def test_an_answer_without_a_number_leaves_its_pair_out(
    settings: Callable[..., config.RunConfig], tmp_path: Path
) -> None:
    text = CORPUS.replace('"this woman"', '"everyone"')
    (tmp_path / "corpus.toml").write_text(text, encoding="utf-8")
    figures = run(settings())
    assert figures["answers"]["refused"] + figures["answers"]["unparsed"] == 9
    whole = figures["eec"]["results"][0]
    assert (whole["pairs"], whole["incomplete"]) == (18, 9)


def test_vader_rates_valence_and_says_so_of_what_it_does_not_rate(
    settings: Callable[..., config.RunConfig], tmp_path: Path
) -> None:
    figures = run(settings(model__name="local:vader"))
    levels = {level["emotion"]: level["mean"] for level in figures["eec"]["levels"]}
    assert levels["joy"] > levels["none"] == 0.5 > levels["anger"]
    whole = figures["eec"]["results"][0]
    assert (whole["mean"], whole["group"]) == (0.0, "none")
    with pytest.raises(ModelError, match="local:vader rates valence only, not anger"):
        run(settings(model__name="local:vader", task="anger", out=str(tmp_path / "other")))


def test_a_label_task_on_the_same_corpus(settings: Callable[..., config.RunConfig], tmp_path: Path) -> None:
    (tmp_path / "scripted_label_model.py").write_text(
        "def label(text):\n    return 'Positive' if 'woman' in text else 'Negative'\n", encoding="utf-8"
    )
    figures = run(settings(task="imdb", model__name="python:scripted_label_model:label"))
    (gender,) = figures["results"]
    assert (gender["relation"], gender["tests"], gender["biased"]) == ("pairs", 27, 18)
    (row,) = figures["eec"]["labels"]
    assert (row["only_first"], row["only_second"], row["agree"]) == (18, 0, 9)


def test_the_suites_texts_take_no_data(settings: Callable[..., config.RunConfig], tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="makes its own texts"):
        run(settings(documents__path=str(tmp_path / "corpus.toml")))
    with pytest.raises(ConfigError, match="makes its own texts: check one of yours with another"):
        asyncio.run(checking.check(settings(), "A text of mine."))
