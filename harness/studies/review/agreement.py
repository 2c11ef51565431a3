"""Agreement of annotators beyond chance: Cohen's kappa of two, Fleiss' kappa of more, with intervals.

Cohen 1960 and 1968 (weights), Fleiss 1971. Intervals are percentile bootstraps over the items.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from harness.statistics import Interval, percentiles, resampled

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

Weights = Literal["none", "quadratic"]


@dataclass(frozen=True, slots=True)
class Kappa:
    """Agreement on ``items``; ``value`` is None where it is undefined: no items, or one answer to all."""

    value: float | None
    interval: Interval | None
    items: int


def cohen(
    pairs: Sequence[tuple[Hashable, Hashable]],
    categories: Sequence[Hashable],
    weights: Weights = "none",
    seed: int = 0,
) -> Kappa:
    """Return Cohen's kappa of two annotators' answers to each item, both among ``categories``.

    With ``quadratic`` weights the categories are steps of a scale, and a difference counts by its square.
    """
    import numpy as np

    if not pairs:
        return Kappa(None, None, 0)
    places = {category: index for index, category in enumerate(categories)}
    table = np.zeros((len(categories), len(categories)))
    for first, second in pairs:
        table[places[first], places[second]] += 1
    steps = np.arange(len(categories))
    apart = np.abs(steps[:, None] - steps[None, :]).astype(float)
    costs = apart**2 if weights == "quadratic" else (apart > 0).astype(float)
    resamples = resampled(np.eye(table.size), seed, table.ravel()).reshape(-1, *table.shape)
    return _kappa(_cohen(table[None], costs), _cohen(resamples, costs), len(pairs))


def fleiss(answers: Sequence[Sequence[Hashable]], categories: Sequence[Hashable], seed: int = 0) -> Kappa:
    """Return Fleiss' kappa of the answers to each item, equally many to every item, among ``categories``."""
    import numpy as np

    if not answers:
        return Kappa(None, None, 0)
    counts = np.array([[list(item).count(category) for category in categories] for item in answers], float)
    raters = counts.sum(axis=1)[0]
    differing = 1 - ((counts**2).sum(axis=1) - raters) / (raters * (raters - 1))
    rows = np.column_stack([counts, differing])
    value = _fleiss(rows.sum(axis=0)[None], len(counts), raters)
    return _kappa(value, _fleiss(resampled(rows, seed), len(counts), raters), len(counts))


def _cohen(tables: Array, costs: Array) -> Array:
    """Return the kappa of each table of joint counts; NaN where chance alone would agree on everything."""
    expected = tables.sum(axis=2)[:, :, None] * tables.sum(axis=1)[:, None, :]
    total = tables.sum(axis=(1, 2))
    return _beyond_chance((tables * costs).sum(axis=(1, 2)) * total, (expected * costs).sum(axis=(1, 2)))


def _fleiss(sums: Array, items: int, raters: float) -> Array:
    """Return the kappa of each sample of ``items``, a row of ``sums``.

    A row holds how often each category was chosen and, last, the raters' disagreement summed over items.
    """
    shares = sums[:, :-1] / (items * raters)
    return _beyond_chance(sums[:, -1] / items, 1 - (shares**2).sum(axis=1))


def _beyond_chance(differing: Array, by_chance: Array) -> Array:
    import numpy as np

    kappas = np.full(len(by_chance), np.nan)
    defined = by_chance > 1e-12
    kappas[defined] = 1 - differing[defined] / by_chance[defined]
    return kappas


def _kappa(value: Array, resamples: Array, items: int) -> Kappa:
    import numpy as np

    if np.isnan(value[0]):
        return Kappa(None, None, items)
    interval = percentiles(resamples[~np.isnan(resamples)]) if items > 1 else None
    return Kappa(float(value[0]), interval, items)
