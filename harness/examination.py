"""One group: asked, read, judged, and asked again where noise is to be measured or a flip confirmed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from harness.answering.margin import margin, shift
from harness.answering.parse import LabelReader
from harness.answering.runner import Answer, Answerer
from harness.assembly import Audit
from harness.core import Case, Failure, Outcome, Reply, Request, Verdict

CASES_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class Noise:
    """An original asked ``asked`` more times: how many answers were read, how many were not the first."""

    document: str
    asked: int
    read: int
    flips: int


@dataclass(frozen=True, slots=True)
class Examined:
    """A group with its outcomes, the words they were read from, and its verdicts. Texts are blanked."""

    cases: Sequence[Case]
    outcomes: dict[str, Outcome]
    words: dict[str, str]
    verdicts: Sequence[Verdict]
    noise: Noise | None = None


class Examiner:
    """Examines groups, their requests answered by ``runner``."""

    def __init__(self, audit: Audit, runner: Answerer) -> None:
        self._audit = audit
        self._runner = runner
        self._read: Callable[[Reply], Outcome] = audit.task.parse or LabelReader(
            audit.task.labels, audit.task.multi_label
        )

    async def examine(self, group: Sequence[Case]) -> Examined:
        """All of one group's valid cases. Raises ``EndpointError`` where nothing more can be asked."""
        answers = await self._answers(group)
        outcomes = {name: self._outcome(answer) for name, answer in answers.items()}
        blank = [replace(case, text="") for case in group]
        verdicts = list(self._audit.suite.judge(blank, outcomes))
        verdicts = self._shifted(group, answers, outcomes, verdicts)
        config = self._audit.config
        noise = await self._noise(group, outcomes, config.repeats) if config.repeats else None
        if config.confirm:
            verdicts = await self._confirmed(group, outcomes, verdicts, config.confirm)
        words = {name: _words(answer) for name, answer in answers.items()}
        return Examined(blank, outcomes, words, verdicts, noise)

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

    def _shifted(
        self,
        group: Sequence[Case],
        answers: dict[str, Answer],
        outcomes: dict[str, Outcome],
        verdicts: Sequence[Verdict],
    ) -> list[Verdict]:
        """The verdicts with how far the original's label lost or gained, where log-probabilities tell."""
        original = next((case.id for case in group if case.role == "original"), None)
        first = answers.get(original) if original else None
        labels = outcomes[original].labels if original else None
        if not isinstance(first, Reply) or not first.logprobs or labels is None or len(labels) != 1:
            return list(verdicts)
        (label,) = labels
        return [
            replace(v, shift=shift(first, answer, label, self._audit.task.labels))
            if isinstance(answer := answers[v.case], Reply)
            else v
            for v in verdicts
        ]

    async def _noise(self, group: Sequence[Case], outcomes: dict[str, Outcome], repeats: int) -> Noise | None:
        originals = [case for case in group if case.role == "original"]
        if not originals:
            return None
        again = await self._again(originals, repeats)
        flips = read = 0
        for case in originals:
            first = outcomes[case.id]
            heard = [o for o in again[case.id] if o.read and first.read]
            read += len(heard)
            flips += sum(_differ(first, o) for o in heard)
        return Noise(group[0].document, repeats * len(originals), read, flips)

    async def _confirmed(
        self, group: Sequence[Case], outcomes: dict[str, Outcome], verdicts: Sequence[Verdict], times: int
    ) -> list[Verdict]:
        """Each flip confirmed if it holds between the repeats of original and mutant, every time."""
        biased = {v.case for v in verdicts if v.status == "biased"}
        if not biased:
            return list(verdicts)
        asked = [case for case in group if case.role == "original" or case.id in biased]
        again = await self._again(asked, times)
        original = next(case.id for case in group if case.role == "original")
        return [
            replace(v, confirmed=_holds(again[original], again[v.case])) if v.case in biased else v
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
        outcome = self._read(answer)
        if outcome.labels is None or len(outcome.labels) != 1:
            return outcome
        (label,) = outcome.labels
        return replace(outcome, margin=margin(answer, label, self._audit.task.labels))


async def next_group(groups: Iterator[list[Case]]) -> list[Case] | None:
    """The next group, made in a thread, which is left to finish its step even when cancelled."""
    step = asyncio.ensure_future(asyncio.to_thread(next, groups, None))
    try:
        return await asyncio.shield(step)
    except asyncio.CancelledError:
        await asyncio.wait([step])
        raise


def _differ(one: Outcome, other: Outcome) -> bool:
    return (one.labels, one.score) != (other.labels, other.score)


def _holds(originals: Sequence[Outcome], mutants: Sequence[Outcome]) -> bool | None:
    """Whether the outcomes differ each time; None where one was not read and none contradicts."""
    pairs = list(zip(originals, mutants, strict=True))
    if any(a.read and b.read and not _differ(a, b) for a, b in pairs):
        return False
    return True if all(a.read and b.read for a, b in pairs) else None


def _words(answer: Answer) -> str:
    return answer.message if isinstance(answer, Failure) else answer.text
