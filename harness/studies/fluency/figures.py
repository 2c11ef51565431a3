"""Figures of scores by kind, each with its number of texts and an interval by document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.core import Case, Failure, Status
from harness.plugins import Score
from harness.report.fluency import ByVerdict, Contrast, Kind, Mean
from harness.statistics import cluster_bootstrap, clustered_rate_difference
from harness.studies.fluency.sample import Sample
from harness.studies.sampling import DISCARDED, ORIGINAL, VALID

Scores = Mapping[str, Score | Failure]
"""The score of each text, or why it has none."""


@dataclass(frozen=True, slots=True)
class Value:
    """A number and the document that it comes from."""

    document: str
    value: float


def mean(values: Sequence[Value], seed: int) -> Mean:
    """Return the mean of ``values``, None without any, and its interval.

    The interval resamples whole documents, since the mutants of one text are not independent; it is None with
    fewer than two documents.
    """
    sums = _by_document(values, sorted({value.document for value in values}))
    return Mean(
        n=len(values),
        documents=len(sums),
        mean=sum(value.value for value in values) / len(values) if values else None,
        ci95=cluster_bootstrap([total for total, _ in sums], [size for _, size in sums], seed),
    )


def contrast(first: Sequence[Value], second: Sequence[Value], seed: int) -> Contrast:
    """Return the mean of ``first`` less that of ``second``, documents resampled for both at once.

    The interval is None where either has fewer than two documents.
    """
    if not first or not second:
        return Contrast(mean=None, ci95=None)
    documents = sorted({value.document for value in (*first, *second)})
    excess = clustered_rate_difference(_by_document(first, documents), _by_document(second, documents), seed)
    several = all(len({value.document for value in values}) > 1 for values in (first, second))
    minuend, subtrahend = (sum(value.value for value in values) / len(values) for values in (first, second))
    return Contrast(
        mean=minuend - subtrahend, ci95=excess.interval if excess is not None and several else None
    )


def _by_document(values: Sequence[Value], documents: Sequence[str]) -> list[tuple[float, int]]:
    """Return the sum and the number of the values of each of ``documents``."""
    grouped: dict[str, list[float]] = {document: [] for document in documents}
    for value in values:
        grouped[value.document].append(value.value)
    return [(sum(numbers), len(numbers)) for numbers in grouped.values()]


def rows(sample: Sample, scores: Scores, seed: int) -> Iterator[Kind]:
    """Yield a row for each kind and for its parts: valid mutants by role, discarded ones by reason."""
    for kind, cases in sample.by_kind.items():
        yield _row(kind, None, cases, sample, scores, seed)
        if (part := _part(kind)) is None:
            continue
        for name in sorted({part(case) for case in cases}):
            yield _row(kind, name, [case for case in cases if part(case) == name], sample, scores, seed)


def _part(kind: str) -> Callable[[Case], str] | None:
    if kind.startswith(DISCARDED):
        return lambda case: case.reason or ""
    return (lambda case: case.role) if kind == VALID else None


def _row(
    kind: str, part: str | None, cases: Sequence[Case], sample: Sample, scores: Scores, seed: int
) -> Kind:
    unscored = Counter(s.reason for case in cases if isinstance(s := scores[case.text], Failure))
    paired = kind != ORIGINAL and any(case.group in sample.originals for case in cases)
    average = mean(_values(cases, scores), seed)
    return Kind(
        kind=kind,
        part=part,
        cases=sample.sizes[kind] if part is None else None,
        sampled=len(cases),
        unscored=dict(sorted(unscored.items())),
        n=average.n,
        documents=average.documents,
        mean=average.mean,
        ci95=average.ci95,
        difference=mean(differences(cases, sample, scores), seed) if paired else None,
    )


def _values(cases: Sequence[Case], scores: Scores) -> list[Value]:
    return [Value(c.document, s.mean) for c in cases if isinstance(s := scores[c.text], Score)]


def differences(cases: Sequence[Case], sample: Sample, scores: Scores) -> list[Value]:
    """Return the score of each mutant less that of its own original, where both have one."""
    values = []
    for case in cases:
        original = sample.originals.get(case.group)
        before = scores[original.text] if original is not None else None
        after = scores[case.text]
        if isinstance(before, Score) and isinstance(after, Score):
            values.append(Value(case.document, after.mean - before.mean))
    return values


def valid_less_discarded(sample: Sample, scores: Scores, seed: int) -> Contrast | None:
    """Return the score of valid mutants, each less its original, less that of discarded ones (HINTER, RQ3.3).

    None where the sample lacks either kind.
    """
    if not {VALID, DISCARDED} <= sample.by_kind.keys():
        return None
    valid, discarded = (differences(sample.by_kind[kind], sample, scores) for kind in (VALID, DISCARDED))
    return contrast(valid, discarded, seed)


def by_verdict(
    sample: Sample, scores: Scores, statuses: Mapping[str, Status], seed: int
) -> Iterator[ByVerdict]:
    """Yield the scores of originals and of mutants of each order, by whether the answer changed.

    ``statuses`` are the verdicts on mutants, by case, and on originals: biased if any of their mutants is,
    benign if all are (HINTER, RQ2).
    """
    by_order: dict[int, list[Case]] = {}
    for kind in (ORIGINAL, VALID):
        for case in sample.by_kind.get(kind, ()):
            by_order.setdefault(0 if kind == ORIGINAL else len(case.substitutions), []).append(case)
    for order, cases in sorted(by_order.items()):
        changed, unchanged = (
            [case for case in cases if statuses.get(case.id) == status] for status in ("biased", "benign")
        )
        if changed or unchanged:
            first, second = _values(changed, scores), _values(unchanged, scores)
            beside = (differences(changed, sample, scores), differences(unchanged, sample, scores))
            compared = beside if order else (first, second)
            yield ByVerdict(
                order=order,
                changed=mean(first, seed),
                unchanged=mean(second, seed),
                changed_difference=mean(beside[0], seed) if order else None,
                unchanged_difference=mean(beside[1], seed) if order else None,
                contrast=contrast(*compared, seed),
            )
