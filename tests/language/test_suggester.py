"""Words for gaps: by n-grams, by an endpoint (a real server on loopback), by a masked language model."""

from __future__ import annotations

import gzip
import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import EndpointError, ModelError
from harness.language import suggester
from harness.language.suggester import EndpointSuggester, MlmSuggester, NgramSuggester
from tests.servers import Answer, completion, serve

FIXTURES = Path(__file__).parents[2] / os.environ.get("HINTER_SHARED", "../shared") / "fixtures"
TEXT = ("Or both ", ".")


def learnt(*texts: str, most: int = 1000) -> NgramSuggester:
    words = NgramSuggester(most)
    for text in texts:
        words.learn(text)
    return words


def test_what_stood_between_the_same_words_comes_first() -> None:
    words = learnt("the old cat", "the new cat", "the old cat", "the young dog", "a sad cat")
    assert words.suggest([("see the ", " cat")], 10) == [["old", "new", "young", "sad"]]


def test_the_edge_of_a_text_is_a_neighbour() -> None:
    words = learnt("Now it works .", "Here he stops", "Here it is")
    assert words.suggest([("", " it works")], 1) == [["here"]]
    assert words.suggest([("it ", "")], 1) == [["is"]]


def test_no_more_words_than_wanted() -> None:
    words = learnt("one two three", "one four three", "one five three")
    assert words.suggest([("one ", " three"), ("two ", "")], 2) == [["five", "four"], ["three"]]
    assert words.suggest([], 2) == []


@given(st.lists(st.text(max_size=40), max_size=6), st.text(max_size=10), st.text(max_size=10))
def test_words_are_whole_and_distinct(texts: list[str], left: str, right: str) -> None:
    (found,) = learnt(*texts).suggest([(left, right)], 5)
    assert len(found) <= 5
    assert len(set(found)) == len(found)
    assert all(word.replace("-", "").isalpha() for word in found)


def test_what_is_kept_is_bounded() -> None:
    words = learnt("one two three", most=3)
    before = words.suggest([("one ", " three")], 5)
    words.learn("one other three four five six")
    assert words.suggest([("one ", " three")], 5) == before
    assert words.suggest([("four ", " six")], 5) == [[]]


def test_an_endpoint_is_asked_for_each_text() -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        return completion('Sure: ["ways", "things", "two words", "ways", 3, "x1"]')

    with serve(script) as server:
        found = EndpointSuggester("m", server.base_url, "key").suggest([("Or ", " both."), TEXT], 4)
    assert found == [["ways", "things"], ["ways", "things"]]
    asked = [request["messages"][0]["content"] for request in server.requests]
    assert "Or ____ both." in asked[0]
    assert "Or both ____." in asked[1]
    assert server.requests[0]["temperature"] == 0
    assert server.authorizations == ["Bearer key"] * 2


@pytest.mark.parametrize("answer", ["ways, things", "[ways]", "", "] no ["])
def test_an_answer_that_is_no_list_gives_no_words(answer: str) -> None:
    with serve(lambda body, number: completion(answer)) as server:
        assert EndpointSuggester("m", server.base_url).suggest([TEXT], 4) == [[]]


def test_what_may_succeed_later_is_tried_again() -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        return Answer({"error": {"message": "busy"}}, 503) if number == 1 else completion('["ways"]')

    with serve(script) as server:
        assert EndpointSuggester("m", server.base_url).suggest([TEXT], 4) == [["ways"]]
    assert len(server.requests) == 2


@pytest.mark.parametrize("answer", [Answer({"error": {"message": "no"}}, 401), Answer({"choices": []})])
def test_an_endpoint_that_does_not_answer_is_named(answer: Answer) -> None:
    with (
        serve(lambda body, number: answer) as server,
        pytest.raises(EndpointError, match=r"words from http://127"),
    ):
        EndpointSuggester("m", server.base_url).suggest([TEXT], 4)


@pytest.mark.parametrize("packed", [True, False])
def test_an_answer_without_end_is_not_read(packed: bool) -> None:
    body = b" " * (32 << 20)
    answer = Answer(gzip.compress(body), headers={"Content-Encoding": "gzip"}) if packed else Answer(body)
    with serve(lambda *_: answer) as server, pytest.raises(EndpointError, match="larger than 8 MB"):
        EndpointSuggester("m", server.base_url).suggest([TEXT], 4)
    assert len(server.requests) == 1


def test_the_first_that_is_there_is_taken(tmp_path: Path) -> None:
    assert suggester.load().name == "ngram"
    assert suggester.load(endpoint=("m", "http://127.0.0.1:1/v1", "none")).name == "endpoint:m"
    assert suggester.load(model=str(tmp_path)).name == "ngram"
    assert suggester.load("ngram", model="x", endpoint=("m", "u", "k")).name == "ngram"


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("mlm", "name a masked language model"),
        ("endpoint", "its model and base URL"),
        ("llm", "unknown suggester"),
    ],
)
def test_what_cannot_be_loaded_is_said(kind: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        suggester.load(kind)


def test_without_the_extra_a_masked_model_names_it() -> None:
    if find_spec("transformers"):
        pytest.skip("transformers is installed")
    with pytest.raises(ModelError, match=r"hinter-harness\[transformers\]"):
        suggester.load("mlm", model="bert-base-uncased")


@pytest.fixture(scope="module")
def masked() -> MlmSuggester:
    pytest.importorskip("transformers", reason="transformers is not installed")
    folder = FIXTURES / "tiny-convbert-mlm"
    if not folder.is_dir():
        pytest.skip(f"no masked language model at {folder}")
    return MlmSuggester(str(folder))


def test_a_masked_model_gives_whole_words(masked: MlmSuggester) -> None:
    one, two = masked.suggest([TEXT, ("The ", " of this story.")], 8)
    assert len(one) == len(two) == 8
    assert "characters" in one
    assert all(word.isalpha() for word in one + two)
    assert masked.suggest([TEXT], 8) == [one]


def test_a_gap_that_the_model_does_not_see_has_no_words(masked: MlmSuggester) -> None:
    far = ("word " * 2000, ".")
    assert masked.suggest([far, TEXT], 3)[0] == []


def test_what_is_no_masked_model_is_named(masked: MlmSuggester, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="does not load"):
        MlmSuggester(str(tmp_path))
