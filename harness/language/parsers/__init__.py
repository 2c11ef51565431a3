"""Sentences, parts of speech and dependencies: the only importer of spaCy and Stanza.

A ``Parse`` holds fine part-of-speech tags and dependency labels, one a token. Sentences are split by
rule over spaCy's tokens (deterministic and local: a boundary depends on the tokens beside it alone),
and each sentence is parsed on its own, as HINTER's Algorithm 3 does, so that a parse can be kept and
used again wherever the same sentence comes back.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence

from harness.errors import ParserError
from harness.language.parse import Parse, Parser, Split
from harness.language.parsers.spacy_parser import SpacyParser, default_pipeline, installed_pipelines
from harness.language.parsers.stanza_parser import StanzaParser

__all__ = [
    "CachedParser",
    "Parse",
    "Parser",
    "SpacyParser",
    "Split",
    "StanzaParser",
    "available",
    "default_pipeline",
    "load",
]

KEPT_SENTENCES = 10_000


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
    """The parser called ``spacy``, ``spacy:PIPELINE``, ``stanza``, ``stanza:PACKAGE_OR_FOLDER`` or
    ``none`` (None). Raises ``ParserError``."""
    kind, _, rest = name.partition(":")
    if name == "none":
        return None
    if kind == "spacy":
        return CachedParser(SpacyParser(rest or default_pipeline()))
    if kind == "stanza":
        return CachedParser(StanzaParser(rest))
    installed = ", ".join(f"spacy:{pipeline}" for pipeline in installed_pipelines()) or "no spaCy pipeline"
    raise ParserError(
        f"unknown parser {name!r}: use spacy, spacy:NAME, stanza, stanza:PACKAGE_OR_FOLDER or none"
        f" (installed: {installed})"
    )


def available() -> Iterator[tuple[str, str | None]]:
    """The parsers of this machine by the name of ``load``, each with why it does not load, or None."""
    for name in (*(f"spacy:{pipeline}" for pipeline in installed_pipelines()), "stanza"):
        try:
            load(name)
        except ParserError as error:
            yield name, str(error)
        else:
            yield name, None
