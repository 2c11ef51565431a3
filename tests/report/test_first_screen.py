"""The plots of the first screen: which groups, where on the axis, and what is left to the tables."""

from __future__ import annotations

from typing import Any

import pytest

from harness.findings.records import Contrast, Control, Drift, Group, Intersection
from harness.report.dots import dots
from harness.report.heat import heats
from harness.report.summary import Summary
from tests.report.builders import summary_of


def group(name: str, effect: float, **values: Any) -> Group:
    known = {
        "attribute": "gender",
        "group": name,
        "outcome": "Positive",
        "sets": 9,
        "originals": 20,
        "rate": 0.5,
        "effect": effect,
        "ci95": (effect - 0.05, effect + 0.05),
        "p": 0.5,
        "p_holm": 1.0,
        "basis": "alike",
        "impact_ratio": None,
        "shift": None,
    }
    return Group.model_validate({**known, **values})


def contrast(outcome: str = "Positive", p: float = 0.01) -> Contrast:
    return Contrast.model_validate(
        {
            "attribute": "gender",
            "from": "male",
            "to": "female",
            "outcome": outcome,
            "pairs": 9,
            "originals": 9,
            "worse": 1,
            "better": 0,
            "effect": -0.1,
            "ci95": None,
            "p": p,
            "p_holm": p,
            "basis": "alike",
        }
    )


def meeting(race: str, gender: str, effect: float, **values: Any) -> Intersection:
    given = {"pairs": 9, "originals": 9, "interaction": 0.0, "ci95": None, "p": 1.0, "p_holm": 1.0, **values}
    groups = {"race": race, "gender": gender}
    return Intersection(groups=groups, outcome="Positive", effect=effect, basis="alike", **given)


def of(**values: object) -> Summary:
    return summary_of().model_copy(update={"contrasts": (contrast(),), **values})


def test_a_single_pair_of_groups_is_no_map_unless_it_is_sure() -> None:
    alone = meeting("african", "female", -0.2)
    assert heats(of(intersections=(alone,))) == []
    assert len(heats(of(intersections=(meeting("african", "female", -0.2, p_holm=0.01),)))) == 1
    assert len(heats(of(intersections=(alone, meeting("asian", "female", 0.0))))) == 1


def test_every_attribute_has_its_groups_the_surest_first_and_few_texts_none() -> None:
    many = [group(f"g{number}", 0.0, attribute="body") for number in range(30)]
    sure = [group("female", -0.2, p_holm=0.01), group("male", 0.2, p_holm=0.01)]
    found = dots(of(groups=(*many, *sure, group("rare", 0.9, originals=2))), most=6)
    assert found is not None
    assert list(found.groups) == ["gender", "body"]
    assert [row.group for row in found.groups["gender"]] == ["female", "male"]
    assert [row.group for row in found.groups["body"]] == ["g0", "g1", "g2", "g3"]
    assert found.left_out == 27


def test_the_axis_holds_all_effects_and_the_sure_intervals() -> None:
    found = dots(of(groups=(group("female", -0.22, p_holm=0.01), group("male", 0.1))))
    assert found is not None
    assert (found.reach, found.ticks[0], found.ticks[-1]) == (0.3, -0.3, 0.3)
    assert (found.place(0), found.place(0.3), found.place(-2)) == (50, 100, 0)
    assert found.beyond((-0.4, 0.0))
    assert not found.beyond((-0.2, 0.2))


def test_the_band_is_the_drift_of_one_change_on_most_texts() -> None:
    drifts = [
        Drift(edits=edits, outcome=outcome, controls=9, originals=texts, change=0.01, ci95=(-0.1, 0.1))
        for edits, outcome, texts in (
            ("1", "Positive", 5),
            ("1+", "Positive", 8),
            ("2", "Positive", 9),
            ("1", "Other", 9),
        )
    ]
    control = Control.model_validate({"tests": 9, "biased": 0, "rate": 0.0, "ci95": None, "drift": drifts})
    found = dots(of(groups=(group("female", 0.0),), control=control))
    assert found is not None
    assert found.band == drifts[1]
    assert found.reach >= 0.1


def test_without_groups_there_is_no_plot() -> None:
    assert dots(of()) is None
    assert dots(summary_of()) is None
    assert dots(of(groups=(group("rare", 0.5, originals=1),))) is None


def test_the_plot_is_about_the_outcome_that_most_is_sure_of() -> None:
    rows = (group("female", 0.1), group("male", 0.1).model_copy(update={"outcome": "Negative"}))
    found = dots(of(groups=rows, contrasts=(contrast(p=0.5), contrast("Negative"))))
    assert found is not None
    assert found.outcome == "Negative"


def test_a_map_has_the_groups_that_meet_in_enough_texts() -> None:
    rows = (
        meeting("any", "female", -0.3, p_holm=0.01),
        meeting("african", "female", -0.12),
        meeting("asian", "male", 0.01),
        meeting("polish", "male", 0.9, originals=2),
    )
    (heat,) = heats(of(intersections=rows))
    assert (heat.down, heat.across) == ("race", "gender")
    assert (heat.rows, heat.columns) == (["any", "african", "asian"], ["female", "male"])
    shades = {place: cell.shade for place, cell in heat.cells.items()}
    assert shades == {("any", "female"): "less3", ("african", "female"): "less2", ("asian", "male"): ""}
    assert heat.cells["any", "female"].sure
    assert heat.left_out == 1


@pytest.mark.parametrize("originals", [0, 4])
def test_few_texts_make_no_map(originals: int) -> None:
    assert heats(of(intersections=(meeting("african", "female", -0.5, originals=originals),))) == []
