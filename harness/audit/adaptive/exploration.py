"""Spend a budget of requests round by round on the cases of a run, chosen by the answers so far.

The choice depends on the seed and the answers alone, and every answer is cached. So a run that was stopped
is resumed by running it again: it chooses the same cases, finds their answers in the cache, and continues
where it stopped. A cached answer counts towards the budget like a new one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from harness.audit.adaptive import estimating
from harness.audit.adaptive.candidates import Candidates
from harness.audit.adaptive.chooser import Chooser, Finding, Pick
from harness.audit.adaptive.survey import Survey
from harness.core import Case, JsonObject, Outcome, Status, Verdict
from harness.findings.outcomes import Outcomes


class Cases(Protocol):
    """All cases of a run; a row is the index of a case among them."""

    def read_cases(self) -> Iterator[Case]:
        """Yield all cases in order."""

    def take(self, rows: Sequence[int]) -> Sequence[Case]:
        """Return the cases at ``rows``, in that order."""


class Asker(Protocol):
    """Asks about cases."""

    def key(self, case: Case) -> str:
        """Return the key of the request about ``case``; cases with the same key are one request."""

    async def outcomes(self, cases: Sequence[Case]) -> Mapping[str, Outcome]:
        """Return the outcome of each case by id."""


Judge = Callable[[Sequence[Case], Mapping[str, Outcome]], Iterable[Verdict]]


class Exploration:
    """An adaptive choice of cases: ``await exploration.run()``, then examine ``exploration.groups()``.

    At most ``budget`` distinct requests are made; ``requests`` counts those so far, ``rounds`` the rounds. An
    original is asked about before any of its mutants, and counts. Only suites that compare mutants with their
    original (the relation *star*) can be explored. ``outcomes`` are those that groups are compared by. The
    figures of all cases can be ``estimated``, unless the budget is spent on the most promising alone.
    """

    def __init__(
        self,
        cases: Cases,
        asker: Asker,
        judge: Judge,
        budget: int,
        seed: int,
        outcomes: Outcomes | None = None,
        *,
        estimated: bool = True,
    ) -> None:
        self._cases = cases
        self._asker = asker
        self._judge = judge
        self._budget = budget
        self._seed = seed
        self._outcomes = outcomes if outcomes is not None and _single(outcomes) else None
        self._estimated = estimated
        self._survey: Survey | None = None
        self._candidates: Candidates | None = None
        self._keys: set[str] = set()
        self._rows: dict[int, list[int]] = {}
        self._originals: dict[int, tuple[Case, Outcome]] = {}
        self.rounds = 0

    @property
    def requests(self) -> int:
        """The number of distinct requests made so far."""
        return len(self._keys)

    async def run(self) -> None:
        """Spend the budget, or as much of it as there are cases to ask about."""
        candidates = await asyncio.to_thread(Candidates.of, self._cases.read_cases())
        self._survey = Survey(candidates, self._seed, self._budget) if self._estimated else None
        self._candidates = candidates
        choice = self._survey or Chooser(candidates, self._seed)
        while picks := await asyncio.to_thread(choice.next, self._budget - self.requests):
            findings = await self._round(picks)
            await asyncio.to_thread(choice.learn, findings)
            self.rounds += 1

    def estimates(self) -> JsonObject | None:
        """Return the estimates of all cases; None before enough has been asked."""
        if self._survey is None or self._candidates is None or (sample := self._survey.sample) is None:
            return None
        name = None if self._outcomes is None else self._outcomes.names[0]
        return estimating.figures(sample, self._candidates, self._cases.read_cases, name)

    def groups(self) -> Iterator[list[Case]]:
        """Yield the cases asked about, an original and its mutants at a time, in document order."""
        for document in sorted(self._rows):
            yield list(self._cases.take(sorted(self._rows[document])))

    async def _round(self, picks: Sequence[Pick]) -> list[Finding]:
        cases = await asyncio.to_thread(self._cases.take, [pick.row for pick in picks])
        outcomes = await self._asker.outcomes(cases)
        self._keys |= {self._asker.key(case) for case in cases}
        mutants: dict[int, list[tuple[Pick, Case]]] = {}
        findings = []
        for pick, case in zip(picks, cases, strict=True):
            self._rows.setdefault(pick.document, []).append(pick.row)
            blank, outcome = replace(case, text=""), outcomes[case.id]
            if pick.mutant is None:
                self._originals[pick.document] = blank, outcome
                status: Status = "benign" if outcome.read else "undetermined"
                findings.append(Finding(pick, status, _lead(outcome), self._value(outcome)))
            else:
                mutants.setdefault(pick.document, []).append((pick, blank))
        for document, picked in mutants.items():
            findings += self._judged(document, picked, outcomes)
        return findings

    def _judged(
        self, document: int, picked: Sequence[tuple[Pick, Case]], outcomes: Mapping[str, Outcome]
    ) -> Iterator[Finding]:
        original, first = self._originals[document]
        of_group = {original.id: first} | {case.id: outcomes[case.id] for _, case in picked}
        group = [original, *(case for _, case in picked)]
        status = {verdict.case: verdict.status for verdict in self._judge(group, of_group)}
        for pick, case in picked:
            lead, sign = _lead(outcomes[case.id]), -1.0 if status[case.id] == "biased" else 1.0
            value = self._value(outcomes[case.id])
            yield Finding(pick, status[case.id], None if lead is None else sign * lead, value)

    def _value(self, outcome: Outcome) -> float | None:
        """Return the value of the outcome that groups are compared by; None if it is not known."""
        if self._outcomes is None or not outcome.read or outcome.labels is None:
            return None
        values = self._outcomes.values(sorted(outcome.labels), outcome.score)
        return None if values is None else values[0]


def _single(outcomes: Outcomes) -> bool:
    """Return whether answers have one outcome or not: no score, and no other outcome."""
    return outcomes.directed and len(outcomes.names) == 1 and bool(outcomes.favourable)


def _lead(outcome: Outcome) -> float | None:
    """Return the margin of the answer in nats; None if it is not known.

    A bound above zero is taken as the margin; a bound of zero or less says nothing about the answer.
    """
    margin = outcome.margin
    return None if margin is None or (margin.is_bound and margin.value <= 0) else margin.value
