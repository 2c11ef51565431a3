"""What results have in excess of controls, like with like and by text, and what the controls show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from harness.core import CONTROL, KEY_SEPARATOR, Case
from harness.findings.excess import Excess, Matched, Strata, control, excesses
from harness.findings.records import Drift
from harness.statistics import cluster_bootstrap, exchange_test, wilson
from tests.findings.runs import Run, case, family, run, texts

BODY = ("body",)


def inserting(of: Case) -> Case:
    """Return a version whose words are inserted."""
    changed = tuple(replace(s, operation="insertion") for s in of.substitutions)
    return replace(of, id=f"{of.id}+", substitutions=changed)


def excess(of: Run, names: Sequence[str] = BODY, figure: str = "changed") -> Excess:
    return excesses(Strata.of(of), [tuple(names)], 1)[KEY_SEPARATOR.join(names), figure]


def text(name: str, mutants: Sequence[Case], controls: Sequence[Case]) -> list[Case]:
    return [case(name, "original"), *mutants, *controls]


def of_kinds(name: str, inserted: bool) -> list[Case]:
    """A text with a mutant, a control of the same kind, and one of the other."""
    mutant = case(name, "atomic", "body:blind")
    like, unlike = (case(name, "control", f"{CONTROL}:{word}") for word in "ab")
    if inserted:
        return text(name, [inserting(mutant)], [inserting(like), unlike])
    return text(name, [mutant], [like, inserting(unlike)])


def changes_like(asked: Case) -> str:
    """Controls that are of the same kind as the mutant change the answer."""
    return "Negative" if asked.role == "control" and ":a" in asked.id else "Positive"


@pytest.mark.parametrize("inserted", [False, True])
def test_insertions_are_compared_with_insertions(inserted: bool) -> None:
    cases = [each for name in texts(6) for each in of_kinds(name, inserted)]
    found = excess(run(cases, changes_like))
    assert (found.tests, found.controls, found.rate) == (6, 6, 0.0)
    assert found.control_rate == pytest.approx(1.0)
    assert found.difference == pytest.approx(-1.0)


@pytest.mark.parametrize(("unlike", "tests", "controls", "rate"), [(1, 9, 9, 1.0), (2, 10, 18, 0.4)])
def test_where_too_few_are_of_one_kind_the_number_of_changes_counts(
    unlike: int, tests: int, controls: int, rate: float
) -> None:
    """Nine of ten tests have a control of their kind; where eight have, all of one change are taken."""
    some = texts(10)
    cases = [each for name in some[unlike:] for each in of_kinds(name, True)]
    for name in some[:unlike]:
        mutant = inserting(case(name, "atomic", "body:blind"))
        cases += text(name, [mutant], [case(name, "control", f"{CONTROL}:b")])
    found = excess(run(cases, changes_like))
    assert (found.tests, found.controls) == (tests, controls)
    assert found.control_rate == pytest.approx(rate)


def test_texts_of_no_control_and_answers_that_were_not_read_are_left_out() -> None:
    def answer(asked: Case) -> str | None:
        if asked.id in ("a#body:deaf", f"b#{CONTROL}:x"):
            return None
        return "Negative" if asked.role == "atomic" else "Positive"

    a = text("a", [case("a", "atomic", f"body:{group}") for group in ("blind", "deaf")], [])
    a.append(case("a", "control", f"{CONTROL}:x"))
    b = text("b", [case("b", "atomic", "body:blind")], [case("b", "control", f"{CONTROL}:x")])
    c = text("c", [case("c", "atomic", "body:blind")], [])
    found = excess(run([*a, *b, *c], answer))
    assert (found.tests, found.rate, found.controls, found.control_rate) == (1, 1.0, 1, 0.0)


def test_hidden_cases_are_compared_with_hidden_controls() -> None:
    """Half of the texts have a mutant that is hidden, a quarter a control that is."""
    some = texts(16)

    def answer(asked: Case) -> str:
        number = int(asked.document[1:])
        meets = asked.role == "intersectional" and number % 2 == 0
        control_meets = asked.attributes == (CONTROL, CONTROL) and number % 4 == 0
        return "Negative" if meets or control_meets else "Positive"

    of = run([each for name in some for each in family(name)], answer)
    found = excess(of, ("gender", "body"), "hidden")
    assert (found.tests, found.rate, found.controls) == (16, 0.5, 16)
    assert (found.control_rate, found.difference) == pytest.approx((0.25, 0.25))
    assert found.interval is not None
    assert found.interval[0] < found.difference < found.interval[1]
    every = excesses(Strata.of(of), [("gender",), ("gender", "body")], 1)
    assert set(every) == {
        ("gender", "changed"),
        (f"gender{KEY_SEPARATOR}body", "changed"),
        (f"gender{KEY_SEPARATOR}body", "hidden"),
    }


def test_a_case_whose_parts_lack_an_answer_is_not_known_to_be_hidden() -> None:
    def answer(asked: Case) -> str | None:
        if asked.document == "t000" and asked.id.endswith("#gender:female"):
            return None
        return "Negative" if asked.role == "intersectional" else "Positive"

    of = run([each for name in texts(5) for each in family(name)], answer)
    found = excess(of, ("gender", "body"), "hidden")
    assert (found.tests, found.rate) == (4, 1.0)
    assert excess(of, ("gender", "body")).tests == 5


def some_excess(families: int, sets: Sequence[tuple[str, ...]] = (BODY,)) -> tuple[Excess, Matched]:
    """Of twenty texts with two tests and two controls each, eight change in one test, one in a control."""

    def answer(asked: Case) -> str:
        number = int(asked.document[1:])
        hit = asked.id.endswith("body:blind") and number < 8
        return "Negative" if hit or (asked.id.endswith(f"{CONTROL}:x") and number == 9) else "Positive"

    cases = [
        each
        for name in texts(20)
        for each in text(
            name,
            [case(name, "atomic", f"body:{group}") for group in ("blind", "deaf")],
            [case(name, "control", f"{CONTROL}:{word}") for word in "xy"],
        )
    ]
    strata = Strata.of(run(cases, answer))
    matched = strata.compared("body", "changed")
    assert matched is not None
    return excesses(strata, sets, families)["body", "changed"], matched


def test_the_p_of_an_excess_is_the_larger_of_two() -> None:
    found, matched = some_excess(1)
    assert (found.rate, found.control_rate) == pytest.approx((0.2, 0.025))
    exchanged = exchange_test(matched.hits, matched.tests, matched.control_hits, matched.controls)
    assert found.p >= exchanged
    assert 0.005 < found.p < 0.1
    assert found.p_holm >= found.p
    three, _ = some_excess(3)
    assert three.p == found.p
    assert three.p_holm == pytest.approx(min(1.0, 3 * found.p_holm))
    assert some_excess(1000)[0].p_holm == 1.0


def test_a_single_text_is_no_evidence_of_an_excess() -> None:
    """All of its mutants change and none of its controls, which an exchange takes for no chance."""
    few = text(
        "a",
        [case("a", "atomic", f"body:{number}") for number in range(4)],
        [case("a", "control", f"{CONTROL}:{number}") for number in range(4)],
    )
    found = excess(run(few, lambda c: "Negative" if c.role == "atomic" else "Positive"))
    assert (found.p, found.p_holm, found.interval) == (1.0, 1.0, None)
    assert found.difference == pytest.approx(1.0)


def test_matched_shares_weigh_by_tests() -> None:
    matched = Matched(
        ["a", "b"], np.array([1.0, 0.0]), np.array([1.0, 3.0]), np.array([0.0, 1.0]), np.array([5.0, 2.0])
    )
    assert matched.shares.tolist() == [0.25, 0.75]
    assert matched.control_rate == pytest.approx(0.375)
    assert matched.differences.tolist() == [0.25, -0.375]


def shown(cases: Sequence[Case], answer: Callable[[Case], str | None]) -> tuple[Run, Strata]:
    of = run(cases, answer)
    return of, Strata.of(of)


def test_what_controls_show_by_themselves() -> None:
    """Twelve texts with three controls: one changes in every second text, one is not read in the first."""

    def answer(asked: Case) -> str | None:
        number = int(asked.document[1:])
        if asked.id == f"t000#{CONTROL}:b0":
            return None
        return "Negative" if asked.id.endswith(f"#{CONTROL}:a0") and number % 2 else "Positive"

    cases = [replace(c, traits={CONTROL: "word"} if c.role == "control" else {}) for c in many(12)]
    cases = [replace(c, traits={CONTROL: "group"}) if c.id.endswith("#control:b0") else c for c in cases]
    drift = (Drift(edits="1", outcome="x", controls=1, originals=1, change=0.0, ci95=None),)
    of, strata = shown(cases, answer)
    found = control(of, strata, drift)
    assert found is not None
    assert (found.tests, found.biased, found.undetermined, found.originals) == (36, 6, 1, 12)
    assert found.rate == 6 / 35
    assert found.ci95 == cluster_bootstrap([n % 2 for n in range(12)], [2, *[3] * 11])
    assert found.kinds == {"group": 12, "word": 24}
    assert found.drift == drift
    one, two = found.by_order["1"], found.by_order["2"]
    assert (one.tests, one.biased, one.undetermined, one.hidden) == (24, 6, 1, None)
    assert (two.tests, two.biased, two.undetermined, two.hidden) == (12, 0, 0, 0)
    assert two.ci95 == wilson(0, 12)
    assert list(found.by_order) == ["1", "2"]


def test_of_a_single_text_or_of_equal_ones_the_interval_is_wilsons() -> None:
    for number in (1, 3):
        of, strata = shown(many(number), lambda c: "Negative" if c.role == "control" else "Positive")
        found = control(of, strata, ())
        assert found is not None
        assert (found.rate, found.ci95) == (1.0, wilson(3 * number, 3 * number))


def many(number: int) -> list[Case]:
    return [each for name in texts(number) for each in family(name)]


def test_of_several_claims_the_p_of_an_exchange_is_corrected_too() -> None:
    """Five of twenty texts change in their one test, none in its control: 2 of the 32 ways are as extreme."""

    def answer(asked: Case) -> str:
        hit = asked.id.endswith("body:blind") and int(asked.document[1:]) < 5
        return "Negative" if hit else "Positive"

    cases = []
    for name in texts(20):
        mutants = [case(name, "atomic", change) for change in ("body:blind", "age:old")]
        cases += text(name, mutants, [case(name, "control", f"{CONTROL}:x")])
    strata = Strata.of(run(cases, answer))
    alone = excesses(strata, [BODY], 1)["body", "changed"]
    two = excesses(strata, [BODY, ("age",)], 1)["body", "changed"]
    assert alone.p == pytest.approx(2 / 32, abs=0.01)
    assert two.p == alone.p
    assert two.p_holm == pytest.approx(1 - (1 - 2 / 32) ** 2, abs=0.02)


def test_strata_stand_by_text_and_kind_whatever_the_order_of_the_tables() -> None:
    cases = []
    for name in reversed(texts(30)):
        both = [case(name, "atomic", "body:blind"), inserting(case(name, "atomic", "body:deaf"))]
        pairs = [case(name, "control", f"{CONTROL}:a"), inserting(case(name, "control", f"{CONTROL}:b"))]
        cases += text(name, both, pairs)
    matched = Strata.of(run(cases, lambda c: "Negative" if c.id.endswith("+") else "Positive")).compared(
        "body", "changed"
    )
    assert matched is not None
    assert list(matched.documents) == [name for name in texts(30) for _ in range(2)]
    assert matched.hits.tolist() == matched.control_hits.tolist() == [0.0, 1.0] * 30
