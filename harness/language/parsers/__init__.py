"""Sentences, parts of speech and dependencies: the only importer of spaCy and Stanza.

A ``Parse`` holds fine part-of-speech tags and dependency labels, one of each for every token. Sentences are
split by rule over spaCy's tokens (deterministic and local: a boundary depends only on adjacent tokens), and
each sentence is parsed on its own, as in HINTER's Algorithm 3, so that a parse can be cached and reused
wherever the same sentence recurs.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterator, Sequence

from harness.errors import ParserError
from harness.language.parse import Chosen, Parse, Parser, Sentence, Split
from harness.language.parsers.pipelines import another_pipeline, default_pipeline, installed_pipelines
from harness.language.parsers.spacy_parser import SpacyParser
from harness.language.parsers.stanza_parser import StanzaParser

__all__ = [
    "CachedParser",
    "Parse",
    "Parser",
    "SpacyParser",
    "Split",
    "StanzaParser",
    "another_pipeline",
    "available",
    "default_pipeline",
    "load",
]

KEPT_SENTENCES = 10_000


class CachedParser(Parser):
    """A parser with a cache of the ``size`` most recently added sentences."""

    def __init__(self, parser: Parser, size: int = KEPT_SENTENCES) -> None:
        self._parser = parser
        self._size = size
        self._kept: OrderedDict[str, Parse] = OrderedDict()
        self.name = parser.name
        self.parsed = 0

    def split(self, text: str) -> Split:
        """Split ``text`` into sentences, without caching."""
        return self._parser.split(text)

    def parse(self, sentences: Sequence[str]) -> list[Parse]:
        """Parse ``sentences``, each at most once while it is in the cache."""
        missing = [s for s in dict.fromkeys(sentences) if s not in self._kept]
        self._kept.update(zip(missing, self._parser.parse(missing), strict=True))
        self.parsed += len(missing)
        parses = [self._kept[s] for s in sentences]
        self._shrink()
        return parses

    def read(self, sentences: Sequence[str], chosen: Chosen) -> list[Sentence]:
        """Read ``sentences``, each at most once while it is in the cache, which keeps whole parses."""
        kept = {sentence: self._kept[sentence] for sentence in sentences if sentence in self._kept}
        missing = [sentence for sentence in dict.fromkeys(sentences) if sentence not in kept]

        def chosen_of_missing(tags: Sequence[tuple[str, ...]]) -> Collection[int]:
            """Choose from the missing sentences, by the tags of all."""
            by_sentence = dict(zip(missing, tags, strict=True))
            wanted = chosen([by_sentence[s] if s in by_sentence else kept[s].pos for s in sentences])
            names = {sentences[number] for number in wanted}
            return [number for number, sentence in enumerate(missing) if sentence in names]

        fresh = dict(zip(missing, self._parser.read(missing, chosen_of_missing), strict=True))
        self.parsed += len(missing)
        self._kept.update((name, read.parse) for name, read in fresh.items() if read.parse.dep)
        self._shrink()
        return [fresh.get(s) or Sentence(self.split(s), kept[s]) for s in sentences]

    def _shrink(self) -> None:
        while len(self._kept) > self._size:
            self._kept.popitem(last=False)


def load(name: str) -> Parser | None:
    """Load the parser ``spacy``, ``spacy:PIPELINE``, ``stanza`` or ``stanza:PACKAGE_OR_FOLDER``.

    Return None for ``none``. Raises ``ParserError``.
    """
    kind, _, variant = name.partition(":")
    if name == "none":
        return None
    if kind == "spacy":
        return CachedParser(SpacyParser(variant or default_pipeline()))
    if kind == "stanza":
        return CachedParser(StanzaParser(variant))
    installed = ", ".join(f"spacy:{pipeline}" for pipeline in installed_pipelines()) or "no spaCy pipeline"
    raise ParserError(
        f"unknown parser {name!r}: use spacy, spacy:NAME, stanza, stanza:PACKAGE_OR_FOLDER or none"
        f" (installed: {installed})"
    )


def available() -> Iterator[tuple[str, str | None]]:
    """Yield each parser on this machine by its ``load`` name, with the reason it does not load or None."""
    for name in (*(f"spacy:{pipeline}" for pipeline in installed_pipelines()), "stanza"):
        try:
            parser = load(name)
            if parser is not None:
                parser.split("")
        except ParserError as error:
            yield name, str(error)
        else:
            yield name, None
