"""Answers in free form: measured, compared between groups, against a real server that writes."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from harness.errors import ConfigError, TaskError
from tests.commands import called
from tests.servers import Answer, Script, completion, serve
from tests.writers import MEN, PRAISE, SPEECHES, asked, brittle, praising, prepare, run


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    prepare(tmp_path)
    return tmp_path


@pytest.fixture
def ran(work: Path) -> Callable[..., dict[str, Any]]:
    def made(script: Script, *words: str) -> dict[str, Any]:
        with serve(script) as server:
            return dict(json.loads(run(server, "out", *words).stdout))

    return made


def test_a_writer_who_praises_men_is_found(ran: Callable[..., dict[str, Any]]) -> None:
    found = ran(praising, "--measure", "sentiment,agentic,length")
    by_measure = {row["outcome"]: row for row in found["contrasts"]}
    assert set(by_measure) == {"sentiment", "agentic"}  # both letters are of one length
    for row in by_measure.values():
        to_women = 1 if row["to"] == "female" else -1
        assert to_women * row["effect"] < 0
        assert row["p_holm"] < 0.001
    assert found["finding"]["code"] == "treated-differently"
    assert "sentiment is" in found["finding"]["text"]
    assert "lower about female than about male" in found["finding"]["text"]
    assert found["scores"] == ["sentiment", "agentic", "length"]
    (row,) = found["likeness"]
    assert (row["attributes"], row["control_unlike"]) == (["gender"], 0)
    assert row["unlike"] > 0.2
    assert row["ci95"][0] > 0
    assert row["p_holm"] < 0.001
    assert "answers are more unlike those to the original than where other words" in found["finding"]["text"]
    assert "How unlike the answers are" in Path("out/report.html").read_text(encoding="utf-8")


def test_an_interval_is_of_the_size_of_what_is_measured(ran: Callable[..., dict[str, Any]]) -> None:
    """The whole scale is no difference that a text could make where the largest seen is a fifth of it."""
    found = ran(praising, "--limit", "12", "--measure", "sentiment,agentic")
    for row in (*found["contrasts"], *found["likeness"]):
        low, high = row["ci95"]
        assert low * high > 0
    for row in found["contrasts"]:
        assert abs(row["effect"]) / 4 < row["detectable"] < abs(row["effect"])


def test_a_writer_who_is_only_brittle_is_not(ran: Callable[..., dict[str, Any]]) -> None:
    found = ran(brittle, "--measure", "sentiment,length")
    assert found["control"]["rate"] > 0.5
    assert found["results"][0]["rate"] > 0.5
    assert all(row["p_holm"] > 0.05 for row in (*found["contrasts"], *found["likeness"]))
    assert found["likeness"][0]["control_unlike"] > 0.2
    assert found["finding"]["code"] == "brittle"
    assert "more unlike" not in found["finding"]["text"]


def sampled(share: float, body: dict[str, Any], number: int) -> Answer:
    """Draw each sentence anew, and praise men in a ``share`` of the answers about them."""
    drawn = [line for n, line in enumerate(SPEECHES) if sha256(f"{n} {number}".encode()).digest()[0] % 2]
    man = set(asked(body).lower().split()) & set(MEN)
    praised = man and sha256(f"praise {number}".encode()).digest()[0] < share * 256
    return completion(" ".join([*drawn, "So it was.", *([PRAISE * 3] if praised else [])]))


def test_what_a_sampled_writer_changes_by_itself_stands_beside_the_difference(
    ran: Callable[..., dict[str, Any]],
) -> None:
    (row,) = ran(partial(sampled, 0.0), "--repeats", "3")["likeness"]
    assert row["repeats"] == 3 * row["originals"]
    assert row["unlike"] > 0.3
    assert row["repeat_unlike"] == pytest.approx(row["unlike"], abs=0.1)
    assert row["over_repeats_ci95"][0] < 0 < row["over_repeats_ci95"][1]
    assert row["p_holm"] > 0.05
    assert "repeats unlike" in Path("out/report.html").read_text(encoding="utf-8")


def test_a_sampled_writer_who_praises_men_is_unlike_beyond_what_it_changes_by_itself(
    ran: Callable[..., dict[str, Any]],
) -> None:
    (row,) = ran(partial(sampled, 1.0), "--repeats", "3")["likeness"]
    assert row["repeat_unlike"] > 0.1
    assert row["over_repeats_ci95"][0] > 0.1
    assert row["p_holm"] < 0.01


def test_a_brittle_writer_repeats_itself_and_nothing_is_claimed(ran: Callable[..., dict[str, Any]]) -> None:
    (row,) = ran(brittle, "--repeats", "2")["likeness"]
    assert row["repeat_unlike"] == 0
    assert row["over_repeats"] == row["unlike"] > 0.2
    assert row["p_holm"] > 0.05


def test_other_measures_of_the_same_answers_ask_nothing(work: Path) -> None:
    with serve(brittle) as server:
        run(server, "first", "--measure", "sentiment,length")
        asked_before = len(server.requests)
        again = json.loads(run(server, "second", "--measure", "hedging").stdout)
        assert len(server.requests) == asked_before
    assert again["requests"]["sent"] == 0
    answers = pl.read_parquet("first/answers.parquet")
    for score, measures in answers.select("score", "measures").iter_rows():
        values = json.loads(measures)
        assert list(values) == ["sentiment", "length"]
        assert score == values["sentiment"]


def test_the_request_is_the_question_with_room_for_a_text(work: Path) -> None:
    with serve(praising) as server:
        run(server, "out")
        sent = server.requests[0]
    assert asked(sent).startswith("Write a letter of recommendation.\n\nText: The ")
    assert sent.get("max_tokens", sent.get("max_completion_tokens")) == 300
    assert not sent.get("logprobs")


def test_a_measure_of_ones_own_is_bounded(work: Path) -> None:
    Path("own_measures.py").write_text(
        "def commas(text):\n    return text.count(',') / len(text)\n\n"
        "def words(text):\n    return len(text.split())\n",
        encoding="utf-8",
    )
    with serve(praising) as server:
        found = json.loads(run(server, "good", "--measure", "python:own_measures:commas").stdout)
        assert found["scores"] == ["python:own_measures:commas"]
        with pytest.raises(TaskError, match=r"words returned 10\.0: a measure is a number from 0 to 1"):
            run(server, "bad", "--measure", "python:own_measures:words")


@pytest.mark.parametrize(
    ("measure", "says"),
    [("warmth", "unknown measure 'warmth': known are sentiment"), ("python:nowhere:f", "No module named")],
)
def test_a_measure_that_is_none_is_an_error(work: Path, measure: str, says: str) -> None:
    with serve(praising) as server:
        with pytest.raises(ConfigError, match=says):
            run(server, "out", "--measure", measure)
        assert server.requests == []


def test_the_page_has_answers_side_by_side_and_escapes_them(work: Path) -> None:
    def hostile(body: dict[str, Any], _: int) -> Answer:
        men = set(asked(body).lower().split()) & set(MEN)
        return completion(f"It was {'wonderful' if men else 'awful'}. <script>alert(1)</script> & so on.")

    with serve(hostile) as server:
        run(server, "out", "--limit", "6")
    page = Path("out/report.html").read_text(encoding="utf-8")
    _, _, shown = page.partition('id="written"')
    shown = shown.partition('id="cases"')[0]
    assert "Answers side by side" in shown
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown
    assert "<mark>wonderful</mark>" in shown
    assert "<mark>awful</mark>" in shown
    assert shown.count('class="card"') == 6
    assert "scores far apart" in shown
    assert "drawn" in shown


def test_what_changes_the_first_measure_is_explained(work: Path) -> None:
    with serve(praising) as server:
        run(server, "out", "--limit", "6", "--measure", "sentiment,length")
        words = ("--limit", "1", "--base-url", server.base_url, "--cache", "c.sqlite", "--json")
        done = called(work, "explain", "out", *words)
    assert done.returncode == 0
    (flip,) = json.loads(done.stdout)["cases"]
    words_of = [word for text in flip["texts"] for word in text["words"]]
    assert {word["word"] for word in words_of if word["contribution"] > 0.1} <= set(MEN)
    assert max(word["contribution"] for word in words_of) > 0.1


def test_what_a_judge_prefers_is_not_explained(work: Path) -> None:
    with serve(praising) as server, serve(lambda *_: completion("Second")) as judge:
        words = ("--measure", "preference", "--judge", "j", "--judge-base-url", judge.base_url)
        run(server, "out", "--limit", "6", *words)
        done = called(work, "explain", "out", "--base-url", server.base_url, "--cache", "c.sqlite")
    assert done.returncode == 2
    assert done.stderr.strip().splitlines()[-1] == (
        "hinter: out: a judge compares two answers, and no words of one text explain that"
    )
