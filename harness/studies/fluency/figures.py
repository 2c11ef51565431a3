"""From scores to figures by kind, each with its number of texts and an interval by document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.core import Case, Failure
from harness.plugins import Score
from harness.studies.fluency.sample import DISCARDED, ORIGINAL, VALID, Sample

RESAMPLES = 2000
RESAMPLES_AT_ONCE = 100

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
    documents = {one.document for one in values}
    return {
        "n": len(values),
        "documents": len(documents),
        "mean": sum(one.value for one in values) / len(values) if values else None,
        "ci95": _interval([values], seed) if len(documents) > 1 else None,
    }


def contrast(some: Sequence[Value], others: Sequence[Value], seed: int) -> dict[str, Any]:
    """By how much the mean of ``some`` is above that of ``others``, documents resampled for both at once."""
    if not some or not others:
        return {"mean": None, "ci95": None}
    first, second = (sum(one.value for one in values) / len(values) for values in (some, others))
    several = len({one.document for one in some}) > 1 and len({one.document for one in others}) > 1
    return {"mean": first - second, "ci95": _interval([some, others], seed) if several else None}


def _interval(samples: Sequence[Sequence[Value]], seed: int) -> tuple[float, float]:
    """Percentile interval of a mean, or of the first mean less the second, by a bootstrap of documents."""
    import numpy as np

    places = {document: i for i, document in enumerate(sorted({v.document for s in samples for v in s}))}
    sums = np.zeros((len(samples), len(places)))
    sizes = np.zeros((len(samples), len(places)))
    for row, values in enumerate(samples):
        for one in values:
            sums[row, places[one.document]] += one.value
            sizes[row, places[one.document]] += 1
    draw = np.random.default_rng(seed)
    found: list[float] = []
    even = np.full(len(places), 1 / len(places))
    while len(found) < RESAMPLES:
        weights = draw.multinomial(len(places), even, size=RESAMPLES_AT_ONCE)
        counts = weights @ sizes.T
        whole = counts.min(axis=1) > 0  # a resample without any text of one side has no mean there
        means = (weights @ sums.T)[whole] / counts[whole]
        found += (means[:, 0] - means[:, 1] if len(samples) == 2 else means[:, 0]).tolist()
    low, high = np.quantile(found[:RESAMPLES], [0.025, 0.975])
    return (float(low), float(high))


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
