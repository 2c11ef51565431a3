"""Batches of sentences: what a parser takes at once, bounded because its memory grows with the words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def batches(items: Iterable[T], most: int, characters: int, length: Callable[[T], int]) -> Iterator[list[T]]:
    """Yield batches of up to ``most`` items and so many ``characters``, never empty."""
    batch: list[T] = []
    size = 0
    for item in items:
        if batch and (len(batch) == most or size + length(item) > characters):
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += length(item)
    if batch:
        yield batch
