"""Decide which changed sentences conform to their originals: each distinct pair once, in batches, cached.

The verdict on a pair depends only on the two sentences and the parser, so it can be looked up whenever the
pair comes back, in any document and mutant.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import Protocol

from harness.core import Span
from harness.language.batches import batches
from harness.language.parse import Parser, Sentence
from harness.suites.hinter.tag_comparison import (
    DEPENDENCY,
    MOVED,
    POS,
    check,
    compare,
    tolerant_table_comp,
)

Pair = tuple[str, str]
"""A sentence before and after the change."""

CONFORMS = ""
PAIRS_AT_ONCE, CHARACTERS_AT_ONCE = 4_000, 512_000


class Kept(Protocol):
    """A persistent cache of short texts, keyed by the digest of what they depend on."""

    def get(self, keys: Collection[bytes]) -> Mapping[bytes, str]:
        """Return the texts stored under ``keys``; omit keys without one."""

    def put(self, rows: Mapping[bytes, str]) -> None:
        """Store ``rows``, texts by key."""


@dataclass
class Conformity:
    """Decides pairs of sentences with ``parser``; without ``verdicts``, nothing is cached beyond a call.

    ``properties`` are those that must match: parts of speech and dependencies, or parts of speech alone.
    ``exact`` counts the mutants that needed a comparison of whole texts.
    """

    parser: Parser
    verdicts: Kept | None = None
    properties: Sequence[str] = (POS, DEPENDENCY)
    exact: int = field(default=0, init=False)

    def split(self, text: str) -> Sequence[Span]:
        """Return the spans of the sentences of a whole text."""
        return self.parser.split(text).spans

    def reasons(self, pairs: Iterable[Pair]) -> dict[Pair, str | None]:
        """Return None for each pair that conforms, else the reason why it does not.

        The reason is ``MOVED`` if the changed sentence may not be the whole of one sentence, so that only a
        comparison of the whole text can decide.
        """
        distinct = {pair: self._key("pair", *pair) for pair in pairs}
        cached = self._get(distinct.values())
        missing = [pair for pair, key in distinct.items() if key not in cached]
        for batch in batches(missing, PAIRS_AT_ONCE, CHARACTERS_AT_ONCE, _length):
            decisions = self._decide(batch)
            fresh = {distinct[pair]: reason or CONFORMS for pair, reason in decisions.items()}
            self._put(fresh)
            cached |= fresh
        return {pair: self._reason(cached[key]) for pair, key in distinct.items()}

    def check(self, original: str, mutant: str) -> str | None:
        """Return the result of Algorithm 3 on whole texts."""
        self.exact += 1
        key = self._key("text", *self.properties, original, mutant)
        cached = self._get([key])
        if key not in cached:
            cached = {key: check(self.parser, original, mutant, self.properties) or CONFORMS}
            self._put(cached)
        return cached[key] or None

    def tags(self, places: Iterable[tuple[str, int]]) -> dict[tuple[str, int], str | None]:
        """Return the fine POS tag of the token at an offset of a sentence, None if no token starts there.

        ``places`` are pairs of a sentence and an offset in it.
        """
        distinct = {place: self._key("tag", place[0], str(place[1])) for place in places}
        cached = self._get(distinct.values())
        missing = [place for place, key in distinct.items() if key not in cached]
        sentences = list(dict.fromkeys(sentence for sentence, _ in missing))
        parses = dict(zip(sentences, self.parser.parse(sentences), strict=True))
        fresh = {distinct[s, at]: parses[s].tag_at(at) or CONFORMS for s, at in missing}
        self._put(fresh)
        cached |= fresh
        return {place: cached[key] or None for place, key in distinct.items()}

    def _reason(self, verdict: str) -> str | None:
        """Return what a cached verdict says of the properties that must match."""
        return None if verdict == DEPENDENCY and DEPENDENCY not in self.properties else verdict or None

    def _decide(self, pairs: Sequence[Pair]) -> dict[Pair, str | None]:
        """Decide pairs by their tags, and by their dependencies where the tags agree."""
        sentences = list(dict.fromkeys(sentence for pair in pairs for sentence in pair))
        numbers = {sentence: number for number, sentence in enumerate(sentences)}
        places = [(numbers[before], numbers[after]) for before, after in pairs]

        def agreeing(tags: Sequence[Sequence[str]]) -> Collection[int]:
            """Choose the sentences of the pairs whose tags agree."""
            return {
                number
                for place in places
                if tolerant_table_comp(*(tags[n] for n in place))
                for number in place
            }

        read = self.parser.read(sentences, agreeing)
        return {
            pair: _compared(pair[1], read[before], read[after])
            for pair, (before, after) in zip(pairs, places, strict=True)
        }

    @cached_property
    def _seed(self) -> bytes:
        return self.parser.name.encode()

    def _key(self, *parts: str) -> bytes:
        digest = blake2b(self._seed, digest_size=16)
        for part in parts:
            digest.update(b"\0" + part.encode("utf-8", "surrogatepass"))
        return digest.digest()

    def _get(self, keys: Collection[bytes]) -> dict[bytes, str]:
        return dict(self.verdicts.get(keys)) if self.verdicts is not None else {}

    def _put(self, rows: Mapping[bytes, str]) -> None:
        if self.verdicts is not None and rows:
            self.verdicts.put(rows)


def _length(pair: Pair) -> int:
    return len(pair[1])


def _compared(changed: str, before: Sentence, after: Sentence) -> str | None:
    """Return the reason why a changed sentence does not conform, None if it does."""
    single = len(before.split.spans) == len(after.split.spans) == 1
    whole = single and after.split.spans[0] == (0, len(changed))
    return (
        compare(before.parse, after.parse) if whole and before.split.closed == after.split.closed else MOVED
    )
