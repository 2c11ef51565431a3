"""Samples of a fixed size with given probabilities, none of which is zero."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

BISECTIONS = 80
ROUNDING = 1e-9


def probabilities(sizes: Floats, number: int, uniform: float) -> Floats:
    """Return the probabilities of a sample of ``number`` items, which sum to it.

    A share ``uniform`` of it is the same for all items, the remainder in proportion to ``sizes``, which are
    not negative, as far as no probability is above 1.
    """
    if number >= len(sizes):
        return np.ones(len(sizes))
    least = uniform * number / len(sizes)
    scale = sizes / sizes.max() if sizes.any() else np.ones(len(sizes))
    low, high = 0.0, 1.0
    while np.minimum(1.0, least + high * scale).sum() < number and high < 1 / ROUNDING:
        low, high = high, 2 * high
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        below = np.minimum(1.0, least + middle * scale).sum() < number
        low, high = (middle, high) if below else (low, middle)
    found = np.minimum(1.0, least + high * scale)
    free = found < 1.0
    found[free] += (number - found.sum()) / max(int(free.sum()), 1)
    return np.minimum(found, 1.0)


def drawn(chances: Floats, draw: np.random.Generator) -> Flags:
    """Return a sample with these inclusion probabilities, of a fixed size where they sum to a whole number.

    Systematic, in random order (Madow 1949).
    """
    order = draw.permutation(len(chances))
    ends = np.cumsum(np.concatenate(([draw.random()], chances[order])))
    chosen = np.zeros(len(chances), dtype=bool)
    chosen[order] = np.diff(np.floor(ends + ROUNDING)) > 0
    return chosen
