"""One group: asked, read, judged, and asked again where noise is to be measured or a flip confirmed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from harness.answering.margin import margin, probabilities, set_margin, shift
from harness.answering.numbers import RatingReader
from harness.answering.parse import LabelReader
from harness.answering.runner import Answer, Answerer
from harness.audit.assembly import Audit
from harness.core import Case, Examined, Failure, Noise, Outcome, Reply, Request, Status, Task, Verdict

CASES_AT_ONCE = 256


class Examiner:
    """Examines groups, their requests answered by ``runner``."""

    def __init__(self, audit: Audit, runner: Answerer) -> None:
        self._audit = audit
        self._runner = runner
        self._read: Callable[[Reply], Outcome] = audit.task.parse or _reader(audit.task)

    async def examine(self, group: Sequence[Case]) -> Examined:
        """The cases of one group. Raises ``EndpointError`` where nothing more can be asked."""
        answers = await self._answers(group)
        outcomes = {name: self._outcome(answer) for name, answer in answers.items()}
        blank = [replace(case, text="") for case in group]
        valid = [case for case in blank if case.valid]
        verdicts = list(self._audit.suite.judge(valid, outcomes))
        verdicts = self._shifted(group, answers, outcomes, verdicts)
        discarded = self._of_discarded(blank, outcomes) if len(valid) < len(blank) else []
        config = self._audit.config
        noise = await self._noise(group, outcomes, config.repeats) if config.repeats else None
        if config.confirm:
            verdicts = await self._confirmed(group, outcomes, verdicts, config.confirm)
        words = {name: _words(answer) for name, answer in answers.items()}
        return Examined(blank, outcomes, words, verdicts, noise, discarded)

    def key(self, case: Case) -> str:
        """What two cases have in common that are one request."""
        return self._audit.planner.request(case).key

    async def outcomes(self, cases: Sequence[Case]) -> dict[str, Outcome]:
        """What is answered to each case, by id."""
        answers = await self._answers(cases)
        return {name: self._outcome(answer) for name, answer in answers.items()}

    async def _answers(self, group: Sequence[Case]) -> dict[str, Answer]:
        """The answer to each case by id, asked in the order of their texts: neighbours share prefixes."""
        answers: dict[str, Answer] = {}
        ordered = sorted(group, key=lambda case: case.text)
        for start in range(0, len(ordered), CASES_AT_ONCE):
            some = {
                case.id: self._audit.planner.request(case) for case in ordered[start : start + CASES_AT_ONCE]
            }
            replies = await self._runner.replies(list(some.values()))
            answers |= {name: replies[request.key] for name, request in some.items()}
        return answers

    def _of_discarded(self, group: Sequence[Case], outcomes: dict[str, Outcome]) -> list[Verdict]:
        """What the cases that are not valid would have shown."""
        invalid = {case.id for case in group if not case.valid}
        verdicts = self._audit.suite.judge(group, outcomes)
        return [replace(verdict, hidden=None) for verdict in verdicts if verdict.case in invalid]

    @property
    def _exact(self) -> bool:
        """Whether answers are constrained to the labels."""
        return self._audit.model.capabilities.choices and not self._audit.task.multi_label

    def _shifted(
        self,
        group: Sequence[Case],
        answers: dict[str, Answer],
        outcomes: dict[str, Outcome],
        verdicts: Sequence[Verdict],
    ) -> list[Verdict]:
        """The verdicts with how far the other case's label lost or gained, where log-probabilities tell."""
        original = next((case.id for case in group if case.role == "original"), None)
        labels = self._audit.task.labels
        if self._audit.task.multi_label:
            return list(verdicts)
        shifted = []
        for verdict in verdicts:
            other = verdict.other or original
            before, after = answers.get(other or ""), answers.get(verdict.case)
            own = outcomes[other].labels if other else None
            if isinstance(before, Reply) and isinstance(after, Reply) and own and len(own) == 1:
                (label,) = own
                verdict = replace(verdict, shift=shift(before, after, label, labels, self._exact))
            shifted.append(verdict)
        return shifted

    async def _noise(self, group: Sequence[Case], outcomes: dict[str, Outcome], repeats: int) -> Noise | None:
        """The group's originals asked again; of a group without any, its first case."""
        probes = [case for case in group if case.role == "original"] or list(group[:1])
        if not probes:
            return None
        again = await self._again(probes, repeats)
        flips = read = 0
        for case in probes:
            first = outcomes[case.id]
            heard = [o for o in again[case.id] if o.read and first.read]
            read += len(heard)
            flips += sum(_differ(first, o) for o in heard)
        return Noise(group[0].document, repeats * len(probes), read, flips)

    async def _confirmed(
        self, group: Sequence[Case], outcomes: dict[str, Outcome], verdicts: Sequence[Verdict], times: int
    ) -> list[Verdict]:
        """Each flip confirmed if the suite finds it in the repeats of the cases compared, every time."""
        biased = {(v.case, v.other) for v in verdicts if v.status == "biased"}
        if not biased:
            return list(verdicts)
        compared = {name for pair in biased for name in pair if name is not None}
        asked = [c for c in group if c.valid and (c.role == "original" or c.id in compared)]
        again = await self._again(asked, times)
        blank = [replace(case, text="") for case in group if case.valid]
        found: dict[tuple[str, str | None], list[Status]] = {pair: [] for pair in biased}
        for turn in range(times):
            heard = outcomes | {name: repeats[turn] for name, repeats in again.items()}
            for verdict in self._audit.suite.judge(blank, heard):
                if (verdict.case, verdict.other) in biased:
                    found[verdict.case, verdict.other].append(verdict.status)
        return [
            replace(v, confirmed=_holds(found[v.case, v.other])) if (v.case, v.other) in biased else v
            for v in verdicts
        ]

    async def _again(self, cases: Iterable[Case], times: int) -> dict[str, list[Outcome]]:
        asked: list[tuple[str, Request]] = [
            (case.id, self._audit.planner.request(case, repeat))
            for case in cases
            for repeat in range(1, times + 1)
        ]
        replies = await self._runner.replies([request for _, request in asked])
        again: dict[str, list[Outcome]] = {}
        for name, request in asked:
            again.setdefault(name, []).append(self._outcome(replies[request.key]))
        return again

    def _outcome(self, answer: Answer) -> Outcome:
        if isinstance(answer, Failure):
            return Outcome(reason=answer.reason)
        outcome, task = self._read(answer), self._audit.task
        if task.multi_label and outcome.labels is not None:
            return replace(outcome, margin=set_margin(answer, task.labels))
        if outcome.labels is None or len(outcome.labels) != 1:
            return outcome
        (label,) = outcome.labels
        return replace(
            outcome,
            margin=margin(answer, label, task.labels, self._exact),
            probabilities=probabilities(answer, task.labels, self._exact),
            beside=answer.score,
        )


async def next_group(groups: Iterator[list[Case]]) -> list[Case] | None:
    """The next group, made in a thread, which is left to finish its step even when cancelled."""
    step = asyncio.ensure_future(asyncio.to_thread(next, groups, None))
    try:
        return await asyncio.shield(step)
    except asyncio.CancelledError:
        await asyncio.wait([step])
        raise


def _reader(task: Task) -> Callable[[Reply], Outcome]:
    if task.rates is not None:
        return RatingReader(task.labels)
    return LabelReader(task.labels, task.multi_label)


def _differ(one: Outcome, other: Outcome) -> bool:
    return (one.labels, one.score) != (other.labels, other.score)


def _holds(repeats: Sequence[Status]) -> bool | None:
    """Whether the flip is there each time; None where one repeat was not read and none contradicts."""
    if "benign" in repeats:
        return False
    return True if "undetermined" not in repeats else None


def _words(answer: Answer) -> str:
    return answer.message if isinstance(answer, Failure) else answer.text
