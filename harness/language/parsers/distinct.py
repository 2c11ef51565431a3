"""Distinct rows of whole numbers: what is alike has the same number, so that it is computed once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
LARGEST = 2**62


def numbered(column: NDArray[Any]) -> Numbers:
    """Return a number from 0 for each value of ``column``, the same for equal values."""
    return np.unique(column, return_inverse=True)[1].astype(np.int64)


def distinct(columns: Sequence[Numbers]) -> tuple[Numbers, Numbers]:
    """Return the index of one row for each distinct row of ``columns``, and the number of each row.

    The values are whole numbers from 0, and the numbers count the distinct rows in the order of the indices.
    """
    codes, size = columns[0], _size(columns[0])
    for column in columns[1:]:
        if size * _size(column) > LARGEST:
            codes = numbered(codes)
            size = _size(codes)
        codes = codes * _size(column) + column
        size *= _size(column)
    _, first, numbers = np.unique(codes, return_index=True, return_inverse=True)
    return first, numbers


def _size(column: Numbers) -> int:
    return int(column.max()) + 1
