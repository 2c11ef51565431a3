"""Count the mutants generated, valid and discarded, by the attributes changed together (HINTER, RQ3.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from harness.core import DUPLICATE, KEY_SEPARATOR, JsonObject, Tables
from harness.statistics import Interval, rate, wilson
from harness.suites.hinter.agreement import FIRST_ONLY, SECOND_ONLY


@dataclass(frozen=True, slots=True)
class Row:
    """The mutants of one set of attributes changed together.

    ``by_reason`` counts the discarded ones; a ``duplicate`` has the text of another mutant and is neither
    valid nor discarded.
    """

    attributes: tuple[str, ...]
    valid: int
    duplicate: int
    by_reason: Mapping[str, int]

    @property
    def kind(self) -> str:
        """``atomic`` for a single attribute, otherwise ``intersectional``."""
        return "atomic" if len(self.attributes) == 1 else "intersectional"

    @property
    def discarded(self) -> int:
        """The number of discarded mutants."""
        return sum(self.by_reason.values())

    @property
    def generated(self) -> int:
        """The number of all mutants."""
        return self.valid + self.discarded + self.duplicate

    @property
    def valid_rate(self) -> float | None:
        """The share of valid mutants among those valid or discarded; None if there are none."""
        return rate(self.valid, self.valid + self.discarded)

    @property
    def valid_ci95(self) -> Interval | None:
        """Wilson's 95 % interval of ``valid_rate``."""
        return wilson(self.valid, self.valid + self.discarded)

    def plain(self) -> JsonObject:
        """Return the row as JSON values."""
        return {
            "kind": self.kind,
            "attributes": list(self.attributes),
            "generated": self.generated,
            "valid": self.valid,
            "discarded": self.discarded,
            "discarded_by_reason": dict(self.by_reason),
            "duplicate": self.duplicate,
            "valid_rate": self.valid_rate,
            "valid_ci95": self.valid_ci95,
        }


@dataclass(frozen=True, slots=True)
class Passed:
    """The mutants of some sets of attributes that at least one of two parsers passes."""

    by_both: int
    first_only: int
    second_only: int

    @classmethod
    def of(cls, rows: Iterable[Row]) -> Passed:
        """Return the mutants of ``rows``, which two parsers decided."""
        counts = [(r.valid, r.by_reason.get(FIRST_ONLY, 0), r.by_reason.get(SECOND_ONLY, 0)) for r in rows]
        return cls(*map(sum, zip((0, 0, 0), *counts, strict=True)))

    @property
    def by_any(self) -> int:
        """The number of mutants that at least one parser passes."""
        return self.by_both + self.disagreed

    @property
    def disagreed(self) -> int:
        """The number of mutants that only one parser passes."""
        return self.first_only + self.second_only

    @property
    def disagreed_rate(self) -> float | None:
        """The share of mutants that only one parser passes among those that any passes; None without any."""
        return rate(self.disagreed, self.by_any)

    @property
    def disagreed_ci95(self) -> Interval | None:
        """Wilson's 95 % interval of ``disagreed_rate``."""
        return wilson(self.disagreed, self.by_any)

    def plain(self) -> JsonObject:
        """Return the counts as JSON values."""
        return {
            "passed_by_any": self.by_any,
            "passed_by_both": self.by_both,
            "first_only": self.first_only,
            "second_only": self.second_only,
            "disagreed": self.disagreed,
            "disagreed_rate": self.disagreed_rate,
            "disagreed_ci95": self.disagreed_ci95,
        }


def mutants(tables: Tables, attributes: Sequence[str]) -> list[Row]:
    """Return a row for each set of attributes changed together, in the order of ``attributes``."""
    import polars as pl

    names = pl.col("substitutions").list.eval(pl.element().struct.field("attribute"))
    rows = (
        tables.scan("cases")
        .filter(pl.col("role").is_in(["atomic", "intersectional"]))
        .group_by("reason", key=names.list.join(KEY_SEPARATOR))
        .len()
        .collect(engine="streaming")
    )
    counts: dict[tuple[str, ...], dict[str | None, int]] = {}
    for reason, key, count in rows.iter_rows():
        counts.setdefault(tuple(key.split(KEY_SEPARATOR)), {})[reason] = count
    combinations = sorted(counts, key=lambda names: (len(names), [*map(attributes.index, names)]))
    return [_row(names, counts[names]) for names in combinations]


def _row(names: tuple[str, ...], counts: Mapping[str | None, int]) -> Row:
    """Return the row of ``names``; ``counts`` are by reason, None for valid mutants."""
    by_reason = {reason: n for reason, n in counts.items() if reason is not None and reason != DUPLICATE}
    return Row(names, counts.get(None, 0), counts.get(DUPLICATE, 0), dict(sorted(by_reason.items())))


def operations(tables: Tables, attributes: Sequence[str]) -> dict[str, dict[str, int]]:
    """Return the numbers of valid atomic mutants by attribute and operation: exchange, insertion, removal."""
    import polars as pl

    changed = pl.col("substitutions").list.first()
    rows = (
        tables.scan("cases")
        .filter((pl.col("role") == "atomic") & pl.col("reason").is_null())
        .group_by(attribute=changed.struct.field("attribute"), operation=changed.struct.field("operation"))
        .len()
        .collect(engine="streaming")
    )
    counts: dict[str, dict[str, int]] = {name: {} for name in attributes}
    for attribute, operation, count in sorted(rows.iter_rows()):
        counts[attribute][operation] = count
    return {name: of_attribute for name, of_attribute in counts.items() if of_attribute}
