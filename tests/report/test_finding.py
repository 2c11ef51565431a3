"""The headline: each kind of finding from typed figures, in the same few words everywhere."""

from __future__ import annotations

import pytest

from harness.findings.records import Caution, Contrast
from harness.report.finding import find
from harness.report.summary import ResultRow, Summary
from tests.report.builders import row, summary_of

MATCHED = {"controls": 30, "control_rate": 0.1, "controlled": 40, "controlled_rate": 0.1}
RACE = row("race", tests=40, biased=4, benign=36, rate=0.1, **MATCHED)
CONTROL = {"tests": 60, "biased": 6, "rate": 0.1, "ci95": (0.05, 0.2), "originals": 40}


def contrast(low: str, high: str, p: float = 0.001, attribute: str = "race") -> Contrast:
    return Contrast.model_validate(
        {
            "attribute": attribute,
            "from": high,
            "to": low,
            "outcome": "Positive",
            "pairs": 50,
            "originals": 25,
            "worse": 10,
            "better": 1,
            "effect": -0.2,
            "ci95": (-0.3, -0.1),
            "p": p,
            "p_holm": p,
            "basis": "controls",
            "detectable": 0.15,
        }
    )


def told(
    *contrasts: Contrast,
    favourable: tuple[str, ...] = ("Positive",),
    results: ResultRow = RACE,
    **figures: object,
) -> Summary:
    return summary_of(results, contrasts=contrasts, favourable=favourable, control=CONTROL, **figures)


def text_of(summary: Summary) -> str:
    found = find(summary)
    assert found is not None
    return f"{found.code}: {found.text}"


def test_who_is_treated_worse_by_how_much_on_how_many_texts_and_how_sure() -> None:
    assert text_of(told(contrast("female", "male", attribute="gender"))).startswith(
        "treated-differently: m treats female worse than male (gender): Positive is 20.0 points (95 %"
        " interval 10.0 to 30.0 points) rarer (10 pairs of 50 against female, 1 against male, in 25 texts;"
        " corrected p"
    )


def test_contrasts_that_share_a_group_are_told_together() -> None:
    lows = text_of(told(*(contrast("old", other) for other in ("young", "plain", "tall"))))
    assert "treats old worse than young" in lows
    assert "It also treats old worse than plain and tall." in lows
    highs = text_of(told(*(contrast(other, "european") for other in ("asian", "african"))))
    assert "It also treats african worse than european." in highs
    many = text_of(told(*(contrast("old", f"g{n}") for n in range(9))))
    assert "It also treats old worse than g1, g2, g3, g4 and 4 other groups." in many


def test_each_attribute_has_its_say() -> None:
    of_race = [contrast(f"a{n}", f"b{n}", p=0.001) for n in range(4)]
    said = text_of(told(*of_race, contrast("female", "male", p=0.04, attribute="gender")))
    assert "treats female worse than male" in said
    assert "2 other contrasts between groups are as sure." in said


def test_where_nothing_is_better_nobody_is_treated_worse() -> None:
    said = text_of(told(contrast("old", "young"), contrast("old", "plain"), favourable=()))
    assert "answers Positive 20.0 points" in said
    assert "more rarely about old than about young" in said
    assert "It also answers Positive more rarely about old than about plain." in said
    assert "worse" not in said


def test_a_meeting_is_told_with_its_groups() -> None:
    met = {
        "groups": {"body": "any", "gender": "female"},
        "outcome": "Positive",
        "pairs": 30,
        "originals": 20,
        "effect": -0.3,
        "effect_ci95": None,
        "interaction": -0.25,
        "ci95": (-0.4, -0.1),
        "p": 0.001,
        "p_holm": 0.004,
        "basis": "controls",
    }
    said = text_of(told(contrast("female", "male", p=1.0), intersections=(met,)))
    assert said.startswith(
        "meeting: Where any body and female meet on one person, Positive is a further 25.0"
    )


@pytest.mark.parametrize(
    ("figures", "code", "words"),
    [
        (
            {"excess_over_control": 0.1, "excess_over_control_p_holm": 0.01},
            "excess",
            "than where other words do",
        ),
        ({}, "brittle", "cannot be told from brittleness"),
        ({"biased": 0, "rate": 0.0}, "nothing-found", "changed no answer"),
        ({"control_rate": None, "controls": None}, "undecided", "without control mutants"),
    ],
)
def test_without_a_group_that_stands_out(figures: dict[str, object], code: str, words: str) -> None:
    said = text_of(told(contrast("old", "young", p=1.0), results=RACE.model_copy(update=figures)))
    assert said.startswith(f"{code}: ")
    assert words in said
    assert "With a probability of 80 %, a difference of 15.0 points between young and old" in said


@pytest.mark.parametrize(
    ("caution", "words"),
    [("constant-answers", "the same answer to every text"), ("few-controls", "too few to tell")],
)
def test_what_cannot_be_decided_says_why(caution: str, words: str) -> None:
    cautions = (Caution(code=caution, text="."),)
    said = text_of(told(contrast("old", "young", p=1.0), cautions=cautions))
    assert said.startswith("undecided: ")
    assert words in said


def test_what_nothing_tells_from_editing_is_no_finding() -> None:
    claim = contrast("old", "young").model_copy(update={"basis": "uncorrected"})
    assert text_of(told(claim)).startswith("brittle: ")
