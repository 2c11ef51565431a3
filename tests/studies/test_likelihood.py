"""The likelihood of a text: behind an endpoint that echoes, in process, and LanguageTool's matches."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import registry
from harness.core import Failure, JsonObject
from harness.errors import EndpointError, ModelError, Transient
from harness.keys import Key
from harness.models import causal, endpoint_likelihood, refusals, wire
from harness.models.causal import CausalLikelihood
from harness.models.endpoint_likelihood import PROBE, EndpointLikelihood
from harness.models.llama import Llama
from harness.models.llama import smollm2 as open_smollm2
from harness.models.llama_likelihood import LlamaLikelihood
from harness.plugins import Options, Score, Scorer
from harness.settings import ModelSettings
from harness.studies.fluency.languagetool import LanguageTool
from tests.servers import Answer, Script, error, serve

VOCABULARY = "a b c d e f the man woman black white kind film good bad was is not and very . !"
WORDS = VOCABULARY.split()
CONTEXT = 64


def echoed(body: dict[str, Any], more: Sequence[float] = ()) -> Answer:
    """As vLLM answers: a word is a token, its probability 1/2; ``more`` are tokens generated behind them."""
    words = body["prompt"].split()
    values = [None, *[-math.log(2)] * (len(words) - 1), *more]
    choice = {"text": body["prompt"] + " x" * len(more), "logprobs": {"token_logprobs": values}}
    return Answer({"choices": [choice], "usage": {"prompt_tokens": len(words), "completion_tokens": 1}})


def as_llama(body: dict[str, Any], number: int) -> Answer:
    """As llama.cpp answers: ``echo`` is ignored and one token is made."""
    content = [{"id": 339, "token": " I", "logprob": -1.5}]
    choice = {"text": " I", "logprobs": {"content": content}, "finish_reason": "length"}
    return Answer({"choices": [choice], "usage": {"prompt_tokens": 5, "completion_tokens": 1}})


def scored(scorer: Scorer, *texts: str, prepare: bool = False) -> list[Score | Failure]:
    async def work() -> list[Score | Failure]:
        try:
            if prepare:
                await scorer.prepare()
            return await asyncio.gather(*map(scorer.score, texts))
        finally:
            await scorer.close()

    return asyncio.run(work())


def from_endpoint(script: Script, *texts: str, prepare: bool = False) -> list[Score | Failure]:
    with serve(script) as endpoint:
        scorer = EndpointLikelihood("m", endpoint.base_url, Key(needed=False))
        return scored(scorer, *texts, prepare=prepare)


def test_every_token_but_the_first_counts() -> None:
    with serve(lambda body, number: echoed(body)) as endpoint:
        (score,) = scored(
            EndpointLikelihood("m", endpoint.base_url, Key(needed=False)), "four words are here"
        )
    assert isinstance(score, Score)
    assert score.units == 3
    assert score.total == pytest.approx(-3 * math.log(2))
    (asked,) = endpoint.requests
    assert (asked["prompt"], asked["echo"], asked["max_tokens"]) == ("four words are here", True, 0)
    assert endpoint.paths == ["/v1/completions"]


@given(st.lists(st.floats(-20, 0), max_size=4))
def test_what_a_server_adds_of_its_own_does_not_count(more: list[float]) -> None:
    text = "four words are here"
    assert endpoint_likelihood.read(echoed({"prompt": text}, more).body, text) == Score(-3 * math.log(2), 3)


def test_a_start_token_lets_the_first_word_count() -> None:
    choice = {"text": "two words", "logprobs": {"token_logprobs": [None, -1.0, -2.0]}}
    answer = {"choices": [choice], "usage": {"prompt_tokens": 3}}
    assert endpoint_likelihood.read(answer, "two words") == Score(-3.0, 2)


@pytest.mark.parametrize(
    ("script", "says"),
    [
        (as_llama, "echo is ignored"),
        (
            lambda body, number: Answer({"choices": [{"text": body["prompt"]}]}),
            "echoed without log-probabilities",
        ),
        (
            lambda body, number: Answer(
                {
                    "choices": [{"text": body["prompt"], "logprobs": {"token_logprobs": [None, None]}}],
                    "usage": {"prompt_tokens": 2},
                }
            ),
            "some log-probabilities are missing",
        ),
    ],
)
def test_a_server_that_gives_none_is_told_before_any_text(script: Script, says: str) -> None:
    with pytest.raises(EndpointError) as raised:
        from_endpoint(script, "a text", prepare=True)
    assert says in str(raised.value)
    assert "\n" not in str(raised.value)


def test_the_probe_itself_is_a_text_like_any_other() -> None:
    first, second = from_endpoint(lambda body, number: echoed(body), PROBE, "two words", prepare=True)
    assert isinstance(first, Score)
    assert isinstance(second, Score)
    assert (first.units, second.units) == (8, 1)


@pytest.mark.parametrize(
    "answer",
    [
        error(500),
        Answer(None),
        Answer({"choices": []}),
        Answer({"error": {"message": "overloaded"}}),
        Answer({"choices": "no"}),
    ],
)
def test_what_may_work_later_is_transient(answer: Answer) -> None:
    with pytest.raises(Transient):
        from_endpoint(lambda body, number: answer, "a text")


def test_what_cannot_work() -> None:
    long = error(400, message="This model's maximum context length is 2048 tokens")
    (found,) = from_endpoint(lambda body, number: long, "a text")
    assert isinstance(found, Failure)
    assert found.reason == "too-long"
    with pytest.raises(EndpointError, match="m: HTTP 404"):
        from_endpoint(lambda body, number: error(404), "a text")
    assert from_endpoint(lambda body, number: echoed(body), "word") == [
        Failure("failed", "a single token has no preceding context")
    ]


# transformers -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random Llama of two layers with a word-level tokenizer that has no token to pad with."""
    torch = pytest.importorskip("torch", reason="needs the extra [transformers]")
    library = pytest.importorskip("transformers", reason="needs the extra [transformers]")
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    torch.manual_seed(0)
    made = tmp_path_factory.mktemp("causal")
    vocabulary = ["[UNK]", "[EOS]", *WORDS]
    split = Tokenizer(WordLevel({word: i for i, word in enumerate(vocabulary)}, unk_token="[UNK]"))
    split.pre_tokenizer = Whitespace()
    tokenizer = library.PreTrainedTokenizerFast(
        tokenizer_object=split, unk_token="[UNK]", eos_token="[EOS]", model_max_length=CONTEXT
    )
    tokenizer.save_pretrained(made)
    config = library.LlamaConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=CONTEXT,
        initializer_range=0.5,
    )
    library.LlamaForCausalLM(config).save_pretrained(made)
    return made


