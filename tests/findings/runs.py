"""Runs that were never written: cases of small texts, and answers by a function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from harness import tables
from harness.core import CONTROL, Case, Outcome, Substitution
from harness.findings.outcomes import Outcomes
from harness.suites import oracle

if TYPE_CHECKING:
    import polars as pl

POSITIVE = Outcomes({"Positive": ("Positive",)}, directed=True)


def substitution(change: str, spoken: str = "male") -> Substitution:
    """Return the substitution ``gender:female``, or of another attribute and group."""
    attribute, _, group = change.partition(":")
    source = {"gender": spoken, CONTROL: group}.get(attribute, "plain")
    groups = ("", "") if attribute == CONTROL else (source, group)
    return Substitution(attribute, source, group + "!", ((0, 1),), "exchange", *groups)


def case(text: str, role: str, *changes: str, spoken: str = "male", weight: float = 1.0) -> Case:
    """Return a version of ``text`` with some changes."""
    name = f"{text}#{'+'.join(changes) or 0}"
    found = tuple(substitution(change, spoken) for change in changes)
    return Case(name, text, text, role, "", found, weight=weight)  # type: ignore[arg-type]


def family(text: str, spoken: str = "male", controls: int = 1) -> list[Case]:
    """Return a text, its mutants of gender and body, alone and together, and its controls."""
    other = "gender:female" if spoken == "male" else "gender:male"
    changes = [(), (other,), ("body:blind",), (other, "body:blind")]
    roles = ("original", "atomic", "atomic", "intersectional")
    made = [case(text, role, *change, spoken=spoken) for role, change in zip(roles, changes, strict=True)]
    for number in range(controls):
        first, second = f"{CONTROL}:a{number}", f"{CONTROL}:b{number}"
        for change in ((first,), (second,), (first, second)):
            made.append(case(text, "control", *change))
    return made


@dataclass(frozen=True)
class Run:
    """The tables of a run."""

    frames: Mapping[str, pl.LazyFrame]

    def scan(self, name: str) -> pl.LazyFrame:
        """Return a table."""
        return self.frames[name]


def run(cases: Iterable[Case], answer: Callable[[Case], str | None]) -> Run:
    """Return the tables of a run in which ``answer`` gives the label of a valid case, None if not read.

    Several labels are joined by ``+``.
    """
    rows: dict[str, list[tables.Row]] = {"cases": [], "answers": [], "verdicts": [], "controls": []}
    for _, members in groupby(cases, key=lambda case: case.group):
        every = list(members)
        group = [case for case in every if case.valid]
        outcomes = {case.id: _outcome(answer(case)) for case in group}
        by_id = {case.id: case for case in group}
        rows["cases"] += [tables.case_row(case) for case in every]
        rows["answers"] += [tables.answer_row(case, outcomes[case.id], "") for case in group]
        for name, roles in (("verdicts", ("atomic", "intersectional")), ("controls", ("control",))):
            judged = [case for case in group if case.role in ("original", *roles)]
            rows[name] += [tables.verdict_row(v, by_id[v.case]) for v in oracle.judge(judged, outcomes)]
    return Run({name: tables.frame(name, of_name).lazy() for name, of_name in rows.items()})


def _outcome(label: str | None) -> Outcome:
    return Outcome(reason="refused") if label is None else Outcome(frozenset(label.split("+")))


def speaks_of(case: Case, spoken: str = "male") -> str:
    """Return the gender of a version."""
    return next((s.target_group for s in case.substitutions if s.attribute == "gender"), spoken)


def texts(number: int, prefix: str = "t") -> Sequence[str]:
    """Return the names of ``number`` texts."""
    return [f"{prefix}{index:03d}" for index in range(number)]
