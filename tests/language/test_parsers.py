"""Sentences are split by rule, parsed one by one, and no sentence is parsed twice while it is kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import ParserError
from harness.language import parsers
from harness.language.parsers import CachedParser, Parse, Parser, Split


class Counting(Parser):
    """A parser whose tags are the words themselves; it counts what it is asked."""

    name = "counting"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def split(self, text: str) -> Split:
        return Split(((0, len(text)),), True)

    def parse(self, sentences: Sequence[str]) -> list[Parse]:
        self.asked += sentences
        return [Parse((0,), (sentence,), ("ROOT",)) for sentence in sentences]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", []),
        (" \n ", []),
        ("no end", ["no end"]),
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("One...  Two…", ["One...", "Two…"]),
        ("Really?!! Yes.", ["Really?!!", "Yes."]),
        ("“One.” Two.", ["“One.”", "Two."]),
        ('He said "One." (Two.) Three', ['He said "One."', "(Two.)", "Three"]),
        ("Mr. Smith of the U.S. left. Gone.", ["Mr. Smith of the U.S. left.", "Gone."]),
        ("It cost 3.50 or so. Yes.", ["It cost 3.50 or so.", "Yes."]),
        ("A line\nof text. Two", ["A line\nof text.", "Two"]),
        ("A title\n\nA text.", ["A title", "A text."]),
        ("A title\r\n\r\nA text.", ["A title", "A text."]),
        ("A title\n \nA text.", ["A title", "A text."]),
        ("A man.He left.", ["A man.", "He left."]),
    ],
)
def test_sentences(parser: Parser, text: str, sentences: list[str]) -> None:
    assert [text[a:b] for a, b in parser.split(text).spans] == sentences


def test_a_split_says_whether_the_last_sentence_ends_itself(parser: Parser) -> None:
    assert parser.split('He said "One."').closed
    assert not parser.split("Mr.").closed
    assert not parser.split("no end").closed


@given(st.text(st.sampled_from("aB .!?…\"')(\n’”:;-"), max_size=30))
def test_sentences_hold_all_but_white_space_in_order(parser: Parser, text: str) -> None:
    at = 0
    for start, end in parser.split(text).spans:
        assert text[at:start].strip() == ""
        assert text[start:end].strip() == text[start:end] != ""
        at = end
    assert text[at:].strip() == ""


def test_long_sentences_are_parsed_too(parser: Parser) -> None:
    # T5: elsewhere, sentences over 500 characters were discarded unseen.
    text = "the man " * 200 + "left."
    ((start, end),) = parser.split(text).spans
    (parse,) = parser.parse([text])
    assert (start, end) == (0, len(text))
    assert len(parse.pos) == len(parse.dep) == len(parse.offsets) == 402


def test_parse_has_tags_by_offset(parser: Parser) -> None:
    (parse,) = parser.parse(["I saw her dog."])
    assert (parse.tag_at(6), parse.tag_at(7)) == ("PRP$", None)
    assert parse.dep[parse.offsets.index(2)] == "ROOT"


def test_batching_changes_no_parse(parser: Parser, plain_parser: Parser) -> None:
    sentences = ["I saw her dog.", "Men left early, and nobody cared.", "Why?", "The black man smiled."]
    one_by_one = [plain_parser.parse([sentence])[0] for sentence in sentences]
    assert plain_parser.parse(sentences) == one_by_one == parser.parse(sentences)


def test_no_sentence_is_parsed_twice() -> None:
    counting = Counting()
    cached = CachedParser(counting)
    assert [p.pos[0] for p in cached.parse(["a", "b", "a"])] == ["a", "b", "a"]
    assert [p.pos[0] for p in cached.parse(["c", "b"])] == ["c", "b"]
    assert counting.asked == ["a", "b", "c"]
    assert cached.parsed == 3
    assert cached.name == "counting"


@given(st.lists(st.lists(st.sampled_from("abcdefg"), max_size=6), max_size=8), st.integers(1, 4))
def test_a_small_cache_answers_as_none_would(calls: list[list[str]], size: int) -> None:
    cached = CachedParser(Counting(), size)
    for sentences in calls:
        assert cached.parse(sentences) == Counting().parse(sentences)


def test_parsers_by_name() -> None:
    assert parsers.load("none") is None
    for name in ("stanford", "", "none:x"):
        with pytest.raises(ParserError, match="unknown parser"):
            parsers.load(name)
    with pytest.raises(ParserError, match="'no_such_pipeline' is not installed"):
        parsers.load("spacy:no_such_pipeline")


def test_a_folder_without_a_pipeline_is_named_and_no_download_advised(tmp_path: Path) -> None:
    for folder, what in ((tmp_path / "none", "no folder "), (tmp_path, "holds no spaCy pipeline")):
        with pytest.raises(ParserError) as raised:
            parsers.load(f"spacy:{folder}")
        said = str(raised.value)
        assert what in said
        assert str(folder) in said
        assert "download" not in said
        assert "\n" not in said
