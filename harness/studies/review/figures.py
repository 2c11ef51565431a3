"""Figures of the annotators' ratings: label consistency, relevancy, fluency, and agreement."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import TypeAlias

from harness.core import DUPLICATE, Case
from harness.report.fluency import Mean
from harness.report.review import SCHEMA, Agreement, Consistency, Kind, Pair, Review
from harness.report.review import Kappa as KappaFigure
from harness.statistics import rate, wilson
from harness.studies.fluency.figures import Value, mean
from harness.studies.review.agreement import Kappa, cohen, fleiss
from harness.studies.review.sheet import SCALE, TO_FILL, Rating
from harness.studies.sampling import kind

Column: TypeAlias = Callable[[Rating], Hashable]

COLUMNS: Mapping[str, Column] = {
    "label": lambda rating: rating.label,
    "relevance": lambda rating: rating.relevance,
    "fluency": lambda rating: rating.fluency,
    "right": lambda rating: rating.right,
}
"""The answer of a rating in each column of the sheet, None where its cell was left empty."""


def summary(ratings: Sequence[Rating], cases: Mapping[str, Case], several: bool, seed: int = 0) -> Review:
    """Return the figures by kind of case (S²LCT, Equations 3 and 4, Table 3) and the agreement.

    ``several``: the task gives a text several labels, so that a label is consistent only as a whole set.
    """
    kinds: dict[str, list[Rating]] = {}
    for rating in ratings:
        kinds.setdefault(kind(cases[rating.case]) or DUPLICATE, []).append(rating)
    annotators = sorted({rating.annotator for rating in ratings})
    return Review(
        schema=SCHEMA,
        annotators=tuple(annotators),
        ratings=len(ratings),
        kinds=tuple(_row(name, kinds[name], cases, several, seed) for name in sorted(kinds)),
        agreement={column: _agreement(ratings, annotators, column, seed) for column in TO_FILL},
    )


def _row(name: str, ratings: Sequence[Rating], cases: Mapping[str, Case], several: bool, seed: int) -> Kind:
    def average(column: Callable[[Rating], int | None]) -> Mean:
        scores = [(rating.case, column(rating)) for rating in ratings]
        values = [Value(cases[name].document, float(score)) for name, score in scores if score is not None]
        return mean(values, seed)

    return Kind(
        kind=name,
        cases=len({rating.case for rating in ratings}),
        ratings=len(ratings),
        right=_right(ratings, cases, seed),
        label_consistency=_consistency(ratings, cases, several, seed),
        relevancy=_normalised(average(lambda rating: rating.relevance)),
        fluency=average(lambda rating: rating.fluency),
    )


def _consistency(
    ratings: Iterable[Rating], cases: Mapping[str, Case], several: bool, seed: int
) -> Consistency:
    """Return how often the annotator's label is an expected one (Equation 3)."""
    values = []
    for rating in ratings:
        case = cases[rating.case]
        if rating.label is not None and case.expected is not None:
            same = rating.label == case.expected if several else rating.label <= case.expected
            values.append(Value(case.document, float(same)))
    return _share(values, seed)


def _right(ratings: Iterable[Rating], cases: Mapping[str, Case], seed: int) -> Consistency:
    """Return how often a mutant was right to an annotator."""
    values = [Value(cases[r.case].document, float(r.right)) for r in ratings if r.right is not None]
    return _share(values, seed)


def _share(values: Sequence[Value], seed: int) -> Consistency:
    consistent = int(sum(value.value for value in values))
    average = mean(values, seed)
    independent = average.documents == average.n
    return Consistency(
        n=len(values),
        consistent=consistent,
        rate=rate(consistent, len(values)),
        ci95=wilson(consistent, len(values)) if independent else average.ci95,
    )


def _normalised(average: Mean) -> Mean:
    """Return the mean of the scores rescaled to 0..1 (Equation 4)."""

    def rescaled(value: float) -> float:
        return (value - SCALE[0]) / (SCALE[-1] - SCALE[0])

    between = average.ci95
    return Mean(
        n=average.n,
        documents=average.documents,
        mean=None if average.mean is None else rescaled(average.mean),
        ci95=None if between is None else (rescaled(between[0]), rescaled(between[1])),
    )


def _agreement(ratings: Sequence[Rating], annotators: Sequence[str], name: str, seed: int) -> Agreement:
    """Return Cohen's kappa of every two annotators with common cases and, of more than two, Fleiss' of all.

    Scores are steps of a scale, so the difference of two annotators counts by its square.
    """
    column = COLUMNS[name]
    answers: dict[str, dict[str, Hashable]] = {annotator: {} for annotator in annotators}
    for rating in ratings:
        if (answer := column(rating)) is not None:
            answers[rating.annotator][rating.case] = answer
    has_steps = name not in ("label", "right")
    labels = {answer for by_case in answers.values() for answer in by_case.values()}
    categories: list[Hashable] = list(SCALE) if has_steps else sorted(labels, key=repr)
    pairs = []
    for first, second in combinations(annotators, 2):
        common = sorted(answers[first].keys() & answers[second].keys())
        if common:
            both = [(answers[first][case], answers[second][case]) for case in common]
            kappa = cohen(both, categories, "quadratic" if has_steps else "none", seed)
            pairs.append(
                Pair(annotators=(first, second), items=kappa.items, kappa=kappa.value, ci95=kappa.interval)
            )
    return Agreement(
        weights="quadratic" if has_steps else "none",
        cohen=tuple(pairs),
        fleiss=_figure(_of_all(answers, categories, seed)) if len(annotators) > 2 else None,
    )


def _of_all(
    answers: Mapping[str, Mapping[str, Hashable]], categories: Sequence[Hashable], seed: int
) -> Kappa:
    """Return Fleiss' kappa of the cases that every annotator answered."""
    common = sorted(set.intersection(*(set(by_case) for by_case in answers.values())))
    return fleiss([[by_case[case] for by_case in answers.values()] for case in common], categories, seed)


def _figure(kappa: Kappa) -> KappaFigure:
    return KappaFigure(items=kappa.items, kappa=kappa.value, ci95=kappa.interval)
