"""The spaCy parser, and the rule that splits a text into sentences over spaCy's tokens."""

from __future__ import annotations

import importlib.util
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from sys import intern
from typing import TYPE_CHECKING

from harness.core import Span
from harness.errors import ParserError
from harness.language.parse import Parse, Split
from harness.language.parsers.pipelines import is_path

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

UNREAD_COMPONENTS = ("ner", "lemmatizer", "attribute_ruler")
BATCH = 128
MOST_CHARACTERS = 2_000_000  # longer texts are refused before; a mutant may be longer than its original
CHARACTERS_A_BATCH = 16_000  # a model's memory grows with the tokens of a batch
TERMINATORS = frozenset(".!?…")
CLOSERS = frozenset("\"'”’)]»")


class SpacyParser:
    """spaCy, batched, with only the components that HINTER's invariant reads.

    Raises ``ParserError`` where the pipeline does not load or lacks a component.
    """

    def __init__(self, pipeline: str) -> None:
        self._nlp = _load(pipeline)
        missing = sorted({"tagger", "parser"} - set(self._nlp.pipe_names))
        if missing:
            raise ParserError(f"spaCy pipeline {pipeline} has no {' and no '.join(missing)}: use another one")
        self.name = f"spacy:{pipeline} {self._nlp.meta['version']}"

    def split(self, text: str) -> Split:
        """Split ``text`` into sentences."""
        return split(self._nlp.make_doc(text))

    def parse(self, sentences: Sequence[str]) -> list[Parse]:
        """Parse each of ``sentences`` on its own."""
        batches = _batches(sentences)
        return [_read(doc) for batch in batches for doc in self._nlp.pipe(batch, batch_size=BATCH)]


def _load(pipeline: str) -> Language:
    from thinc.api import prefer_gpu

    if importlib.util.find_spec("cupy"):  # spaCy's GPU back-end; without it torch alone may claim a GPU
        prefer_gpu()
    return load_pipeline(pipeline, UNREAD_COMPONENTS)


def load_pipeline(pipeline: str, exclude: Collection[str]) -> Language:
    """Load the spaCy pipeline ``pipeline`` without the components in ``exclude``. Raises ``ParserError``."""
    import spacy

    try:
        loaded = spacy.load(pipeline, exclude=list(exclude))
        loaded.max_length = MOST_CHARACTERS
        return loaded
    except OSError as error:
        if is_path(pipeline):
            lacks = "no spaCy pipeline in this folder" if Path(pipeline).is_dir() else "no such folder"
            raise ParserError(f"spacy:{pipeline}: {lacks}") from error
        raise ParserError(
            f"spaCy pipeline {pipeline!r} is not installed: python -m spacy download {pipeline}"
        ) from error
    except (ValueError, ImportError) as error:
        raise ParserError(
            f"spaCy pipeline {pipeline!r} does not load: {str(error).splitlines()[0]}"
        ) from error


def split(doc: Doc) -> Split:
    """Split at terminators with the closing quotes or brackets that touch them, and at empty lines."""
    spans: list[Span] = []
    start: int | None = None
    end = 0
    ended = False
    for token in doc:
        text, at = token.text, token.idx
        if token.is_space:
            if text.count("\n") > 1 and start is not None:
                spans.append((start, end))
                start = None
            continue
        extends = TERMINATORS.issuperset(text) or (CLOSERS.issuperset(text) and at == end)
        if ended and not extends and start is not None:
            spans.append((start, end))
            start = None
        if start is None:
            start = at
        ended = TERMINATORS.issuperset(text) or (ended and extends)
        end = at + len(text)
    if start is not None:
        spans.append((start, end))
    return Split(tuple(spans), ended)


def _batches(sentences: Sequence[str]) -> Iterator[list[str]]:
    """Yield batches of up to ``BATCH`` sentences and ``CHARACTERS_A_BATCH`` characters, never empty."""
    batch: list[str] = []
    characters = 0
    for sentence in sentences:
        if batch and (len(batch) == BATCH or characters + len(sentence) > CHARACTERS_A_BATCH):
            yield batch
            batch, characters = [], 0
        batch.append(sentence)
        characters += len(sentence)
    if batch:
        yield batch


def _read(doc: Doc) -> Parse:
    return Parse(
        tuple(token.idx for token in doc),
        tuple(intern(token.tag_) for token in doc),
        tuple(intern(token.dep_) for token in doc),
    )
