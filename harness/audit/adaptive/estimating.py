"""Figures of all cases of a run, from a sample of them: rates by attribute set, and group effects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations, groupby
from typing import TYPE_CHECKING

import numpy as np

from harness.audit.adaptive.candidates import Candidates
from harness.audit.adaptive.sample import Sample, effect, share
from harness.core import Case, Json, JsonObject
from harness.findings.places import Place, places

if TYPE_CHECKING:
    from harness.audit.adaptive.design import Floats

METHOD = "two phases, inverse probability with control variate"

Two = tuple[str, str, str]


def figures(
    sample: Sample, candidates: Candidates, cases: Callable[[], Iterable[Case]], outcome: str | None
) -> JsonObject:
    """Return the estimates of a sample as JSON values, for the summary.

    ``cases`` yields all cases of the run; ``outcome`` names the outcome that is compared between groups, None
    if there is none.
    """
    asked = np.zeros(len(candidates.document), dtype=bool)
    for stage in sample.stages:
        asked[stage.mutants] = True
    kinds: dict[tuple[str, ...], list[int]] = {}
    numbers = {int(row): number for number, row in enumerate(candidates.rows)}
    for row, case in enumerate(cases()):
        if row in numbers:
            kinds.setdefault(tuple(sorted(case.attributes)), []).append(numbers[row])
    effects = [] if outcome is None else list(_effects(sample, candidates, cases(), numbers, outcome))
    return {
        "method": METHOD,
        "originals": int(sample.chosen.sum()),
        "of_originals": len(sample.chosen),
        "drawn": int(asked.sum()),
        "rates": [*_rates(sample, kinds)],
        "effects": effects,
    }


def _rates(sample: Sample, kinds: dict[tuple[str, ...], list[int]]) -> Iterator[Json]:
    every = [number for numbers in kinds.values() for number in numbers]
    for attributes, numbers in [((), every), *sorted(kinds.items())]:
        among = np.zeros(len(sample.document), dtype=bool)
        among[numbers] = True
        found = share(sample, among)
        if found is not None:
            yield {
                "attributes": list(attributes),
                "cases": len(numbers),
                "rate": found.value,
                "ci95": list(found.interval),
                "effective": found.effective,
            }


def _effects(
    sample: Sample,
    candidates: Candidates,
    cases: Iterable[Case],
    numbers: dict[int, int],
    outcome: str,
) -> Iterator[Json]:
    """Yield the effect of each two groups in the versions of one text that are edited alike."""
    for two, texts, factors in contrasts(cases, numbers, len(candidates.document)):
        found = effect(sample, factors)
        yield {
            "attribute": two[0],
            "from": two[1],
            "to": two[2],
            "outcome": outcome,
            "originals": texts,
            "effect": found.value,
            "ci95": list(found.interval),
        }


def contrasts(
    cases: Iterable[Case], numbers: dict[int, int], mutants: int
) -> Iterator[tuple[Two, int, Floats]]:
    """Yield each two groups, the number of their texts, and the factor of each mutant in the mean of these.

    ``numbers`` are those of the mutants by row of the ``cases``, which are all of the run.
    """
    for two, by_text in sorted(_factors(cases, numbers).items()):
        factors = np.zeros(mutants)
        for pairs, of_text in by_text.values():
            for number, factor in of_text.items():
                factors[number] += factor / pairs / len(by_text)
        yield two, len(by_text), factors


def _factors(
    cases: Iterable[Case], numbers: dict[int, int]
) -> dict[Two, dict[str, tuple[int, dict[int, float]]]]:
    """Return, by two groups and text, the number of places and the factor of each mutant in their sum.

    An original has no factor: its change is zero.
    """
    found: dict[Two, dict[str, tuple[int, dict[int, float]]]] = {}
    for _, group in groupby(enumerate(cases), key=lambda item: item[1].group):
        rows = list(group)
        own = {case.id: numbers.get(row) for row, case in rows}
        for place in places(case for _, case in rows):
            for first, second in combinations(sorted({version.group for version in place.versions}), 2):
                if not _alike(place, (first, second)):
                    continue
                by_text = found.setdefault((place.attribute, first, second), {})
                pairs, factors = by_text.get(place.document, (0, {}))
                for name, sign in ((first, -1.0), (second, 1.0)):
                    of_group = [version for version in place.versions if version.group == name]
                    for version in of_group:
                        number = own[version.case]
                        if number is not None:
                            factors[number] = factors.get(number, 0.0) + sign / len(of_group)
                by_text[place.document] = (pairs + 1, factors)
    return found


def _alike(place: Place, groups: Sequence[str]) -> bool:
    """Return whether all versions of ``groups`` are edited alike; else editing is a part of the effect."""
    return len({version.edits for version in place.versions if version.group in groups}) == 1
