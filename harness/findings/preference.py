"""What a judge said of answers in free form, counted: preferences, ties, and how far it goes by the order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.core import PLACES, Preference, Tables
from harness.findings.records import Part, Preferred, Preferring
from harness.statistics import cluster_bootstrap

if TYPE_CHECKING:
    import polars as pl

CONTROLS, REPEATS = "control mutants", "repeats of originals"
_FIRST, _, _TIE = PLACES


@dataclass(frozen=True, slots=True)
class _Compared:
    """Two answers that a judge compared: in which text, and of which kind the version is."""

    kind: str
    document: str
    said: Preference

    @property
    def asked(self) -> bool:
        """Whether the answers differ, so that the judge was asked."""
        return self.said.forwards is not None

    @property
    def read(self) -> bool:
        """Whether what it said was read in both orders."""
        return {self.said.forwards, self.said.backwards} <= set(PLACES)

    @property
    def stable(self) -> bool:
        """Whether both orders agree."""
        return bool(self.said.value) or self.said.forwards == self.said.backwards == _TIE

    @property
    def by_place(self) -> bool:
        """Whether the same place was preferred in both orders."""
        return self.read and self.said.forwards == self.said.backwards != _TIE


def preferring(tables: Tables) -> Preferring | None:
    """Return what a judge said of the answers of a run; None if it was shown none."""
    every = list(_compared(tables))
    if not every:
        return None
    kinds = sorted({each.kind for each in every}, key=lambda kind: (kind in (CONTROLS, REPEATS), kind))
    asked = [each for each in every if each.asked]
    read = [each for each in asked if each.read]
    return Preferring(
        rows=tuple(_row(kind, [each for each in every if each.kind == kind]) for kind in kinds),
        unread=_share([each for each in asked if not each.read], asked),
        unstable=_share([each for each in read if not each.stable], read),
        position=_share([each for each in read if each.by_place], read),
        first=sum(each.by_place and each.said.forwards == _FIRST for each in read),
    )


def _compared(tables: Tables) -> Iterator[_Compared]:
    said = tables.scan("preferences")
    rows = said.join(_kinds(tables), left_on="case", right_on="id", maintain_order="left")
    for row in rows.collect().iter_rows(named=True):
        one = Preference(row["case"], row["forwards"], row["backwards"], row["repeat"])
        yield _Compared(REPEATS if one.repeat else row["kind"], row["document"], one)


def _kinds(tables: Tables) -> pl.LazyFrame:
    import polars as pl

    attributes = pl.col("substitutions").list.eval(pl.element().struct.field("attribute")).list.join(" + ")
    control = pl.col("role") == "control"
    kind = pl.when(control).then(pl.lit(CONTROLS)).otherwise(attributes).alias("kind")
    return tables.scan("cases").select("id", "document", kind)


def _row(kind: str, every: Sequence[_Compared]) -> Preferred:
    values = Counter(each.said.value for each in every)
    sums: Counter[str] = Counter()
    for each in every:
        sums[each.document] += each.said.value
    sizes = Counter(each.document for each in every)
    return Preferred(
        kind=kind,
        pairs=len(every),
        originals=len(sizes),
        alike=sum(not each.asked for each in every),
        preferred=values[1],
        original=values[-1],
        ties=sum(each.read and each.stable and not each.said.value for each in every),
        unstable=sum(each.read and not each.stable for each in every),
        unread=sum(each.asked and not each.read for each in every),
        net=(values[1] - values[-1]) / len(every),
        ci95=cluster_bootstrap([sums[text] for text in sizes], list(sizes.values())),
    )


def _share(part: Sequence[_Compared], whole: Sequence[_Compared]) -> Part:
    texts = sorted({each.document for each in whole})
    counts, of = (Counter(each.document for each in some) for some in (part, whole))
    return Part.clustered([counts[text] for text in texts], [of[text] for text in texts])
