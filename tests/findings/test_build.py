"""Findings of planted systems: who is treated worse, which way, and what is only brittleness."""

from __future__ import annotations

import pytest

from harness.core import CONTROL, Case
from harness.findings.build import find, tally
from harness.findings.excess import Strata, control, excesses
from harness.findings.outcomes import Outcomes
from harness.findings.records import Contrast, Group
from harness.findings.tally import ANY
from harness.report.finding import sure
from harness.statistics import wilson
from tests.findings.runs import POSITIVE, Run, case, family, run, speaks_of, texts

SETS = [("body",), ("gender",), ("gender", "body")]


def rejects_women(case: Case) -> str:
    return "Negative" if speaks_of(case) == "female" else "Positive"


def contrast(of: Run, outcomes: Outcomes = POSITIVE, attribute: str = "gender") -> Contrast:
    return next(row for row in find(tally(of, outcomes), outcomes, 1).contrasts if row.attribute == attribute)


def groups(of: Run) -> dict[str, Group]:
    return {row.group: row for row in find(tally(of, POSITIVE), POSITIVE, 1).groups}


def many(number: int) -> list[Case]:
    return [case for text in texts(number) for case in family(text)]


def test_a_system_that_rejects_women_treats_them_worse() -> None:
    row = contrast(run(many(12), rejects_women))
    assert (row.source, row.target, row.outcome) == ("male", "female", "Positive")
    assert (row.pairs, row.worse, row.better, row.originals) == (24, 24, 0, 12)
    assert row.effect == pytest.approx(-1.0)
    assert row.basis == "controls"
    assert row.ci95 is not None
    assert row.ci95[0] == -1.0 < row.ci95[1] < 0, "no difference of shares is larger"
    assert row.p is not None
    assert row.p == 2 / 2**12 <= (row.p_holm or 0.0) <= 0.05
    assert sure(row)


def test_one_text_is_no_finding_however_many_controls_there_are() -> None:
    alone, *others = texts(30)
    cases = [
        *family(alone),
        *(one for text in others for one in family(text) if "gender" not in one.attributes),
    ]
    row = contrast(run(cases, rejects_women))
    assert (row.originals, row.basis) == (1, "controls")
    assert row.effect == pytest.approx(-1.0)
    assert (row.p, row.p_holm, row.ci95, row.detectable) == (1.0, 1.0, None, None)


def test_groups_are_held_against_those_at_the_same_places() -> None:
    found = groups(run(many(12), rejects_women))
    assert found["female"].effect == pytest.approx(-0.5)
    assert found["male"].effect == pytest.approx(0.5)
    assert (found["female"].rate, found["male"].rate) == (0.0, 1.0)
    assert (found["female"].impact_ratio, found["male"].impact_ratio) == (0.0, 1.0)
    assert found["blind"].effect == pytest.approx(0.0)


def test_a_contrast_goes_from_what_texts_speak_of_to_what_they_are_changed_to() -> None:
    cases = [case for text in texts(12) for case in family(text, spoken="female")]
    row = contrast(run(cases, lambda c: "Negative" if speaks_of(c, "female") == "female" else "Positive"))
    assert (row.source, row.target) == ("female", "male")
    assert row.effect == pytest.approx(1.0)


def test_worse_to_whatever_is_edited_is_drift_and_no_group_is_claimed() -> None:
    of = run(many(30), lambda c: "Negative" if c.substitutions else "Positive")
    found = find(tally(of, POSITIVE), POSITIVE, 1)
    assert not any(map(sure, found.contrasts))
    assert not any(map(sure, found.intersections))
    assert contrast(of).effect == pytest.approx(0.0)
    assert {row.edits: row.change for row in found.drift} == {"1": pytest.approx(-1), "2": pytest.approx(-1)}


def test_an_answer_that_was_not_read_is_in_no_pair() -> None:
    of = run(many(4), lambda c: None if c.document == "t000" else rejects_women(c))
    assert contrast(of).originals == 3


def test_without_a_favourable_answer_each_label_is_an_outcome() -> None:
    outcomes = Outcomes({"Sports": ("Sports",), "Law": ("Law",), "Art": ("Art",)}, directed=False)
    of = run(many(12), lambda c: "Law" if speaks_of(c) == "female" else "Sports")
    found = find(tally(of, outcomes), outcomes, 1)
    effects = {row.outcome: row.effect for row in found.contrasts if row.attribute == "gender"}
    assert effects == {"Sports": pytest.approx(-1.0), "Law": pytest.approx(1.0)}  # Art never occurs
    assert {row.impact_ratio for row in found.groups} == {None}


