"""A budget of requests spent round by round on the cases of a run, chosen by what was answered so far.

The choice depends on the seed and the answers alone. Whoever answers keeps every answer, so a run that was
stopped is taken up by running it again: it chooses the same cases, finds their answers kept, and goes on
where it was. An answer that was kept counts towards the budget as one that is asked for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from harness.audit.adaptive.candidates import Candidates
from harness.audit.adaptive.chooser import Chooser, Finding, Pick
from harness.core import Case, Outcome, Verdict


class Cases(Protocol):
    """All cases of a run; a row is a case's place among them."""

    def read_cases(self) -> Iterator[Case]: ...

    def take(self, rows: Sequence[int]) -> Sequence[Case]: ...


class Asker(Protocol):
    """Asks about cases; ``key`` says which of them are one request."""

    def key(self, case: Case) -> str: ...

    async def outcomes(self, cases: Sequence[Case]) -> Mapping[str, Outcome]: ...


Judge = Callable[[Sequence[Case], Mapping[str, Outcome]], Iterable[Verdict]]


class Exploration:
    """``await exploration.run()``, then ``exploration.groups()`` to examine.

    At most ``budget`` distinct requests are made, of which ``asked`` so far, in ``rounds``. An original is
    asked before any of its mutants, and counts. Suites that compare mutants with their original (the relation
    *star*) can be explored.
    """

    def __init__(self, cases: Cases, asker: Asker, judge: Judge, budget: int, seed: int) -> None:
        self._cases = cases
        self._asker = asker
        self._judge = judge
        self._budget = budget
        self._seed = seed
        self._keys: set[str] = set()
        self._rows: dict[int, list[int]] = {}
        self._originals: dict[int, tuple[Case, Outcome]] = {}
        self.rounds = 0

    @property
    def asked(self) -> int:
        return len(self._keys)

    async def run(self) -> None:
        """Spend the budget, or less where there is less to ask."""
        candidates = await asyncio.to_thread(Candidates.of, self._cases.read_cases())
        chooser = Chooser(candidates, self._seed)
        while picks := await asyncio.to_thread(chooser.next, self._budget - self.asked):
            findings = await self._round(picks)
            await asyncio.to_thread(chooser.learn, findings)
            self.rounds += 1

    def groups(self) -> Iterator[list[Case]]:
        """What was asked about, an original and its mutants at a time, in the order of the documents."""
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
                findings.append(Finding(pick, "benign" if outcome.read else "undetermined", _lead(outcome)))
            else:
                mutants.setdefault(pick.document, []).append((pick, blank))
        for document, asked in mutants.items():
            findings += self._judged(document, asked, outcomes)
        return findings

    def _judged(
        self, document: int, asked: Sequence[tuple[Pick, Case]], outcomes: Mapping[str, Outcome]
    ) -> Iterator[Finding]:
        original, first = self._originals[document]
        known = {original.id: first} | {case.id: outcomes[case.id] for _, case in asked}
        group = [original, *(case for _, case in asked)]
        status = {verdict.case: verdict.status for verdict in self._judge(group, known)}
        for pick, case in asked:
            lead, sign = _lead(outcomes[case.id]), -1.0 if status[case.id] == "biased" else 1.0
            yield Finding(pick, status[case.id], None if lead is None else sign * lead)


def _lead(outcome: Outcome) -> float | None:
    """Return by how much the answer was ahead, in nats; None where not known.

    A bound above zero stands for the margin itself; one below says nothing of an answer that was given.
    """
    margin = outcome.margin
    return None if margin is None or (margin.is_bound and margin.value <= 0) else margin.value
