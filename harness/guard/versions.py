"""The versions of one text by group, made in a thread of their own while the text itself is answered."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from itertools import groupby

from harness.core import Case, Document
from harness.findings import places as findings
from harness.guard.records import Place
from harness.plugins import Suite

LONGEST = 20_000
"""The most characters of a text that is checked: parsing it takes a second or more."""


class Versions:
    """Makes the versions of texts by ``suite``, one text at a time; ``seed`` decides their order.

    A text that ``suite`` is not concerned with costs a search for words, a few microseconds.
    """

    def __init__(self, suite: Suite, seed: int = 0) -> None:
        self._suite = suite
        self._seed = seed
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="versions")

    async def of(self, text: str) -> list[Place]:
        """Return the places of ``text``; none where it names nobody, or is longer than ``LONGEST``."""
        if len(text) > LONGEST or not self._suite.concerns(text):
            return []
        return await asyncio.get_running_loop().run_in_executor(self._thread, self.made, text)

    def made(self, text: str) -> list[Place]:
        """Return the places of ``text``, made at once."""
        cases = self._suite.cases(iter([Document("text", text)]))
        return [
            place
            for _, group in groupby(cases, key=lambda case: case.group)
            for place in self._places(list(group))
        ]

    def _places(self, group: Sequence[Case]) -> Iterator[Place]:
        texts = {case.id: case.text for case in group}
        original = next((case.text for case in group if case.role == "original"), "")
        for place in findings.places(group):
            by_group: dict[str, dict[str, None]] = {}
            for version in place.versions:
                by_group.setdefault(version.group, {})[texts[version.case]] = None
            yield Place(
                place.attribute,
                {name: sorted(of_group, key=self._order(original)) for name, of_group in by_group.items()},
            )

    def _order(self, original: str) -> _Order:
        return _Order(self._seed, original)

    def close(self) -> None:
        """End the thread."""
        self._thread.shutdown(wait=False, cancel_futures=True)


class _Order:
    """The order of the versions of a text: itself first, the others at random, always the same."""

    def __init__(self, seed: int, original: str) -> None:
        self._seed = str(seed)
        self._original = original

    def __call__(self, text: str) -> bytes:
        if text == self._original:
            return b""
        return sha256(f"{self._seed}\x1f{text}".encode("utf-8", "surrogatepass")).digest()
