"""A model reads the mutants of a run: is each about the same person, whole, English, without contradiction?

The rules that make mutants (``suites/hinter``) know phrases and grammar, and no stories. A capable model
reads the whole text as a person would; what it calls wrong is left out of the run's figures.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Literal

from harness import files, tables
from harness.answering.cache import ResponseCache
from harness.answering.runner import Counts as Sent
from harness.audit import asking
from harness.audit.assembly import Audit, assemble
from harness.audit.examination import Examiner
from harness.config import RunConfig
from harness.core import Case, Outcome, Substitution
from harness.errors import RunError
from harness.folder import JUDGED, RunFolder
from harness.progress import Progress, unwatched
from harness.report.explained import Asked
from harness.report.judging import NAME, SCHEMA, Judging, Kind
from harness.settings import Controls, Prompts, TaskOptions
from harness.studies.fluency.figures import Value, mean
from harness.studies.judging.marking import marked
from harness.studies.sampling import STAR_ROLES

Word = Literal["right", "wrong", "unread"]
RIGHT: Word = "right"
WRONG: Word = "wrong"
UNREAD: Word = "unread"
REASONS: Mapping[Word, str] = {WRONG: "judged-wrong", UNREAD: "not-judged"}
AT_ONCE = 64
"""Groups under way at a time."""
QUESTION = """A program changed words about persons in the text above: [[old>>new]] is an exchange,
[[>>new]] an insertion. Read the whole text. The change is right if a careful reader who sees both
versions says: it is about the same person or persons, with other attributes and nothing else changed;
every word for that person has followed, also pronouns, nouns and first names far away; it is English; it
contradicts nothing in the text. It is wrong if another word for the same person keeps the old attribute;
if words of two persons are mixed; if a changed group has members or a contrast elsewhere in the text that
no longer fit; if the word names no person, but a title, a thing, a set phrase or people in general of
whom the sentence would no longer make sense; or if the text contradicts it. That it makes the story
unusual, or that the world outside the text is different, is no fault. Is the change right or wrong?"""

Report = Callable[[Case, Word], None]


async def judge(
    folder: RunFolder, config: RunConfig, seed: int = 0, progress: Progress = unwatched
) -> Judging:
    """Have the model of ``config`` read every valid mutant; write ``judged.parquet`` and ``judged.json``.

    A mutant of several attributes is read only if each of its changes alone is right, else it is wrong, too.
    Replies come from the response cache where they are in it. Raises ``RunError``, ``EndpointError``.
    """
    if config.suite != "hinter":
        raise RunError(f"{folder.path}: a model judges mutants of one original, of suite hinter only")
    audit = await asyncio.to_thread(assemble, _asking(config), read=False)
    total = sum(case.valid and case.role in STAR_ROLES for case in folder.made_cases())
    verdicts: list[tuple[Case, Word]] = []

    def take(case: Case, word: Word) -> None:
        verdicts.append((replace(case, text=""), word))
        progress(len(verdicts), total)

    try:
        counts = await _judge_all(audit, folder.made_cases(), take)
    finally:
        await audit.model.close()
    judging = _figures(audit.model.name, verdicts, counts, seed)
    rows = [{"case": case.id, "reason": REASONS[word]} for case, word in verdicts if word != RIGHT]
    tables.write(folder.path / JUDGED, tables.frame("judged", sorted(rows, key=lambda row: row["case"])))
    files.write(folder.path / NAME, json.dumps(judging.to_json(), indent=2, ensure_ascii=False) + "\n")
    return judging


def _asking(config: RunConfig) -> RunConfig:
    """Return the configuration that asks the model about marked texts; the run's own texts are not read."""
    return config.model_copy(
        update={
            "task": "custom",
            "task_options": TaskOptions(labels=(RIGHT, WRONG), question=" ".join(QUESTION.split())),
            "control": Controls(share=0),
            "favourable": None,
            "prompt": None,
            "prompts": Prompts(),
            "context": None,
            "shots": 0,
        }
    )


async def _judge_all(audit: Audit, cases: Iterable[Case], take: Report) -> Sent:
    async with ResponseCache(audit.cache) as cache, audit.runner(cache) as runner:
        examiner = Examiner(audit, runner)
        places = asyncio.Semaphore(AT_ONCE)
        groups = asking.groups(cases)
        async with asyncio.TaskGroup() as tasks:
            while (group := await asking.next_group(groups)) is not None:
                await places.acquire()
                task = tasks.create_task(_judge_group(examiner.outcomes, group, take))
                task.add_done_callback(lambda _: places.release())
        return runner.counts


async def _judge_group(
    ask: Callable[[Sequence[Case]], Awaitable[dict[str, Outcome]]], group: Sequence[Case], take: Report
) -> None:
    """Judge the mutants of one original: those of one attribute, then those whose changes are all right."""
    original = next((case.text for case in group if case.role == "original"), None)
    if original is None:
        return
    alone: dict[Substitution, Word] = {}
    for role in STAR_ROLES:
        mutants = [case for case in group if case.role == role]
        told = {case.id: _of_parts(case, alone) for case in mutants}
        read = [replace(c, text=marked(original, c.text)) for c in mutants if told[c.id] == RIGHT]
        outcomes = await ask(read) if read else {}
        for case in mutants:
            verdict = _word(outcomes[case.id]) if case.id in outcomes else told[case.id]
            if len(case.substitutions) == 1:
                alone[case.substitutions[0]] = verdict
            take(case, verdict)


def _of_parts(case: Case, alone: Mapping[Substitution, Word]) -> Word:
    """Return what follows for a mutant from each of its changes alone; right if it must be read itself."""
    words = {alone.get(part, RIGHT) for part in case.substitutions}
    return WRONG if WRONG in words else UNREAD if UNREAD in words else RIGHT


def _word(outcome: Outcome) -> Word:
    if outcome.labels is None:
        return UNREAD
    return RIGHT if RIGHT in outcome.labels else WRONG


def _figures(judge: str, verdicts: Sequence[tuple[Case, Word]], counts: Sent, seed: int) -> Judging:
    kinds: dict[str, list[tuple[Case, Word]]] = {}
    for case, word in verdicts:
        kinds.setdefault(case.role, []).append((case, word))
        if len(case.substitutions) == 1:
            kinds.setdefault(case.attributes[0], []).append((case, word))
    return Judging(
        schema=SCHEMA,
        judge=judge,
        question=sha256(QUESTION.encode()).hexdigest(),
        kinds=tuple(_kind(name, kinds[name], seed) for name in sorted(kinds)),
        requests=Asked(sent=counts.sent, cached=counts.cached, failed=counts.failed),
    )


def _kind(name: str, verdicts: Sequence[tuple[Case, Word]], seed: int) -> Kind:
    words = Counter(word for _, word in verdicts)
    values = [Value(case.document, float(word == RIGHT)) for case, word in verdicts if word != UNREAD]
    average = mean(values, seed)
    return Kind(
        kind=name,
        mutants=len(verdicts),
        right=words[RIGHT],
        wrong=words[WRONG],
        unread=words[UNREAD],
        documents=average.documents,
        rate=average.mean,
        ci95=average.ci95,
    )
