"""How the variance of answers to the same versions under several wordings splits.

A *cell* is a version of a text with its answer under each wording. The answers are analysed like those of a
design with versions nested in texts and crossed with wordings (Light and Margolin 1971 for labels: each label
is a variable of 0 and 1, and sums of squares are added). What versions share because of the group that they
speak of is the least-squares fit of the changes of group within the texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from harness.blocks import Interval
from harness.statistics import percentiles, resampled

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Source = Literal[
    "text", "wording", "text and wording", "group", "group and wording", "other changes", "the rest"
]
SOURCES: tuple[Source, ...] = get_args(Source)
"""From what a text is about by itself to what is left: one version under one wording, and noise."""

Values = Sequence[float]
"""The value of each outcome in an answer."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A version of ``text``: its answers, one for each wording.

    ``changes`` says by how much it speaks more, or less, of a group (attribute, group) than its original.
    """

    text: str
    answers: Sequence[Values]
    changes: Mapping[tuple[str, str], float]


@dataclass(frozen=True, slots=True)
class Share:
    """The share of the variance that is due to ``source``, with its interval, resampling texts.

    ``chance`` is the share that groups would have if they did not matter; None for other sources, and where
    no version changes a group.
    """

    source: Source
    share: float
    ci95: Interval | None
    chance: float | None = None


def split(cells: Sequence[Cell], seed: int = 0) -> tuple[Share, ...]:
    """Return the share of each source, in the order of ``SOURCES``; empty if all answers are alike."""
    import numpy as np

    if not cells:
        return ()
    answers = np.array([cell.answers for cell in cells], dtype=float)
    texts = _numbered([cell.text for cell in cells])
    changes = _within(_design(cells), texts)
    sums = _sums(answers, texts, changes)
    shape = answers.shape[1:]
    (shares,) = _shares(sums.sum(axis=0, keepdims=True), shape)
    if np.isnan(shares).any():
        return ()
    chance = _by_chance(shares, changes, len(cells) - len(sums))
    return tuple(
        Share(source, max(0.0, float(share)), interval, chance.get(source))
        for source, share, interval in zip(SOURCES, shares, _intervals(sums, shape, seed), strict=True)
    )


def _intervals(sums: NDArray[np.float64], shape: tuple[int, ...], seed: int) -> Sequence[Interval | None]:
    """Return the interval of each source's share, resampling texts; None with fewer than two."""
    import numpy as np

    if len(sums) < 2:
        return [None] * len(SOURCES)
    shares = _shares(resampled(sums, seed), shape)
    known = np.clip(shares[~np.isnan(shares).any(axis=1)], 0.0, 1.0)
    return [percentiles(known[:, column]) if len(known) else None for column in range(len(SOURCES))]


def _sums(
    answers: NDArray[np.float64], texts: NDArray[np.int64], changes: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return a row of sums for each text, from which ``_shares`` are made; sums of rows are those of texts.

    ``answers`` has the axes version, wording, outcome. The columns: versions; the sums of answers by wording
    and outcome; the squares of the text's means, and of its means by wording; the squares within the text
    that are due to groups, to groups and wording, to other changes, and the rest.
    """
    import numpy as np

    wordings = answers.shape[1]
    size = np.bincount(texts).astype(float)
    by_text = _means(answers, texts)
    of_text, of_cell = by_text.mean(axis=1), answers.mean(axis=1)
    versions = of_cell - of_text[texts]
    left = answers - of_cell[:, None] - by_text[texts] + of_text[texts][:, None]
    fitted = _fitted(changes, versions)
    fitted_left = _fitted(changes, left.reshape(len(left), -1)).reshape(left.shape)
    return np.column_stack(
        [
            size,
            size[:, None] * by_text.reshape(len(size), -1),
            size * wordings * np.square(of_text).sum(axis=1),
            size * np.square(by_text).sum(axis=(1, 2)),
            wordings * _summed((fitted * versions).sum(axis=1), texts),
            _summed((fitted_left * left).sum(axis=(1, 2)), texts),
            wordings * _summed(((versions - fitted) * versions).sum(axis=1), texts),
            _summed(((left - fitted_left) * left).sum(axis=(1, 2)), texts),
        ]
    )


def _shares(sums: NDArray[np.float64], shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return the share of each source for each row of ``sums``; not a number where all answers are alike.

    ``shape`` is the number of wordings and that of outcomes.
    """
    import numpy as np

    wordings = shape[0]
    size, answers, (of_text, by_text, *within) = sums[:, 0], sums[:, 1:-6], sums[:, -6:].T
    by_wording = answers.reshape(len(sums), *shape)
    mean = by_wording.mean(axis=1)
    grand = wordings * np.square(mean).sum(axis=1) / size
    wording = np.square(by_wording).sum(axis=(1, 2)) / size - grand
    group, group_wording, other, rest = within
    squares = np.column_stack(
        [of_text - grand, wording, by_text - of_text - wording, group, group_wording, other, rest]
    )
    total = squares.sum(axis=1)
    total[total <= 1e-12 * size] = np.nan
    shares: NDArray[np.float64] = squares / total[:, None]
    return shares


def _by_chance(shares: NDArray[np.float64], changes: NDArray[np.float64], free: int) -> dict[Source, float]:
    """Return the shares of groups by chance: as many parts of what versions differ in as they have terms."""
    import numpy as np

    if not changes.shape[1] or free < 1:
        return {}
    part = float(np.linalg.matrix_rank(changes)) / free
    share = dict(zip(SOURCES, map(float, shares), strict=True))
    return {
        "group": part * (share["group"] + share["other changes"]),
        "group and wording": part * (share["group and wording"] + share["the rest"]),
    }


def _design(cells: Sequence[Cell]) -> NDArray[np.float64]:
    import numpy as np

    names = sorted({name for cell in cells for name in cell.changes})
    return np.array([[cell.changes.get(name, 0.0) for name in names] for cell in cells], dtype=float).reshape(
        len(cells), len(names)
    )


def _numbered(texts: Sequence[str]) -> NDArray[np.int64]:
    import numpy as np

    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(text, len(numbers)) for text in texts], dtype=np.int64)


def _within(design: NDArray[np.float64], texts: NDArray[np.int64]) -> NDArray[np.float64]:
    return design - _means(design, texts)[texts]


def _means(values: NDArray[np.float64], texts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the mean of ``values`` by text."""
    import numpy as np

    size = np.bincount(texts).astype(float)
    means: NDArray[np.float64] = _summed(values, texts) / size.reshape(-1, *[1] * (values.ndim - 1))
    return means


def _summed(values: NDArray[np.float64], texts: NDArray[np.int64]) -> NDArray[np.float64]:
    import numpy as np

    sums = np.zeros((int(texts.max()) + 1, *values.shape[1:]))
    np.add.at(sums, texts, values)
    return sums


def _fitted(design: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    import numpy as np

    if not design.shape[1]:
        return np.zeros_like(values)
    fitted: NDArray[np.float64] = design @ np.linalg.lstsq(design, values, rcond=None)[0]
    return fitted
