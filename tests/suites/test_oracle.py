"""The oracle in full: every combination of answers, and what holds whatever the labels are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, product
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core import UNREAD, Case, Margin, Outcome, Role, Status, Substitution, Ternary, Verdict
from harness.suites import oracle

Answer = Literal["P", "N", "unread", "invalid"]
Names = frozenset[str]

ATTRIBUTES = ("race", "gender", "body")


def outcome(answer: str) -> Outcome:
    return Outcome(reason="unparsed") if answer == "unread" else Outcome(labels=frozenset([answer]))


def case(names: Names) -> Case:
    role: Role = "original" if not names else "atomic" if len(names) == 1 else "intersectional"
    used = tuple(Substitution(name, "from", "to") for name in ATTRIBUTES if name in names)
    return Case("+".join(sorted(names)) or "original", "group", "document", role, "", used)


def subsets(names: Names) -> list[Names]:
    """The proper subsets that are mutants themselves."""
    return [frozenset(some) for size in range(1, len(names)) for some in combinations(sorted(names), size)]


def judge(answers: Mapping[Names, str]) -> dict[Names, Verdict]:
    """The verdicts by attributes; what is invalid is not part of the group, as in the pipeline."""
    cases = {names: case(names) for names, answer in answers.items() if answer != "invalid"}
    outcomes = {cases[names].id: outcome(answers[names]) for names in cases}
    verdicts = {v.case: v for v in oracle.judge(list(cases.values()), outcomes)}
    assert len(verdicts) == len(cases) - 1
    return {names: verdicts[one.id] for names, one in cases.items() if names}


ORIGINAL: Names = frozenset()
RACE, GENDER, BODY = (frozenset([name]) for name in ATTRIBUTES)
BOTH = RACE | GENDER
ALL = BOTH | BODY


def expected_status(original: str, answer: str) -> Status:
    if "unread" in (original, answer):
        return "undetermined"
    return "benign" if original == answer else "biased"


def expected_hidden(original: str, answer: str, parts: Sequence[str]) -> Ternary | None:
    """Hidden: the answer changed, and no part's did; a part that changed it settles the question."""
    if expected_status(original, answer) != "biased":
        return None
    changed = "N" if original == "P" else "P"
    if changed in parts:
        return "no"
    return "yes" if set(parts) == {original} else "undetermined"


@pytest.mark.parametrize("original", ["P", "N", "unread"])
@pytest.mark.parametrize("both", ["P", "N", "unread"])
def test_the_truth_table(original: str, both: str) -> None:
    parts: tuple[Answer, ...] = ("P", "N", "unread", "invalid")
    for race, gender in product(parts, parts):
        verdicts = judge({ORIGINAL: original, RACE: race, GENDER: gender, BOTH: both})
        for names, answer in ((RACE, race), (GENDER, gender)):
            if answer == "invalid":
                assert names not in verdicts
            else:
                assert verdicts[names].status == expected_status(original, answer)
                assert verdicts[names].hidden is None
        assert verdicts[BOTH].status == expected_status(original, both)
        assert verdicts[BOTH].hidden == expected_hidden(original, both, (race, gender))


def test_the_truth_table_in_words() -> None:
    """Rows of the table spelled out, so that the rule above cannot be wrong in the same way."""

    def hidden(original: str, race: str, gender: str, both: str) -> Ternary | None:
        return judge({ORIGINAL: original, RACE: race, GENDER: gender, BOTH: both})[BOTH].hidden

    assert hidden("P", "P", "P", "N") == "yes"
    assert hidden("N", "N", "N", "P") == "yes"
    assert hidden("P", "N", "P", "N") == "no"
    assert hidden("P", "P", "N", "N") == "no"
    assert hidden("P", "N", "N", "N") == "no"
    assert hidden("P", "N", "unread", "N") == "no"
    assert hidden("P", "invalid", "N", "N") == "no"
    assert hidden("P", "P", "unread", "N") == "undetermined"
    assert hidden("P", "invalid", "P", "N") == "undetermined"
    assert hidden("P", "invalid", "unread", "N") == "undetermined"
    assert hidden("P", "N", "P", "P") is None
    assert hidden("P", "P", "P", "P") is None
    assert hidden("unread", "P", "P", "N") is None
    assert hidden("P", "P", "P", "unread") is None


