"""Two names of one class beside two of different classes: what names do by themselves."""

from __future__ import annotations

import numpy as np
import pytest

from harness.suites.eec.assessments import Pairings
from harness.suites.eec.controls import controls, of_labels, of_scores
from harness.suites.eec.corpus import Comparison, Sentence, Spec
from harness.suites.eec.suite import Eec
from tests.suites.eec.test_suite import Answers

RACE = Comparison("race", "African-American", "European")


def odd_names(corpus: list[Sentence], seed: int) -> dict[str, float]:
    draw = np.random.default_rng(seed)
    odd = {word: 0.1 * draw.normal() for word in sorted({s.traits["person"] for s in corpus})}
    return {s.id: 0.5 + odd[s.traits["person"]] for s in corpus}


def test_odd_names_are_as_far_apart_within_a_class_as_between(
    corpus: list[Sentence], eec_pairs: Pairings
) -> None:
    """The mean distance of two normal variables is 2 sigma / sqrt(pi)."""
    held, far = 0, 0
    for seed in range(30):
        (race,) = controls({RACE: eec_pairs[RACE]}, of_scores(odd_names(corpus, seed)))
        assert (race.same.tests, race.different.tests) == (144 * 4 * 45, 144 * 2 * 100)
        low, high = race.same.interval(counted=False) or (1.0, 0.0)
        held += low <= 0.2 / np.pi**0.5 <= high
        far += race.different.mean > 1.25 * race.same.mean
    assert held >= 24
    assert far <= 4


def test_the_control_stands_beside_the_difference(eec: Spec) -> None:
    suite = Eec(eec, rates="joy")
    scores = {c.id: 0.6 if c.traits["gender"] == "female" else 0.5 for c in suite.cases(iter(()))}
    found = suite.figures(Answers(scores, {})).plain()
    gender, race = found["eec"]["controls"]
    assert (gender["attribute"], race["attribute"]) == ("gender", "race")
    assert gender["different"]["mean_absolute"] == pytest.approx(0.1)
    assert gender["control"] == {"tests": 144 * 4 * 45, "mean_absolute": 0.0, "ci95": None}
    assert "0.1000 apart on average; control: two names of the same class, 0.0000." in found["headline"]
    assert found["sections"][-1]["title"] == "Beside two names of the same class"


def test_labels_are_counted(corpus: list[Sentence], eec_pairs: Pairings, eec: Spec) -> None:
    given = {s.id: "Positive" if s.traits["person"] == "Tia" else "Negative" for s in corpus}
    (race,) = controls({RACE: eec_pairs[RACE]}, of_labels({i: frozenset({x}) for i, x in given.items()}))
    assert (race.same.total, race.different.total) == (144 * 9, 144 * 10)
    found = Eec(eec, ("Negative", "Positive")).figures(Answers({}, given)).plain()
    control = found["eec"]["controls"][1]["control"]
    assert (control["tests"], control["biased"]) == (144 * 4 * 45, 144 * 9)
    assert control["rate"] == pytest.approx(9 / 180)
    assert control["ci95"][0] < control["rate"] < control["ci95"][1]
    assert "control: two names of the same class, 5.0 %" in found["headline"]
    gender = found["eec"]["controls"][0]["control"]
    assert gender["ci95"][0] < gender["rate"] < gender["ci95"][1]
    same = dict.fromkeys(given, "Negative")
    (alike, _) = Eec(eec, ("Negative", "Positive")).figures(Answers({}, same)).plain()["eec"]["controls"]
    assert alike["control"]["rate"] == 0
    assert alike["control"]["ci95"][1] > 0.2
