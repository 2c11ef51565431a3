"""Runs that differ in the prompt alone, read from their folders: what depends on the wording."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from harness.core import Case
from harness.errors import RunError
from harness.findings.build import Reply, grouped, replies
from harness.findings.outcomes import Outcomes
from harness.findings.places import entered
from harness.findings.variance import Cell, split
from harness.folder import RunFolder
from harness.report import summary
from harness.report.wordings import Wording, Wordings, build
from harness.studies.comparing import outcomes_of


def compare(folders: Mapping[str, Path], seed: int = 0) -> Wordings:
    """Compare the finished runs in ``folders``, each by the name of its wording.

    Raises ``RunError`` where a run is missing or of other cases.
    """
    wordings = [
        Wording(name, path.name, summary.read(RunFolder.ended(path).summary))
        for name, path in folders.items()
    ]
    first = next(iter(folders.values()))
    outcomes = outcomes_of(first)
    if outcomes is None:
        raise RunError(f"{first}: its task is no longer there")
    found = list(cells([RunFolder(path) for path in folders.values()], outcomes))
    return build(wordings, split(found, seed), len({cell.text for cell in found}), len(found))


def cells(folders: Sequence[RunFolder], outcomes: Outcomes) -> Iterator[Cell]:
    """Yield the versions that every run of ``folders`` has an answer to."""
    read = [replies(folder) for folder in folders]
    for group in grouped(folders[0]):
        for case in group:
            if case.role != "control":
                answers = [_values(of_run.get(case.id), outcomes) for of_run in read]
                known = [answer for answer in answers if answer is not None]
                if len(known) == len(answers):
                    yield Cell(case.group, known, _changes(case))


def _values(reply: Reply | None, outcomes: Outcomes) -> tuple[float, ...] | None:
    if reply is None:
        return None
    labels, score, _, measures = reply
    return outcomes.values(labels, score, measures)


def _changes(case: Case) -> dict[tuple[str, str], float]:
    """Return by how much a version speaks more, or less, of each group than its original."""
    changes: dict[tuple[str, str], float] = {}
    for one in case.substitutions:
        for group, sign in ((entered(one), 1.0), (entered(one, left=True), -1.0)):
            key = (one.attribute, group)
            changes[key] = changes.get(key, 0.0) + sign
    return changes
