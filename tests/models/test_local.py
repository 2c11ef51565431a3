"""The embedded systems: a real language model in process, and VADER."""

from __future__ import annotations

import asyncio
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.answering.margin import log_odds, margin
from harness.core import Document, Failure, Message, Reply, Request
from harness.documents.shortening import Shortener
from harness.errors import ModelError
from harness.models import llama, local

LABELS = ("Negative", "Positive")
SAMPLING = {"temperature": 0.0, "max_tokens": 16, "seed": 0, "logprobs": True}
GOOD = "What a wonderful film: warm, funny and beautifully acted from start to finish."
BAD = "Terrible food, rude waiters and a bill that made us cry. The worst evening of the year."


def request(text: str) -> Request:
    messages = (
        Message(
            "system", "You read reviews and decide whether the writer's opinion is Negative or Positive."
        ),
        Message("user", f"What is the sentiment of this review? Answer with one word.\n\nReview: {text}"),
    )
    return Request({}, messages, SAMPLING, LABELS, text=text)


@pytest.fixture(scope="module")
def smollm2(smollm2_file: Path) -> Iterator[local.LlamaModel]:
    model = local.LlamaModel(llama.smollm2())
    yield model
    asyncio.run(model.close())


def ask(model: local.LlamaModel | local.VaderModel, one: Request) -> Reply | Failure:
    return asyncio.run(model.answer(one))


def test_smollm2_judges_and_repeats_itself(smollm2: local.LlamaModel) -> None:
    first = [ask(smollm2, request(text)) for text in (GOOD, BAD)]
    again = [ask(smollm2, request(text)) for text in (BAD, GOOD)]
    assert [reply.text for reply in first if isinstance(reply, Reply)] == ["Positive", "Negative"]
    for one, other in zip(first, reversed(again), strict=True):
        assert isinstance(one, Reply)
        assert isinstance(other, Reply)
        assert (one.text, one.logprobs) == (other.text, other.logprobs)
        assert one.prompt_tokens > 20
        assert one.logprobs


def test_smollm2_says_when_a_text_is_too_long(smollm2: local.LlamaModel) -> None:
    assert ask(smollm2, request("word " * 8000)) == Failure(
        "too-long",
        (ask(smollm2, request("word " * 8000))).message,  # type: ignore[union-attr]
    )


def test_smollm2_counts_as_it_reads(smollm2: local.LlamaModel) -> None:
    texts = ["Hello", GOOD, BAD, "naïve café – 日本語 🙂", "a\n\nb   c\t", "1234567 <|im_start|>"]

    def read(text: str) -> int:
        said = ask(smollm2, Request({}, (Message("user", text),), SAMPLING | {"max_tokens": 1}))
        assert isinstance(said, Reply)
        return said.prompt_tokens

    assert smollm2.count_tokens("Hello") == 1
    assert [read(text) - read("Hello") for text in texts] == [smollm2.count_tokens(t) - 1 for t in texts]


def test_smollm2_counts_while_it_answers(smollm2: local.LlamaModel) -> None:
    async def work() -> list[int | Reply | Failure]:
        counting = [asyncio.to_thread(smollm2.count_tokens, GOOD) for _ in range(8)]
        return list(await asyncio.gather(smollm2.answer(request(BAD)), *counting))

    answer, *counts = asyncio.run(work())
    assert isinstance(answer, Reply)
    assert answer.text == "Negative"
    assert set(counts) == {smollm2.count_tokens(GOOD)}


def test_smollm2_cuts_a_text_later_than_an_estimate_would(smollm2: local.LlamaModel) -> None:
    document, calls = Document("1", f"{BAD} {GOOD} " * 100), []

    def count(text: str) -> int:
        calls.append(text)
        return smollm2.count_tokens(text)

    (exact,) = Shortener(500, count).shortened(iter([document]))
    (estimated,) = Shortener(500).shortened(iter([document]))
    assert len(calls) < 15
    assert len(exact.text) > 1.3 * len(estimated.text)
    assert exact.text.endswith(".")
    assert 500 - smollm2.count_tokens(BAD) < smollm2.count_tokens(exact.text) <= 500


def test_a_model_file_that_is_none_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no such model file"):
        llama.smollm2(str(tmp_path / "none.gguf"))
    (tmp_path / "bad.gguf").write_text("no model")
    with pytest.raises(ModelError, match=r"bad\.gguf"):
        ask(local.LlamaModel(llama.smollm2(str(tmp_path / "bad.gguf"))), request(GOOD))


@pytest.mark.parametrize(
    ("chosen", "spins"), [({}, "1000"), ({"GOMP_SPINCOUNT": "7"}, "7"), ({"OMP_WAIT_POLICY": "PASSIVE"}, "0")]
)
def test_threads_that_wait_soon_leave_the_cores_to_others(
    smollm2_file: Path, chosen: dict[str, str], spins: str
) -> None:
    """As the OpenMP of this platform says of itself in a process of its own; the user has the last word."""
    load = "import sys; from harness.models import llama; llama.smollm2(sys.argv[1]).tokens('a')"
    known = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "GOMP_"))}
    done = subprocess.run(
        [sys.executable, "-c", load, smollm2_file],
        env={**known, "OMP_DISPLAY_ENV": "verbose", **chosen},
        capture_output=True,
        text=True,
    )
    told = [line for line in done.stderr.splitlines() if "GOMP_SPINCOUNT" in line]
    if not told:
        pytest.skip("another OpenMP than GCC's")
    assert f"GOMP_SPINCOUNT = '{spins}'" in told[0]


def test_vader_answers_by_the_sign_of_its_score() -> None:
    model = local.VaderModel()
    good, bad = ask(model, request(GOOD)), ask(model, request(BAD))
    assert isinstance(good, Reply)
    assert isinstance(bad, Reply)
    assert (good.text, bad.text) == ("Positive", "Negative")
    assert good.score is not None
    assert good.score > 0


def test_vader_is_neutral_near_zero_where_it_may_be() -> None:
    def label(text: str, *choices: str) -> str:
        said = ask(local.VaderModel(), Request({}, (), {}, choices, text=text))
        assert isinstance(said, Reply)
        return said.text

    three = ("Negative", "Neutral", "Positive")
    assert [label(text, *three) for text in (BAD, "A boat on a lake.", GOOD)] == list(three)
    assert label("A boat on a lake.", "Negative", "Positive") == "Positive"


def test_vader_knows_sentiments_only() -> None:
    with pytest.raises(ModelError, match="only knows the labels Negative, Neutral, Positive"):
        ask(local.VaderModel(), Request({}, (), {}, ("Privacy", "Unions"), text="x"))


@pytest.mark.parametrize(
    ("text", "label", "near"),
    [
        ("A wonderful, brilliant film.", "Positive", False),
        ("An awful, boring film.", "Negative", False),
        ("A film about a train.", "Positive", True),
    ],
)
def test_vader_has_a_margin(text: str, label: str, near: bool) -> None:
    asked = Request({}, (), {}, ("Negative", "Positive"), text=text)
    reply = asyncio.run(local.VaderModel().answer(asked))
    assert isinstance(reply, Reply)
    assert reply.text == label
    found = margin(reply, label, asked.choices, exact=True)
    assert found is not None
    assert found.value >= 0
    assert found.near_tie is near
    odds = log_odds(reply, asked.choices, exact=True)
    assert reply.score is not None
    assert odds is not None
    assert odds["Positive"] == pytest.approx(math.log(reply.score / (1 - reply.score)), abs=1e-3)
