"""Adapters for other coreference systems: coreferee, fastcoref and Stanza (extra ``[coref]``).

Each returns clusters. Everything else a template needs (mentions by kind, persons mentioned only once) comes
from the same spaCy reading that the rules use. fastcoref and Stanza's coreference fetch their weights from a
hub: these two adapters follow the documented interfaces but have not been run against the weights.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import ModuleType
from typing import TYPE_CHECKING

from harness.core import Span
from harness.errors import ParserError
from harness.language.antecedents import rivals
from harness.language.entities import Entity, Reader, Resolution, Resolver
from harness.language.mentions import find
from harness.language.parsed_text import ParsedText
from harness.language.parsers import default_pipeline
from harness.language.parsers.loading import load_pipeline
from harness.language.persons import Mention, Vocabulary, vocabulary
from harness.language.spacy_docs import SpacyReader, entities, reading

if TYPE_CHECKING:
    from spacy.language import Language
    from stanza.models.common.doc import Document
    from stanza.models.coref.coref_chain import CorefMention

Clusters = Callable[[str], Sequence[Sequence[Span]]]
COREFEREE_MODEL = "core_web_sm"  # the name by which coreferee looks up its models, whatever their package


def load(name: str, pipeline: str | None = None) -> Resolver:
    """Load the adapter called ``name``. Raises ``ParserError`` naming the missing package or model."""
    if name == "coreferee":
        return CorefereeResolver(pipeline or default_pipeline())
    clusters = _fastcoref() if name == "fastcoref" else _stanza()
    return SpanResolver(name, SpacyReader(pipeline, vocabulary().given_names), clusters)


class CorefereeResolver:
    """coreferee 1.5 (Hudson): a small network over candidate pairs that rules allow."""

    def __init__(self, pipeline: str) -> None:
        self._nlp = _coreferee(pipeline)
        self.name = f"coreferee over spacy:{pipeline} {self._nlp.meta['version']}"

    def resolve(self, texts: Iterable[str]) -> Iterator[Resolution]:
        """Yield the resolution of each text, in order."""
        for text in texts:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # small pipelines lack the vectors that coreferee compares
                doc = self._nlp(text)
            chains = [[i for m in chain for i in m.token_indexes] for chain in doc._.coref_chains]
            yield merged(reading(doc, text, entities(doc)), chains, vocabulary())

    def entities(self, text: str) -> tuple[Entity, ...]:
        """Return the entities of ``text``."""
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
        """Yield the resolution of each text, in order."""
        for read in self._reader.read(texts):
            chains = [[head_of(read, span) for span in cluster] for cluster in self._clusters(read.text)]
            yield merged(read, chains, vocabulary())

    def entities(self, text: str) -> tuple[Entity, ...]:
        """Return the entities of ``text``."""
        return next(self.resolve([text])).entities


def merged(reading: ParsedText, chains: Iterable[Sequence[int]], words: Vocabulary) -> Resolution:
    """Lay chains of head tokens over the mentions of persons in the text.

    A mention in no chain becomes an entity of its own. A chain without a person's mention is dropped; members
    of a person's chain that are not mentions of persons are included with the kind ``other``.
    """
    mentions = find(reading, words)
    at = {i: m for m in mentions for i in _tokens(reading, m)}
    entities: list[Entity] = []
    taken: set[Mention] = set()
    for chain in chains:
        members = {at.get(head) or _other(reading, head) for head in chain} - taken
        if any(m.kind != "other" for m in members):
            taken |= members
            entities.append(Entity(tuple(sorted(members, key=lambda m: (m.start, m.end)))))
    entities += [Entity((m,)) for m in mentions if m not in taken]
    ordered = tuple(sorted(entities, key=lambda e: e.mentions[0].start))
    return Resolution(reading, ordered, rivals(reading, ordered))


def head_of(reading: ParsedText, span: Span) -> int:
    """Return the root token of a character span."""
    inside = [i for i, t in enumerate(reading.tokens) if span[0] <= t.start < span[1]]
    roots = (i for i in inside if reading.tokens[i].head not in inside or reading.tokens[i].head == i)
    return next(roots, inside[-1] if inside else 0)


def _tokens(reading: ParsedText, mention: Mention) -> Iterator[int]:
    """Yield the head and, for a name, all its tokens: the head of *Drew Barrymore* is open to dispute."""
    yield mention.head
    if mention.kind == "name":
        for index in reading.subtree(mention.head):
            if mention.start <= reading.tokens[index].start < mention.end:
                yield index


def _other(reading: ParsedText, head: int) -> Mention:
    token = reading.tokens[head]
    return Mention(token.start, token.end, "other", head)


def _imported(module: str, extra: str = "coref") -> ModuleType:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ParserError(f"{module} is not installed: pip install 'hinter-harness[{extra}]'") from error


def _coreferee(pipeline: str) -> Language:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # coreferee's own, about the versions it was built with
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
        """Return the character spans of each chain."""
        doc = pipeline(text)
        return [[_stanza_span(doc, mention) for mention in chain.mentions] for chain in doc.coref]

    return clusters


def _stanza_span(doc: Document, mention: CorefMention) -> Span:
    words = doc.sentences[mention.sentence].words
    return words[mention.start_word].start_char, words[mention.end_word - 1].end_char
