"""The texts of a run to score: an even sample of each kind, and the originals of its mutants."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from harness.core import Case
from harness.studies.sampling import ORIGINAL, draw


@dataclass(frozen=True, slots=True)
class Sample:
    """The cases drawn ``by_kind``, the kinds' ``sizes``, and the ``originals`` of the mutants by group."""

    by_kind: Mapping[str, tuple[Case, ...]]
    sizes: Mapping[str, int]
    originals: Mapping[str, Case]

    @property
    def cases(self) -> list[Case]:
        """All cases to score, each once."""
        sampled = [case for cases in self.by_kind.values() for case in cases]
        return list({case.id: case for case in (*sampled, *self.originals.values())}.values())


def sample(cases: Iterable[Case], again: Iterable[Case], limit: int, seed: int) -> Sample:
    """Draw at most ``limit`` cases of each kind from ``cases``, and find their originals in ``again``.

    ``again`` yields the same cases once more, so that the run need not fit into memory.
    """
    by_kind, sizes = draw(cases, limit, seed)
    groups = {case.group for sampled in by_kind.values() for case in sampled if case.role != ORIGINAL}
    originals = {case.group: case for case in again if case.role == ORIGINAL and case.group in groups}
    return Sample(by_kind, sizes, originals)
