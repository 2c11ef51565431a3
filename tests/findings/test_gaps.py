"""Gaps between two planted systems: the right sign, none by chance, and only on what both answered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import sha256

import pytest
from scipy.stats import binom

from harness.core import Case
from harness.findings import gaps
from harness.findings.build import find, tally
from harness.findings.gaps import Gap, Side
from harness.findings.outcomes import Outcomes
from harness.report.finding import sure
from tests.findings.runs import POSITIVE, Run, family, run, speaks_of, texts

LABELS = Outcomes({"Sports": ("Sports",), "Law": ("Law",)}, directed=False)


def many(number: int) -> list[Case]:
    """Texts that speak of men and of women in turn."""
    return [c for n, text in enumerate(texts(number)) for c in family(text, ("male", "female")[n % 2])]


def gender(case: Case) -> str:
    return speaks_of(case, ("male", "female")[int(case.document[1:]) % 2])


def rejects_women(case: Case) -> str:
    return "Negative" if gender(case) == "female" else "Positive"


def even(case: Case) -> str:
    return "Positive"


def brittle(seed: object, share: float) -> Callable[[Case], str]:
    """Answers that depend on every letter of the text."""

    def answer(case: Case) -> str:
        number = int.from_bytes(sha256(f"{seed}{case.id}".encode()).digest()[:6], "big") / 2**48
        return "Negative" if number < share else "Positive"

    return answer


def side(name: str, of: Run, outcomes: Outcomes = POSITIVE) -> Side:
    return Side(name, "hinter", of, outcomes, find(tally(of, outcomes), outcomes, 1).contrasts)


def compared(*sides: Side) -> list[Gap]:
    return gaps.find(sides)[1]


def only(rows: Sequence[Gap], attribute: str = "gender") -> Gap:
    [row] = [row for row in rows if row.attribute == attribute]
    return row


def reason(first: Side, second: Side) -> str | None:
    [shared], rows = gaps.find([first, second])
    assert (shared.reason is None) == bool(rows)
    return shared.reason


def test_the_gap_between_a_system_that_rejects_women_and_one_that_does_not() -> None:
    cases = many(16)
    fair, unfair = side("fair", run(cases, even)), side("unfair", run(cases, rejects_women))
    row = only(compared(fair, unfair))
    sign = 1.0 if row.target == "female" else -1.0
    assert sign * row.difference == pytest.approx(-1.0)
    assert (row.first, row.second, row.texts) == ("fair", "unfair", 16)
    assert sure(row)
    assert row.ci95 is not None
    assert row.ci95[0] < row.difference < row.ci95[1]
    back = only(compared(unfair, fair))
    assert back.difference == pytest.approx(-row.difference)
    assert back.p_holm == row.p_holm


@pytest.mark.parametrize("seed", range(4))
def test_a_gap_is_the_difference_of_both_effects(seed: int) -> None:
    cases = many(14)
    sides = [side(f"{n}", run(cases, brittle((seed, n), 0.4))) for n in range(3)]
    effects = [
        {(row.attribute, row.source, row.target): row.effect for row in each.contrasts} for each in sides
    ]
    rows = compared(*sides)
    assert len(rows) == 3 * len(effects[0])
    for row in rows:
        key = (row.attribute, row.source, row.target)
        assert row.difference == pytest.approx(effects[int(row.second)][key] - effects[int(row.first)][key])


def test_identical_systems_have_no_gap_and_an_interval() -> None:
    of = run(many(20), brittle("same", 0.2))
    for row in compared(side("a", of), side("b", of)):
        assert (row.difference, row.p, row.p_holm) == (0.0, 1.0, 1.0)
        assert row.ci95 is not None
        assert row.ci95[0] < 0 < row.ci95[1]
        assert row.detectable is not None
        assert row.detectable > 0


def test_brittle_systems_rarely_differ() -> None:
    cases, seeds = many(16), 80
    contrasts = side("", run(cases, even)).contrasts
    claims = 0
    for seed in range(seeds):
        runs = [run(cases, brittle((seed, share), share)) for share in (0.1, 0.25)]
        rows = compared(*(Side(str(n), "hinter", of, POSITIVE, contrasts) for n, of in enumerate(runs)))
        claims += any(map(sure, rows))
    assert claims <= binom.ppf(0.999, seeds, 0.05)


def test_a_run_at_one_place_in_a_file_is_not_the_same_text() -> None:
    cases = many(6)
    others = [replace(case, text="of another file") for case in cases]
    here, there = side("a", run(cases, even)), side("b", run(others, even))
    assert reason(here, there) == "they have no text in common"


def test_texts_in_common_are_counted_and_others_left_out() -> None:
    cases = many(12)
    unfair = run(cases[: len(cases) // 2], rejects_women)
    [shared], rows = gaps.find([side("a", run(cases, even)), side("b", unfair)])
    assert (shared.texts, shared.cases) == (6, len(cases) // 2)
    assert only(rows).texts == 6


def test_a_case_that_one_of_them_did_not_answer_is_in_no_gap() -> None:
    cases = many(12)
    silent = run(cases, lambda c: None if c.document == "t000" else rejects_women(c))
    [shared], rows = gaps.find([side("a", run(cases, even)), side("b", silent)])
    assert shared.texts == 11
    assert only(rows).texts == 11


def test_why_two_runs_are_not_compared() -> None:
    of = run(many(4), even)
    plain = side("a", of)
    assert reason(plain, replace(plain, suite="mtnlp")) == "their suites differ"
    without = replace(plain, contrasts=())
    assert reason(without, without) == "they compared no two groups"
    chosen = replace(plain, name="b", chosen=True)
    assert reason(plain, chosen) == "the cases of b were chosen by the answers"
    assert reason(plain, replace(plain, outcomes=None)) == "their task cannot be loaded"
    turned = Outcomes({"Negative": ("Negative",)}, directed=True)
    assert reason(plain, replace(plain, outcomes=turned)) == "they count different answers as favourable"


def test_each_label_has_its_gap_where_none_is_favourable() -> None:
    cases = many(14)
    fair = run(cases, lambda c: "Sports")
    unfair = run(cases, lambda c: "Law" if gender(c) == "female" else "Sports")
    sides = [side("fair", fair, LABELS), side("unfair", unfair, LABELS)]
    assert not sides[0].contrasts  # its answers never vary
    effects = {
        row.outcome: row.difference if row.target == "female" else -row.difference
        for row in compared(*sides)
        if row.attribute == "gender"
    }
    assert effects == {"Sports": pytest.approx(-1.0), "Law": pytest.approx(1.0)}


def test_log_odds_have_a_gap_of_their_own() -> None:
    import polars as pl

    def judged(answer: Callable[[Case], str]) -> Run:
        of = run(many(12), answer)
        odds = pl.when(pl.col("labels").list.contains("Positive")).then(3.0).otherwise(-1.0)
        return Run({**of.frames, "answers": of.frames["answers"].with_columns(log_odds=odds)})

    row = only(compared(side("fair", judged(even)), side("unfair", judged(rejects_women))))
    assert row.shift == pytest.approx(4 * row.difference)
    assert row.shift_ci95 is not None
    assert row.shift_p_holm is not None
    assert row.shift_p_holm <= 0.05


def test_a_contrast_has_the_direction_of_the_first_run_that_reports_it() -> None:
    of = run(many(12), rejects_women)
    ahead = side("a", of)
    behind = replace(ahead, contrasts=[row.turned() for row in ahead.contrasts])
    forward, back = (only(compared(first, replace(ahead, name="b"))) for first in (ahead, behind))
    assert (forward.source, forward.target) == (back.target, back.source)
    assert forward.difference == -back.difference == 0.0


def test_what_two_runs_share_is_counted() -> None:
    """Of three texts with seven cases each, one run did not read a text, the other not the men's mutants."""
    cases = many(3)
    first = side("a", run(cases, lambda c: None if c.document == "t001" else rejects_women(c)))
    second = side("b", run(cases, lambda c: None if c.id.endswith("#gender:female") else "Positive"))
    [shared], _ = gaps.find([first, second])
    assert (shared.first, shared.second, shared.reason) == ("a", "b", None)
    assert (shared.texts, shared.cases) == (2, 14 - 2)


