"""Estimate effects from differences within texts, corrected for what editing a text does by itself.

One regression serves all: a difference within a text is the effect, plus the *drift* of each kind of edit by
which its two sides differ; the change of a control mutant is the drift of its kind alone. Each text has one
row for its mean difference and one for each kind of its controls, all of the same weight. So texts that are
edited in both directions, versions that are edited alike, and controls each contribute what they know of the
drift. Everything is resampled, and tested, by whole texts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal

from harness.statistics import (
    EXACT_CLUSTERS,
    MANY_CLUSTERS,
    PERMUTATIONS,
    RESAMPLES_AT_ONCE,
    Interval,
    extreme,
    percentiles,
    resampled,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

ROUNDING = 1e-12
"""A contribution below this is an error of rounding: nothing differs."""
STEPS = 60
POWER = 0.8
"""The probability with which an effect that is called detectable would be found."""
BOTH = 5
"""The number of texts that must be edited in each direction to tell drift without controls."""
Basis = Literal["alike", "controls", "both directions", "uncorrected"]
"""What tells an effect from drift: both versions are edited alike, controls, changes in both directions; or
nothing does."""
Edits = Mapping[str, float]
"""How often each kind of edit occurs, counted negatively on the side that is subtracted."""


@dataclass(slots=True)
class Differences:
    """Differences within texts, summed by text: their number, their edits, and their values by outcome.

    ``unit`` is the difference that a single text could make: 1 for shares, None for values of any size.
    """

    unit: float | None = 1.0
    counts: dict[str, int] = field(default_factory=dict)
    edits: dict[str, dict[str, float]] = field(default_factory=dict)
    values: dict[str, dict[str, float]] = field(default_factory=dict)

    def add(self, text: str, values: Mapping[str, float], edits: Edits) -> None:
        """Add a difference of ``text`` in each outcome; its sides differ by ``edits``."""
        self.counts[text] = self.counts.get(text, 0) + 1
        of_text = self.edits.setdefault(text, {})
        for kind, number in edits.items():
            of_text[kind] = of_text.get(kind, 0.0) + number
        for outcome, value in values.items():
            if value:
                of_outcome = self.values.setdefault(outcome, {})
                of_outcome[text] = of_outcome.get(text, 0.0) + value

    def means(self, outcome: str) -> list[float]:
        """Return the mean difference of each text in ``outcome``."""
        of_outcome = self.values.get(outcome, {})
        return [of_outcome.get(text, 0.0) / number for text, number in self.counts.items()]


@dataclass(frozen=True, slots=True)
class Contributions:
    """An estimate, with what each text contributes to it.

    ``spread`` are contributions around the estimate, for intervals; ``null`` those under no effect, which sum
    to the estimate, for tests. ``texts`` is the number of texts with a difference, ``unit`` the difference
    that a single one could make.
    """

    value: float
    spread: Array
    null: Array
    texts: int
    unit: float = 1.0
    basis: Basis = "alike"

    def detectable(self, critical: float) -> float | None:
        """Return the effect that would be found with a probability of 80 %.

        ``critical`` is the statistic from which on an effect is significant, in norms of the contributions.
        Texts that show an effect differ by a whole ``unit``, which adds to the spread that was seen. None
        with fewer than two texts, where no text differs and none could by a known size, and where nothing
        tells an effect from drift: then none is ever claimed.
        """
        if self.texts < 2 or not self.unit or self.basis == "uncorrected":
            return None
        noise, power = float(self.spread @ self.spread), NormalDist().inv_cdf(POWER)
        effect = self.unit
        for _ in range(STEPS):  # a fixed point: the spread depends on the effect
            share = min(effect / self.unit, 1.0)
            added = self.unit**2 / self.texts
            effect = critical * math.sqrt(noise + share * added)
            effect += power * math.sqrt(noise + share * (1 - share) * added)
        return effect


def estimates(
    differences: Differences,
    outcomes: Sequence[str],
    controls: Mapping[str, Differences],
    texts: Mapping[str, int],
) -> list[Contributions]:
    """Return, for each of ``outcomes``, the mean difference within a text, without drift.

    ``differences`` must not be empty. ``controls`` are the changes of control mutants by kind of edit;
    ``texts`` numbers all texts of the run.
    """
    import numpy as np

    kinds = sorted({kind for edits in differences.edits.values() for kind, n in edits.items() if n})
    told = [kind for kind in kinds if kind in controls]
    rows, places = _rows(differences, controls, texts, kinds)
    design, basis = _identified(rows, len(differences.counts), len(told) == len(kinds))
    inverse = np.linalg.pinv(design.T @ design)
    leverage = (design @ inverse)[:, 0]
    found = []
    for outcome in outcomes:
        means = differences.means(outcome)
        of_controls = (mean for kind in told for mean in controls[kind].means(outcome))
        targets = np.array([*means, *of_controls])[: len(design)]
        fitted = inverse @ design.T @ targets
        around = leverage * (targets - design @ fitted)
        found.append(
            Contributions(
                value=float(fitted[0]),
                spread=by_text(places[: len(design)], around, len(texts)),
                null=by_text(
                    places[: len(design)], leverage * (targets - _drift(design, targets)), len(texts)
                ),
                texts=len(means),
                unit=differences.unit if differences.unit is not None else max(map(abs, means)),
                basis=basis,
            )
        )
    return found


def by_text(places: NDArray[np.int64], values: Array, texts: int) -> Array:
    """Return the sums of ``values`` by the number of their text."""
    import numpy as np

    sums = np.zeros(texts)
    np.add.at(sums, places, values)
    return np.where(np.abs(sums) < ROUNDING, 0.0, sums)


def _rows(
    differences: Differences,
    controls: Mapping[str, Differences],
    texts: Mapping[str, int],
    kinds: Sequence[str],
) -> tuple[Array, NDArray[np.int64]]:
    """Return a row per text of its differences, then one per text and kind of its controls, and the texts.

    The columns are the effect and the drift of each kind.
    """
    import numpy as np

    rows: list[list[float]] = []
    places: list[int] = []
    for text, number in differences.counts.items():
        rows.append([1.0, *(differences.edits[text].get(kind, 0.0) / number for kind in kinds)])
        places.append(texts[text])
    for column, kind in enumerate(kinds):
        for text in controls[kind].counts if kind in controls else ():
            rows.append([0.0, *(float(column == other) for other in range(len(kinds)))])
            places.append(texts[text])
    return np.array(rows), np.array(places, dtype=np.int64)


def _identified(rows: Array, of_differences: int, controlled: bool) -> tuple[Array, Basis]:
    """Return the columns from which the effect can be told, and what tells it from drift.

    Where controls do not know the drift of every kind of edit, all edits are taken as one kind, which must
    occur in both directions, and the rows of controls are left out.
    """
    import numpy as np

    differences = rows[:of_differences]
    if np.allclose(differences[:, 1:], 0.0):
        return rows[:, :1], "alike"
    if controlled:
        return rows, "controls"
    direction = differences[:, 1:].sum(axis=1, keepdims=True)
    if min((direction > 0).sum(), (direction < 0).sum()) >= BOTH:
        return np.hstack([differences[:, :1], direction]), "both directions"
    return rows[:, :1], "uncorrected"


def _drift(design: Array, targets: Array) -> Array:
    """Return what drift would do if there were no effect."""
    import numpy as np

    without = design[:, 1:]
    expected: Array = without @ (np.linalg.pinv(without) @ targets)
    return expected


def intervals(contributions: Sequence[Contributions]) -> list[Interval | None]:
    """Return the 95 % percentile intervals of estimates, resampling whole texts, in all of them at once.

    Each has two imaginary texts that differ by its unit, one above and one below the estimate (after Bonett
    and Price 2012): no interval has a width of zero where all texts are alike, and those of few differences
    cover better. None with fewer than two texts.
    """
    import numpy as np

    if not contributions:
        return []
    spread = np.column_stack([c.spread for c in contributions])
    moving = spread[(spread != 0).any(axis=1)]
    imaginary = np.array([c.unit / max(c.texts, 1) for c in contributions])
    rows = np.vstack([moving, imaginary, -imaginary, np.zeros_like(imaginary)])
    times = np.append(np.ones(len(rows) - 1), len(spread) - len(moving))
    sums = resampled(rows, 0, times)
    found: list[Interval | None] = []
    for column, each in enumerate(contributions):
        low, high = percentiles(sums[:, column])
        found.append((each.value + low, each.value + high) if each.texts > 1 else None)
    return found


def signed(interval: Interval | None, sign: float) -> Interval | None:
    """Return the interval of a value that is multiplied by ``sign``, 1 or -1."""
    if interval is None or sign > 0:
        return interval
    return (-interval[1], -interval[0])


def within(interval: Interval | None, most: float) -> Interval | None:
    """Return ``interval`` without what a difference of shares cannot be."""
    return None if interval is None else (max(interval[0], -most), min(interval[1], most))


@dataclass(frozen=True, slots=True)
class Chances:
    """The p of no effect of each estimate, and the same corrected for all of them.

    ``critical`` is the statistic that is significant at ``level`` in the corrected test, at least that of a
    single test: where nothing differs, flips say nothing.
    """

    alone: list[float]
    joint: list[float]
    critical: float


def chances(contributions: Sequence[Contributions], level: float = 0.05, seed: int = 0) -> Chances:
    """Return, for each estimate, the p of no effect, and the same corrected for all of them (max-T).

    Flips the signs of whole texts in all estimates at once (Westfall and Young 1993): the corrected p is the
    share of flips in which the largest of all statistics is at least as large. Exact over all flips for up to
    12 texts, else by random draws; with more than 1,000 texts by draws from the normal limit. Never
    below 2^(1 - n) where n texts have the difference, the least that their signs can give, however many other
    texts have controls.
    """
    import numpy as np

    if not contributions:
        return Chances([], [], math.inf)
    matrix = np.column_stack([c.null for c in contributions])
    matrix = matrix[(matrix != 0).any(axis=1)]
    norms = np.sqrt((matrix**2).sum(axis=0))
    scaled = matrix / np.where(norms > 0, norms, 1.0)
    observed = np.abs(scaled.sum(axis=0))
    least = observed - ROUNDING * np.maximum(1.0, observed)
    at_least, largest = np.zeros(len(observed), dtype=np.int64), []
    for drawn in _flipped(scaled, seed):
        at_least += (drawn >= least).sum(axis=0)
        largest.append(drawn.max(axis=1, initial=0.0))
    highest = np.concatenate(largest)
    sampled = len(scaled) > EXACT_CLUSTERS
    alone = ((at_least + sampled) / (len(highest) + sampled)).tolist()
    joint = [extreme(highest, value, sampled) for value in observed.tolist()]
    least_p = [2.0 ** (1 - max(1, each.texts)) for each in contributions]
    return Chances(
        list(map(max, alone, least_p)),
        list(map(max, joint, least_p)),
        max(float(np.quantile(highest, 1 - level)), NormalDist().inv_cdf(1 - level / 2)),
    )


def _flipped(scaled: Array, seed: int) -> Iterator[Array]:
    """Yield the absolute statistics under flipped signs, some flips at a time, a row per flip.

    All flips for up to 12 texts, else a sample.
    """
    import numpy as np

    texts, columns = scaled.shape
    if texts <= EXACT_CLUSTERS:
        bits = np.arange(2**texts)[:, None] >> np.arange(texts) & 1
        yield np.abs((1 - 2 * bits) @ scaled)
        return
    draw = np.random.default_rng(seed)
    roots = scaled
    if texts > max(MANY_CLUSTERS, columns):  # as many normal draws as columns have the same covariance
        values, vectors = np.linalg.eigh(scaled.T @ scaled)
        roots = (vectors * np.sqrt(np.clip(values, 0.0, None))).T
    for _ in range(PERMUTATIONS // RESAMPLES_AT_ONCE):
        size = (RESAMPLES_AT_ONCE, len(roots))
        signs = draw.standard_normal(size) if texts > MANY_CLUSTERS else draw.choice([-1.0, 1.0], size=size)
        yield np.abs(signs @ roots)
