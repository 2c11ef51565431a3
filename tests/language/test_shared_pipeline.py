"""What sentences have in common is computed once, and what is read of them is what spaCy reads."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.language import Language

from harness.language.parsers import SpacyParser, default_pipeline
from harness.language.parsers.distinct import Numbers, distinct
from harness.language.parsers.shared_pipeline import BUILT, SharedPipeline
from harness.language.parsers.spacy_parser import UNREAD_COMPONENTS
from harness.language.parsers.token_vectors import TokenVectors

WORDS = """The the a man woman she her his who wasn't gonna can't U.S. Mr. blind with of in left saw and but
    3.50 café naïve ; , — “ ” ' ( ) ... !? 😀""".split()  # noqa: SIM905
SPACES = (" ", " ", " ", " ", "", "  ", "\n", "\u00a0")


@pytest.fixture(scope="module")
def pipeline() -> Language:
    return spacy.load(default_pipeline(), exclude=list(UNREAD_COMPONENTS))


@pytest.fixture(scope="module")
def shared(pipeline: Language) -> SharedPipeline:
    found = SharedPipeline.of(pipeline)
    assert found is not None
    return found


@st.composite
def mutants(draw: st.DrawFn) -> list[str]:
    """A sentence, and sentences with a few other words in its places."""
    word, space = st.sampled_from(WORDS), st.sampled_from(SPACES)
    words = draw(st.lists(word, min_size=1, max_size=30))
    spaces = draw(st.lists(space, min_size=len(words), max_size=len(words)))
    edits = st.dictionaries(st.integers(0, len(words) - 1), st.lists(word, max_size=3), max_size=3)
    sentences = [words]
    for changed in draw(st.lists(edits, max_size=4)):
        sentences.append([" ".join(changed.get(i, [old])) for i, old in enumerate(words)])
    return ["".join(map(str.__add__, some, spaces)) for some in sentences]


def test_the_default_pipeline_shares(plain_parser: SpacyParser) -> None:
    assert plain_parser.shares


@given(mutants())
def test_mutants_are_read_as_spacy_reads_them(plain_parser: SpacyParser, sentences: list[str]) -> None:
    assert plain_parser.parse(sentences) == plain_parser.parse_apart(sentences)


@given(mutants())
def test_vectors_are_those_of_spacy(pipeline: Language, sentences: list[str]) -> None:
    docs = [pipeline.make_doc(sentence) for sentence in (*sentences, "One.")]
    component: Any = pipeline.get_pipe("tok2vec")
    vectors = TokenVectors(component.model).of(docs)
    for numbers, expected in zip(vectors.numbers, component.predict(docs), strict=True):
        np.testing.assert_allclose(vectors.rows[numbers], expected, rtol=1e-4, atol=1e-4)


def test_a_vector_is_computed_once_wherever_the_four_words_around_are_the_same(pipeline: Language) -> None:
    frame = "Nobody in the whole wide world had ever seen {} man walk down the long road that day."
    docs = [pipeline.make_doc(frame.format(word)) for word in ("a", "the", "this")]
    component: Any = pipeline.get_pipe("tok2vec")
    vectors = TokenVectors(component.model).of(docs)
    assert len(vectors.rows) == len(docs[0]) + 2 * 9


def test_sentences_that_are_not_chosen_have_tags_alone(
    shared: SharedPipeline, plain_parser: SpacyParser
) -> None:
    sentences = ["He left.", "", "She left.", "The left one."]
    heard: list[Sequence[tuple[str, ...]]] = []

    def chosen(tags: Sequence[tuple[str, ...]]) -> Collection[int]:
        heard.append(tags)
        return [number for number, some in enumerate(tags) if some == tags[0]]

    read = shared.read(sentences, chosen)
    whole = plain_parser.parse_apart(sentences)
    assert heard == [[parse.pos for parse in whole]]
    assert [sentence.parse.pos for sentence in read] == [parse.pos for parse in whole]
    assert [sentence.parse.dep for sentence in read] == [whole[0].dep, (), whole[2].dep, ()]
    assert [sentence.split for sentence in read] == [plain_parser.split(text) for text in sentences]


def test_no_words_are_no_tags(shared: SharedPipeline) -> None:
    assert [parse.pos for parse in shared.parse(["", ""])] == [(), ()]
    assert shared.parse([]) == []


def test_a_pipeline_that_is_built_otherwise_does_not_share() -> None:
    assert SharedPipeline.of(spacy.blank("en")) is None
    more = spacy.load(default_pipeline(), exclude=list(UNREAD_COMPONENTS))
    more.add_pipe("sentencizer")
    assert SharedPipeline.of(more) is None


@pytest.mark.parametrize("path", BUILT)
def test_each_thing_it_relies_on_is_asked_for(path: str) -> None:
    other = spacy.load(default_pipeline(), exclude=list(UNREAD_COMPONENTS))
    component, *way, last = path.split(".")
    section = other.get_pipe_config(component)
    for key in way:
        section = section[key]
    section[last] = "another"
    assert SharedPipeline.of(other) is None


columns = st.integers(0, 40).flatmap(
    lambda size: st.lists(st.lists(st.integers(0, 2**40), min_size=size + 1, max_size=size + 1), min_size=1)
)


@given(columns)
def test_equal_rows_have_one_number(values: list[list[int]]) -> None:
    table: list[Numbers] = [np.array(column) for column in values]
    rows = list(zip(*values, strict=True))
    first, numbers = distinct(table)
    assert [rows[first[number]] for number in numbers] == rows
    assert len(first) == len(set(rows))
