"""Test whether a class matters beyond single names: exchange the names between the classes.

A model that finds a few names odd, whoever bears them, answers differently for the names of two classes by
chance, in every template alike. Resampling templates cannot see this, as all of them have the same names. So
names are exchanged with all their mutants, as the suite EEC exchanges persons.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.statistics import RESAMPLES, extreme

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    Codes = NDArray[np.int64]


def p_exchanged(mutants: pl.DataFrame, attribute: str, others: Sequence[str], seed: int = 0) -> float | None:
    """Return the p that pairs of different classes differ so much more often than pairs of the same class.

    ``mutants`` has the columns ``group`` (the template), ``name`` (null if it has none), ``answer``,
    ``attribute`` and ``others``, the attributes that a pair has in common. Where each name belongs to one
    class (a gender), names change class with all their mutants. Where each name is met with every class
    (an occupation), the classes of one name in one template are exchanged. One-sided, from 2,000 random
    exchanges; exact if every name was read in every template. None without pairs of either kind.
    """
    import numpy as np
    import polars as pl

    named = mutants.filter(pl.col("name").is_not_null())
    if not named.height:
        return None
    stratum = ["group", *others]
    pairs = _Pairs(_codes(named, stratum), _codes(named, [*stratum, "answer"]))
    classes, names = _codes(named, [attribute]), _codes(named, ["name"])
    observed = pairs.excess(classes)
    if observed is None:
        return None
    draw = np.random.default_rng(seed)
    exchange: Callable[[], Codes]
    if named.select("name", attribute).n_unique() == names.max() + 1:
        of_name = np.zeros(names.max() + 1, dtype=np.int64)
        of_name[names] = classes
        exchange = lambda: draw.permutation(of_name)[names]  # noqa: E731
    else:
        bearers = _codes(named, [*stratum, "name"])
        order = np.argsort(bearers, kind="stable")
        exchange = lambda: _within(bearers, order, classes, draw)  # noqa: E731
    drawn = [pairs.excess(exchange()) for _ in range(RESAMPLES)]
    return extreme(np.array([one for one in drawn if one is not None]), observed)


@dataclass(frozen=True, slots=True)
class _Pairs:
    """All pairs of mutants of one stratum, by the stratum of each mutant and by its stratum and answer."""

    strata: Codes
    answers: Codes

    def excess(self, classes: Codes) -> float | None:
        """Return the rate of different answers among pairs of different ``classes`` less that among the rest.

        None if there are no pairs of either kind.
        """
        number = int(classes.max()) + 1
        same, alike = (self._pairs(codes * number + classes) for codes in (self.strata, self.answers))
        pairs = self._pairs(self.strata) - same
        if not same or not pairs:
            return None
        agreeing = self._pairs(self.answers) - alike
        return (pairs - agreeing) / pairs - (same - alike) / same

    def _pairs(self, codes: Codes) -> int:
        """Return the number of pairs of mutants with equal codes."""
        import numpy as np

        sizes = np.bincount(codes)
        return int((sizes * (sizes - 1)).sum()) // 2


def _within(bearers: Codes, order: Codes, classes: Codes, draw: np.random.Generator) -> Codes:
    """Return ``classes`` exchanged among the mutants of each bearer; ``order`` sorts these together."""
    import numpy as np

    exchanged = np.empty_like(classes)
    exchanged[order] = classes[np.argsort(bearers + draw.random(len(bearers)))]
    return exchanged


def _codes(rows: pl.DataFrame, columns: Sequence[str]) -> Codes:
    """Return a number for each distinct combination of values in ``columns``."""
    import numpy as np
    import polars as pl

    ranks = rows.select(pl.struct(columns).rank("dense")).to_series()
    codes: Codes = ranks.to_numpy().astype(np.int64) - 1
    return codes
