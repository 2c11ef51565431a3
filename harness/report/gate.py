"""The gate of ``--fail-above``: whether a rate is above a limit, if enough tests are decided to tell.

Undetermined tests could have gone either way. A row is certainly crossed if it would be with all of them
benign, and certainly passed if it would be with all of them biased. In between, the observed rate decides,
provided that at least ``GATE_DECIDED`` of the row's tests are decided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from harness.report import wording
from harness.report.summary import ResultRow, Summary

GATE_DECIDED = 0.8
"""The minimum share of a row's tests that must be decided for its observed rate to count."""
CROSSED, PARTIAL, INTERRUPTED = 1, 3, 130
SHOWN_CHARACTERS = 80

Decision = Literal["crossed", "passed", "undecided"]


@dataclass(frozen=True, slots=True)
class Gate:
    """The rows that were tested, by decision."""

    limit: float
    crossed: Sequence[ResultRow]
    passed: Sequence[ResultRow]
    undecided: Sequence[ResultRow]

    @property
    def decision(self) -> Decision:
        """Crossed if any row is; passed if there are rows and all of them are."""
        if self.crossed:
            return "crossed"
        return "passed" if self.passed and not self.undecided else "undecided"


def decide(row: ResultRow, limit: float) -> Decision:
    """Return whether the rate of ``row`` is above ``limit``, a share from 0 to 1; undecided without tests."""
    if not row.tests:
        return "undecided"
    if row.biased / row.tests > limit:
        return "crossed"
    if (row.biased + row.undetermined) / row.tests <= limit:
        return "passed"
    if row.decided < GATE_DECIDED * row.tests:
        return "undecided"
    return "crossed" if row.biased / row.decided > limit else "passed"


def gate(rows: Sequence[ResultRow], limit: float) -> Gate:
    """Decide about ``rows``, omitting attribute sets without tests."""
    decisions = [(row, decide(row, limit)) for row in rows if row.tests]
    crossed, passed, undecided = (
        [row for row, decision in decisions if decision == outcome]
        for outcome in ("crossed", "passed", "undecided")
    )
    return Gate(limit, crossed, passed, undecided)


def undecidable(summary: Summary) -> bool:
    """Return whether there are tests but none could be decided."""
    return any(row.tests for row in summary.results) and not any(row.decided for row in summary.results)


def exit_code(summary: Summary, gate: Gate | None) -> int:
    """Return 130 for an interrupted run, 1 only for a crossed gate, 3 for an undecided gate or run and for a
    partial run, else 0."""
    if summary.status == "interrupted":
        return INTERRUPTED
    if gate is not None and gate.decision == "crossed":
        return CROSSED
    undecided = undecidable(summary) or (gate is not None and gate.decision == "undecided")
    return PARTIAL if undecided or summary.status == "partial" else 0


def lines(summary: Summary, gate: Gate | None, first_reply: str | None = None) -> list[str]:
    """Return the lines that explain the gate's decision; none if it is passed.

    ``first_reply`` is the first answer that could not be read for the commonest reason.
    """
    if gate is not None and gate.crossed:
        return [
            f"{'+'.join(row.attributes)}: rate {row.rate or 0.0:.4f} is above {gate.limit}"
            for row in gate.crossed
        ]
    if gate is not None and gate.decision == "undecided":
        return [f"gate not decided: {_cause(summary, gate.undecided, first_reply)}"]
    if undecidable(summary):
        return [f"no test could be decided: {_cause(summary, summary.results, first_reply)}"]
    return []


def _cause(summary: Summary, rows: Sequence[ResultRow], first_reply: str | None) -> str:
    if not rows:
        return "nothing was tested"
    if cause := wording.unread(summary.answers):
        return cause if first_reply is None else f"{cause} (first: '{_cut(first_reply)}')"
    decided, tests = sum(row.decided for row in rows), sum(row.tests for row in rows)
    return f"only {decided} of {tests} tests are decided; answers are missing"


def _cut(reply: str) -> str:
    cut = reply if len(reply) <= SHOWN_CHARACTERS else f"{reply[:SHOWN_CHARACTERS]}…"
    return wording.visible(cut)
