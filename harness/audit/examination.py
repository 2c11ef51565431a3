"""Ask about one group, read and judge its answers, and ask again to measure noise or confirm flips."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count

from harness.answering.reading import Reading
from harness.answering.runner import Answer, Answerer
from harness.audit import asking
from harness.audit.assembly import Audit
from harness.core import Case, Examined, Failure, Noise, Outcome, Status, Verdict

CASES_AT_ONCE = 256


class Examiner:
    """Examines groups, their requests answered by ``runner``."""

    def __init__(self, audit: Audit, runner: Answerer) -> None:
        self._audit = audit
        self._runner = runner
        self._reader = audit.reader
        self._turns = count()

    async def examine(self, group: Sequence[Case]) -> Examined:
        """Ask about the cases of one group and judge them; what a group needs goes before later groups.

        Raises ``EndpointError`` if the endpoint takes no more requests.
        """
        turn = next(self._turns)
        answers = await self._answers(group, turn)
        readings = {name: self._reader.read(answer) for name, answer in answers.items()}
        outcomes = {name: reading.outcome for name, reading in readings.items()}
        blank = [replace(case, text="") for case in group]
        valid = [case for case in blank if case.valid]
        tests = [case for case in valid if case.role != "control"]
        verdicts = _shifted(group, readings, self._audit.suite.judge(tests, outcomes))
        controls = _shifted(group, readings, self._of_controls(valid, outcomes))
        discarded = self._of_discarded(blank, outcomes) if len(valid) < len(blank) else []
        config = self._audit.config
        noise = await self._noise(group, outcomes, config.repeats, turn) if config.repeats else None
        if config.confirm:
            verdicts = await self._confirmed(group, outcomes, verdicts, config.confirm, turn)
        words = {name: _words(answer) for name, answer in answers.items()}
        return Examined(blank, outcomes, words, verdicts, noise, discarded, controls)

    def key(self, case: Case) -> str:
        """Return the key of the request about ``case``; cases with the same key are one request."""
        return self._audit.planner.request(case).key

    async def outcomes(self, cases: Sequence[Case]) -> dict[str, Outcome]:
        """Return the outcome of each case by id."""
        answers = await self._answers(cases, next(self._turns))
        return {name: self._reader.outcome(answer) for name, answer in answers.items()}

    async def _answers(self, group: Sequence[Case], turn: int) -> dict[str, Answer]:
        """Return the answers by case id, asked in the order of the texts: neighbours share prefixes."""
        answers: dict[str, Answer] = {}
        ordered = sorted(group, key=lambda case: case.text)
        for start in range(0, len(ordered), CASES_AT_ONCE):
            requests = {
                case.id: self._audit.planner.request(case) for case in ordered[start : start + CASES_AT_ONCE]
            }
            replies = await self._runner.replies(list(requests.values()), turn)
            answers |= {name: replies[request.key] for name, request in requests.items()}
        return answers

    def _of_controls(self, valid: Sequence[Case], outcomes: dict[str, Outcome]) -> Iterable[Verdict]:
        """Return the verdicts on the control mutants of a group, which are judged as its mutants are."""
        if not any(case.role == "control" for case in valid):
            return ()
        return self._audit.suite.judge(
            [case for case in valid if case.role in ("original", "control")], outcomes
        )

    def _of_discarded(self, group: Sequence[Case], outcomes: dict[str, Outcome]) -> list[Verdict]:
        """Return the verdicts on discarded cases, judged as if they were valid."""
        invalid = {case.id for case in group if not case.valid}
        verdicts = self._audit.suite.judge([case for case in group if case.role != "control"], outcomes)
        return [replace(verdict, hidden=None) for verdict in verdicts if verdict.case in invalid]

    async def _noise(
        self, group: Sequence[Case], outcomes: dict[str, Outcome], repeats: int, turn: int
    ) -> Noise | None:
        """Ask about the probes of the group again and count the flips; return None if it has no probes."""
        probes = asking.probes(group)
        if not probes:
            return None
        again = await self._again(probes, repeats, turn)
        flips = read = 0
        for case in probes:
            first = outcomes[case.id]
            heard = [outcome for outcome in again[case.id] if outcome.read and first.read]
            read += len(heard)
            flips += sum(map(first.differs, heard))
        return Noise(group[0].document, repeats * len(probes), read, flips)

    async def _confirmed(
        self,
        group: Sequence[Case],
        outcomes: dict[str, Outcome],
        verdicts: Sequence[Verdict],
        times: int,
        turn: int,
    ) -> list[Verdict]:
        """Return the verdicts, each flip confirmed if it occurs in every repeat of the cases compared."""
        biased = {(v.case, v.other) for v in verdicts if v.status == "biased"}
        if not biased:
            return list(verdicts)
        compared = {name for pair in biased for name in pair if name is not None}
        repeated = [c for c in group if c.valid and (c.role == "original" or c.id in compared)]
        again = await self._again(repeated, times, turn)
        tests = [replace(case, text="") for case in group if case.valid and case.role != "control"]
        statuses: dict[tuple[str, str | None], list[Status]] = {pair: [] for pair in biased}
        for turn in range(times):
            heard = outcomes | {name: repeats[turn] for name, repeats in again.items()}
            for verdict in self._audit.suite.judge(tests, heard):
                if (verdict.case, verdict.other) in biased:
                    statuses[verdict.case, verdict.other].append(verdict.status)
        return [
            replace(v, confirmed=_holds(statuses[v.case, v.other])) if (v.case, v.other) in biased else v
            for v in verdicts
        ]

    async def _again(self, cases: Iterable[Case], times: int, turn: int) -> dict[str, list[Outcome]]:
        """Ask about each of ``cases`` another ``times`` times; return the outcomes by id."""
        requests = {case.id: list(asking.repeated(case, self._audit.planner, times)) for case in cases}
        replies = await self._runner.replies(list(chain.from_iterable(requests.values())), turn)
        return {
            name: [self._reader.outcome(replies[request.key]) for request in repeated]
            for name, repeated in requests.items()
        }


def _shifted(
    group: Sequence[Case], readings: Mapping[str, Reading], verdicts: Iterable[Verdict]
) -> list[Verdict]:
    """Return the verdicts with the shift of the other case's label, where log-probabilities give it."""
    original = next((case.id for case in group if case.role == "original"), None)
    shifted = []
    for verdict in verdicts:
        before, after = readings.get(verdict.other or original or ""), readings.get(verdict.case)
        shift = before.shift(after) if before and after else None
        shifted.append(verdict if shift is None else replace(verdict, shift=shift))
    return shifted


def _holds(repeats: Sequence[Status]) -> bool | None:
    """Return whether the flip occurred each time; None if a repeat was not read and none contradicts."""
    if "benign" in repeats:
        return False
    return True if "undetermined" not in repeats else None


def _words(answer: Answer) -> str:
    return answer.message if isinstance(answer, Failure) else answer.text
