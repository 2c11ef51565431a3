"""From scores to figures by kind, each with its number of texts and an interval by document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.core import Case, Failure
from harness.plugins import Score
from harness.statistics import cluster_bootstrap, clustered_rate_difference
from harness.studies.fluency.sample import Sample
from harness.studies.sampling import DISCARDED, ORIGINAL, VALID

Scores = Mapping[str, Score | Failure]
"""By text."""


@dataclass(frozen=True, slots=True)
class Value:
    """A number and the document that it comes from."""

    document: str
    value: float


def mean(values: Sequence[Value], seed: int) -> dict[str, Any]:
    """``n``, ``documents``, ``mean`` and ``ci95``, whole documents resampled: the mutants of one text are not
    independent. The interval is None with fewer than two documents."""
    sums = _by_document(values, sorted({one.document for one in values}))
    return {
        "n": len(values),
        "documents": len(sums),
        "mean": sum(one.value for one in values) / len(values) if values else None,
        "ci95": cluster_bootstrap([total for total, _ in sums], [size for _, size in sums], seed),
    }


def contrast(some: Sequence[Value], others: Sequence[Value], seed: int) -> dict[str, Any]:
    """By how much the mean of ``some`` is above that of ``others``, documents resampled for both at once."""
    if not some or not others:
        return {"mean": None, "ci95": None}
    documents = sorted({one.document for one in (*some, *others)})
    excess = clustered_rate_difference(_by_document(some, documents), _by_document(others, documents), seed)
    several = len({one.document for one in some}) > 1 and len({one.document for one in others}) > 1
    first, second = (sum(one.value for one in values) / len(values) for values in (some, others))
    return {"mean": first - second, "ci95": excess.interval if excess is not None and several else None}


def _by_document(values: Sequence[Value], documents: Sequence[str]) -> list[tuple[float, int]]:
    """The sum of the values of each of ``documents``, and how many these are."""
    grouped: dict[str, list[float]] = {document: [] for document in documents}
    for one in values:
        grouped[one.document].append(one.value)
    return [(sum(numbers), len(numbers)) for numbers in grouped.values()]


def rows(sample: Sample, scores: Scores, seed: int) -> list[dict[str, Any]]:
    """A row for each kind, and for the parts of it: valid mutants by role, discarded ones by reason."""
    made: list[dict[str, Any]] = []
    for kind, cases in sample.drawn.items():
        made.append(_row(kind, None, cases, sample, scores, seed))
        if (part := _part(kind)) is None:
            continue
        for name in sorted({part(case) for case in cases}):
            some = [case for case in cases if part(case) == name]
            made.append(_row(kind, name, some, sample, scores, seed))
    return made


def _part(kind: str) -> Callable[[Case], str] | None:
    if kind.startswith(DISCARDED):
        return lambda case: case.reason or ""
    return (lambda case: case.role) if kind == VALID else None


def _row(
    kind: str, part: str | None, cases: Sequence[Case], sample: Sample, scores: Scores, seed: int
) -> dict[str, Any]:
    unscored = Counter(s.reason for case in cases if isinstance(s := scores[case.text], Failure))
    paired = kind != ORIGINAL and any(case.group in sample.originals for case in cases)
    return {
        "kind": kind,
        "part": part,
        "cases": sample.sizes[kind] if part is None else None,
        "sampled": len(cases),
        "unscored": dict(sorted(unscored.items())),
        **mean(_values(cases, scores), seed),
        "difference": mean(differences(cases, sample, scores), seed) if paired else None,
    }


def _values(cases: Sequence[Case], scores: Scores) -> list[Value]:
    return [Value(c.document, s.mean) for c in cases if isinstance(s := scores[c.text], Score)]


def differences(cases: Sequence[Case], sample: Sample, scores: Scores) -> list[Value]:
    """Each mutant's score less that of its own original, where both have one."""
    found = []
    for case in cases:
        original = sample.originals.get(case.group)
        before = scores[original.text] if original is not None else None
        after = scores[case.text]
        if isinstance(before, Score) and isinstance(after, Score):
            found.append(Value(case.document, after.mean - before.mean))
    return found


def valid_less_discarded(sample: Sample, scores: Scores, seed: int) -> dict[str, Any] | None:
    """By how much valid mutants, each less its original, are above discarded ones (HINTER, RQ3.3)."""
    if not {VALID, DISCARDED} <= sample.drawn.keys():
        return None
    valid, discarded = (differences(sample.drawn[kind], sample, scores) for kind in (VALID, DISCARDED))
    return contrast(valid, discarded, seed)
