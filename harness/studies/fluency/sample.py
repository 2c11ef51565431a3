"""Which texts of a run are scored: an even sample of each kind, and the originals of its mutants."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from harness.core import Case
from harness.studies.sampling import ORIGINAL, draw


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


def sample(cases: Iterable[Case], again: Iterable[Case], limit: int, seed: int) -> Sample:
    """The sample of a run, whose cases are read twice: ``again`` for the originals of what was drawn."""
    drawn, sizes = draw(cases, limit, seed)
    groups = {case.group for some in drawn.values() for case in some if case.role != ORIGINAL}
    originals = {case.group: case for case in again if case.role == ORIGINAL and case.group in groups}
    return Sample(drawn, sizes, originals)
