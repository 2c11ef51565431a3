"""Other coreference systems behind the same interface: coreferee, fastcoref, Stanza (extra ``[coref]``).

Each gives clusters; what a template needs beside them (mentions by kind, persons that are spoken of once)
comes from the same spaCy reading as the rules'. fastcoref and Stanza's coreference fetch their weights from
a hub: these two adapters are written after their interfaces and have not been run against the weights.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from harness.core import Span
from harness.errors import ParserError
from harness.language.entities import Entity, Reader, Resolution, Resolver
from harness.language.mentions import find
from harness.language.parsed_text import ParsedText
from harness.language.parsers import default_pipeline
from harness.language.parsers.spacy_parser import load_pipeline
from harness.language.persons import Mention, Vocabulary, vocabulary
from harness.language.spacy_docs import SpacyReader, reading

if TYPE_CHECKING:
    from spacy.language import Language

Clusters = Callable[[str], Sequence[Sequence[Span]]]
COREFEREE_MODEL = "core_web_sm"  # coreferee keys its models by this name, whatever package the model is in


def load(name: str, pipeline: str | None = None) -> Resolver:
    """The adapter called ``name``. Raises ``ParserError`` naming what is not installed."""
    if name == "coreferee":
        return CorefereeResolver(pipeline or default_pipeline())
    clusters = _fastcoref() if name == "fastcoref" else _stanza()
    return SpanResolver(name, SpacyReader(pipeline, vocabulary().given), clusters)


class CorefereeResolver:
    """coreferee 1.5 (Hudson): a small network over candidate pairs that rules allow."""

    def __init__(self, pipeline: str) -> None:
        self._nlp = _coreferee(pipeline)
        self.name = f"coreferee over spacy:{pipeline} {self._nlp.meta['version']}"

    def resolve(self, texts: Iterable[str]) -> Iterator[Resolution]:
        for text in texts:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a small pipeline lacks the vectors that it compares
                doc = self._nlp(text)
            chains = [[i for m in chain for i in m.token_indexes] for chain in doc._.coref_chains]
            yield merged(reading(doc, text), chains, vocabulary())

    def entities(self, text: str) -> tuple[Entity, ...]:
        return next(self.resolve([text])).entities


class SpanResolver:
    """A system that answers with clusters of character spans."""

    def __init__(
        self, name: str, reader: Reader, clusters: Callable[[str], Sequence[Sequence[Span]]]
    ) -> None:
        self._reader = reader
        self._clusters = clusters
        self.name = f"{name} beside {reader.name}"

    def resolve(self, texts: Iterable[str]) -> Iterator[Resolution]:
        for read in self._reader.read(texts):
            chains = [[head_of(read, span) for span in some] for some in self._clusters(read.text)]
            yield merged(read, chains, vocabulary())

    def entities(self, text: str) -> tuple[Entity, ...]:
        return next(self.resolve([text])).entities


def merged(reading: ParsedText, chains: Iterable[Sequence[int]], words: Vocabulary) -> Resolution:
    """Chains of head tokens, laid over the mentions of persons that the text has.

    A mention in no chain is an entity of its own; a chain with no person's mention is left out, and what
    else a person's chain holds is kept as ``other``.
    """
    mentions = find(reading, words)
    at = {i: m for m in mentions for i in _tokens(reading, m)}
    entities: list[Entity] = []
    taken: set[Mention] = set()
    for chain in chains:
        found = {at.get(head) or _other(reading, head) for head in chain} - taken
        if any(m.kind != "other" for m in found):
            taken |= found
            entities.append(Entity(tuple(sorted(found, key=lambda m: (m.start, m.end)))))
    entities += [Entity((m,)) for m in mentions if m not in taken]
    return Resolution(reading, tuple(sorted(entities, key=lambda e: e.mentions[0].start)))


def head_of(reading: ParsedText, span: Span) -> int:
    """The root token of a character span."""
    inside = [i for i, t in enumerate(reading.tokens) if span[0] <= t.start < span[1]]
    roots = (i for i in inside if reading.tokens[i].head not in inside or reading.tokens[i].head == i)
    return next(roots, inside[-1] if inside else 0)


def _tokens(reading: ParsedText, mention: Mention) -> Iterator[int]:
    """The head, and of a name all its tokens: two systems may pick different heads of *Drew Barrymore*."""
    yield mention.head
    if mention.kind == "name":
        for index in reading.subtree(mention.head):
            if mention.start <= reading.tokens[index].start < mention.end:
                yield index


def _other(reading: ParsedText, head: int) -> Mention:
    token = reading.tokens[head]
    return Mention(token.start, token.end, "other", head)


def _imported(module: str, extra: str = "coref") -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ParserError(f"{module} is not installed: pip install 'hinter-harness[{extra}]'") from error


def _coreferee(pipeline: str) -> Language:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own, about the packages it was built with
        _imported("coreferee")
        nlp = load_pipeline(pipeline, exclude=())
        if str(nlp.meta["name"]).startswith(COREFEREE_MODEL):
            nlp.meta["name"] = COREFEREE_MODEL
        try:
            nlp.add_pipe("coreferee")
        except Exception as error:
            raise ParserError(
                "coreferee has no English model for this spaCy pipeline: python -m coreferee install en"
            ) from error
    return nlp


def _fastcoref() -> Clusters:
    model = _imported("fastcoref").FCoref(device="cpu", enable_progress_bar=False)
    return lambda text: [
        [tuple(span) for span in cluster if span]
        for cluster in model.predict(texts=[text])[0].get_clusters(as_strings=False)
    ]


def _stanza() -> Clusters:
    pipeline = _imported("stanza", "stanza").Pipeline("en", processors="tokenize,coref", verbose=False)

    def clusters(text: str) -> list[list[Span]]:
        doc = pipeline(text)
        return [[_stanza_span(doc, mention) for mention in chain.mentions] for chain in doc.coref]

    return clusters


def _stanza_span(doc: Any, mention: Any) -> Span:
    words = doc.sentences[mention.sentence].words
    return words[mention.start_word].start_char, words[mention.end_word - 1].end_char
