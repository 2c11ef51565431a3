"""The spaCy parser."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from harness.language.batches import batches
from harness.language.parse import Chosen, Parse, Parser, Sentence, Split
from harness.language.parsers.loading import Pipeline
from harness.language.parsers.pipelines import READ_COMPONENTS
from harness.language.parsers.shared_pipeline import SharedPipeline, read
from harness.language.parsers.splitting import split

if TYPE_CHECKING:
    from spacy.language import Language

UNREAD_COMPONENTS = ("ner", "lemmatizer", "attribute_ruler")
BATCH = 128
CHARACTERS_A_BATCH = 16_000  # a model's memory grows with the tokens of a batch
SHARED_BATCH, SHARED_CHARACTERS = 4_000, 512_000  # the more sentences, the more they have in common


class SpacyParser(Parser):
    """spaCy, batched, with only the components that HINTER's invariant reads.

    It loads when it first reads something. Raises ``ParserError`` where the pipeline does not load or lacks a
    component, at once as far as what it says of itself tells.
    """

    def __init__(self, pipeline: str) -> None:
        self._pipeline = Pipeline(pipeline, UNREAD_COMPONENTS, READ_COMPONENTS)
        self.name = self._pipeline.name

    @cached_property
    def _nlp(self) -> Language:
        from thinc.api import prefer_gpu

        if importlib.util.find_spec("cupy"):  # spaCy's GPU back-end; without it torch alone may claim a GPU
            prefer_gpu()
        return self._pipeline.nlp

    @cached_property
    def _shared(self) -> SharedPipeline | None:
        return SharedPipeline.of(self._nlp)

    @property
    def shares(self) -> bool:
        """Whether what sentences have in common is computed once, which the pipeline has to allow."""
        return self._shared is not None

    def split(self, text: str) -> Split:
        """Split ``text`` into sentences."""
        return split(self._nlp.make_doc(text))

    def parse(self, sentences: Sequence[str]) -> list[Parse]:
        """Parse each of ``sentences`` on its own."""
        if self._shared is None:
            return self.parse_apart(sentences)
        some = batches(sentences, SHARED_BATCH, SHARED_CHARACTERS, len)
        return [parse for batch in some for parse in self._shared.parse(batch)]

    def read(self, sentences: Sequence[str], chosen: Chosen) -> list[Sentence]:
        """Read each of ``sentences``, all at once; those that are not ``chosen`` without dependencies."""
        return (
            super().read(sentences, chosen) if self._shared is None else self._shared.read(sentences, chosen)
        )

    def parse_apart(self, sentences: Sequence[str]) -> list[Parse]:
        """Parse each of ``sentences`` as spaCy does, which knows nothing of what they have in common."""
        some = batches(sentences, BATCH, CHARACTERS_A_BATCH, len)
        return [read(doc) for batch in some for doc in self._nlp.pipe(batch, batch_size=BATCH)]
