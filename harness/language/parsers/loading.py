"""Loading of spaCy pipelines, when one is first used: it takes a second, which many commands can spare."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import ParserError
from harness.language.parsers.pipelines import meta, names_folder

if TYPE_CHECKING:
    from spacy.language import Language

MOST_CHARACTERS = 2_000_000  # longer texts are refused before; a mutant may be longer than its original


class Pipeline:
    """The spaCy pipeline ``pipeline`` without the components in ``exclude``, loaded when it is first used.

    Its ``name`` has its version. Raises ``ParserError`` where it lacks one of the components ``needed`` or
    does not load: at once if what it says of itself tells, else when it is used.
    """

    def __init__(self, pipeline: str, exclude: Collection[str], needed: Collection[str]) -> None:
        self._pipeline = pipeline
        self._exclude = exclude
        self._needed = needed
        said = meta(pipeline)
        if said is not None:
            self._must_have(said.pipeline)
        version = self.nlp.meta["version"] if said is None else said.version
        self.name = f"spacy:{pipeline} {version}"

    @cached_property
    def nlp(self) -> Language:
        """The pipeline, loaded."""
        loaded = load_pipeline(self._pipeline, self._exclude)
        self._must_have(loaded.pipe_names)
        return loaded

    def _must_have(self, components: Collection[str]) -> None:
        if missing := sorted(set(self._needed) - set(components)):
            raise ParserError(
                f"spaCy pipeline {self._pipeline} has no {' and no '.join(missing)}: use another one"
            )


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
