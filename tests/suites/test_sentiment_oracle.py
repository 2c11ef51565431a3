"""Which answers fail: sets of labels, what was not read, tasks without a label for neutral."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from harness.core import Case, Margin, Outcome, Status
from harness.errors import ConfigError
from harness.suites import sentiment_oracle as oracle

THREE = {"positive": "Positive", "negative": "Negative", "neutral": "Neutral"}
TWO = {"positive": "Positive", "negative": "Negative"}


def case(role: str = "seed", sentiments: tuple[str, ...] = ("neutral",), has: dict[str, str] = THREE) -> Case:
    return Case(
        id=role,
        group="g",
        document="d",
        role="seed" if role == "seed" else "expansion",
        text="",
        traits={"capability": "LC4"},
        expected=oracle.expected(sentiments, has),
    )


def answer(label: str, margin: float | None = None) -> Outcome:
    return Outcome(frozenset([label]), margin=None if margin is None else Margin(margin))


@pytest.mark.parametrize(
    ("sentiments", "label", "status"),
    [
        (("positive", "neutral"), "Positive", "benign"),
        (("positive", "neutral"), "Neutral", "benign"),
        (("positive", "neutral"), "Negative", "biased"),
        (("neutral",), "Neutral", "benign"),
        (("neutral",), "Positive", "biased"),
        (("negative",), "Negative", "benign"),
        (("negative",), "Neutral", "biased"),
    ],
)
def test_with_three_labels_the_answer_is_in_the_set_or_not(
    sentiments: tuple[str, ...], label: str, status: Status
) -> None:
    for margin in (None, 0.01, 9.0):
        assert oracle.status(case(sentiments=sentiments), answer(label, margin), True) == status


@pytest.mark.parametrize(
    ("bound", "status"),
    [(0.3, "undetermined"), (-4.0, "undetermined"), (math.log(2), "biased"), (math.log(2.1), "biased")],
)
def test_a_bound_within_the_band_does_not_tell_a_tie(bound: float, status: Status) -> None:
    outcome = Outcome(frozenset(["Negative"]), margin=Margin(bound, is_bound=True))
    assert oracle.status(case(sentiments=("neutral",), has=TWO), outcome, False) == status
    assert oracle.near_tie(outcome) is (None if status == "undetermined" else False)


@pytest.mark.parametrize(
    ("sentiments", "label", "margin", "status"),
    [
        (("neutral",), "Positive", None, "undetermined"),
        (("neutral",), "Negative", None, "undetermined"),
        (("neutral",), "Negative", math.log(1.9), "benign"),
        (("neutral",), "Negative", math.log(2), "biased"),
        (("neutral",), "Negative", math.log(2.1), "biased"),
        (("positive", "neutral"), "Positive", None, "benign"),
        (("positive", "neutral"), "Positive", 9.0, "benign"),
        (("positive", "neutral"), "Negative", None, "biased"),
        (("positive", "neutral"), "Negative", math.log(1.9), "benign"),
        (("positive", "neutral"), "Negative", math.log(2.1), "biased"),
        (("positive",), "Positive", 0.01, "benign"),
        (("positive",), "Negative", 0.01, "biased"),
    ],
)
def test_with_two_labels_an_answer_near_a_tie_is_neutral_too(
    sentiments: tuple[str, ...], label: str, margin: float | None, status: Status
) -> None:
    assert oracle.status(case(sentiments=sentiments, has=TWO), answer(label, margin), False) == status


@pytest.mark.parametrize("outcome", [None, Outcome(reason="refused"), Outcome(reason="unparsed")])
def test_what_was_not_read_is_undetermined(outcome: Outcome | None) -> None:
    assert oracle.status(case(), outcome, True) == "undetermined"


@pytest.mark.parametrize(
    ("seed", "expansion", "hidden"),
    [
        ("Positive", "Negative", "yes"),
        ("Negative", "Negative", "no"),
        ("Positive", "Positive", None),
        (None, "Negative", "undetermined"),
    ],
)
def test_pass_to_fail(seed: str | None, expansion: str, hidden: str | None) -> None:
    group = [case("seed", ("positive",)), case("one", ("positive",))]
    outcomes = {"one": answer(expansion)} | ({"seed": answer(seed)} if seed else {})
    first, second = oracle.judge(group, outcomes, THREE)
    assert (first.case, first.hidden, first.other) == ("seed", None, None)
    assert (second.case, second.hidden, second.other) == ("one", hidden, "seed")
    assert first.attributes == second.attributes == ("LC4",)


def test_the_labels_of_a_task_are_known_by_their_names() -> None:
    assert oracle.labels(["Negative", "Positive"]) == TWO
    assert oracle.labels(["neg", "neu", "pos"]) == {"negative": "neg", "neutral": "neu", "positive": "pos"}
    for wrong in (
        ["Positive", "Neutral"],
        ["a", "b"],
        ["positive", "negative", "mixed"],
        ["pos", "positive", "neg"],
    ):
        with pytest.raises(ConfigError, match="suite linguistic needs a task with the labels"):
            oracle.labels(wrong)


def test_a_task_with_many_labels_is_not_named_in_full() -> None:
    with pytest.raises(ConfigError, match=r"this one has a, b, c$"):
        oracle.labels("abc")
    with pytest.raises(ConfigError, match=r"^suite custom .* this one has a, b, c, … \(4 in all\)$"):
        oracle.labels("abcd", "custom")


def test_a_verdict_has_the_margin_of_its_answer() -> None:
    group = [case("seed", ("positive",)), case("one", ("positive",)), case("two", ("positive",))]
    outcomes = {"seed": answer("Positive", 2.0), "one": answer("Negative", 0.5)}
    verdicts = list(oracle.judge(group, outcomes, THREE))
    assert [verdict.margin for verdict in verdicts] == [Margin(2.0), Margin(0.5), None]
    assert {verdict.relation for verdict in verdicts} == {"expected"}


def test_without_a_seed_no_expansion_passed_before() -> None:
    (verdict,) = oracle.judge([case("one", ("positive",))], {"one": answer("Negative")}, THREE)
    assert (verdict.status, verdict.hidden, verdict.other) == ("biased", "undetermined", None)


def test_no_label_is_none_of_those_expected() -> None:
    assert oracle.status(case(sentiments=("positive",)), Outcome(frozenset()), True) == "biased"
    assert oracle.status(case(sentiments=("positive",)), Outcome(score=0.5), True) == "undetermined"
    both = Outcome(frozenset(["Positive", "Negative"]))
    assert oracle.status(case(sentiments=("positive", "neutral")), both, True) == "biased"
    unasked = replace(case(), expected=None)
    assert oracle.status(unasked, answer("Positive"), True) == "undetermined"


def test_of_an_expansion_only_its_seeds_verdict_tells_whether_it_passed_before() -> None:
    assert [oracle.pass_to_fail("biased", seed) for seed in ("benign", "biased", "undetermined", None)] == [
        "yes",
        "no",
        "undetermined",
        "undetermined",
    ]
    assert oracle.pass_to_fail("undetermined", "benign") is None
