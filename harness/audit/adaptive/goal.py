"""What a run is to find out, so that it can stop asking as soon as it knows.

The answer is looked at again and again while answers come in, so a plain 95 % interval would fail more often
than 5 times in a hundred: by chance one of many looks is bound to seem sure. Here the number of looks is
fixed before anything is asked, and each gives intervals that share the 5 % with all others (Bonferroni). So
all of them hold together, whichever look a run stops at.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from harness.settings import BudgetLimits, decided

if TYPE_CHECKING:
    from harness.blocks import Interval

CONFIDENCE = 0.95
STEP = 1.25
"""Each look has this many times as many answers as the one before."""

Decision = Literal["above", "below", "undecided"]


@dataclass(frozen=True, slots=True)
class Effect:
    """The difference between two groups of an attribute: ``groups`` are attribute, from and to."""

    groups: tuple[str, str, str]
    texts: int
    value: float
    interval: Interval


@dataclass(frozen=True, slots=True)
class Look:
    """What is known at a look, with intervals that hold at all looks; ``rate`` is None if none is decided."""

    rate: float | None
    interval: Interval
    effects: Sequence[Effect] = ()


@dataclass(frozen=True, slots=True)
class Goal:
    """What is to be found out: the rate to a ``precision``, or on which side of a limit a figure is.

    ``precision`` is the half width of the rate's interval. ``rate`` is a limit of the rate, ``effect`` of the
    size of every group effect.
    """

    precision: float | None = None
    rate: float | None = None
    effect: float | None = None

    @classmethod
    def of(cls, limits: BudgetLimits) -> Goal:
        """Return the goal that the settings of a run name."""
        return cls(limits.precision, **decided(limits.decide))

    def reached(self, look: Look) -> bool:
        """Return whether ``look`` answers all that is asked."""
        low, high = look.interval
        precise = self.precision is None or (high - low) / 2 <= self.precision
        return precise and "undecided" not in self.decisions(look).values()

    def decisions(self, look: Look) -> dict[str, Decision]:
        """Return the decision about each limit, by figure."""
        found: dict[str, Decision] = {}
        if self.rate is not None:
            found["rate"] = _side(look.interval, self.rate)
        if self.effect is not None:
            sides = [_of_size(effect.interval, self.effect) for effect in look.effects]
            below: Decision = "below" if sides and set(sides) == {"below"} else "undecided"
            found["effect"] = "above" if "above" in sides else below
        return found


def _side(interval: Interval, limit: float) -> Decision:
    low, high = interval
    if low > limit:
        return "above"
    return "below" if high <= limit else "undecided"


def _of_size(interval: Interval, limit: float) -> Decision:
    """Return the side of ``limit`` on which the size of a figure is that may be negative."""
    low, high = interval
    if low > limit or high < -limit:
        return "above"
    return "below" if -limit <= low and high <= limit else "undecided"


def looks(first: int, all_: int) -> list[int]:
    """Return how many units are known at each look: ``first``, then ever more, at last all of them."""
    sizes = []
    size = max(1, first)
    while size < all_:
        sizes.append(size)
        size = max(size + 1, math.ceil(size * STEP))
    return [*sizes, all_] if all_ else []


def confidence(of_looks: int, figures: int = 1) -> float:
    """Return the confidence of one interval of ``figures`` at one look, so that all hold together."""
    return 1 - (1 - CONFIDENCE) / max(1, of_looks * figures)
