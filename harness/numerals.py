"""Formats for counts, shares, intervals and p-values, the same in every text for people.

Shares are from 0 to 1 and written in percent with one decimal. An en dash stands for an unknown value.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harness.statistics import rate

UNKNOWN = "–"


def count(number: int) -> str:
    """Return ``12,345``."""
    return f"{number:,}"


def counted(number: int, noun: str) -> str:
    """Return ``1 text``, ``12,345 texts``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def percent(value: float | None, unit: str = " %", places: int = 1) -> str:
    """Return ``9.0 %``, or an en dash for None."""
    return UNKNOWN if value is None else f"{100 * value:.{places}f}{unit}"


def share(part: int, whole: int) -> str:
    """Return ``9.0 %``, the share of ``part`` in ``whole``, or an en dash if ``whole`` is 0."""
    return percent(rate(part, whole))


def interval(bounds: Sequence[float] | None) -> str:
    """Return ``6.5 to 12.2 %``, or an en dash for None."""
    return UNKNOWN if bounds is None else f"{percent(bounds[0], '')} to {percent(bounds[1])}"


def bracketed(bounds: Sequence[float] | None) -> str:
    """Return `` [6.5, 12.2]``, an interval to append to its share; "" for None."""
    return "" if bounds is None else f" [{percent(bounds[0], '')}, {percent(bounds[1], '')}]"


def fraction(part: int, whole: int, bounds: Sequence[float] | None, of_whole: bool = True) -> str:
    """Return ``3 of 40, 7.5 % [2.6, 19.9]``, or ``3, 7.5 % [2.6, 19.9]`` where the whole stands beside it."""
    if not whole:
        return UNKNOWN
    of = f" of {whole:,}" if of_whole else ""
    return f"{part:,}{of}, {share(part, whole)}{bracketed(bounds)}"


def points(difference: float, bounds: Sequence[float]) -> str:
    """Return ``+1.5 points [-0.5, +3.4]``: a difference of shares in percentage points."""
    low, high = (f"{100 * bound:+.1f}" for bound in bounds)
    return f"{100 * difference:+.1f} points [{low}, {high}]"


def estimate(value: float | None, bounds: Sequence[float] | None) -> str:
    """Return ``9.0 % (6.5 to 12.2 %)``, a share with its interval, if any."""
    return percent(value) + (f" ({interval(bounds)})" if bounds is not None else "")


def chance(p: float) -> str:
    """Return ``= 0.032`` or ``< 0.001``: a p-value with three decimals and its relation sign."""
    return "< 0.001" if p < 0.001 else f"= {p:.3f}"


def proportion(part: int, whole: int, bounds: Sequence[float] | None, nouns: str = "") -> str:
    """Return ``37 of 412 mutants (9.0 %, 95 % interval 6.5 to 12.2 %)``."""
    inside = share(part, whole)
    if bounds is not None:
        inside = f"{inside}, 95 % interval {interval(bounds)}"
    return f"{count(part)} of {count(whole)} {nouns}".rstrip() + f" ({inside})"


def listed(names: Iterable[str]) -> str:
    """Return ``race, gender and body``."""
    *first, last = [*names] or [""]
    return f"{', '.join(first)} and {last}" if first else last
