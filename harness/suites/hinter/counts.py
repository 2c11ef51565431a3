"""How many mutants were made, kept and discarded, by the attributes changed together (HINTER, RQ3.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.core import DUPLICATE, KEY_SEPARATOR, Tables
from harness.statistics import rate, wilson

Row = Mapping[str, Any]


def mutants(tables: Tables, attributes: Sequence[str]) -> list[Row]:
    """Return a row for each set of attributes changed together, in the order of ``attributes``."""
    return [_row(names, reasons) for names, reasons in _counted(tables, attributes)]


def _counted(
    tables: Tables, attributes: Sequence[str]
) -> list[tuple[tuple[str, ...], Mapping[str | None, int]]]:
    """Of each set of attributes, how many mutants were discarded for each reason; None: are valid."""
    import polars as pl

    names = pl.col("substitutions").list.eval(pl.element().struct.field("attribute"))
    rows = (
        tables.scan("cases")
        .filter(pl.col("role") != "original")
        .group_by("reason", key=names.list.join(KEY_SEPARATOR))
        .len()
        .collect(engine="streaming")
    )
    found: dict[tuple[str, ...], dict[str | None, int]] = {}
    for reason, key, count in rows.iter_rows():
        found.setdefault(tuple(key.split(KEY_SEPARATOR)), {})[reason] = count
    return sorted(found.items(), key=lambda one: (len(one[0]), [*map(attributes.index, one[0])]))


def _row(names: Sequence[str], reasons: Mapping[str | None, int]) -> Row:
    valid, duplicate = reasons.get(None, 0), reasons.get(DUPLICATE, 0)
    by_reason = {name: n for name, n in reasons.items() if name is not None and name != DUPLICATE}
    discarded = sum(by_reason.values())
    return {
        "kind": "atomic" if len(names) == 1 else "intersectional",
        "attributes": list(names),
        "generated": valid + discarded + duplicate,
        "valid": valid,
        "discarded": discarded,
        "discarded_by_reason": dict(sorted(by_reason.items())),
        "duplicate": duplicate,
        "valid_rate": rate(valid, valid + discarded),
        "valid_ci95": wilson(valid, valid + discarded),
    }
