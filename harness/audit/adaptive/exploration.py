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

from harness.audit.adaptive import controls, estimating
from harness.audit.adaptive.candidates import Candidates
from harness.audit.adaptive.chooser import Chooser, Finding, Pick
from harness.audit.adaptive.contrasts import Contrast, contrasts
from harness.audit.adaptive.goal import Effect, Goal
from harness.audit.adaptive.random_order import RandomOrder
from harness.audit.adaptive.survey import Survey
from harness.core import Case, JsonObject, Outcome, Status, Verdict
from harness.findings.outcomes import Outcomes

LEAST_TEXTS = 6
"""Of fewer texts no effect can be shown: flipping the signs of five gives a p of 1/16 at least."""


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
    figures of all cases can be ``estimated``, unless the budget is spent on the most promising alone. With a
    ``goal`` no more is asked once it is reached; without a budget, the order is then random.
    """

    def __init__(
        self,
        cases: Cases,
        asker: Asker,
        judge: Judge,
        budget: int | None,
        seed: int,
        outcomes: Outcomes | None = None,
        *,
        estimated: bool = True,
        goal: Goal | None = None,
    ) -> None:
        self._cases = cases
        self._asker = asker
        self._judge = judge
        self._budget = budget
        self._seed = seed
        self._outcomes = outcomes if outcomes is not None and _single(outcomes) else None
        self._estimated = estimated
        self._goal = goal
        self._survey: Survey | None = None
        self._choice: Survey | RandomOrder | Chooser | None = None
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
        """Ask until the goal is reached, the budget is spent, or there are no more cases to ask about."""
        candidates = await asyncio.to_thread(Candidates.of, self._cases.read_cases())
        self._candidates = candidates
        choice = self._choice = await asyncio.to_thread(self._chosen, candidates)
        self._survey = choice if isinstance(choice, Survey) else None
        most = _all(candidates) if self._budget is None else self._budget
        while picks := await asyncio.to_thread(choice.next, most - self.requests):
            findings = await self._round(picks)
            await asyncio.to_thread(choice.learn, findings)
            self.rounds += 1

    def _chosen(self, candidates: Candidates) -> Survey | RandomOrder | Chooser:
        """Return what chooses the cases."""
        goal = self._goal
        compared = [] if goal is None or goal.effect is None else self._compared(candidates)
        if self._budget is None:
            return RandomOrder(candidates, self._seed, goal or Goal(), compared)
        if self._estimated:
            controlled = [*controls.compared(self._cases.read_cases(), candidates.numbers)]
            return Survey(candidates, self._seed, self._budget, goal, compared, controlled)
        return Chooser(candidates, self._seed)

    def _compared(self, candidates: Candidates) -> list[Contrast]:
        """Return the contrasts of enough texts for an effect to be shown."""
        if self._outcomes is None:
            return []
        found = contrasts(self._cases.read_cases(), candidates.numbers)
        return [contrast for contrast in found if contrast.texts >= LEAST_TEXTS]

    def stopping(self) -> JsonObject | None:
        """Return what is known of the goal; None without one, and before anything was chosen."""
        goal, choice, candidates = self._goal, self._choice, self._candidates
        if goal is None or candidates is None or choice is None or isinstance(choice, Chooser):
            return None
        look = choice.look
        limits = {"rate": goal.rate, "effect": goal.effect}
        return {
            "precision": goal.precision,
            "decisions": [
                {"figure": figure, "limit": limits[figure], "decision": decision}
                for figure, decision in goal.decisions(look).items()
            ],
            "reached": bool(choice.done) and goal.reached(look),
            "rate": look.rate,
            "ci95": list(look.interval) if look.rate is not None and goal.effect is None else None,
            "effects": [_effect(effect, self._outcomes) for effect in look.effects],
            "looks": choice.done,
            "of_looks": choice.planned,
            "asked": sum(map(len, self._rows.values())),
            "of": _all(candidates),
        }

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
        status = {verdict.case: verdict.status for verdict in self._verdicts(original, picked, of_group)}
        for pick, case in picked:
            lead, sign = _lead(outcomes[case.id]), -1.0 if status[case.id] == "biased" else 1.0
            value = self._value(outcomes[case.id])
            yield Finding(pick, status[case.id], None if lead is None else sign * lead, value)

    def _verdicts(
        self, original: Case, picked: Sequence[tuple[Pick, Case]], outcomes: Mapping[str, Outcome]
    ) -> Iterator[Verdict]:
        """Yield the verdicts on mutants and on controls, each side by itself."""
        for of_controls in (False, True):
            group = [case for _, case in picked if (case.role == "control") is of_controls]
            if group:
                yield from self._judge([original, *group], outcomes)

    def _value(self, outcome: Outcome) -> float | None:
        """Return the value of the outcome that groups are compared by; None if it is not known."""
        if self._outcomes is None or not outcome.read or outcome.labels is None:
            return None
        values = self._outcomes.values(sorted(outcome.labels), outcome.score)
        return None if values is None else values[0]


def _all(candidates: Candidates) -> int:
    """Return the number of cases that could be asked about, originals included."""
    return len(candidates.original) + len(candidates.document)


def _effect(effect: Effect, outcomes: Outcomes | None) -> JsonObject:
    attribute, source, target = effect.groups
    return {
        "attribute": attribute,
        "from": source,
        "to": target,
        "outcome": "" if outcomes is None else outcomes.names[0],
        "originals": effect.texts,
        "effect": effect.value,
        "ci95": list(effect.interval),
    }


def _single(outcomes: Outcomes) -> bool:
    """Return whether answers have one outcome or not: no score, and no other outcome."""
    return outcomes.directed and len(outcomes.names) == 1 and bool(outcomes.favourable)


def _lead(outcome: Outcome) -> float | None:
    """Return the margin of the answer in nats; None if it is not known.

    A bound above zero is taken as the margin; a bound of zero or less says nothing about the answer.
    """
    margin = outcome.margin
    return None if margin is None or (margin.is_bound and margin.value <= 0) else margin.value