def test_gaps_stand_by_pair_of_runs_and_then_by_attribute() -> None:
    cases = many(6)
    sides = [side(name, run(cases, brittle(name, 0.5))) for name in "abc"]
    shared, rows = gaps.find(sides)
    assert [(each.first, each.second) for each in shared] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [(row.first, row.second, row.attribute) for row in rows] == [
        (each.first, each.second, attribute) for each in shared for attribute in ("body", "gender")
    ]


def test_gaps_of_all_runs_are_corrected_together() -> None:
    """Two attributes are two families; a third run that is like one of them adds a claim to each."""
    cases = many(16)
    fair, unfair = side("fair", run(cases, even)), side("unfair", run(cases, rejects_women))
    row = only(compared(fair, unfair))
    assert row.p_holm == pytest.approx(2 * (row.p or 0.0))
    third = [only_of for only_of in compared(fair, unfair, replace(fair, name="also")) if sure(only_of)]
    assert [(each.first, each.second, each.attribute) for each in third] == [
        ("fair", "unfair", "gender"),
        ("unfair", "also", "gender"),
    ]
    assert third[0].difference == pytest.approx(-third[1].difference)


def test_two_systems_that_reject_opposite_groups_are_up_to_two_apart() -> None:
    cases = many(16)
    against_women = side("a", run(cases, rejects_women))
    against_men = side("b", run(cases, lambda c: "Negative" if gender(c) == "male" else "Positive"))
    row = only(compared(against_women, against_men))
    sign = 1.0 if row.target == "female" else -1.0
    assert sign * row.difference == pytest.approx(2.0)
    assert row.ci95 is not None
    assert max(map(abs, row.ci95)) == 2.0
    assert min(map(abs, row.ci95)) > 1.0
    assert row.detectable is not None
    assert 0 < row.detectable < 2.0


