"""How many mutants were made, kept and discarded, by the attributes changed together (HINTER, RQ3.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness import numerals
from harness.core import DUPLICATE, KEY_SEPARATOR, Tables
from harness.sections import Bar, Cell, Figures, Plot, Section, Table
from harness.statistics import rate, wilson

NOTES = (
    "Valid share: valid mutants among those that are valid or discarded, with Wilson's 95 % interval. A"
    " duplicate has the text of another mutant of the same attribute and is neither.",
    "Discarded by the first difference from the original: the number of sentences, parts of speech (pos), or"
    " grammatical structure (dependency).",
)

Row = Mapping[str, Any]


def figures(tables: Tables, attributes: Sequence[str]) -> Figures:
    """The block ``mutants`` and its section, from the cases alone; sets in the order of ``attributes``."""
    rows = [_row(names, reasons) for names, reasons in _counted(tables, attributes)]
    return Figures({"mutants": rows}, sections=[_section(rows)] if rows else [])


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


def _section(rows: Sequence[Row]) -> Section:
    reasons = sorted({reason for row in rows for reason in row["discarded_by_reason"]})
    columns = ["changed", "made", "valid", *(f"discarded, {reason}" for reason in reasons), "duplicates"]
    cells: list[list[Cell]] = [
        [
            " + ".join(row["attributes"]),
            row["generated"],
            row["valid"],
            *(row["discarded_by_reason"].get(reason, 0) for reason in reasons),
            row["duplicate"],
            _share(row),
        ]
        for row in rows
    ]
    plots = [Plot("Share of mutants that are valid", bars=[*map(_bar, rows)], percent=True)]
    return Section(
        "Mutants made, kept and discarded",
        table=Table([*columns, "valid share"], cells),
        plots=plots if reasons else [],
        notes=NOTES if reasons else NOTES[:1],
        page_only=True,
    )


def _share(row: Row) -> str | None:
    if row["valid_rate"] is None:
        return None
    return numerals.percent(row["valid_rate"]) + numerals.bracketed(row["valid_ci95"])


def _bar(row: Row) -> Bar:
    low, high = row["valid_ci95"] or (None, None)
    kind = int(row["kind"] == "intersectional")
    return Bar(" + ".join(row["attributes"]), row["valid_rate"] or 0.0, low, high, kind)
