"""Agreement of annotators beyond chance: Cohen's kappa of two, Fleiss' kappa of more, with intervals.

Cohen 1960 and 1968 (weights), Fleiss 1971. An interval is a percentile bootstrap of the items.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from harness.statistics import Interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

RESAMPLES = 2000
Weights = Literal["none", "quadratic"]


@dataclass(frozen=True, slots=True)
class Kappa:
    """``value`` is None where it is not defined: no items, or one answer to all of them."""

    value: float | None
    interval: Interval | None
    items: int


def cohen(
    pairs: Sequence[tuple[Hashable, Hashable]],
    categories: Sequence[Hashable],
    weights: Weights = "none",
    seed: int = 0,
) -> Kappa:
    """Two annotators' answers to each item, both among ``categories``.

    ``quadratic``: the categories are steps, and a difference counts by its square.
    """
    import numpy as np

    if not pairs:
        return Kappa(None, None, 0)
    places = {category: index for index, category in enumerate(categories)}
    table = np.zeros((len(categories), len(categories)))
    for one, other in pairs:
        table[places[one], places[other]] += 1
    steps = np.arange(len(categories))
    apart = np.abs(steps[:, None] - steps[None, :]).astype(float)
    costs = apart**2 if weights == "quadratic" else (apart > 0).astype(float)
    draw = np.random.default_rng(seed)
    drawn = draw.multinomial(len(pairs), table.ravel() / len(pairs), size=RESAMPLES).reshape(-1, *table.shape)
    return _kappa(_cohen(table[None], costs), _cohen(drawn.astype(float), costs), len(pairs))


def fleiss(answers: Sequence[Sequence[Hashable]], categories: Sequence[Hashable], seed: int = 0) -> Kappa:
    """The answers of all annotators to each item, as many to every one, all among ``categories``."""
    import numpy as np

    if not answers:
        return Kappa(None, None, 0)
    counts = np.array([[list(some).count(category) for category in categories] for some in answers], float)
    draw = np.random.default_rng(seed)
    even = np.full(len(counts), 1 / len(counts))
    drawn = draw.multinomial(len(counts), even, size=RESAMPLES).astype(float)
    return _kappa(_fleiss(counts, np.ones((1, len(counts)))), _fleiss(counts, drawn), len(counts))


def _cohen(tables: Array, costs: Array) -> Array:
    """The kappa of each table of joint counts; NaN where chance alone would agree on everything."""
    expected = tables.sum(axis=2)[:, :, None] * tables.sum(axis=1)[:, None, :]
    total = tables.sum(axis=(1, 2))
    return _beyond_chance((tables * costs).sum(axis=(1, 2)) * total, (expected * costs).sum(axis=(1, 2)))


def _fleiss(counts: Array, times: Array) -> Array:
    """The kappa of the items taken so many ``times`` each, a row a sample."""
    raters = counts.sum(axis=1)[0]
    differing = 1 - ((counts**2).sum(axis=1) - raters) / (raters * (raters - 1))
    shares = times @ counts / (times.sum(axis=1) * raters)[:, None]
    return _beyond_chance(times @ differing / times.sum(axis=1), 1 - (shares**2).sum(axis=1))


def _beyond_chance(differing: Array, by_chance: Array) -> Array:
    import numpy as np

    found = np.full(len(by_chance), np.nan)
    some = by_chance > 1e-12
    found[some] = 1 - differing[some] / by_chance[some]
    return found


def _kappa(value: Any, resampled: Any, items: int) -> Kappa:
    import numpy as np

    if np.isnan(value[0]):
        return Kappa(None, None, items)
    low, high = np.quantile(resampled[~np.isnan(resampled)], [0.025, 0.975])
    return Kappa(float(value[0]), (float(low), float(high)) if items > 1 else None, items)
