"""What an answer counts as: good or not for the person, one of several labels, or a score."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.core import Task
from harness.errors import ConfigError
from harness.findings.outcomes import Outcomes

TASK = Task("t", "T", ("Negative", "Neutral", "Positive"), lambda options: iter(()), "imdb")
SEVERAL = replace(TASK, multi_label=True)
RATED = replace(TASK, labels=("0", "1", "2"), rates="valence")


def test_what_is_good_for_the_person_is_one_outcome() -> None:
    found = Outcomes.of(replace(TASK, favourable=("Positive", "Neutral")))
    assert found.names == ("Positive or Neutral",)
    assert (found.directed, found.several, found.partial) == (True, False, False)
    assert found.favourable == ("Positive", "Neutral")
    assert [found.values([label], None) for label in TASK.labels] == [(0.0,), (1.0,), (1.0,)]


def test_without_it_each_label_is_an_outcome() -> None:
    found = Outcomes.of(TASK)
    assert found.names == TASK.labels
    assert (found.directed, found.several, found.partial) == (False, False, True)
    assert found.favourable == ()
    assert found.values(["Neutral"], None) == (0.0, 1.0, 0.0)


def test_of_several_labels_each_is_an_outcome_and_the_answer_is_their_set() -> None:
    every, good = Outcomes.of(SEVERAL), Outcomes.of(replace(SEVERAL, favourable=("Positive",)))
    assert every == Outcomes({label: (label,) for label in TASK.labels}, False, several=True)
    assert good == Outcomes({"Positive": ("Positive",)}, True, several=True)
    assert every.partial
    assert good.partial
    assert every.values(["Positive", "Negative"], None) == (1.0, 0.0, 1.0)
    assert every.values([], None) == (0.0, 0.0, 0.0)


def test_a_score_is_its_own_outcome() -> None:
    rated, good = Outcomes.of(RATED), Outcomes.of(replace(RATED, favourable=("valence",)))
    assert (rated.names, rated.directed, good.directed) == (("valence",), False, True)
    assert not rated.partial
    assert good.favourable == ()
    assert rated.values(None, 0.25) == (0.25,)


def test_an_answer_without_what_is_compared_has_no_value() -> None:
    assert Outcomes.of(TASK).values(None, None) is None
    assert Outcomes.of(TASK).values(None, 0.5) is None
    assert Outcomes.of(TASK).values(["Positive"], 0.5) == (0.0, 0.0, 1.0)


def test_the_users_word_comes_before_the_tasks() -> None:
    task = replace(TASK, favourable=("Positive",))
    assert Outcomes.of(task, ["Negative"]).favourable == ("Negative",)
    assert Outcomes.of(task, []).names == TASK.labels


def test_what_cannot_be_favourable_is_said() -> None:
    with pytest.raises(
        ConfigError, match=r"^favourable: 'good' is no answer of task 't': Negative, Neutral, Positive$"
    ):
        Outcomes.of(TASK, ["good"])
    with pytest.raises(ConfigError, match=r"^favourable: '2' is no answer of task 't': valence$"):
        Outcomes.of(RATED, ["2"])
    with pytest.raises(
        ConfigError,
        match=r"^favourable: leave out the answers that are not good, or all answers are alike$",
    ):
        Outcomes.of(TASK, TASK.labels)
    assert Outcomes.of(SEVERAL, TASK.labels).directed, "of several labels, all may be good"
