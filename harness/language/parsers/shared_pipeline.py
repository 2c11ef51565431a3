"""A spaCy pipeline that computes once what the sentences of a batch have in common.

The mutants of a sentence differ from it in a few words, so that most of what spaCy would compute for them is
the same again. What is read, tags and dependencies, is what spaCy reads: nothing is approximated.

This relies on how spaCy's small and medium pipelines are built (``BUILT``), which their configuration tells;
the parts used are not all documented, so that a pipeline is tried before it is trusted.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import reduce
from sys import intern
from typing import TYPE_CHECKING, Any, cast

from harness.language.parse import Chosen, Parse, Sentence
from harness.language.parsers.splitting import split
from harness.language.parsers.token_vectors import TokenVectors
from harness.language.parsers.transitions import Transitions

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

COMPONENTS = ["tok2vec", "tagger", "parser"]
BUILT = {
    "tok2vec.model.@architectures": "spacy.Tok2Vec.v2",
    "tok2vec.model.embed.@architectures": "spacy.MultiHashEmbed.v2",
    "tok2vec.model.encode.@architectures": "spacy.MaxoutWindowEncoder.v2",
    "tok2vec.model.encode.window_size": 1,
    "tagger.model.@architectures": "spacy.Tagger.v2",
    "tagger.model.tok2vec.@architectures": "spacy.Tok2VecListener.v1",
    "parser.model.@architectures": "spacy.TransitionBasedParser.v2",
    "parser.model.tok2vec.@architectures": "spacy.Tok2VecListener.v1",
    "parser.model.use_upper": True,
}
PROBE = ("The old man, who'd seen her twice, left.", "The old woman, who'd seen him twice, left.", "No?")


def every(tags: Sequence[object]) -> Collection[int]:
    """Choose all sentences."""
    return range(len(tags))


class SharedPipeline:
    """A pipeline that is built as ``BUILT`` says."""

    def __init__(self, pipeline: Language) -> None:
        self._make = pipeline.make_doc
        self._vectors = TokenVectors(_component(pipeline, "tok2vec").model)
        self._tagger = _component(pipeline, "tagger")
        self._labels = [intern(label) for label in self._tagger.labels]
        self._transitions = Transitions(_component(pipeline, "parser"))

    @classmethod
    def of(cls, pipeline: Language) -> SharedPipeline | None:
        """Return ``pipeline`` as one that shares, None where it is built otherwise or is on a GPU."""
        from thinc.api import NumpyOps

        if pipeline.pipe_names != COMPONENTS or not _built(pipeline):
            return None
        parser = _component(pipeline, "parser")
        greedy = parser.cfg["beam_width"] == 1 and not parser.model.attrs["unseen_classes"]
        if not greedy or not isinstance(parser.model.ops, NumpyOps):
            return None
        shared = cls(pipeline)
        return shared if shared.parse(PROBE) == [read(doc) for doc in pipeline.pipe(PROBE)] else None

    def parse(self, sentences: Sequence[str]) -> list[Parse]:
        """Parse each of ``sentences`` on its own."""
        return self._parsed([self._make(sentence) for sentence in sentences], every)

    def read(self, sentences: Sequence[str], chosen: Chosen) -> list[Sentence]:
        """Read each of ``sentences`` on its own; those that are not ``chosen`` without dependencies."""
        docs = [self._make(sentence) for sentence in sentences]
        parses = zip(docs, self._parsed(docs, chosen), strict=True)
        return [Sentence(split(doc), parse) for doc, parse in parses]

    def _parsed(self, docs: Sequence[Doc], chosen: Chosen) -> list[Parse]:
        from spacy.tokens import Doc

        if not any(map(len, docs)):
            return [Parse((), (), ())] * len(docs)
        vectors = self._vectors.of(docs)
        each_once = Doc(docs[0].vocab, ["-"] * len(vectors.rows))
        each_once.tensor = cast("Any", vectors.rows)
        (guesses,) = self._tagger.predict([each_once])
        labels = [self._labels[guess] for guess in guesses.tolist()]
        tags = [tuple(labels[number] for number in numbers.tolist()) for numbers in vectors.numbers]
        parsed = set(chosen(tags))
        self._transitions.parse([(docs[i], vectors.numbers[i]) for i in parsed], each_once)
        return [
            Parse(_offsets(doc), tags[i], _dependencies(doc) if i in parsed else ())
            for i, doc in enumerate(docs)
        ]


def read(doc: Doc) -> Parse:
    """Return what was read of a sentence."""
    return Parse(
        tuple(token.idx for token in doc),
        tuple(intern(token.tag_) for token in doc),
        tuple(intern(token.dep_) for token in doc),
    )


def _offsets(doc: Doc) -> tuple[int, ...]:
    return tuple(doc.to_array("IDX").tolist())


def _dependencies(doc: Doc) -> tuple[str, ...]:
    name = doc.vocab.strings.__getitem__
    return tuple(intern(name(label)) for label in doc.to_array("DEP").tolist())


def _component(pipeline: Language, name: str) -> Any:
    return pipeline.get_pipe(name)


def _built(pipeline: Language) -> bool:
    """Return whether the configuration of a pipeline is that of ``BUILT``."""
    components: Any = pipeline.config["components"]
    return all(
        reduce(lambda part, key: part.get(key, {}), path.split("."), components) == value
        for path, value in BUILT.items()
    )
