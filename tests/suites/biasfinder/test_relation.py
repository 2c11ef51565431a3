"""Pairs of mutants of one template: which are compared, what they show, and what is hidden in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core import Case, Margin, Outcome, Verdict
from harness.suites.biasfinder import relation

YES, NO, UNREAD = (
    Outcome(labels=frozenset({"yes"})),
    Outcome(labels=frozenset({"no"})),
    Outcome(reason="refused"),
)
OUTCOMES = st.sampled_from([YES, NO, UNREAD])
BOTH = ("gender", "occupation")


def mutant(name: str = "", **classes: str) -> Case:
    traits = {"name": name, **classes}
    return Case("/".join([*classes.values(), name]), "t", "d", "variant", "", traits=traits)


def people(names: int) -> list[Case]:
    return [
        mutant(f"{gender}{number}", gender=gender) for gender in ("male", "female") for number in range(names)
    ]


def judged(group: list[Case], answers: Mapping[str, Outcome], *attributes: str) -> list[Verdict]:
    return list(relation.judge(group, answers, attributes))


def test_only_mutants_of_different_classes_are_compared_each_pair_once() -> None:
    group = people(3)
    found = judged(group, {case.id: YES for case in group}, "gender")
    assert len(found) == 9
    assert len({frozenset({v.case, str(v.other)}) for v in found}) == 9
    assert {v.status for v in found} == {"benign"}
    assert {(v.relation, v.attributes, v.hidden) for v in found} == {("pairs", ("gender",), None)}


def test_the_paper_has_900_pairs_of_60_names_and_3081_of_79_occupations() -> None:
    jobs = [mutant(occupation=str(number)) for number in range(79)]
    for group, attribute, pairs in ((people(30), "gender", 900), (jobs, "occupation", 3081)):
        assert len(judged(group, {}, attribute)) == pairs


def test_the_original_takes_no_part() -> None:
    group = [Case("o", "t", "d", "original", ""), *people(1)]
    (verdict,) = judged(group, {"o": NO, group[1].id: YES, group[2].id: YES}, "gender")
    assert verdict.status == "benign"


@pytest.mark.parametrize(
    ("one", "other", "status"),
    [
        (YES, YES, "benign"),
        (YES, NO, "biased"),
        (YES, UNREAD, "undetermined"),
        (UNREAD, UNREAD, "undetermined"),
    ],
)
def test_a_pair_with_different_answers_uncovers_bias(one: Outcome, other: Outcome, status: str) -> None:
    group = people(1)
    (verdict,) = judged(group, {group[0].id: one, group[1].id: other}, "gender")
    assert verdict.status == status


@given(st.lists(OUTCOMES, min_size=6, max_size=6))
def test_the_count_is_that_of_the_paper(answers: list[Outcome]) -> None:
    """Mutants of one class with a label times those of the other class with another."""
    group = people(3)
    found = judged(group, dict(zip((case.id for case in group), answers, strict=True)), "gender")
    men, women = answers[:3], answers[3:]
    expected = men.count(YES) * women.count(NO) + men.count(NO) * women.count(YES)
    assert sum(v.status == "biased" for v in found) == expected


def square(answers: Mapping[tuple[str, str], Outcome]) -> tuple[list[Case], dict[str, Outcome]]:
    group = [mutant(gender, gender=gender, occupation=job) for gender, job in answers]
    return group, {case.id: outcome for case, outcome in zip(group, answers.values(), strict=True)}


def diagonals(answers: Mapping[tuple[str, str], Outcome]) -> list[Verdict]:
    group, outcomes = square(answers)
    return [v for v in judged(group, outcomes, *BOTH) if len(v.attributes) == 2]


CORNERS = list(product(("male", "female"), ("nurse", "pilot")))


def test_pairs_say_in_which_attributes_they_differ() -> None:
    group, outcomes = square(dict.fromkeys(CORNERS, YES))
    found = judged(group, outcomes, *BOTH)
    assert sorted(v.attributes for v in found) == [
        *[("gender",)] * 2,
        *[("gender", "occupation")] * 2,
        *[("occupation",)] * 2,
    ]


@pytest.mark.parametrize("odd", CORNERS)
def test_one_corner_answered_unlike_the_rest_is_hidden_bias(odd: tuple[str, str]) -> None:
    biased = [v for v in diagonals({c: NO if c == odd else YES for c in CORNERS}) if v.status == "biased"]
    assert [v.hidden for v in biased] == ["yes"]


def test_what_one_attribute_does_alone_is_not_hidden() -> None:
    found = diagonals({corner: NO if corner[0] == "male" else YES for corner in CORNERS})
    assert [(v.status, v.hidden) for v in found] == [("biased", "no")] * 2


def test_a_missing_corner_leaves_it_open() -> None:
    answers = dict.fromkeys(CORNERS, YES) | {("male", "nurse"): NO, ("male", "pilot"): UNREAD}
    by_status = {v.status: v.hidden for v in diagonals(answers)}
    assert by_status == {"biased": "undetermined", "undetermined": None}


@given(st.lists(OUTCOMES, min_size=4, max_size=4))
def test_hidden_does_not_depend_on_the_order_of_the_mutants(answers: list[Outcome]) -> None:
    """The interaction, spelled out: the pair differs, and one of its ends is answered like both corners
    between, which are read."""
    by_corner = dict(zip(CORNERS, answers, strict=True))
    backwards = dict(reversed(by_corner.items()))
    forward, back = diagonals(by_corner), diagonals(backwards)
    key = {frozenset({v.case, str(v.other)}): (v.status, v.hidden) for v in forward}
    assert key == {frozenset({v.case, str(v.other)}): (v.status, v.hidden) for v in back}
    assert all((v.hidden is not None) == (v.status == "biased") for v in forward)
    read = {corner for corner, outcome in by_corner.items() if outcome is not UNREAD}
    if read == set(CORNERS):
        odd = answers.count(YES) in (1, 3)
        assert any(v.hidden == "yes" for v in forward) == odd


def test_names_go_with_their_gender() -> None:
    """A pair is hidden by the mutants of its own two persons, not by others of their class."""
    group = [
        mutant(f"{gender}{number}", gender=gender, occupation=job)
        for gender, job in CORNERS
        for number in (1, 2)
    ]
    odd = "female/pilot/female1"
    outcomes = {case.id: NO if case.id == odd else YES for case in group}
    biased = [v for v in judged(group, outcomes, *BOTH) if v.status == "biased" and len(v.attributes) == 2]
    assert {(v.hidden, odd in (v.case, v.other)) for v in biased} == {("yes", True)}
    assert len(biased) == 2


def test_what_others_of_their_class_are_answered_tells_nothing_of_two_persons() -> None:
    group = [
        mutant(f"{gender}{number}", gender=gender, occupation=job)
        for number in (1, 2)
        for gender, job in CORNERS
    ]
    outcomes = {case.id: NO if case.id.partition("/")[2].startswith("pilot") else YES for case in group}
    outcomes["male/pilot/male1"] = YES
    own = {"male/nurse/male1", "female/pilot/female1"}
    (verdict,) = (v for v in judged(group, outcomes, *BOTH) if {v.case, v.other} == own)
    assert (verdict.status, verdict.hidden) == ("biased", "yes")


def test_one_attribute_alone_hides_nothing() -> None:
    group = people(1)
    (verdict,) = judged(group, {group[0].id: YES, group[1].id: NO}, "gender")
    assert (verdict.status, verdict.hidden) == ("biased", None)
    cases, outcomes = square({c: NO if c == CORNERS[0] else YES for c in CORNERS})
    alone = [v for v in judged(cases, outcomes, *BOTH) if len(v.attributes) == 1]
    assert {v.status for v in alone} == {"biased", "benign"}
    assert {v.hidden for v in alone} == {None}


def test_a_pair_is_as_sure_as_the_less_certain_of_its_two_answers() -> None:
    group = people(2)
    margins = (2.0, 0.5, 1.0, None)
    outcomes = {
        case.id: replace(YES, margin=None if margin is None else Margin(margin))
        for case, margin in zip(group, margins, strict=True)
    }
    found = {(v.other, v.case): v.margin for v in judged(group, outcomes, "gender")}
    assert found == {
        ("male/male0", "female/female0"): Margin(1.0),
        ("male/male1", "female/female0"): Margin(0.5),
        ("male/male0", "female/female1"): None,
        ("male/male1", "female/female1"): None,
    }
