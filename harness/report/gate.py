"""The gates of ``--fail-above``: whether a rate, an excess over controls or an effect is above a limit.

An excess or an effect crosses its limit if it is above it, is significant after correction, and is told from
what editing does by itself. Where the run has none of them, the gate is not decided. A rate needs enough
decided tests:

Undetermined tests could have gone either way. A row is certainly crossed if it would be with all of them
benign, and certainly passed if it would be with all of them biased. In between, the observed rate decides,
provided that at least ``GATE_DECIDED`` of the row's tests are decided.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from harness.disclosure import visible
from harness.folder import RunFolder
from harness.numerals import chance
from harness.report import figures, wording
from harness.report.finding import ALPHA, sure
from harness.report.groups import FEW
from harness.report.summary import ResultRow, Summary
from harness.settings import RATE

GATE_DECIDED = 0.8
"""The minimum share of a row's tests that must be decided for its observed rate to count."""
CROSSED, PARTIAL, INTERRUPTED = 1, 3, 130
SHOWN_CHARACTERS = 80
TOLD = 3
"""How many estimates are named that keep a gate from being decided."""

Decision = Literal["crossed", "passed", "undecided"]


@dataclass(frozen=True, slots=True)
class Gated:
    """What gates say of a run: the exit code, and the reason in lines where it is not 0."""

    code: int
    lines: Sequence[str]


def gated(folder: RunFolder, summary: Summary, limited: Mapping[str, float]) -> Gated:
    """Decide the gates of ``limited``, limits by figure, of the run in ``folder``."""
    rates = gate(summary.results, limited[RATE], summary.adaptive is not None) if RATE in limited else None
    others = [claims(summary, figure, limit) for figure, limit in limited.items() if figure != RATE]
    code = exit_code(summary, rates, others)
    if code == INTERRUPTED:
        return Gated(code, ())
    reason = wording.commonest(summary.answers)
    first = None if reason is None else figures.first_reply(folder.scan("answers"), reason)
    return Gated(code, lines(summary, rates, first, others))


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


def decide_estimate(row: ResultRow, limit: float) -> Decision:
    """Return whether the estimated rate of ``row`` is above ``limit``; undecided if its interval has it."""
    if row.estimated_ci95 is None:
        return "undecided"
    low, high = row.estimated_ci95
    if low > limit:
        return "crossed"
    return "passed" if high <= limit else "undecided"


def gate(rows: Sequence[ResultRow], limit: float, chosen: bool = False) -> Gate:
    """Decide about ``rows``, omitting attribute sets without tests.

    If an adaptive budget has ``chosen`` the tests, their rates say nothing, and the estimates decide.
    """
    one = decide_estimate if chosen else decide
    decisions = [(row, one(row, limit)) for row in rows if row.tests or row.estimated_ci95 is not None]
    crossed, passed, undecided = (
        [row for row, decision in decisions if decision == outcome]
        for outcome in ("crossed", "passed", "undecided")
    )
    return Gate(limit, crossed, passed, undecided)


@dataclass(frozen=True, slots=True)
class ClaimGate:
    """The decision about an excess or an effect, with a line for each claim that it rests on, if any."""

    figure: str
    decision: Decision
    claims: Sequence[str] = ()


def claims(summary: Summary, figure: str, limit: float) -> ClaimGate:
    """Decide whether any claim about ``figure``, ``excess`` or ``effect``, is above ``limit``.

    If an adaptive budget chose the tests, the estimates decide.
    """
    if summary.adaptive is not None:
        return _by_estimates(summary, figure, limit)
    crossing = list((_excesses if figure == "excess" else _effects)(summary, limit))
    if crossing:
        return ClaimGate(figure, "crossed", crossing)
    if figure == "excess":
        known = [row.control_rate is not None for row in summary.results if row.decided]
    else:
        known = [row.p_holm is not None and row.basis != "uncorrected" for row in summary.contrasts]
    return ClaimGate(figure, "passed" if known and all(known) else "undecided")


def _by_estimates(summary: Summary, figure: str, limit: float) -> ClaimGate:
    """Decide by estimates, whose intervals hold for all claims together.

    Crossed where a whole interval is above the limit, passed where none of any is, else not decided.
    """
    found = list((_estimated_excesses if figure == "excess" else _estimated_effects)(summary))
    crossing = [f"{claim.text} is above {limit}" for claim in found if claim.low > limit]
    if crossing:
        return ClaimGate(figure, "crossed", crossing)
    left = [f"gate not decided: {claim.text}" for claim in found if claim.high > limit]
    if len(left) > TOLD:
        left[TOLD:] = [f"gate not decided: {figure}: {len(left) - TOLD} more may be above {limit}"]
    return ClaimGate(figure, "passed" if found and not left else "undecided", left)


@dataclass(frozen=True, slots=True)
class _Claim:
    """An estimate in words, with the limits of its size."""

    text: str
    low: float
    high: float