def labels_of_example(asked: Case) -> str:
    """Return the labels of the example of docs/figures.md: a woman adds a label to a, to c only if blind."""
    female, blind = speaks_of(asked) == "female", "body" in asked.attributes
    adds = {"a": female, "b": False, "c": female and blind}[asked.document]
    return "Sports+Law" if adds else "Sports"


@pytest.mark.parametrize(
    "outcomes",
    [
        Outcomes({"Sports": ("Sports",), "Law": ("Law",)}, directed=False, several=True),
        Outcomes({"Sports": ("Sports",)}, directed=True, several=True),
    ],
    ids=["each label", "a favourable label"],
)
def test_of_several_labels_the_sets_are_compared(outcomes: Outcomes) -> None:
    of = run([each for text in "abc" for each in family(text)], labels_of_example)
    found = find(tally(of, outcomes), outcomes, 1)
    body, gender = found.changes
    for change in (body, gender):
        rows = [row for row in found.contrasts if row.attribute == change.attribute]
        assert change.pairs.of == sum({(row.source, row.target): row.pairs for row in rows}.values())
    assert (body.attribute, gender.attribute) == ("body", "gender")
    assert (gender.pairs.count, gender.pairs.of, gender.pairs.rate) == (3, 6, 0.5)
    assert (gender.originals.count, gender.originals.of) == (2, 3)
    assert gender.originals.ci95 == wilson(2, 3)
    assert (body.pairs.count, body.pairs.of, body.originals.count, body.originals.of) == (1, 6, 1, 3)


def test_a_single_favourable_answer_is_compared_by_its_contrasts_alone() -> None:
    assert find(tally(run(many(3), rejects_women), POSITIVE), POSITIVE, 1).changes == ()


def test_where_nothing_differs_no_difference_is_said_to_be_detectable_that_is_not() -> None:
    """Ten times as many texts that never differ could show a smaller difference; none could show any."""
    few, lot = (contrast(run(many(n), lambda _: "Positive")).detectable for n in (15, 150))
    assert few is not None
    assert lot is not None
    assert 0.05 < lot < few < 1.5


def test_a_meeting_is_more_than_the_sum() -> None:
    def meets(case: Case) -> str:
        return "Negative" if {"gender", "body"} <= set(case.attributes) else "Positive"

    [row] = find(tally(run(many(14), meets), POSITIVE), POSITIVE, 1).intersections
    assert row.groups == {"gender": "female", "body": "blind"}
    assert row.interaction == pytest.approx(-1.0)
    assert row.effect == pytest.approx(-1.0)
    assert (row.pairs, row.hidden) == (14, 14)
    assert sure(row)


def test_groups_that_meet_are_taken_together_where_single_pairs_are_few() -> None:
    """Women are blind in one text, deaf in the other; nobody else meets."""
    both = [("a", "gender:female", "body:blind"), ("b", "gender:female", "body:deaf")]
    cases = []
    for text, *changes in both:
        cases += [case(text, "original"), *(case(text, "atomic", change) for change in changes)]
        cases.append(case(text, "intersectional", *changes))
    of = run(cases, lambda c: "Negative" if c.role == "intersectional" else "Positive")
    rows = find(tally(of, POSITIVE), POSITIVE).intersections
    assert [(tuple(row.groups.values()), row.originals) for row in rows] == [
        (("blind", "female"), 1),
        ((ANY, "female"), 2),
        (("deaf", "female"), 1),
    ]
    assert rows[1].interaction == -1.0


def with_odds(of: Run) -> Run:
    """Return a run in which the log-odds of a favourable answer are 3, or -1 where it is not given."""
    import polars as pl

    odds = pl.when(pl.col("labels").list.contains("Positive")).then(3.0).otherwise(-1.0)
    return Run({**of.frames, "answers": of.frames["answers"].with_columns(log_odds=odds)})


@pytest.mark.parametrize("spoken", ["male", "female"])
def test_log_odds_shift_as_the_answers_do(spoken: str) -> None:
    cases = [case for text in texts(12) for case in family(text, spoken)]
    of = run(cases, lambda c: "Negative" if speaks_of(c, spoken) == "female" else "Positive")
    row = contrast(with_odds(of))
    assert row.shift is not None
    assert row.shift == pytest.approx(4 * row.effect)
    assert row.shift_ci95 is not None
    assert row.shift_ci95[0] < row.shift < row.shift_ci95[1]
    assert row.shift_ci95[0] * row.shift_ci95[1] > 0, "as far from zero as the shift is"
    assert row.shift_p_holm == pytest.approx(row.p_holm)
    without = contrast(of)
    assert (without.shift, without.shift_ci95, without.shift_p_holm) == (None, None, None)
    for group, told in groups(with_odds(of)).items():
        assert told.shift == pytest.approx(4 * told.effect)
        assert groups(of)[group].shift is None


