"""Exhibit the mutants of a HINTER run: the block of the summary and its section."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness import numerals
from harness.core import Json, Tables
from harness.sections import Bar, Cell, Figures, Plot, Section, Table
from harness.statistics import Interval
from harness.suites.hinter.counts import Passed, Row, mutants, operations

DEPENDS = (
    "Whether a mutant's grammar matches its original's is a property of the parser. Passed: by at least one"
    " of the two. Those that both pass are valid; those that only one passes are discarded. Their share of"
    " the passed ones has Wilson's 95 % interval."
)
OPERATIONS = ("exchange", "insertion", "removal")
NOTES = (
    "Valid share: valid mutants among those that are valid or discarded, with Wilson's 95 % interval. A"
    " duplicate has the same text as another mutant of the attribute and counts as neither.",
    "Discarded by the first difference from the original: the number of sentences, parts of speech (pos), or"
    " grammatical structure (dependency). Before that, words are left alone that describe nobody"
    " (not-a-person), whose person is not clear (person-unclear), whose counterpart stands beside them"
    " (coordination), or where the text would contradict the change (contradiction).",
)


def figures(tables: Tables, attributes: Sequence[str], parsers: Sequence[str]) -> Figures:
    """Return the counts of mutants with their sections, from the cases alone, in the order of ``attributes``.

    Where two ``parsers`` had to agree, say how many mutants depend on the parser.
    """
    rows = mutants(tables, attributes)
    counts = operations(tables, attributes)
    blocks: dict[str, Json] = {"mutants": [row.plain() for row in rows], "operations": dict(counts)}
    sections = [_section(rows), *_operations(counts)] if rows else []
    if len(parsers) > 1:
        by_set = [{"kind": r.kind, "attributes": list(r.attributes), **Passed.of([r]).plain()} for r in rows]
        blocks["parsers"] = {"names": list(parsers), "mutants": by_set}
        sections += [_parsers(rows, parsers)] if rows else []
    return Figures(blocks, sections=sections)


def _parsers(rows: Sequence[Row], parsers: Sequence[str]) -> Section:
    """Return the section about the mutants that depend on which of the two parsers decides."""
    first, second = parsers
    by_set = [(row, Passed.of([row])) for row in rows]
    cells: list[list[Cell]] = [
        [
            " + ".join(row.attributes),
            passed.by_any,
            passed.by_both,
            passed.first_only,
            passed.second_only,
            numerals.fraction(passed.disagreed, passed.by_any, passed.disagreed_ci95),
        ]
        for row, passed in by_set
    ]
    bars = [
        _bar(row, passed.disagreed_rate, passed.disagreed_ci95) for row, passed in by_set if passed.by_any
    ]
    columns = ["changed", "passed", "by both", f"only by {first}", f"only by {second}", "only by one"]
    return Section(
        "Parsers",
        text=" ".join(_of_kind(rows, kind) for kind in ("intersectional", "atomic")).strip(),
        table=Table(columns, cells),
        plots=[Plot("Share of mutants that only one of the parsers passes", bars=bars, percent=True)],
        notes=[DEPENDS],
        page_only=True,
    )


def _of_kind(rows: Sequence[Row], kind: str) -> str:
    """Return a sentence about all mutants of a kind; "" if no parser passes any."""
    passed = Passed.of(row for row in rows if row.kind == kind)
    if not passed.by_any:
        return ""
    share = numerals.proportion(passed.disagreed, passed.by_any, passed.disagreed_ci95)
    return f"Of the {kind} mutants that at least one of the two parsers passes, one alone passes {share}."


def _operations(counts: Mapping[str, Mapping[str, int]]) -> list[Section]:
    """Return the section that tells exchanges from insertions, if there is any valid mutant."""
    kinds = [kind for kind in OPERATIONS if any(kind in of_attribute for of_attribute in counts.values())]
    cells: list[list[Cell]] = [
        [name, *(of_attribute.get(kind, 0) for kind in kinds)] for name, of_attribute in counts.items()
    ]
    table = Table(["attribute", *kinds], cells)
    title = "Valid mutants of a single attribute: words exchanged, inserted or removed"
    return [Section(title, table=table, page_only=True)] if cells else []


def _section(rows: Sequence[Row]) -> Section:
    reasons = sorted({reason for row in rows for reason in row.by_reason})
    columns = ["changed", "generated", "valid", *(f"discarded, {reason}" for reason in reasons), "duplicates"]
    cells: list[list[Cell]] = [
        [
            " + ".join(row.attributes),
            row.generated,
            row.valid,
            *(row.by_reason.get(reason, 0) for reason in reasons),
            row.duplicate,
            numerals.percent(row.valid_rate) + numerals.bracketed(row.valid_ci95),
        ]
        for row in rows
    ]
    bars = [_bar(row, row.valid_rate, row.valid_ci95) for row in rows]
    plots = [Plot("Share of mutants that are valid", bars=bars, percent=True)]
    return Section(
        "Mutants generated, valid and discarded",
        table=Table([*columns, "valid share"], cells),
        plots=plots if reasons else [],
        notes=NOTES if reasons else NOTES[:1],
        page_only=True,
    )


def _bar(row: Row, share: float | None, interval: Interval | None) -> Bar:
    low, high = interval or (None, None)
    return Bar(" + ".join(row.attributes), share or 0.0, low, high, int(row.kind == "intersectional"))
