"""Which changed sentences conform to their originals: each distinct pair decided once, in batches, and kept.

The verdict of a pair depends on the two sentences and the parser alone, so it can be looked up for ever
after, in whatever document and mutant the pair comes back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import Protocol

from harness.core import Span
from harness.language.parsers import Parser, Split
from harness.suites.hinter.tag_comparison import DEPENDENCY, MOVED, POS, check, compare

Pair = tuple[str, str]
"""A sentence as it was, and changed."""

CONFORMS = ""
PAIRS_AT_ONCE = 4_000


class Kept(Protocol):
    """Short texts kept by the digest of what they depend on."""

    def get(self, keys: Collection[bytes]) -> Mapping[bytes, str]: ...

    def put(self, rows: Mapping[bytes, str]) -> None: ...


@dataclass
class Conformity:
    """Decides pairs of sentences by ``parser``; ``kept`` None keeps nothing beyond the call.

    ``properties`` that must match: parts of speech and dependencies, or parts of speech alone. How many
    mutants needed their whole text (``exact``) is counted.
    """

    parser: Parser
    kept: Kept | None = None
    properties: Sequence[str] = (POS, DEPENDENCY)
    exact: int = field(default=0, init=False)

    def split(self, text: str) -> Sequence[Span]:
        """The sentences of a whole text."""
        return self.parser.split(text).spans

    def reasons(self, pairs: Iterable[Pair]) -> dict[Pair, str | None]:
        """For each pair None where it conforms, else why not; ``MOVED`` where the changed sentence may not be
        the whole of one sentence, so that only the whole text can tell."""
        distinct = {pair: self._key("pair", *pair) for pair in pairs}
        kept = self._get(distinct.values())
        missing = [pair for pair, key in distinct.items() if key not in kept]
        for start in range(0, len(missing), PAIRS_AT_ONCE):
            some = self._decide(missing[start : start + PAIRS_AT_ONCE])
            fresh = {distinct[pair]: reason or CONFORMS for pair, reason in some.items()}
            self._put(fresh)
            kept |= fresh
        return {pair: self._reason(kept[key]) for pair, key in distinct.items()}

    def check(self, original: str, mutant: str) -> str | None:
        """Algorithm 3 on whole texts."""
        self.exact += 1
        key = self._key("text", *self.properties, original, mutant)
        kept = self._get([key])
        if key not in kept:
            kept = {key: check(self.parser, original, mutant, self.properties) or CONFORMS}
            self._put(kept)
        return kept[key] or None

    def tags(self, wanted: Iterable[tuple[str, int]]) -> dict[tuple[str, int], str | None]:
        """The fine POS tag of the token that starts at an offset of a sentence, None where none does."""
        distinct = {one: self._key("tag", one[0], str(one[1])) for one in wanted}
        kept = self._get(distinct.values())
        missing = [one for one, key in distinct.items() if key not in kept]
        sentences = list(dict.fromkeys(sentence for sentence, _ in missing))
        parses = dict(zip(sentences, self.parser.parse(sentences), strict=True))
        fresh = {distinct[s, at]: parses[s].tag_at(at) or CONFORMS for s, at in missing}
        self._put(fresh)
        kept |= fresh
        return {one: kept[key] or None for one, key in distinct.items()}

    def _reason(self, verdict: str) -> str | None:
        """What a kept verdict says of the properties that must match."""
        return None if verdict == DEPENDENCY and DEPENDENCY not in self.properties else verdict or None

    def _decide(self, pairs: Sequence[Pair]) -> dict[Pair, str | None]:
        splits: dict[str, Split] = {}
        for pair in pairs:
            for sentence in pair:
                if sentence not in splits:
                    splits[sentence] = self.parser.split(sentence)
        whole = [pair for pair in pairs if _whole(pair[1], splits[pair[0]], splits[pair[1]])]
        sentences = list(dict.fromkeys(sentence for pair in whole for sentence in pair))
        parses = dict(zip(sentences, self.parser.parse(sentences), strict=True))
        found: dict[Pair, str | None] = dict.fromkeys(pairs, MOVED)
        return found | {pair: compare(parses[pair[0]], parses[pair[1]]) for pair in whole}

    @cached_property
    def _seed(self) -> bytes:
        return self.parser.name.encode()

    def _key(self, *parts: str) -> bytes:
        digest = blake2b(self._seed, digest_size=16)
        for part in parts:
            digest.update(b"\0" + part.encode("utf-8", "surrogatepass"))
        return digest.digest()

    def _get(self, keys: Collection[bytes]) -> dict[bytes, str]:
        return dict(self.kept.get(keys)) if self.kept is not None else {}

    def _put(self, rows: Mapping[bytes, str]) -> None:
        if self.kept is not None and rows:
            self.kept.put(rows)


def _whole(sentence: str, old: Split, new: Split) -> bool:
    """Whether the changed sentence is one sentence from end to end, and ends as the old one did."""
    one = len(old.spans) == len(new.spans) == 1 and new.spans[0] == (0, len(sentence))
    return one and old.closed == new.closed
