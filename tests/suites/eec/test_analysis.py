"""The paper's analysis against figures worked by hand, scipy on the same arrays, and planted biases."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_rel

from harness.suites.eec.analysis import assess, differences, directions
from harness.suites.eec.assessments import Pairings, examine
from harness.suites.eec.corpus import Comparison, Sentence
from harness.suites.eec.labels import assess_labels, indicator
from harness.suites.eec.pairing import Member, Pair
from harness.suites.eec.tables import Submission, bias_table, box_plot

GENDER = Comparison("gender", "female", "male")
RACE = Comparison("race", "African-American", "European")


def one_to_one(deltas: list[float]) -> tuple[tuple[Pair, ...], dict[str, float]]:
    """Counterparts whose scores differ by ``deltas``, each pair of another template."""
    made = tuple(
        Pair(f"t{i}", None, None, "she/he", (Member(f"{i}f", "she"),), (Member(f"{i}m", "he"),))
        for i in range(len(deltas))
    )
    scores = {f"{i}m": 0.5 for i in range(len(deltas))}
    return made, scores | {f"{i}f": 0.5 + delta for i, delta in enumerate(deltas)}


def noise(corpus: list[Sentence], seed: int, size: float = 0.03) -> dict[str, float]:
    drawn = np.random.default_rng(seed).normal(0.5, size, len(corpus))
    return dict(zip((s.id for s in corpus), drawn.tolist(), strict=True))


def test_figures_worked_by_hand() -> None:
    made, scores = one_to_one([0.1, 0.3, -0.2, 0.0])
    found = assess(GENDER, made, scores)
    assert found is not None
    assert (found.pairs, found.incomplete, found.partial, found.rose, found.fell) == (4, 0, 0, 2, 1)
    assert (found.mean, found.up, found.down) == pytest.approx((0.05, 0.2, -0.2))
    assert (found.minimum, found.maximum, found.spread) == pytest.approx((-0.2, 0.3, 0.5))
    box = found.box
    assert (box.first_quartile, box.median, box.third_quartile) == pytest.approx((-0.05, 0.05, 0.15))
    assert (box.low_whisker, box.high_whisker, box.outliers) == (-0.2, 0.3, ())


def test_whiskers_end_at_the_last_difference_within_their_reach() -> None:
    made, scores = one_to_one([*[0.01 * i for i in range(10)], 0.17, -0.3])
    found = assess(GENDER, made, scores)
    assert found is not None
    assert (found.box.low_whisker, found.box.high_whisker) == (0.0, 0.09)
    assert found.box.outliers == (-0.3, 0.17)


def test_t_and_p_are_scipys_on_the_same_arrays(corpus: list[Sentence], eec_pairs: Pairings) -> None:
    scores = noise(corpus, 3)
    for comparison, made in eec_pairs.items():
        first = [np.mean([scores[m.id] for m in p.first]) for p in made]
        second = [np.mean([scores[m.id] for m in p.second]) for p in made]
        found = assess(comparison, made, scores)
        expected = ttest_rel(first, second)
        assert found is not None
        assert found.test is not None
        assert found.test.statistic == pytest.approx(expected.statistic, rel=1e-8)
        assert found.test.p == pytest.approx(expected.pvalue, rel=1e-8)
        assert found.test.df == len(made) - 1


def test_equal_scores_are_no_difference(corpus: list[Sentence], eec_pairs: Pairings) -> None:
    # 0.1 is not exact in binary: means of twenty of them differ from it in the last bits.
    for comparison, made in eec_pairs.items():
        found = assess(comparison, made, {s.id: 0.1 for s in corpus})
        assert found is not None
        assert found.test is not None
        assert (found.rose, found.fell, found.up, found.down, found.spread) == (0, 0, None, None, 0)
        assert found.test.p == 1
        assert directions([found]) == ("none",)


def test_missing_scores_are_counted(corpus: list[Sentence], eec_pairs: Pairings) -> None:
    scores = noise(corpus, 1)
    for sentence in corpus:
        if sentence.traits["person"] in ("my mom", "Ebony"):
            del scores[sentence.id]
    gender = assess(GENDER, eec_pairs[GENDER], scores)
    assert gender is not None
    assert (gender.pairs, gender.incomplete, gender.partial) == (1440, 144, 144)
    race = assess(RACE, eec_pairs[RACE], scores)
    assert race is not None
    assert (race.pairs, race.incomplete, race.partial) == (144, 0, 144)
    assert assess(RACE, eec_pairs[RACE], {}) is None
    assert examine(eec_pairs, {}) == ()


def test_a_bias_planted_in_one_template_is_found_there(corpus: list[Sentence], eec_pairs: Pairings) -> None:
    scores = noise(corpus, 5, 0.005)
    for s in corpus:
        if s.traits["gender"] == "female" and s.traits["template"] == "found":
            scores[s.id] += 0.03
    results = {(r.comparison, r.subset): r for r in examine(eec_pairs, scores, "joy", family=438)}
    gender = results[GENDER, "all"]
    assert gender.direction == "first"
    assert gender.assessment.mean == pytest.approx(0.03 * 220 / 1584, abs=0.001)
    *rest, worst = gender.robustness.templates
    assert worst.template == "found"
    assert worst.mean == pytest.approx(0.03, abs=0.002)
    assert all(abs(t.mean) < 0.006 for t in rest)
    assert results[GENDER, "neutral"].direction == "none"
    assert results[RACE, "all"].direction == "none"
    # One template of eleven says little about templates in general.
    assert gender.robustness.clustered is not None
    assert gender.robustness.clustered.p > 0.05
    assert len(results) == 8


def test_bonferroni_is_over_all_assessments_made() -> None:
    made, scores = one_to_one([0.01, 0.02, 0.03, 0.015, 0.022, 0.018, 0.011])
    found = assess(GENDER, made, scores)
    assert found is not None
    assert found.test is not None
    limit = 0.05 / found.test.p
    assert directions([found]) == directions([found], int(limit)) == ("first",)
    assert directions([found], int(limit) + 1) == ("none",)
    made, scores = one_to_one([-0.01, -0.02, -0.03, -0.015])
    fell = assess(GENDER, made, scores)
    assert fell is not None
    assert directions([found, fell], method="holm") == ("first", "second")


def test_tables_and_box_plots_of_many_systems() -> None:
    assessed = []
    for deltas in ([0.1, 0.3], [0.2, 0.2], [-0.1, -0.1], [0.1, -0.1], [0.0, 0.0]):
        found = assess(GENDER, *one_to_one(deltas))
        assert found is not None
        assessed.append(found)
    tasks, ranks = ("joy", "joy", "joy", "joy", "anger"), (2, None, 1, 3, 1)
    groups = directions(assessed, alpha=0.01)
    assert list(groups) == ["none", "first", "second", "none", "none"]
    submissions = [
        Submission(f"s{i}", task, found, group, rank)
        for i, (task, found, group, rank) in enumerate(zip(tasks, assessed, groups, ranks, strict=True))
    ]
    rows = bias_table(submissions)
    assert [(r.task, r.group, r.submissions) for r in rows] == [
        *(("joy", g, n) for g, n in (("none", 2), ("first", 1), ("second", 1), ("all", 4))),
        *(("anger", g, n) for g, n in (("none", 1), ("first", 0), ("second", 0), ("all", 1))),
    ]
    none, first, second, every = rows[:4]
    assert (none.up, none.down) == pytest.approx(((0.2 + 0.1) / 2, -0.1))
    assert (first.up, every.up) == pytest.approx((0.2, (0.2 + 0.2 + 0.1) / 3))
    assert (first.down, second.up) == (None, None)
    assert [(b.system, b.direction) for b in box_plot(submissions, "joy")] == [
        ("s2", "second"),
        ("s0", "none"),
        ("s3", "none"),
        ("s1", "first"),
    ]


def test_labels_are_compared_by_mcnemar_and_sign_test(corpus: list[Sentence], eec_pairs: Pairings) -> None:
    odd = {"my mom": "Positive", "my uncle": "Positive", "Ebony": "Positive"}
    labels = {s.id: frozenset({odd.get(s.traits["person"], "Negative")}) for s in corpus}
    found = assess_labels(GENDER, eec_pairs[GENDER], labels, "Positive")
    assert found is not None
    assert (found.only_first, found.only_second, found.agree) == (144, 144, 1152)
    assert found.p_mcnemar == 1
    assert (found.rose, found.fell) == (288, 144)
    assert found.p_sign < 1e-10
    assert found.mean == pytest.approx(144 * (1 - 1 + 1 / 20) / 1584)
    race = assess_labels(RACE, eec_pairs[RACE], labels, "Positive")
    assert race is not None
    assert (race.p_mcnemar, race.rose, race.fell) == (None, 144, 0)
    assert assess_labels(RACE, eec_pairs[RACE], {}, "Positive") is None
    asked = indicator({"1": frozenset({"Positive", "Joy"}), "2": frozenset()}, "Joy")
    assert asked == {"1": 1.0, "2": 0.0}


def test_differences_are_first_less_second() -> None:
    made, scores = one_to_one([0.25])
    (found,) = differences(made, scores)
    assert (found.first, found.second, found.delta) == (0.75, 0.5, 0.25)
    alone = assess(GENDER, made, scores)
    assert alone is not None
    assert alone.test is None
    assert directions([alone]) == ("none",)
