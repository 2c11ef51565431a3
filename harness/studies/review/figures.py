"""What annotators say of a run's cases: label consistency, relevancy, fluency, and how far they agree."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

from harness.core import DUPLICATE, Case
from harness.statistics import rate, wilson
from harness.studies.fluency.figures import Value, mean
from harness.studies.review.agreement import Kappa, cohen, fleiss
from harness.studies.review.sheet import SCALE, TO_FILL, Rating
from harness.studies.sampling import kind


def summary(
    ratings: Sequence[Rating], cases: Mapping[str, Case], several: bool, seed: int = 0
) -> dict[str, Any]:
    """``review.json``: figures by kind of case (S²LCT, equations 3 and 4, Table 3) and the agreement.

    ``several``: the task gives a text several labels, so that consistent is only the whole set.
    """
    kinds: dict[str, list[Rating]] = {}
    for rating in ratings:
        kinds.setdefault(kind(cases[rating.case]) or DUPLICATE, []).append(rating)
    annotators = sorted({rating.annotator for rating in ratings})
    return {
        "schema": 1,
        "annotators": annotators,
        "ratings": len(ratings),
        "kinds": [_row(name, kinds[name], cases, several, seed) for name in sorted(kinds)],
        "agreement": {column: _agreement(ratings, annotators, column, seed) for column in TO_FILL},
    }


def _row(
    name: str, ratings: Sequence[Rating], cases: Mapping[str, Case], several: bool, seed: int
) -> dict[str, Any]:
    scores = {
        column: mean(
            [
                Value(cases[rating.case].document, float(score))
                for rating in ratings
                if (score := getattr(rating, column)) is not None
            ],
            seed,
        )
        for column in ("relevance", "fluency")
    }
    return {
        "kind": name,
        "cases": len({rating.case for rating in ratings}),
        "ratings": len(ratings),
        "label_consistency": _consistency(ratings, cases, several, seed),
        "relevancy": _normalised(scores["relevance"]),
        "fluency": scores["fluency"],
    }


def _consistency(
    ratings: Iterable[Rating], cases: Mapping[str, Case], several: bool, seed: int
) -> dict[str, Any]:
    """Equation 3: how often the annotator's label is one that is expected."""
    values = []
    for rating in ratings:
        case = cases[rating.case]
        if rating.label is not None and case.expected is not None:
            same = rating.label == case.expected if several else rating.label <= case.expected
            values.append(Value(case.document, float(same)))
    consistent = int(sum(value.value for value in values))
    found = mean(values, seed)
    independent = found["documents"] == found["n"]
    return {
        "n": len(values),
        "consistent": consistent,
        "rate": rate(consistent, len(values)),
        "ci95": wilson(consistent, len(values)) if independent else found["ci95"],
    }


def _normalised(score: Mapping[str, Any]) -> dict[str, Any]:
    """Equation 4: the mean of scores moved to 0..1."""

    def moved(value: float) -> float:
        return (value - SCALE[0]) / (SCALE[-1] - SCALE[0])

    between = score["ci95"]
    return {
        **score,
        "mean": None if score["mean"] is None else moved(score["mean"]),
        "ci95": None if between is None else (moved(between[0]), moved(between[1])),
    }


def _agreement(
    ratings: Sequence[Rating], annotators: Sequence[str], column: str, seed: int
) -> dict[str, Any]:
    """Cohen's kappa of every two annotators with common cases and, of more than two, Fleiss' of all.

    Scores are steps, so that two annotators' difference counts by its square.
    """
    given: dict[str, dict[str, Hashable]] = {name: {} for name in annotators}
    for rating in ratings:
        if (answer := getattr(rating, column)) is not None:
            given[rating.annotator][rating.case] = answer
    steps = column != "label"
    said = {answer for own in given.values() for answer in own.values()}
    categories: list[Hashable] = list(SCALE) if steps else sorted(said, key=repr)
    pairs = []
    for one, other in combinations(annotators, 2):
        both = sorted(given[one].keys() & given[other].keys())
        if both:
            answers = [(given[one][case], given[other][case]) for case in both]
            found = cohen(answers, categories, "quadratic" if steps else "none", seed)
            pairs.append({"annotators": [one, other], **_plain(found)})
    every: dict[str, Any] | None = None
    if len(annotators) > 2:
        common = sorted(set.intersection(*(set(own) for own in given.values())))
        every = _plain(fleiss([[own[case] for own in given.values()] for case in common], categories, seed))
    return {"weights": "quadratic" if steps else "none", "cohen": pairs, "fleiss": every}


def _plain(kappa: Kappa) -> dict[str, Any]:
    return {"items": kappa.items, "kappa": kappa.value, "ci95": kappa.interval}
