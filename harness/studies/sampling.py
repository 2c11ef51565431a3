"""An even sample of a run's cases, by kind, for a study to read."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable
from hashlib import sha256

from harness.core import DUPLICATE, Case

ORIGINAL, VALID, DISCARDED = "original", "valid", "discarded"
STAR_ROLES = ("atomic", "intersectional")


def kind(case: Case) -> str | None:
    """Return ``original``, ``valid`` or ``discarded`` for a suite of mutants, else the role.

    A template's characteristic is appended. None for a duplicate, which is neither valid nor discarded.
    """
    if case.reason == DUPLICATE:
        return None
    if case.role == ORIGINAL:
        return ORIGINAL
    valid = VALID if case.role in STAR_ROLES else case.role
    name = valid if case.valid else DISCARDED
    about = case.traits.get("characteristic")
    return f"{name}, {about}" if about else name


def place(name: str, seed: int) -> bytes:
    """Return the place of a case, or a group, in the random order of ``seed``.

    It depends on nothing else, so that a larger sample contains the smaller one.
    """
    return sha256(f"{seed} {name}".encode("utf-8", "surrogatepass")).digest()


def draw(cases: Iterable[Case], limit: int, seed: int) -> tuple[dict[str, tuple[Case, ...]], dict[str, int]]:
    """Draw at most ``limit`` cases of each kind, all equally likely; return them and the kinds' sizes."""
    heaps: dict[str, list[tuple[int, str, Case]]] = {}
    sizes: Counter[str] = Counter()
    for case in cases:
        if (name := kind(case)) is None:
            continue
        sizes[name] += 1
        rank = -int.from_bytes(place(case.id, seed))
        heap = heaps.setdefault(name, [])
        if len(heap) < limit:
            heapq.heappush(heap, (rank, case.id, case))
        elif rank > heap[0][0]:
            heapq.heapreplace(heap, (rank, case.id, case))
    kinds = {name: tuple(case for *_, case in sorted(heaps[name], reverse=True)) for name in sorted(heaps)}
    return kinds, dict(sizes)
