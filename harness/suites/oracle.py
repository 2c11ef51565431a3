"""The metamorphic oracle (HINTER, section 3, step 3): which answers changed, and which change was hidden.

A mutant is *biased* if its outcome differs from the original's. A biased mutant is *hidden* if no mutant made
of a proper subset of its substitutions (exactly the same pairs) is biased, and all those mutants are valid
and read. Both questions have three values: an outcome that could not be read never counts as an answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from harness.core import Case, Margin, Outcome, Status, Ternary, Verdict

RELATION = "star"

Key = frozenset[tuple[str, str, str]]


def compare(original: Outcome | None, mutant: Outcome | None) -> Status:
    """Compare two outcomes, label sets as sets; undetermined if either was not read."""
    if original is None or mutant is None or not original.read or not mutant.read:
        return "undetermined"
    return "biased" if original.differs(mutant) else "benign"


def smaller(*outcomes: Outcome | None) -> Margin | None:
    """Return the smallest margin among outcomes; None where one of them is not known."""
    margins = [outcome.margin for outcome in outcomes if outcome and outcome.margin is not None]
    return Margin.smallest(margins) if margins and len(margins) == len(outcomes) else None


def hidden(status: Status, parts: Iterable[Status | None]) -> Ternary | None:
    """Return whether a mutant's bias is hidden; None if it is not biased.

    ``parts`` are the statuses of its sub-mutants (None: not valid, so not asked). One biased sub-mutant
    settles the question, whatever else is missing; otherwise all must be benign.
    """
    if status != "biased":
        return None
    seen = list(parts)
    if "biased" in seen:
        return "no"
    return "yes" if all(s == "benign" for s in seen) else "undetermined"


def judge(group: Sequence[Case], outcomes: Mapping[str, Outcome]) -> Iterator[Verdict]:
    """Yield a verdict for each mutant of one original."""
    original = next(case for case in group if case.role == "original")
    mutants = [case for case in group if case.role != "original"]
    statuses: dict[Key, Status] = {
        _key(case): compare(outcomes.get(original.id), outcomes.get(case.id)) for case in mutants
    }
    for case in mutants:
        status = statuses[_key(case)]
        parts = (statuses.get(part) for part in _proper_subsets(_key(case)))
        yield Verdict(
            case=case.id,
            relation=RELATION,
            status=status,
            hidden=hidden(status, parts) if len(case.substitutions) > 1 else None,
            attributes=case.attributes,
            margin=smaller(outcomes.get(original.id), outcomes.get(case.id)),
        )


def _key(case: Case) -> Key:
    return frozenset(s.pair for s in case.substitutions)


def _proper_subsets(key: Key) -> Iterator[Key]:
    for size in range(1, len(key)):
        yield from map(frozenset, combinations(key, size))
