"""What is counted in one pass: pairs, places, rates, right answers, and what meets."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.core import Case
from harness.findings.build import find, tally
from harness.findings.records import Contrast, Group
from harness.findings.tally import Answer, Mean, combined
from tests.findings.runs import POSITIVE, Run, case, family, run, speaks_of, substitution, texts


def versions(name: str, *groups: str, attribute: str = "gender", spoken: str = "male") -> list[Case]:
    """A text and a version for each of ``groups``, each in a word of its own."""
    found = [case(name, "original")]
    for number, group in enumerate(groups):
        changed = substitution(f"{attribute}:{group}", spoken)
        changed = replace(changed, target=f"{group}{number}")
        found.append(replace(case(name, "atomic"), id=f"{name}#{group}{number}", substitutions=(changed,)))
    return found


def group_of(asked: Case) -> str:
    return next((s.target_group for s in asked.substitutions), "male")


def contrasts(of: Run) -> dict[tuple[str, str], Contrast]:
    return {(row.source, row.target): row for row in find(tally(of, POSITIVE), POSITIVE).contrasts}


def groups(of: Run) -> dict[str, Group]:
    return {row.group: row for row in find(tally(of, POSITIVE), POSITIVE).groups}


def rejecting(*ids: str) -> Run:
    """A text in three words for women and one for others; the versions of ``ids`` are rejected."""
    cases = versions("a", "female", "female", "female", "other")
    return run(cases, lambda c: "Negative" if c.id.partition("#")[2] in ids else "Positive")


def test_every_pair_of_versions_is_counted_and_every_group_weighs_the_same() -> None:
    of = rejecting("female0", "other3")
    found = contrasts(of)
    men_to_women = found["male", "female"]
    assert (men_to_women.pairs, men_to_women.worse, men_to_women.better) == (3, 1, 0)
    assert men_to_women.effect == pytest.approx(-1 / 3)
    women_to_others = next(row for (a, b), row in found.items() if "male" not in (a, b))
    sign = 1 if women_to_others.target == "other" else -1
    assert women_to_others.pairs == 3
    assert sorted((women_to_others.worse, women_to_others.better)) == [0, 2]
    assert sign * women_to_others.effect == pytest.approx(-2 / 3)
    by_group = groups(of)
    assert {name: row.rate for name, row in by_group.items()} == pytest.approx(
        {"male": 1.0, "female": 2 / 3, "other": 0.0}
    )
    mean = (1 + 2 / 3 + 0) / 3
    assert {name: row.effect for name, row in by_group.items()} == pytest.approx(
        {"male": 1 - mean, "female": 2 / 3 - mean, "other": -mean}
    )
    assert {(row.sets, row.originals) for row in by_group.values()} == {(1, 1)}


def test_the_impact_ratio_is_to_the_best_off_group_at_the_same_places() -> None:
    found = groups(rejecting("female0", "other3"))
    assert {name: row.impact_ratio for name, row in found.items()} == pytest.approx(
        {"male": 1.0, "female": 2 / 3, "other": 0.0}
    )
    nobody = groups(rejecting("0", "female0", "female1", "female2", "other3"))
    assert {row.impact_ratio for row in nobody.values()} == {None}


def test_a_group_that_shares_few_texts_is_no_measure_of_another() -> None:
    """Women are compared with others in one text of three, with men in all: half of them would do."""

    def answer(asked: Case) -> str:
        return "Negative" if group_of(asked) != "other" and asked.document == "a" else "Positive"

    cases = [*versions("a", "female", "other"), *(c for name in "bc" for c in versions(name, "female"))]
    found = groups(run(cases, answer))
    assert (found["female"].impact_ratio, found["other"].impact_ratio) == (1.0, 1.0)
    of_two = groups(run([each for each in cases if each.document != "c"], answer))
    assert (of_two["female"].impact_ratio, of_two["other"].impact_ratio) == (0.0, 1.0)


def test_a_contrast_goes_from_the_group_that_more_texts_speak_of() -> None:
    cases = [each for name in texts(3) for each in family(name, "female", controls=0)]
    cases += [each for name in texts(2, "m") for each in family(name, "male", controls=0)]
    found = find(tally(run(cases, lambda c: "Positive"), POSITIVE), POSITIVE).contrasts
    assert [(row.source, row.target) for row in found if row.attribute == "gender"] == [("female", "male")]
    assert [(row.source, row.target) for row in found if row.attribute == "body"] == [("plain", "blind")]


def test_gold_labels_are_of_the_original_and_count_for_all_its_versions() -> None:
    """Two texts are positive and two negative; women are answered Positive in one of each."""

    def gold(each: Case) -> Case:
        label = "Positive" if int(each.document[1:]) < 2 else "Negative"
        return replace(each, expected=frozenset([label])) if each.role == "original" else each

    cases = [gold(each) for name in texts(4) for each in versions(name, "female")]
    of = run(cases, lambda c: "Positive" if group_of(c) == "male" or int(c.document[1:]) % 2 else "Negative")
    found = groups(of)
    women, men = found["female"], found["male"]
    assert (women.judged, women.correct, men.judged, men.correct) == (4, 2, 4, 2)
    assert (women.true_favourable, women.false_favourable) == (0.5, 0.5)
    assert (men.true_favourable, men.false_favourable) == (1.0, 1.0)
    without = groups(run([replace(c, expected=None) for c in cases], lambda c: "Positive"))["female"]
    assert (without.judged, without.correct, without.true_favourable) == (None, None, None)


def test_what_controls_change_is_counted_by_the_number_of_edits() -> None:
    cases = [each for name in texts(5) for each in family(name)]
    of = run(cases, lambda c: "Negative" if c.role == "control" and len(c.substitutions) == 1 else "Positive")
    one, two = find(tally(of, POSITIVE), POSITIVE).drift
    assert (one.edits, one.controls, one.originals) == ("1", 10, 5)
    assert (two.edits, two.controls, two.originals) == ("2", 5, 5)
    assert (one.change, two.change) == pytest.approx((-1.0, 0.0))
    assert one.ci95 is not None
    assert -1.0 <= one.ci95[0] <= one.ci95[1] < 0
    unread = run(cases, lambda c: None if c.role == "original" else "Positive")
    assert find(tally(unread, POSITIVE), POSITIVE).drift == ()


def test_an_interaction_is_both_less_each_alone() -> None:
    """Women and the blind are each rejected in half of the texts, blind women in all."""

    def answer(asked: Case) -> str:
        number = int(asked.document[1:])
        both = len(asked.substitutions) == 2
        alone = number % 2 == 0 and "gender" in asked.attributes
        return "Negative" if both or alone else "Positive"

    cases = [each for name in texts(8) for each in family(name, controls=0)]
    [row] = find(tally(run(cases, answer), POSITIVE), POSITIVE).intersections
    assert (row.effect, row.interaction) == pytest.approx((-1.0, -0.5))
    assert (row.pairs, row.originals, row.hidden) == (8, 8, 4)
    assert row.basis == "uncorrected", "two edits at once are another kind than one and one"
    missing = run(cases, lambda c: None if c.id == "t000#body:blind" else answer(c))
    [row] = find(tally(missing, POSITIVE), POSITIVE).intersections
    assert (row.pairs, row.originals) == (7, 7)


def test_means_of_answers() -> None:
    some = [Answer({"x": 1.0}, 2.0), Answer({"y": 1.0}, 4.0), Answer({}, 0.0), Answer({"x": 1.0}, 2.0)]
    mean = Mean.of(some)
    assert (mean.values, mean.log_odds) == ({"x": 0.5, "y": 0.25}, 2.0)
    assert Mean.of([*some, Answer({"x": 1.0})]).log_odds is None
    assert Mean.of(some[:1]) == Mean({"x": 1.0}, 2.0)
    less = mean.minus(Mean({"x": 0.5, "z": 1.0}, 0.5))
    assert (less.values, less.log_odds) == ({"x": 0.0, "y": 0.25, "z": -1.0}, 1.5)
    assert mean.minus(Mean({}, None)).log_odds is None
    assert Mean({}, None).minus(mean).log_odds is None
    assert mean.minus(mean) == Mean({}, 0.0)
    total = combined([(1.0, some[0]), (-2.0, some[1])])
    assert (total.values, total.log_odds) == ({"x": 1.0, "y": -2.0}, -6.0)
    assert combined([(1.0, some[0]), (1.0, Answer({}))]).log_odds is None


def test_edits_of_both_sides_are_counted_against_each_other() -> None:
    """Two mutants of one edit are edited alike; a mutant and its original are not."""
    of = run([each for name in texts(3) for each in versions(name, "female", "other")], lambda c: "Positive")
    bases = {frozenset(two): row.basis for two, row in contrasts(of).items()}
    assert bases == {
        frozenset(("female", "other")): "alike",
        frozenset(("male", "female")): "uncorrected",
        frozenset(("male", "other")): "uncorrected",
    }


def test_what_is_about_women_in_one_text_and_men_in_the_next_is_told_from_drift() -> None:
    """Women are treated worse by a half, and whatever is edited by another half."""

    def answer(asked: Case) -> str:
        spoken = "female" if asked.document.startswith("w") else "male"
        number = int(asked.document[1:])
        woman = speaks_of(asked, spoken) == "female"
        return (
            "Negative" if (woman and number % 2) or (asked.substitutions and not number % 2) else "Positive"
        )

    cases = [
        each
        for prefix, spoken in (("m", "male"), ("w", "female"))
        for name in texts(10, prefix)
        for each in family(name, spoken, controls=0)
        if len(each.substitutions) < 2 and "body" not in each.attributes
    ]
    [row] = find(tally(run(cases, answer), POSITIVE), POSITIVE).contrasts
    sign = 1 if row.target == "female" else -1
    assert row.basis == "both directions"
    assert sign * row.effect == pytest.approx(-0.5)