def test_runs_without_a_text_in_common_are_not_compared() -> None:
    first, second = (side(name, run(many_of(name), even)) for name in "ab")
    assert reason(first, second) == "they have no text in common"
    originals = [c for c in many(4) if c.role == "original"]
    bare = run(originals, even)
    assert reason(side("a", run(many(4), even)), replace(side("b", bare), contrasts=first.contrasts)) == (
        "they have no contrast of groups in common"
    )
    both = [replace(first, chosen=True), replace(second, chosen=True)]
    assert reason(*both) == "the cases of a and b were chosen by the answers"


def many_of(prefix: str) -> list[Case]:
    return [c for text in texts(4, prefix) for c in family(text)]


def test_of_many_labels_those_that_either_run_reports_are_compared() -> None:
    outcomes = Outcomes({name: (name,) for name in ("Art", "Law", "Sports")}, directed=False)
    cases = many(14)
    fair = side("fair", run(cases, lambda c: "Sports"), outcomes)
    unfair = side("unfair", run(cases, lambda c: "Law" if gender(c) == "female" else "Sports"), outcomes)
    for sides in ((fair, unfair), (unfair, fair)):
        assert {row.outcome for row in compared(*sides)} == {"Law", "Sports"}


def test_a_contrast_that_no_run_reports_goes_by_the_names_of_its_groups() -> None:
    cases = many(8)
    bare = [
        replace(each, contrasts=[row for row in each.contrasts if row.attribute == "gender"])
        for each in (side("a", run(cases, even)), side("b", run(cases, rejects_women)))
    ]
    row = only(compared(*bare), "body")
    assert (row.source, row.target) == ("blind", "plain")


def test_a_gap_without_log_odds_needs_none() -> None:
    cases = many(6)
    row = only(compared(side("a", run(cases, even)), side("b", run(cases, rejects_women))))
    bare = {name: value for name, value in row.model_dump(by_alias=True).items() if "shift" not in name}
    assert Gap.model_validate(bare) == row
