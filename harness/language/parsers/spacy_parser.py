"""The spaCy parser."""

from __future__ import annotations

import importlib.util
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import ParserError
from harness.language.batches import batches
from harness.language.parse import Chosen, Parse, Parser, Sentence, Split
from harness.language.parsers.pipelines import names_folder
from harness.language.parsers.shared_pipeline import SharedPipeline, read
from harness.language.parsers.splitting import split

if TYPE_CHECKING:
    from spacy.language import Language

UNREAD_COMPONENTS = ("ner", "lemmatizer", "attribute_ruler")
BATCH = 128
MOST_CHARACTERS = 2_000_000  # longer texts are refused before; a mutant may be longer than its original
CHARACTERS_A_BATCH = 16_000  # a model's memory grows with the tokens of a batch
SHARED_BATCH, SHARED_CHARACTERS = 4_000, 512_000  # the more sentences, the more they have in common


class SpacyParser(Parser):
    """spaCy, batched, with only the components that HINTER's invariant reads.

    Raises ``ParserError`` where the pipeline does not load or lacks a component.
    """

    def __init__(self, pipeline: str) -> None:
        self._nlp = _load(pipeline)
        missing = sorted({"tagger", "parser"} - set(self._nlp.pipe_names))
        if missing:
            raise ParserError(f"spaCy pipeline {pipeline} has no {' and no '.join(missing)}: use another one")
        self._shared = SharedPipeline.of(self._nlp)
        self.name = f"spacy:{pipeline} {self._nlp.meta['version']}"

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
        if not names_folder(pipeline):
            raise ParserError(
                f"spaCy pipeline {pipeline!r} is not installed: python -m spacy download {pipeline}"
            ) from error
        if not Path(pipeline).is_dir():
            raise ParserError(f"no folder {pipeline}: it should hold a spaCy pipeline") from error
        reason = str(error).splitlines()[0]
        raise ParserError(f"the folder {pipeline} holds no spaCy pipeline: {reason}") from error
    except (ValueError, ImportError) as error:
        raise ParserError(
            f"spaCy pipeline {pipeline!r} does not load: {str(error).splitlines()[0]}"
        ) from error
