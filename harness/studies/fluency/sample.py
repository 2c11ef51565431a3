"""Which texts of a run are scored: an even sample of each kind, and the originals of its mutants."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256

from harness.core import DUPLICATE, Case

ORIGINAL, VALID, DISCARDED = "original", "valid", "discarded"
STAR_ROLES = ("atomic", "intersectional")


@dataclass(frozen=True, slots=True)
class Sample:
    """``drawn`` by kind, out of as many as ``sizes`` says; ``originals`` of the mutants by group."""

    drawn: Mapping[str, tuple[Case, ...]]
    sizes: Mapping[str, int]
    originals: Mapping[str, Case]

    @property
    def cases(self) -> list[Case]:
        """All cases to score, each once."""
        drawn = [case for cases in self.drawn.values() for case in cases]
        return list({case.id: case for case in (*drawn, *self.originals.values())}.values())


def kind(case: Case) -> str | None:
    """``original``, ``valid`` or ``discarded`` for a suite of mutants, else the role; with the characteristic
    that a template is of. None for a duplicate, which is neither valid nor discarded."""
    if case.reason == DUPLICATE:
        return None
    if case.role == ORIGINAL:
        return ORIGINAL
    valid = VALID if case.role in STAR_ROLES else case.role
    name = valid if case.valid else DISCARDED
    about = case.traits.get("characteristic")
    return f"{name}, {about}" if about else name


def draw(cases: Iterable[Case], limit: int, seed: int) -> tuple[dict[str, tuple[Case, ...]], dict[str, int]]:
    """At most ``limit`` of each kind, all with the same chance, and how many there are.

    A case's place in the draw depends on its id and the seed alone, so a larger limit adds to a sample.
    """
    heaps: dict[str, list[tuple[int, str, Case]]] = {}
    sizes: Counter[str] = Counter()
    for case in cases:
        if (name := kind(case)) is None:
            continue
        sizes[name] += 1
        place = -int.from_bytes(sha256(f"{seed} {case.id}".encode("utf-8", "surrogatepass")).digest())
        heap = heaps.setdefault(name, [])
        if len(heap) < limit:
            heapq.heappush(heap, (place, case.id, case))
        elif place > heap[0][0]:
            heapq.heapreplace(heap, (place, case.id, case))
    drawn = {name: tuple(case for *_, case in sorted(heaps[name], reverse=True)) for name in sorted(heaps)}
    return drawn, dict(sizes)


def sample(cases: Iterable[Case], again: Iterable[Case], limit: int, seed: int) -> Sample:
    """The sample of a run, whose cases are read twice: ``again`` for the originals of what was drawn."""
    drawn, sizes = draw(cases, limit, seed)
    groups = {case.group for some in drawn.values() for case in some if case.role != ORIGINAL}
    originals = {case.group: case for case in again if case.role == ORIGINAL and case.group in groups}
    return Sample(drawn, sizes, originals)