def test_log_odds_meet_as_the_answers_do() -> None:
    of = run(many(14), lambda c: "Negative" if {"gender", "body"} <= set(c.attributes) else "Positive")
    [row] = find(tally(with_odds(of), POSITIVE), POSITIVE, 1).intersections
    assert row.shift is not None
    assert row.shift == pytest.approx(4 * row.interaction)
    assert row.shift_ci95 is not None
    assert row.shift_ci95[0] < row.shift < row.shift_ci95[1] < 0
    assert row.shift_p_holm is not None
    assert row.shift_p_holm <= 0.05
    [row] = find(tally(of, POSITIVE), POSITIVE, 1).intersections
    assert (row.shift, row.shift_ci95, row.shift_p_holm) == (None, None, None)
    assert row.effect_ci95 is not None
    assert row.effect == pytest.approx(-1.0)
    assert row.effect_ci95[0] == -1.0 < row.effect_ci95[1] < -0.5


def test_two_single_effects_are_no_meeting() -> None:
    def apart(case: Case) -> str:
        women, even = speaks_of(case) == "female", int(case.document[1:]) % 2
        return "Negative" if (women and even) or ("body" in case.attributes and not even) else "Positive"

    [row] = find(tally(run(many(14), apart), POSITIVE), POSITIVE, 1).intersections
    assert row.interaction == pytest.approx(0.0)
    assert not sure(row)


def test_gold_labels_give_the_rates_of_right_answers() -> None:
    from dataclasses import replace

    gold = frozenset(["Positive"])
    cases = [replace(c, expected=gold) if c.role == "original" else c for c in many(6)]
    found = groups(run(cases, rejects_women))
    assert (found["female"].judged, found["female"].correct) == (12, 0)
    assert (found["male"].true_favourable, found["male"].false_favourable) == (1.0, None)


def test_the_excess_is_over_controls_of_the_same_texts() -> None:
    strata = Strata.of(run(many(20), rejects_women))
    found = excesses(strata, SETS, 3)
    assert found["gender", "changed"].difference == pytest.approx(1.0)
    assert found["gender", "changed"].control_rate == 0.0
    assert found["gender", "changed"].p_holm <= 0.05
    assert found["body", "changed"].difference == 0.0


def test_each_text_weighs_as_much_among_controls_as_among_tests() -> None:
    """Text a has one mutant and text b three, each one control; text c has no control and is left out."""
    a = [case("a", "original"), case("a", "atomic", "body:blind"), case("a", "control", f"{CONTROL}:x")]
    b = [case("b", "original"), *(case("b", "atomic", f"body:{g}") for g in ("blind", "deaf", "old"))]
    b += [case("b", "control", f"{CONTROL}:x")]
    c = [case("c", "original"), case("c", "atomic", "body:blind")]
    of = run([*a, *b, *c], lambda c: "Negative" if c.role == "control" and c.document == "b" else "Positive")
    excess = excesses(Strata.of(of), [("body",)], 1)["body", "changed"]
    assert (excess.tests, excess.rate, excess.controls) == (4, 0.0, 2)
    assert excess.control_rate == pytest.approx(0.75)
    assert excess.difference == pytest.approx(-0.75)


def test_controls_stand_by_order_with_their_hidden_cases() -> None:
    of = run(many(10), lambda c: "Negative" if c.attributes == (CONTROL, CONTROL) else "Positive")
    shown = control(of, Strata.of(of), ())
    assert shown is not None
    assert (shown.tests, shown.biased) == (30, 10)
    assert (shown.by_order["1"].biased, shown.by_order["2"].biased) == (0, 10)
    assert (shown.by_order["1"].hidden, shown.by_order["2"].hidden) == (None, 10)


def test_without_controls_there_is_neither_excess_nor_control() -> None:
    of = run([case for text in texts(6) for case in family(text, controls=0)], rejects_women)
    strata = Strata.of(of)
    assert excesses(strata, SETS, 1) == {}
    assert control(of, strata, ()) is None
    assert contrast(of).basis == "uncorrected"


def test_rows_of_different_texts_are_corrected_together() -> None:
    women = [case for text in texts(8) for case in family(text)]
    bodies = [c for text in texts(8, "b") for c in family(text) if "gender" not in c.attributes]
    found = excesses(Strata.of(run([*women, *bodies], rejects_women)), SETS, 1)
    assert found["gender", "changed"].difference == pytest.approx(1.0)
    assert found["body", "changed"].difference == 0.0