def by_hand(folder: Path, text: str) -> float:
    """The chain rule, a token at a time, each from a softmax in float64 of its own pass."""
    import torch
    import transformers

    network = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float64).eval()
    ids = transformers.AutoTokenizer.from_pretrained(folder)(text)["input_ids"]
    total = 0.0
    for place in range(1, len(ids)):
        with torch.inference_mode():
            row = network(input_ids=torch.tensor([ids[:place]])).logits[0, -1].tolist()
        total += row[ids[place]] - math.log(math.fsum(map(math.exp, row)))
    return total


def test_it_is_what_the_chain_rule_gives(folder: Path) -> None:
    texts = ["the man was kind", "a b c d e f " * 8, "good !", "the black film is not very good and bad ."]
    found = scored(CausalLikelihood(str(folder)), *texts)
    for text, score in zip(texts, found, strict=True):
        assert isinstance(score, Score)
        assert score.units == len(text.split()) - 1
        assert score.total == pytest.approx(by_hand(folder, text), abs=1e-3)
    assert len({score.mean for score in found if isinstance(score, Score)}) == len(texts)


def test_a_text_has_the_same_score_alone_and_among_others(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [" ".join(WORDS[start : start + length]) for start in range(8) for length in (2, 5, 14)]
    together = scored(CausalLikelihood(str(folder)), *texts)
    monkeypatch.setattr(causal, "LOGITS_AT_ONCE", 1)  # so little memory that every text goes alone
    alone = scored(CausalLikelihood(str(folder)), *texts)
    for one, other in zip(together, alone, strict=True):
        assert isinstance(one, Score)
        assert isinstance(other, Score)
        assert one.units == other.units
        assert one.total == pytest.approx(other.total, abs=1e-4)


def test_a_text_that_has_no_likelihood_costs_only_itself(folder: Path) -> None:
    found = scored(CausalLikelihood(str(folder)), "the man", "man", "a " * (CONTEXT + 1), "", "a \ud800 b")
    assert isinstance(found[0], Score)
    reasons = [one.reason for one in found[1:] if isinstance(one, Failure)]
    assert reasons == ["failed", "too-long", "failed", "failed"]


def test_other_models_are_told(tmp_path: Path) -> None:
    for package in ("torch", "transformers"):
        pytest.importorskip(package, reason="needs the extra [transformers]")
    with pytest.raises(ModelError, match="no such model folder"):
        CausalLikelihood(str(tmp_path / "none"))
    with pytest.raises(ModelError, match="name a model"):
        registry.make_scorer(ModelSettings(name="transformers:"), Options())


# llama.cpp --------------------------------------------------------------------------------------------------


@pytest.fixture
def smollm2(smollm2_file: Path) -> Llama:
    return open_smollm2()


def test_smollm2_prefers_grammar_and_repeats_itself(smollm2: Llama) -> None:
    good, bad = "She has two brothers and a sister.", "Her have two brother and an sisters."
    ends, again = "It ends <|im_end|> here.", good
    found = scored(LlamaLikelihood(smollm2), good, bad, ends, "word " * 5000, "", again)
    first, second, third, fourth, fifth, sixth = found
    assert isinstance(first, Score)
    assert isinstance(second, Score)
    assert first.units == 7  # eight tokens, the full stop among them
    assert -5 < first.mean < -1
    assert second.mean < first.mean - 1
    assert [one.reason for one in (third, fourth, fifth) if isinstance(one, Failure)] == [
        "failed",
        "too-long",
        "failed",
    ]
    assert sixth == first


def test_smollm2_says_what_its_next_word_has(smollm2: Llama) -> None:
    """The last token's share of a text is the log-probability that a plain completion gives it."""

    async def work() -> tuple[list[Score | Failure], dict[str, float]]:
        scores = [
            await LlamaLikelihood(smollm2).score(text)
            for text in ("The capital of France is", "The capital of France is Paris")
        ]
        asked: JsonObject = {
            "prompt": "The capital of France is",
            "max_tokens": 1,
            "temperature": 0.0,
            "logprobs": 20,
        }
        answer = await smollm2.complete(asked)
        choice = wire.first_choice(answer) or {}
        tokens = refusals.mapping(choice.get("logprobs")).get("content")
        assert isinstance(tokens, list)
        top = tokens[0]["top_logprobs"]
        await smollm2.close()
        return scores, {one["token"]: one["logprob"] for one in top}

    (before, after), words = asyncio.run(work())
    assert isinstance(before, Score)
    assert isinstance(after, Score)
    assert after.units == before.units + 1
    assert after.total - before.total == pytest.approx(words[" Paris"], abs=0.05)


# LanguageTool -----------------------------------------------------------------------------------------------


@contextmanager
def language_tool(
    *answers: tuple[int, bytes],
) -> Iterator[tuple[str, list[tuple[str, dict[str, list[str]]]]]]:
    """A server that gives ``answers`` in turn, the last one for ever, and keeps what was asked."""
    asked: list[tuple[str, dict[str, list[str]]]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            form = self.rfile.read(int(self.headers["Content-Length"])).decode()
            asked.append((self.path, parse_qs(form, keep_blank_values=True)))
            status, data = answers[min(len(asked), len(answers)) - 1]
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *arguments: Any) -> None:
            return None

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


TOOL = b'"software": {"name": "LanguageTool", "version": "6.5", "buildDate": "2026-01-01"}'
CLEAN = (200, b'{%b, "matches": []}' % TOOL)
TWO = (200, b'{%b, "matches": [{"rule": {"id": "A"}}, {"rule": {"id": "B"}}]}' % TOOL)


def test_matches_per_hundred_words() -> None:
    with language_tool(CLEAN, TWO) as (url, asked):
        tool = LanguageTool(url + "/v2/")
        found = scored(tool, "He go to a & b.\nnaïve", prepare=True)
    assert found == [Score(200.0, 7)]
    assert asked[1] == ("/v2/check", {"text": ["He go to a & b.\nnaïve"], "language": ["en-US"]})
    assert tool.identity["version"] == "6.5"
    assert url not in str(tool.identity)


@pytest.mark.parametrize(
    ("answer", "raised"),
    [
        ((500, b"no"), Transient),
        ((429, b"too many"), Transient),
        ((200, b"<html>"), Transient),
        ((200, b"[]"), Transient),
        ((200, b"{}"), Transient),
        ((400, b"Error: 'xx' is not a language code"), EndpointError),
    ],
)
def test_faults_of_language_tool(answer: tuple[int, bytes], raised: type[Exception]) -> None:
    with language_tool(answer) as (url, _), pytest.raises(raised):
        scored(LanguageTool(url), "a text")


def test_what_language_tool_cannot_take() -> None:
    with language_tool((413, b"Error: too long")) as (url, _):
        found = scored(LanguageTool(url), "a text", " ")
    assert [one.reason for one in found if isinstance(one, Failure)] == ["too-long", "failed"]


def test_an_answer_of_language_tool_without_end_is_not_read() -> None:
    with language_tool((200, b" " * (9 << 20))) as (url, asked):
        found = scored(LanguageTool(url), "a text")
    assert found == [Failure("failed", "the reply is larger than 8 MB")]
    assert len(asked) == 1


def test_another_server_is_not_language_tool() -> None:
    with (
        language_tool((200, b'{"matches": []}')) as (url, _),
        pytest.raises(EndpointError, match="is it one"),
    ):
        scored(LanguageTool(url), "a text", prepare=True)