def test_order_3_is_hidden_only_if_all_six_sub_mutants_are_benign() -> None:
    parts = subsets(ALL)
    assert len(parts) == 6
    for answers in product(("P", "N", "unread", "invalid"), repeat=6):
        by_names: dict[Names, str] = {ORIGINAL: "P", **dict(zip(parts, answers, strict=True)), ALL: "N"}
        verdicts = judge(by_names)
        assert verdicts[ALL].hidden == expected_hidden("P", "N", answers)
        for names in (RACE | GENDER, RACE | BODY, GENDER | BODY):
            if names in verdicts:
                own = expected_hidden("P", by_names[names], [by_names[part] for part in subsets(names)])
                assert verdicts[names].hidden == own


def test_sub_mutants_are_those_of_exactly_the_same_substitutions() -> None:
    """Another pair of the same attribute says nothing about this mutant."""

    def mutant(name: str, *pairs: tuple[str, str]) -> Case:
        used = tuple(Substitution(attribute, "from", to) for attribute, to in pairs)
        return Case(name, "g", "d", "atomic" if len(pairs) == 1 else "intersectional", "", used)

    cases = [
        Case("original", "g", "d", "original", ""),
        mutant("white", ("race", "white")),
        mutant("Thai", ("race", "Thai")),
        mutant("woman", ("gender", "woman")),
        mutant("white woman", ("race", "white"), ("gender", "woman")),
        mutant("woman Thai", ("gender", "woman"), ("race", "Thai")),
    ]
    negative = {"Thai", "white woman", "woman Thai"}
    outcomes = {c.id: outcome("N" if c.id in negative else "P") for c in cases}
    hidden = {v.case: v.hidden for v in oracle.judge(cases, outcomes)}
    expected = {"white": None, "Thai": None, "woman": None, "white woman": "yes", "woman Thai": "no"}
    assert hidden == expected


# Outcomes

LABELS = st.frozensets(st.sampled_from("abc"))
OUTCOMES = st.one_of(
    st.builds(lambda labels: Outcome(labels=labels), LABELS),
    st.builds(lambda score: Outcome(score=score), st.sampled_from([0.0, 0.5])),
    st.builds(lambda reason: Outcome(reason=reason), st.sampled_from(UNREAD)),
)


@pytest.mark.parametrize(
    ("first", "second", "status"),
    [
        ("ab", "ba", "benign"),
        ("a", "ab", "biased"),
        ("ab", "a", "biased"),
        ("", "", "benign"),
        ("", "a", "biased"),
        ("a", "b", "biased"),
    ],
)
def test_label_sets_are_compared_as_sets(first: str, second: str, status: Status) -> None:
    one, other = (Outcome(labels=frozenset(labels)) for labels in (first, second))
    assert oracle.compare(one, other) == status


@pytest.mark.parametrize("reason", UNREAD)
def test_what_was_not_read_is_never_an_answer(reason: str) -> None:
    # P8: an empty or refused answer looked like a changed answer, and so like bias.
    unread = next(Outcome(reason=r) for r in UNREAD if r == reason)
    for other in (Outcome(labels=frozenset()), Outcome(labels=frozenset("a")), unread, None):
        assert oracle.compare(unread, other) == oracle.compare(other, unread) == "undetermined"


@given(OUTCOMES, OUTCOMES, st.permutations("abc"))
def test_comparison(first: Outcome, second: Outcome, names: list[str]) -> None:
    status = oracle.compare(first, second)
    assert (status == "undetermined") == (not (first.read and second.read))
    assert oracle.compare(second, first) == status
    new = dict(zip("abc", names, strict=True))

    def renamed(one: Outcome) -> Outcome:
        return one if one.labels is None else Outcome(labels=frozenset(new[label] for label in one.labels))

    assert oracle.compare(renamed(first), renamed(second)) == status


