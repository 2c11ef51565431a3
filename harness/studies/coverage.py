"""Neuron coverage: the neurons that a suite of texts drives beyond their outputs on reference texts.

S²LCT, Section 4 (RQ1), Equations 1 and 2, after DeepGauge (Ma et al. 2018). A neuron is an upper corner if a
text of the suite drives its output above all outputs on the reference texts, a lower corner if below:

    BoundCov = (upper corners + lower corners) / (2 × neurons)        SActCov = upper corners / neurons

Memory holds only the bounds of each neuron and whether it is a corner, however many texts there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from harness.errors import ModelError
from harness.progress import Progress, unwatched
from harness.report.coverage import Coverage, Reached, Reference

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Outputs = NDArray[np.float32]

POINTS = 20
LEAST_REFERENCE = 20
"""The fewest reference texts. Of *n*, the next of their kind goes beyond either bound of a neuron with a
probability of 2 / (n + 1), by chance alone: nearly a tenth with 20."""


class Network(Protocol):
    """A network whose neurons can be observed."""

    @property
    def name(self) -> str:
        """The name of the model."""

    def outputs(self, text: str) -> Outputs | None:
        """Return the output of each neuron, always in the same order; None for a text that is too long."""


@dataclass(frozen=True, slots=True)
class Profile:
    """The least and greatest output of each neuron on the reference texts."""

    low: Outputs
    high: Outputs
    texts: int

    @property
    def neurons(self) -> int:
        """The number of neurons."""
        return int(self.low.size)


def profile(outputs: Iterable[Outputs]) -> Profile:
    """Return the bounds of each neuron over all texts. Raises ``ModelError`` where there is no text."""
    import numpy as np

    low = high = None
    texts = 0
    for vector in outputs:
        low = vector.copy() if low is None else np.minimum(low, vector, out=low)
        high = vector.copy() if high is None else np.maximum(high, vector, out=high)
        texts += 1
    if low is None or high is None:
        raise ModelError("the network took none of the reference texts: give others, --reference")
    return Profile(low, high, texts)


class Corners:
    """The corner neurons that a suite has reached so far."""

    def __init__(self, bounds: Profile) -> None:
        import numpy as np

        self._bounds = bounds
        self._upper = np.zeros(bounds.neurons, dtype=np.bool_)
        self._lower = np.zeros(bounds.neurons, dtype=np.bool_)

    def add(self, outputs: Outputs) -> None:
        """Add the outputs of one more text of the suite."""
        self._upper |= outputs > self._bounds.high
        self._lower |= outputs < self._bounds.low

    @property
    def upper(self) -> int:
        """The number of upper corners."""
        return int(self._upper.sum())

    @property
    def lower(self) -> int:
        """The number of lower corners."""
        return int(self._lower.sum())

    @property
    def boundary(self) -> float:
        """BoundCov, a share from 0 to 1."""
        return (self.upper + self.lower) / (2 * self._bounds.neurons)

    @property
    def strong(self) -> float:
        """SActCov, a share from 0 to 1."""
        return self.upper / self._bounds.neurons


def measure(
    network: Network,
    reference: Sequence[str],
    suites: Mapping[str, Sequence[str]],
    progress: Progress = unwatched,
) -> Coverage:
    """Return the coverage of each suite, with a curve by its size.

    Raises ``ModelError`` where the network takes fewer than ``LEAST_REFERENCE`` of the reference texts, or
    cannot be observed.
    """
    done, total = 0, len(reference) + sum(map(len, suites.values()))

    def outputs(texts: Sequence[str]) -> Iterator[Outputs | None]:
        nonlocal done
        for text in texts:
            yield network.outputs(text)
            done += 1
            progress(done, total)

    bounds = profile(vector for vector in outputs(reference) if vector is not None)
    if bounds.texts < LEAST_REFERENCE:
        raise ModelError(
            f"{bounds.texts} of {len(reference)} reference texts fit the network, and bounds need at least"
            f" {LEAST_REFERENCE}: give more or shorter ones, --reference"
        )
    return Coverage(
        model=network.name,
        neurons=bounds.neurons,
        reference=Reference(texts=bounds.texts, left_out=len(reference) - bounds.texts),
        suites=[_suite(name, bounds, outputs(texts), len(texts)) for name, texts in suites.items()],
    )


def _suite(name: str, bounds: Profile, outputs: Iterator[Outputs | None], size: int) -> Reached:
    """Return the coverage of one suite, its curve at even steps of its size."""
    corners, texts = Corners(bounds), 0
    steps = {-(-size * point // POINTS) for point in range(1, POINTS + 1)}
    curve: list[tuple[int, float, float]] = [(0, 0.0, 0.0)]
    for number, vector in enumerate(outputs, 1):
        if vector is not None:
            corners.add(vector)
            texts += 1
        if number in steps:
            curve.append((texts, corners.boundary, corners.strong))
    return Reached(
        name=name,
        texts=texts,
        left_out=size - texts,
        upper=corners.upper,
        lower=corners.lower,
        bound_cov=corners.boundary,
        s_act_cov=corners.strong,
        curve=curve,
    )