def _estimated_excesses(summary: Summary) -> Iterator[_Claim]:
    """Yield the excess of each attribute set; of one without controls it may be anything."""
    for row in summary.results:
        names = "+".join(row.attributes)
        if (found := summary.estimated_excesses.get(frozenset(row.attributes))) is not None:
            low, high = found.together
            text = f"{names}: estimated excess over control {found.excess:.4f} ({low:.4f} to {high:.4f})"
            yield _Claim(text, low, high)
        elif row.decided:
            yield _Claim(f"{names}: there are no control mutants to compare with", 0.0, 1.0)


def _estimated_effects(summary: Summary) -> Iterator[_Claim]:
    """Yield the size of each effect; those in a few texts, which are known of no run, only if they differ."""
    for row in summary.estimates.effects if summary.estimates is not None else ():
        low, high = row.together or row.ci95
        differs = low > 0 or high < 0
        if differs or row.originals >= FEW:
            groups = f"{row.attribute}, {row.source} to {row.target}"
            text = f"{groups}: estimated effect {row.effect:.4f} ({low:.4f} to {high:.4f}) on {row.outcome}"
            yield _Claim(text, max(low, -high, 0.0), max(-low, high))


def _excesses(summary: Summary, limit: float) -> Iterator[str]:
    for row in summary.results:
        excess, p = row.excess_over_control, row.excess_over_control_p_holm
        if excess is not None and p is not None and excess > limit and p <= ALPHA:
            names = "+".join(row.attributes)
            yield f"{names}: excess over control {excess:.4f} is above {limit} (p {chance(p)})"


def _effects(summary: Summary, limit: float) -> Iterator[str]:
    for row in summary.contrasts:
        if sure(row) and abs(row.effect) > limit:
            groups, p = f"{row.attribute}, {row.source} to {row.target}", chance(row.p_holm or 0.0)
            yield f"{groups}: effect {row.effect:.4f} on {row.outcome} is above {limit} (p {p})"


def undecidable(summary: Summary) -> bool:
    """Return whether there are tests but none could be decided."""
    return any(row.tests for row in summary.results) and not any(row.decided for row in summary.results)


def exit_code(summary: Summary, gate: Gate | None, others: Sequence[ClaimGate] = ()) -> int:
    """Return 130 for an interrupted run, 1 only for a crossed gate, 3 for an undecided gate or run and for a
    partial run, else 0."""
    if summary.status == "interrupted":
        return INTERRUPTED
    decisions = [each.decision for each in (gate, *others) if each is not None]
    if "crossed" in decisions:
        return CROSSED
    undecided = undecidable(summary) or "undecided" in decisions
    return PARTIAL if undecided or summary.status == "partial" else 0


def lines(
    summary: Summary, gate: Gate | None, first_reply: str | None = None, others: Sequence[ClaimGate] = ()
) -> list[str]:
    """Return the lines that explain the gates' decisions; none if all are passed.

    ``first_reply`` is the first answer that could not be read for the commonest reason.
    """
    return [*_of_rates(summary, gate, first_reply), *(line for each in others for line in _of_claims(each))]


def _of_claims(gate: ClaimGate) -> Sequence[str]:
    if gate.decision != "undecided" or gate.claims:
        return gate.claims
    excess = gate.figure == "excess"
    why = "there are no control mutants to compare with" if excess else "nothing tells it from editing"
    return [f"gate not decided: {gate.figure}: {why}"]


def _of_rates(summary: Summary, gate: Gate | None, first_reply: str | None) -> list[str]:
    """Return the lines about rates."""
    if gate is not None and gate.crossed:
        return [_crossed(summary, row, gate.limit) for row in gate.crossed]
    if gate is not None and gate.undecided and summary.adaptive is not None:
        return [_undecided(row, gate.limit) for row in gate.undecided]
    if gate is not None and gate.decision == "undecided":
        return [f"gate not decided: {_cause(summary, gate.undecided, first_reply)}"]
    if undecidable(summary):
        return [f"no test could be decided: {_cause(summary, summary.results, first_reply)}"]
    return []


def _crossed(summary: Summary, row: ResultRow, limit: float) -> str:
    kind, rate = ("rate", row.rate) if summary.adaptive is None else ("estimated rate", row.estimated_rate)
    return f"{'+'.join(row.attributes)}: {kind} {rate or 0.0:.4f} is above {limit}"


def _undecided(row: ResultRow, limit: float) -> str:
    name = f"gate not decided: {'+'.join(row.attributes)}"
    if row.estimated_ci95 is None:
        return f"{name}: there is no estimate of its rate"
    low, high = row.estimated_ci95
    return f"{name}: {limit} is within the interval of the estimated rate, {low:.4f} to {high:.4f}"


def _cause(summary: Summary, rows: Sequence[ResultRow], first_reply: str | None) -> str:
    if not rows:
        return "nothing was tested"
    if cause := wording.unread(summary):
        return cause if first_reply is None else f"{cause} (first: '{_cut(first_reply)}')"
    decided, tests = sum(row.decided for row in rows), sum(row.tests for row in rows)
    return f"only {decided} of {tests} tests are decided; answers are missing"


def _cut(reply: str) -> str:
    cut = reply if len(reply) <= SHOWN_CHARACTERS else f"{reply[:SHOWN_CHARACTERS]}…"
    return visible(cut)
