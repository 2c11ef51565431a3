"""``hinter explain`` of whole runs whose replies are known: what the run read is what is explained."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

from harness import config
from harness.audit import pipeline
from harness.cli import app
from harness.folder import RunFolder
from harness.report import explained
from harness.report.explained import Settings
from harness.studies.explaining.run import explain

MODEL = '''
from harness.core import Reply, Token

def listing(request):
    """Listed beside the answer: its rival, and a spelling of the rival that the constraint forbids."""
    waitress = "waitress" in request.text
    text, rival = ("Negative", "Positive") if waitress else ("Positive", "Negative")
    top = ((text, -0.7), (rival, -1.4), (rival.lower(), -0.1))
    return Reply(text, logprobs=(Token(text, -0.7, top),))

def rating(text):
    return f"Score: {0.5 - 0.2 * ('waitress' in text) + 0.1 * ('kind' in text):.2f}"
'''
LEXICON = '[attribute.gender]\npairs = [["waiter", "waitress"]]\n'
TEXT = "It rained. The waiter was kind to us."


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., config.RunConfig]:
    (tmp_path / "scripted_reading_model.py").write_text(MODEL, encoding="utf-8")
    (tmp_path / "lexicon.toml").write_text(LEXICON, encoding="utf-8")
    (tmp_path / "texts.csv").write_text(f"text\n{TEXT}\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)

    def make(**changes: Any) -> config.RunConfig:
        given = {
            "documents.path": str(tmp_path / "texts.csv"),
            "hinter.lexicon": str(tmp_path / "lexicon.toml"),
            "hinter.attributes": "gender",
            "hinter.order": 1,
            "hinter.parser": "none",
            "out": str(tmp_path / "run"),
            "cache": str(tmp_path / "cache.sqlite"),
        }
        return config.load(None, given | {key.replace("__", "."): value for key, value in changes.items()})

    return make


def explanation(configuration: config.RunConfig, **more: Any) -> dict[str, Any]:
    """The one flip of a run, explained, as JSON."""
    asyncio.run(pipeline.run(configuration))
    folder = RunFolder.ended(Path(configuration.out or ""))
    (flip,) = asyncio.run(explain(folder, configuration, Settings(**more))).cases
    return flip.model_dump(mode="json")


def contributions(text: dict[str, Any]) -> dict[str, float]:
    return {word["word"]: word["contribution"] for word in text["words"]}


@pytest.mark.parametrize("method", ["occlusion", "lemna"])
def test_what_a_constraint_forbids_turns_no_sign(
    settings: Callable[..., config.RunConfig], tmp_path: Path, method: str
) -> None:
    configuration = settings(task="imdb", model__name="python:scripted_reading_model:listing")
    case = explanation(configuration, method=method)
    (verdict,) = pl.read_parquet(tmp_path / "run" / "verdicts.parquet").iter_rows(named=True)
    assert (verdict["margin"], verdict["shift"]) == (pytest.approx(0.7), pytest.approx(-1.4))
    own = 1 / (1 + math.exp(-0.7))
    for text in case["texts"]:
        assert text["probability"] == pytest.approx(own)
    original, mutant = case["texts"]
    assert (original["answer"], mutant["answer"]) == (["Positive"], ["Negative"])
    assert (original["compared"], mutant["compared"]) == (["Negative"], ["Positive"])
    assert contributions(mutant)["waitress"] == pytest.approx(1.4, abs=0.1)
    assert [mutant["words"][unit]["word"] for unit in mutant["kept"]["units"]] == ["waitress"]
    assert mutant["kept"]["probability"] == pytest.approx(own)


def test_a_flip_of_scores_is_explained_by_the_score(settings: Callable[..., config.RunConfig]) -> None:
    case = explanation(settings(task="valence", model__name="python:scripted_reading_model:rating"))
    assert (case["status"], case["words_of"]) == ("complete", "part")
    assert case["shrunk"]["answers"] == [0.6, 0.4]
    assert case["shrunk"]["mutant"] == "The waitress was kind to us."
    original, mutant = case["texts"]
    assert (original["answer"], original["compared"]) == (0.6, 0.4)
    assert [original["words"][unit]["word"] for unit in original["kept"]["units"]] == ["kind"]
    assert {text["measure"] for text in case["texts"]} == {"rating"}
    assert contributions(original) == pytest.approx(
        {"The": 0.0, "waiter": 0.0, "was": 0.0, "kind": 0.1, "to": 0.0, "us.": 0.0}
    )
    assert contributions(mutant)["waitress"] == pytest.approx(-0.2)
    assert contributions(mutant)["kind"] == pytest.approx(0.1)
    assert [mutant["words"][unit]["word"] for unit in mutant["kept"]["units"]] == ["waitress"]
    assert (mutant["kept"]["probability"], mutant["kept"]["score"]) == (None, pytest.approx(0.3))
    lines = "\n".join(explained.lines(explained.Flip.model_validate(case)))
    assert "0.4: The waitress was kind to us." in lines
    assert "keep it: … waitress … (score 0.3, below 0.5)" in lines
    assert "keep it: … kind … (score 0.6, above 0.5)" in lines


def test_the_report_and_the_check_show_a_flip_of_scores(
    settings: Callable[..., config.RunConfig], tmp_path: Path
) -> None:
    configuration = settings(task="valence", model__name="python:scripted_reading_model:rating")
    asyncio.run(pipeline.run(configuration))
    done = CliRunner().invoke(app, ["explain", str(tmp_path / "run")])
    assert (done.exit_code, "gone" in done.stdout) == (0, False)
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert explained.UNITS["rating"] in page
    line = ["check", TEXT, "--explain", "--task", "valence", "--attributes", "gender", "--order", "1"]
    line += ["--model", "python:scripted_reading_model:rating", "--cache", str(tmp_path / "cache.sqlite")]
    line += ["--lexicon", str(tmp_path / "lexicon.toml"), "--parser", "none", "--json"]
    (biased,) = [row for row in json.loads(CliRunner().invoke(app, line).stdout) if "explanation" in row]
    assert biased["answer"] == "0.4"
    assert biased["explanation"]["shrunk"]["answers"] == [0.6, 0.4]
    for text, other in zip(biased["explanation"]["texts"], explanation(configuration)["texts"], strict=True):
        assert {**text, "case": None} == {**other, "case": None}
