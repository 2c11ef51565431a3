"""Ask about one group, read and judge its answers, and ask again to measure noise or confirm flips."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count

from harness.answering import turns
from harness.answering.reading import Reading
from harness.answering.runner import Answer, Answerer
from harness.audit import asking, preference
from harness.audit.assembly import Audit
from harness.audit.preference import Judge, Pair
from harness.core import Case, Examined, Failure, Noise, Outcome, Preference, Repeated, Status, Verdict

CASES_AT_ONCE = 256


class Examiner:
    """Examines groups, their requests answered by ``runner``; a ``judge`` compares answers in free form."""

    def __init__(self, audit: Audit, runner: Answerer, judge: Judge | None = None) -> None:
        self._audit = audit
        self._runner = runner
        self._judge = judge
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
        preferences = await self._compared(group, answers, outcomes, turn)
        blank = [replace(case, text="") for case in group]
        valid = [case for case in blank if case.valid]
        tests = [case for case in valid if case.role != "control"]
        verdicts = _shifted(group, readings, self._audit.suite.judge(tests, outcomes))
        controls = _shifted(group, readings, self._of_controls(valid, outcomes))
        discarded = self._of_discarded(blank, outcomes) if len(valid) < len(blank) else []
        config = self._audit.config
        again = await self._again(asking.probes(group), config.repeats, turn) if config.repeats else {}
        repeated, of_repeats = await self._repeated(group, answers, again, turn)
        noise = _noise(group, outcomes, repeated, config.repeats) if config.repeats else None
        if config.confirm:
            verdicts = await self._confirmed(group, outcomes, verdicts, config.confirm, turn)
        words = {name: _words(answer) for name, answer in answers.items()}
        return Examined(
            *(blank, outcomes, words, verdicts, noise, discarded, controls, repeated),
            preferences=[*preferences, *of_repeats],
        )

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

    async def _compared(
        self, group: Sequence[Case], answers: Mapping[str, Answer], outcomes: dict[str, Outcome], turn: int
    ) -> list[Preference]:
        """Have the judge compare each answer with that to the original, and complete ``outcomes`` by it.

        Where the suite has no original, the group's first case stands for it. Empty without a judge.
        """
        original = next(iter(asking.probes(group)), None)
        if self._judge is None or original is None or not outcomes[original.id].read:
            return []
        pairs = [
            Pair.of((original, case), (_text(answers[original.id]), _text(answers[case.id])))
            for case in group
            if case.id != original.id and outcomes[case.id].read
        ]
        found = await self._judge.compare(pairs, turn)
        for each in found:
            outcomes[each.case] = preference.measured(outcomes[each.case], each)
        return found

    async def _repeated(
        self,
        group: Sequence[Case],
        answers: Mapping[str, Answer],
        again: Mapping[str, Sequence[Answer]],
        turn: int,
    ) -> tuple[list[Repeated], list[Preference]]:
        """Return the repeated answers, and what the judge says of each beside the first one."""
        repeated = [
            Repeated(name, repeat, self._reader.outcome(answer), _words(answer))
            for name, heard in again.items()
            for repeat, answer in enumerate(heard, 1)
        ]
        if self._judge is None:
            return repeated, []
        cases = {case.id: case for case in group}
        pairs = [
            Pair.of(
                (cases[each.case],) * 2,
                (_text(answers[each.case]), _text(again[each.case][each.repeat - 1])),
                each.repeat,
            )
            for each in repeated
            if each.outcome.read and self._reader.outcome(answers[each.case]).read
        ]
        said = {(each.case, each.repeat): each for each in await self._judge.compare(pairs, turn)}
        return [
            replace(each, outcome=preference.measured(each.outcome, said[each.case, each.repeat]))
            if (each.case, each.repeat) in said
            else each
            for each in repeated
        ], list(said.values())

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
        heard = [await self._heard(repeated, again, number, turn) for number in range(times)]
        tests = [replace(case, text="") for case in group if case.valid and case.role != "control"]
        statuses: dict[tuple[str, str | None], list[Status]] = {pair: [] for pair in biased}
        for each in heard:
            for verdict in self._audit.suite.judge(tests, outcomes | each):
                if (verdict.case, verdict.other) in biased:
                    statuses[verdict.case, verdict.other].append(verdict.status)
        return [
            replace(v, confirmed=_holds(statuses[v.case, v.other])) if (v.case, v.other) in biased else v
            for v in verdicts
        ]

    async def _heard(
        self, cases: Sequence[Case], again: Mapping[str, Sequence[Answer]], number: int, turn: int
    ) -> dict[str, Outcome]:
        """Return the outcomes of one of the repeats, by case, the answers compared among themselves."""
        answers = {name: repeats[number] for name, repeats in again.items()}
        outcomes = {name: self._reader.outcome(answer) for name, answer in answers.items()}
        await self._compared(cases, answers, outcomes, turn)
        return outcomes

    async def _again(self, cases: Iterable[Case], times: int, turn: int) -> dict[str, list[Answer]]:
        """Ask about each of ``cases`` another ``times`` times; return the answers by id."""
        requests = {case.id: list(asking.repeated(case, self._audit.planner, times)) for case in cases}
        replies = await self._runner.replies(list(chain.from_iterable(requests.values())), turn)
        return {name: [replies[request.key] for request in repeated] for name, repeated in requests.items()}


def _noise(
    group: Sequence[Case], outcomes: Mapping[str, Outcome], repeated: Sequence[Repeated], repeats: int
) -> Noise | None:
    """Count the repeated answers that differ from the first ones; return None if nothing was repeated."""
    probes = asking.probes(group)
    if not probes:
        return None
    heard = [(outcomes[each.case], each.outcome) for each in repeated]
    read = [(first, again) for first, again in heard if first.read and again.read]
    flips = sum(first.differs(again) for first, again in read)
    return Noise(group[0].document, repeats * len(probes), len(read), flips)


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


def _text(answer: Answer) -> str:
    """Return what an answer says, without a model's thoughts."""
    return "" if isinstance(answer, Failure) else (turns.answer(answer.text) or "")
