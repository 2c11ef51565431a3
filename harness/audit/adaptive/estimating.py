"""Figures of all cases of a run, from a sample of them: rates and excesses by attribute set, and effects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from harness.audit.adaptive.candidates import Candidates
from harness.audit.adaptive.contrasts import contrasts, interactions
from harness.audit.adaptive.controls import compared
from harness.audit.adaptive.sample import CONFIDENCE, Sample, effect, excess, share
from harness.core import Case, Json, JsonObject

METHOD = "two phases, inverse probability with control variate"


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
    numbers = candidates.numbers
    for row, case in enumerate(cases()):
        if row in numbers and case.role != "control":
            kinds.setdefault(tuple(sorted(case.attributes)), []).append(numbers[row])
    compared = [] if outcome is None else list(_effects(sample, candidates, cases(), numbers, outcome))
    met = [] if outcome is None else list(_interactions(sample, candidates, cases(), numbers, outcome))
    return {
        "method": METHOD,
        "originals": int(sample.chosen.sum()),
        "of_originals": len(sample.chosen),
        "drawn": int(asked.sum()),
        "rates": [*_rates(sample, kinds)],
        "effects": compared,
        "interactions": met,
        "excesses": [*_excesses(sample, cases(), numbers)],
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
    every = [*contrasts(cases, numbers)]
    for contrast in every:
        factors = contrast.dense(len(candidates.document))
        found, together = effect(sample, factors), effect(sample, factors, _of_all(every))
        attribute, source, target = contrast.groups
        yield {
            "attribute": attribute,
            "from": source,
            "to": target,
            "outcome": outcome,
            "originals": contrast.texts,
            "effect": found.value,
            "ci95": list(found.interval),
            "together": list(together.interval),
        }


def _interactions(
    sample: Sample,
    candidates: Candidates,
    cases: Iterable[Case],
    numbers: dict[int, int],
    outcome: str,
) -> Iterator[Json]:
    """Yield the interaction of each two groups that meet."""
    for met in interactions(cases, numbers):
        found = effect(sample, met.dense(len(candidates.document)), most=2.0)
        yield {
            "groups": dict(met.groups),
            "outcome": outcome,
            "originals": met.texts,
            "interaction": found.value,
            "ci95": list(found.interval),
        }


def _excesses(sample: Sample, cases: Iterable[Case], numbers: dict[int, int]) -> Iterator[Json]:
    """Yield by how much more often the mutants of each set flip than controls do."""
    every = [*compared(cases, numbers)]
    for one in every:
        factors = one.dense(len(sample.document))
        found = excess(sample, *factors)
        together = excess(sample, *factors, _of_all(every))
        if found is not None and together is not None:
            yield {
                "attributes": list(one.attributes),
                "tests": len(one.tests),
                "controls": len(one.controls),
                "originals": one.texts,
                "rate": found.rate.value,
                "control_rate": found.control.value,
                "excess": found.difference.value,
                "ci95": list(found.difference.interval),
                "together": list(together.difference.interval),
            }


def _of_all(figures: Sequence[object]) -> float:
    """Return the confidence of each interval such that those of all ``figures`` hold at once (Bonferroni)."""
    return 1 - (1 - CONFIDENCE) / len(figures)
