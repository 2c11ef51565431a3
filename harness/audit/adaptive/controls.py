"""Mutants and the controls that are like them, by text, as weighted sums over the cases of a run.

The same comparison as of a complete run (``harness.findings.excess``), by the cases that there are: each text
counts as many times as it has tests, on either side.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from harness.core import Case
from harness.findings.excess import COVERED
from harness.findings.places import INSERTED

if TYPE_CHECKING:
    from harness.audit.adaptive.candidates import Integers
    from harness.audit.adaptive.design import Floats

Kind = tuple[str, ...]
Strata = dict[tuple[str, str], list[int]]
"""The numbers of cases by text and kind of edits."""


@dataclass(frozen=True, slots=True)
class Compared:
    """The tests of an attribute set and the controls of the same texts and kinds of edits.

    The factors are by case: of tests one, of controls so that each text counts as among the tests.
    """

    attributes: Kind
    texts: int
    tests: dict[int, float]
    controls: dict[int, float]

    def dense(self, cases: int) -> tuple[Floats, Floats]:
        """Return the factors of each of all ``cases``, as tests and as controls."""
        found = (np.zeros(cases), np.zeros(cases))
        for factors, of_side in zip(found, (self.tests, self.controls), strict=True):
            factors[list(of_side)] = list(of_side.values())
        return found


@dataclass(frozen=True, slots=True)
class Shares:
    """By how much each case, and each document, counts in the excesses over controls."""

    cases: Floats
    documents: Floats


def shares(compared: Sequence[Compared], document: Integers, documents: int) -> Shares:
    """Return the share of each in the excess of an attribute set, as the root of the squares of all sets."""
    cases, of_documents = np.zeros(len(document)), np.zeros(documents)
    for one in compared:
        tests, controls = one.dense(len(document))
        number = tests.sum()
        cases += ((tests + controls) / number) ** 2
        of_documents += np.bincount(document, tests / number, minlength=documents) ** 2
    return Shares(np.sqrt(cases), np.sqrt(of_documents))


def compared(cases: Iterable[Case], numbers: dict[int, int]) -> Iterator[Compared]:
    """Yield each set of attributes some of whose mutants have controls that are like them.

    ``numbers`` are those of mutants and controls by row of the ``cases``, which are all of the run.
    """
    tests: dict[Kind, tuple[Strata, Strata]] = defaultdict(_both)
    controls = _both()
    for row, case in enumerate(cases):
        if (number := numbers.get(row)) is None:
            continue
        of_case = controls if case.role == "control" else tests[tuple(sorted(case.attributes))]
        for strata, kind in zip(of_case, _kinds(case), strict=True):
            strata[case.document, kind].append(number)
    for attributes, of_set in sorted(tests.items(), key=lambda item: (len(item[0]), item[0])):
        alike, comparable = (_shared(*sides) for sides in zip(of_set, controls, strict=True))
        if comparable:
            enough = _tests(alike) >= COVERED * _tests(comparable)
            yield _of(attributes, alike if enough else comparable)


def _both() -> tuple[Strata, Strata]:
    """Return strata by kind of edits, and by the number of changes alone."""
    return defaultdict(list), defaultdict(list)


def _kinds(case: Case) -> tuple[str, str]:
    order = str(len(case.substitutions))
    inserted = any(s.operation == "insertion" for s in case.substitutions)
    return order + (INSERTED if inserted else ""), order


def _shared(tests: Strata, controls: Strata) -> dict[tuple[str, str], tuple[list[int], list[int]]]:
    """Return the cases of the strata that both have."""
    return {key: (of_key, controls[key]) for key, of_key in tests.items() if key in controls}


def _tests(strata: dict[tuple[str, str], tuple[list[int], list[int]]]) -> int:
    return sum(len(tests) for tests, _ in strata.values())


def _of(attributes: Kind, strata: dict[tuple[str, str], tuple[list[int], list[int]]]) -> Compared:
    tests = {number: 1.0 for of_tests, _ in strata.values() for number in of_tests}
    controls = {n: len(of_tests) / len(own) for of_tests, own in strata.values() for n in own}
    return Compared(attributes, len({text for text, _ in strata}), tests, controls)
