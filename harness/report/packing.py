"""The list of the page as data inside it: columns of codes, compressed, which the page's script unpacks.

Offsets count UTF-16 units, as JavaScript does.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain
from types import MappingProxyType
from typing import Any

from harness.core import CONTROL, MIRRORS, SAME_PERSON
from harness.language.differences import Splice
from harness.report import relations
from harness.report.flips import COLUMNS, cell
from harness.report.listing import Listing, Row, Shown

LEVEL = 9
MOST_BYTES = 14_500_000
"""The most room that the list takes in the page, which is to stay below 15 MB."""
MARGIN = 0.95
"""How much fewer rows to try than would fit if all were of one size."""
MOST_VALUES = 60
"""The most values of a trait that the list can be filtered by."""
INTERNAL = frozenset({SAME_PERSON, CONTROL, MIRRORS})
"""Traits that are no filter by their own name."""

Column = dict[str, Any]


def fitted(
    listing: Listing, values: Callable[[Listing], object] | None = None, most: int = MOST_BYTES
) -> tuple[Listing, dict[str, str]]:
    """Return as many rows as ``most`` bytes hold, and these bytes by the name of their block in the page.

    ``values`` makes the JSON values of the rows.
    """
    while listing.rows:
        data = {"rows": packed((values or rows_of)(listing)), "texts": packed(listing.texts)}
        size = sum(map(len, data.values()))
        if size <= most:
            return listing, data
        listing = listing.first(int(len(listing.rows) * MARGIN * most / size))
    return listing, {}


def packed(values: object) -> str:
    """Return ``values`` as JSON, compressed, in base64."""
    data = json.dumps(values, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(data.encode("utf-8"), LEVEL, mtime=0)).decode("ascii")


def rows_of(listing: Listing, names: Mapping[str, str] = MappingProxyType({})) -> dict[str, Any]:
    """Return the rows, their cases and how they can be filtered, as JSON values.

    ``names`` are the suite's words for its attribute sets.
    """
    cases = list(listing.cases.values())
    place = {case.id: number for number, case in enumerate(cases)}
    rows = listing.rows
    parts = [[place[part] for part in row.parts] for row in rows]
    traits = traits_of(rows)
    return {
        "columns": COLUMNS,
        "totals": listing.totals,
        "case": [place[row.flip["case"]] for row in rows],
        "other": [-1 if row.flip["other"] is None else place[row.flip["other"]] for row in rows],
        "parts": _ragged(parts),
        "margin": [row.flip["margin"] for row in rows],
        "shift": [row.flip["shift"] for row in rows],
        "coded": {
            **{name: coded(row.flip[name] for row in rows) for name in PLAIN},
            "expected": coded(expected(row) for row in rows),
            "person": coded(row.traits.get(SAME_PERSON) for row in rows),
            "answers": coded(relations.answers(row, listing) for row in rows),
            **{f"trait:{name}": coded(row.traits.get(name) for row in rows) for name in traits},
        },
        "facets": relations.facets(rows, traits, names),
        "marks": relations.MARKS,
        "cases": _cases(listing, cases),
    }


PLAIN = (
    *("kind", "relation", "document", "attributes", "groups", "words"),
    *("direction", "hidden", "near_tie", "confirmed"),
)
"""The columns of a flip that the list has as they are."""


def coded(values: Iterable[Any]) -> Column:
    """Return a column as its distinct values, in the order in which they occur, and the place of each."""
    places: dict[Any, int] = {}
    distinct: list[Any] = []
    codes: list[int] = []
    for value in values:
        key = tuple(value) if isinstance(value, list) else value
        if key not in places:
            places[key] = len(distinct)
            distinct.append(value)
        codes.append(places[key])
    return {"values": distinct, "codes": codes}


def traits_of(rows: Sequence[Row]) -> list[str]:
    """Return the traits to filter by: of several values, not very many, that name no attribute or group."""
    found: dict[str, set[str]] = {}
    others = set(INTERNAL)
    for row in rows:
        others.update(row.flip["attributes"])
        for name, value in row.traits.items():
            found.setdefault(name, set()).add(str(value))
            if row.flip["case"].startswith(f"{value}#"):
                others.add(name)
    kept = {name: values for name, values in found.items() if name not in others}
    return [name for name, values in kept.items() if 1 < len(values) <= MOST_VALUES]


def expected(row: Row) -> str | None:
    """Return the labels that are right; None where they are not known."""
    labels = row.flip["expected"]
    return None if labels is None else cell(labels, "no label")


def _cases(listing: Listing, cases: Sequence[Shown]) -> Column:
    splices = [_in_units(listing.texts[case.base], case.splices) for case in cases]
    every = list(chain.from_iterable(splices))
    return {
        "id": [case.id for case in cases],
        "base": [case.base for case in cases],
        "title": coded(case.title for case in cases),
        "answer": coded(list(case.answer) for case in cases),
        "biased": [int(case.biased) for case in cases],
        "splices": [0, *accumulate(map(len, splices))],
        "start": [start for start, _, _ in every],
        "length": [end - start for start, end, _ in every],
        "put": coded(text for _, _, text in every),
    }


def _in_units(base: str, splices: Sequence[Splice]) -> Sequence[Splice]:
    """Return ``splices`` with places counted in UTF-16 units."""
    if base.isascii() or max(base, default="") <= "\uffff":
        return splices
    unit: Callable[[int], int] = lambda place: len(base[:place].encode("utf-16-le")) // 2  # noqa: E731
    return [(unit(start), unit(end), text) for start, end, text in splices]


def _ragged(lists: Sequence[Sequence[int]]) -> Column:
    """Return lists of different lengths as where each begins, and all their items."""
    items: Iterator[int] = chain.from_iterable(lists)
    return {"starts": [0, *accumulate(map(len, lists))], "items": list(items)}
