"""Whole texts as the coreference rules read them: their named entities, and words glued together."""

from __future__ import annotations

import pytest

from harness.language.spacy_docs import SpacyReader, plain


@pytest.fixture(scope="module")
def reader() -> SpacyReader:
    return SpacyReader()


def test_names_are_found_wherever_they_stand(reader: SpacyReader) -> None:
    text = (
        "it was dull. Barbara Stanwyck saves it. then nothing happens. The trip to Berlin and Paris is long."
    )
    [read] = reader.read([text])
    named = {
        text[read.tokens[e.first].start : read.tokens[e.last - 1].end]: e.label
        for e in read.named
        if e.label in ("PERSON", "GPE")
    }
    assert named == {"Barbara Stanwyck": "PERSON", "Berlin": "GPE", "Paris": "GPE"}


def test_a_text_without_names_has_none(reader: SpacyReader) -> None:
    assert [read.named for read in reader.read(["it was dull. The end is worse.", ""])] == [(), ()]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("the story(Nash is alive)", "the story Nash is alive)"),
        ("bad<br />His", "bad      His"),
        ("actor(s)", "actor(s)"),
    ],
)
def test_words_glued_together_are_read_apart(text: str, read: str) -> None:
    assert plain(text) == read
