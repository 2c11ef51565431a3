"""What a run says of each capability: failure rates of seeds and expansions, and pass-to-fail (Table 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness import numerals
from harness.core import Tables
from harness.sections import Cell, Figures, Section, Table
from harness.statistics import Interval, cluster_bootstrap, rate, wilson


@dataclass(frozen=True, slots=True)
class Row:
    """One capability. ``seeds`` and ``expansions`` are those judged, so neither holds an undetermined one.

    ``pass_to_fail`` counts failed expansions of the ``expansions_of_passed`` whose seed passed. The interval
    of expansions and of pass-to-fail draws whole seeds: expansions of one seed are not independent.
    """

    capability: str
    seeds: int
    seeds_failed: int
    expansions: int
    expansions_failed: int
    expansions_of_passed: int
    pass_to_fail: int
    undetermined: int
    seeds_ci95: Interval | None
    expansions_ci95: Interval | None
    pass_to_fail_ci95: Interval | None

    def plain(self) -> dict[str, Any]:
        """The row as JSON values, each rate beside its counts."""
        return {
            "capability": self.capability,
            "seeds": self.seeds,
            "seeds_failed": self.seeds_failed,
            "seeds_rate": rate(self.seeds_failed, self.seeds),
            "seeds_ci95": _listed(self.seeds_ci95),
            "expansions": self.expansions,
            "expansions_failed": self.expansions_failed,
            "expansions_rate": rate(self.expansions_failed, self.expansions),
            "expansions_ci95": _listed(self.expansions_ci95),
            "expansions_of_passed": self.expansions_of_passed,
            "pass_to_fail": self.pass_to_fail,
            "pass_to_fail_rate": rate(self.pass_to_fail, self.expansions_of_passed),
            "pass_to_fail_ci95": _listed(self.pass_to_fail_ci95),
            "undetermined": self.undetermined,
        }


def count(tables: Tables) -> list[Row]:
    """A row for each capability that has a verdict, in the order of the cases."""
    import polars as pl

    cases = tables.scan("cases").select("id", "group", "role", capability=_trait("capability"))
    judged = tables.scan("verdicts").select("case", "status").join(cases, left_on="case", right_on="id")
    seed, failed, read = pl.col("role") == "seed", pl.col("status") == "biased", _read()
    passed = (seed & (pl.col("status") == "benign")).any()
    groups = (
        judged.group_by("capability", "group", maintain_order=True)
        .agg(
            seeds=(seed & read).sum(),
            seeds_failed=(seed & failed).sum(),
            expansions=(~seed & read).sum(),
            expansions_failed=(~seed & failed).sum(),
            undetermined=(~read).sum(),
            passed=passed,
        )
        .collect()
    )
    found: dict[str, list[dict[str, Any]]] = {}
    for row in groups.iter_rows(named=True):
        found.setdefault(row["capability"], []).append(row)
    return [_row(name, rows) for name, rows in found.items()]


def figures(
    rows: Sequence[Row], titles: Mapping[str, str], settings: Mapping[str, Any], has_neutral: bool
) -> Figures:
    """The summary's block, and the section that the report shows."""
    block = {"capabilities": [{**row.plain(), "title": titles[row.capability]} for row in rows]}
    sections = [_section(rows, titles, settings, has_neutral)] if rows else []
    return Figures({"linguistic": block}, _headline(rows, titles), sections)


def _row(name: str, groups: Sequence[Mapping[str, Any]]) -> Row:
    passed = [group for group in groups if group["passed"]]
    sums = {
        key: sum(group[key] for group in groups) for key in groups[0] if key not in ("capability", "group")
    }
    return Row(
        name,
        sums["seeds"],
        sums["seeds_failed"],
        sums["expansions"],
        sums["expansions_failed"],
        sum(group["expansions"] for group in passed),
        sum(group["expansions_failed"] for group in passed),
        sums["undetermined"],
        wilson(sums["seeds_failed"], sums["seeds"]),
        _clustered(groups),
        _clustered(passed),
    )


def _clustered(groups: Sequence[Mapping[str, Any]]) -> Interval | None:
    return cluster_bootstrap(
        [group["expansions_failed"] for group in groups], [group["expansions"] for group in groups]
    )


def _headline(rows: Sequence[Row], titles: Mapping[str, str]) -> str:
    judged = [row for row in rows if row.seeds + row.expansions]
    if not judged:
        return "No seed was found and judged: give labelled sentences, positive, negative and neutral."
    failed = sum(row.seeds_failed + row.expansions_failed for row in judged)
    total = sum(row.seeds + row.expansions for row in judged)
    worst = max(judged, key=_failing)
    noun = "capability" if len(judged) == 1 else "capabilities"
    found = f"{failed:,} of {total:,} cases failed in {len(judged)} linguistic {noun}"
    if not failed:
        return f"{found}."
    share = numerals.percent(_failing(worst))
    return f"{found}; most often in {worst.capability}, {titles[worst.capability]} ({share})."


def _failing(row: Row) -> float:
    return (row.seeds_failed + row.expansions_failed) / (row.seeds + row.expansions)


def _section(
    rows: Sequence[Row], titles: Mapping[str, str], settings: Mapping[str, Any], has_neutral: bool
) -> Section:
    columns = ["capability", "seeds", "failed", "expansions", "failed", "pass to fail", "undetermined"]
    cells: list[list[Cell]] = [
        [
            f"{row.capability}: {titles[row.capability]}",
            row.seeds,
            _share(row.seeds_failed, row.seeds, row.seeds_ci95),
            row.expansions,
            _share(row.expansions_failed, row.expansions, row.expansions_ci95),
            _share(
                row.pass_to_fail,
                row.expansions_of_passed,
                row.pass_to_fail_ci95,
                f" of {row.expansions_of_passed:,}",
            ),
            row.undetermined,
        ]
        for row in rows
    ]
    notes = [
        "Pass to fail: failed expansions among those whose seed passed.",
        f"Trees: {settings['trees']}; words: {settings['suggester']}; sentiment: {settings['sentiment']}.",
    ]
    if not has_neutral:
        notes.append(
            "The task has no label neutral: an answer less than twice as likely as the other label counts as"
            " neutral too; without log-probabilities a case that expects neutral alone is undetermined."
        )
    return Section("Linguistic capabilities", table=Table(columns, cells), notes=notes)


def _share(part: int, whole: int, interval: Interval | None, of: str = "") -> str:
    """``of`` names the whole where it has no column of its own."""
    if not whole:
        return numerals.UNKNOWN
    return f"{part:,}{of}, {numerals.share(part, whole)}{numerals.bracketed(interval)}"


def _listed(interval: Interval | None) -> list[float] | None:
    return list(interval) if interval else None


def _trait(name: str) -> Any:
    import polars as pl

    return pl.col("traits").str.json_path_match(f"$.{name}")


def _read() -> Any:
    import polars as pl

    return pl.col("status") != "undetermined"
