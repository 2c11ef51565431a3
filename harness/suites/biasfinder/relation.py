"""The relation of BiasFinder (sections 2.1 and 4.3): mutants of one template that are of different classes.

A pair of such mutants with different answers is a *bias-uncovering test case* (BTC). If two attributes change
together, a biased pair that differs in both is *hidden* bias, as in HINTER (Souani et al. 2025), if from one
of its ends neither change alone shows it: the mutants that differ from that end in one attribute are read and
have that end's answer. With two labels, this means that one of the four answers differs from the other three.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from harness.core import Case, Outcome, Status, Ternary, Verdict
from harness.suites.oracle import compare, hidden, smaller

RELATION = "pairs"


def judge(
    group: Sequence[Case], outcomes: Mapping[str, Outcome], attributes: Sequence[str]
) -> Iterator[Verdict]:
    """Yield a verdict for each pair of mutants of different classes; the original takes no part.

    ``attributes`` are the traits that define the class; each verdict names those in which its pair differs.
    """
    mutants = [_Mutant.of(case, outcomes, attributes) for case in group if case.role == "variant"]
    by_place = {(mutant.classes, mutant.name): mutant for mutant in mutants}
    for other, mutant in combinations(mutants, 2):
        if mutant.classes == other.classes:
            continue
        changed = tuple(
            name
            for name, here, there in zip(attributes, mutant.classes, other.classes, strict=True)
            if here != there
        )
        status = compare(other.outcome, mutant.outcome)
        yield Verdict(
            case=mutant.id,
            relation=RELATION,
            status=status,
            hidden=_hidden(status, mutant, other, by_place) if len(changed) > 1 else None,
            attributes=changed,
            margin=smaller(other.outcome, mutant.outcome),
            other=other.id,
        )


@dataclass(frozen=True, slots=True)
class _Mutant:
    id: str
    outcome: Outcome | None
    classes: tuple[str, ...]
    name: str

    @classmethod
    def of(cls, case: Case, outcomes: Mapping[str, Outcome], attributes: Sequence[str]) -> _Mutant:
        """Return what the relation needs of a case: its outcome, its classes and its name."""
        classes = tuple(case.traits[attribute] for attribute in attributes)
        return cls(case.id, outcomes.get(case.id), classes, case.traits.get("name", ""))


_ByPlace = Mapping[tuple[tuple[str, ...], str], _Mutant]


def _hidden(status: Status, mutant: _Mutant, other: _Mutant, by_place: _ByPlace) -> Ternary | None:
    """Return whether the pair's bias is hidden from either end; None if it has none."""
    if status != "biased":
        return None
    corners = _corners(mutant, other, by_place)
    ends = [hidden(status, [_status(end, corner) for corner in corners]) for end in (other, mutant)]
    if "yes" in ends:
        return "yes"
    return "no" if ends == ["no", "no"] else "undetermined"


def _corners(first: _Mutant, second: _Mutant, by_place: _ByPlace) -> list[_Mutant | None]:
    """Return the mutants between two that differ in gender and occupation: each person in the other's place.

    A name goes with its gender, which comes first among the classes. A corner is None if there is no such
    mutant.
    """
    return [
        by_place.get(((first.classes[0], *second.classes[1:]), first.name)),
        by_place.get(((second.classes[0], *first.classes[1:]), second.name)),
    ]


def _status(end: _Mutant, corner: _Mutant | None) -> Status | None:
    return compare(end.outcome, corner.outcome) if corner is not None else None