MUTANTS = [*subsets(ALL), ALL]


@given(
    st.dictionaries(st.sampled_from(MUTANTS), OUTCOMES, min_size=1),
    OUTCOMES,
    st.sets(st.sampled_from(MUTANTS)),
    st.permutations("abc"),
)
def test_verdicts(
    answers: dict[Names, Outcome], original: Outcome, unanswered: set[Names], names: list[str]
) -> None:
    cases = [case(ORIGINAL), *(case(n) for n in answers)]
    outcomes = {case(n).id: one for n, one in answers.items() if n not in unanswered}
    outcomes[case(ORIGINAL).id] = original
    verdicts = list(oracle.judge(cases, outcomes))
    assert [v.case for v in verdicts] == [c.id for c in cases[1:]]
    for one, verdict in zip(cases[1:], verdicts, strict=True):
        own = outcomes.get(one.id)
        assert verdict.relation == "star"
        assert verdict.attributes == one.attributes
        if verdict.status == "biased":
            assert original.read
            assert own is not None
            assert own.read
            assert (own.labels, own.score) != (original.labels, original.score)
        assert (verdict.hidden is not None) == (verdict.status == "biased" and len(one.attributes) > 1)
        if verdict.hidden == "yes":
            parts = [outcomes.get(case(part).id) for part in subsets(frozenset(one.attributes))]
            assert all(part is not None and part.read for part in parts)
            assert all(oracle.compare(original, part) == "benign" for part in parts)
    new = dict(zip("abc", names, strict=True))
    relabelled = {
        id_: one if one.labels is None else Outcome(labels=frozenset(new[label] for label in one.labels))
        for id_, one in outcomes.items()
    }
    assert list(oracle.judge(cases, relabelled)) == verdicts
    assert sorted(v.case for v in oracle.judge(cases[::-1], outcomes)) == sorted(v.case for v in verdicts)
    assert {v.case: v for v in oracle.judge(cases[::-1], outcomes)} == {v.case: v for v in verdicts}


# Margins of two outcomes


def near(margin: Margin | None) -> Outcome:
    return Outcome(frozenset({"Positive"}), margin=margin)


@pytest.mark.parametrize(
    ("one", "other", "smallest"),
    [
        (Margin(2.0), Margin(0.5), Margin(0.5)),
        (Margin(0.05), Margin(-4.55, True), Margin(0.05)),  # known to be a near tie whatever the other is
        (Margin(2.0), Margin(-4.55, True), Margin(-4.55, True)),
        (Margin(2.0), Margin(3.0, True), Margin(2.0)),
        (Margin(4.0, True), Margin(3.0, True), Margin(3.0, True)),
        (Margin(0.05), None, None),
    ],
)
def test_the_smaller_margin(one: Margin | None, other: Margin | None, smallest: Margin | None) -> None:
    assert oracle.smaller(near(one), near(other)) == oracle.smaller(near(other), near(one)) == smallest


def test_without_outcomes_there_is_no_margin() -> None:
    assert oracle.smaller() is None
    assert oracle.smaller(None, near(Margin(1.0))) is None


def test_outcomes_that_differ_in_their_margins_alone_are_equal() -> None:
    assert oracle.compare(near(Margin(1.0)), near(None)) == "benign"
    assert oracle.compare(Outcome(score=0.5), Outcome(score=0.51)) == "biased"
    assert oracle.compare(Outcome(score=0.5), Outcome(reason="unparsed")) == "undetermined"


def test_a_verdict_is_as_sure_as_the_less_certain_of_its_two_answers() -> None:
    cases = [case(ORIGINAL), case(RACE), case(GENDER), case(BODY)]
    outcomes = {
        cases[0].id: near(Margin(2.0)),
        cases[1].id: near(Margin(0.5)),
        cases[2].id: near(Margin(3.0)),
        cases[3].id: near(None),
    }
    margins = [verdict.margin for verdict in oracle.judge(cases, outcomes)]
    assert margins == [Margin(0.5), Margin(2.0), None]
