"""In words: which run is biased on more of the same tests, and whether control mutants tell it apart."""

from __future__ import annotations

from harness.findings.frequency import Frequency
from harness.report import frequencies
from harness.sections import Worded

WORSE = Frequency(
    first="a",
    second="b",
    texts=80,
    tests=200,
    biased_first=4,
    biased_second=20,
    difference=0.08,
    ci95=(0.03, 0.13),
    p=0.001,
    p_holm=0.002,
    controls=60,
    beyond=0.06,
    beyond_ci95=(0.01, 0.11),
    beyond_p=0.01,
    beyond_p_holm=0.02,
)
CHANCE = WORSE.model_copy(update={"second": "c", "difference": -0.01, "ci95": (-0.04, 0.02), "p_holm": 0.6})


def said(*rows: Frequency) -> str:
    return " ".join(frequencies.headline(rows))


def test_the_worse_run_is_named_with_both_rates_and_the_interval_of_the_difference() -> None:
    assert said(WORSE) == (
        "b is biased on 10.0 % of the 200 tests of both, a on 2.0 %: 8.0 points (95 % interval 3.0 to"
        " 13.0 points) more (corrected p = 0.002, 80 texts). Less what control mutants change, b is biased on"
        " 6.0 points (95 % interval 1.0 to 11.0 points) more than a (corrected p = 0.020)."
    )


def test_what_is_not_shown_is_said_with_its_interval() -> None:
    assert said(CHANCE) == (
        "Which of a and c is biased on more of the 200 tests of both is not shown: c minus a is -1.0 points"
        " (95 % interval -4.0 to +2.0 points)."
    )
    brittle = WORSE.model_copy(update={"beyond_p_holm": 0.3, "beyond": 0.01, "beyond_ci95": (-0.03, 0.05)})
    assert said(brittle).endswith(
        "That this goes beyond what control mutants change is not shown: b minus a is +1.0 points (95 %"
        " interval -3.0 to +5.0 points)."
    )
    alone = WORSE.model_copy(update={"beyond": None, "beyond_p_holm": None, "controls": 0})
    assert said(alone).endswith("Without control mutants, this is not told from what any edit would change.")


def test_less_its_controls_the_other_run_may_be_the_worse_one() -> None:
    turned = WORSE.model_copy(update={"beyond": -0.05, "beyond_ci95": (-0.09, -0.01)})
    assert "Less what control mutants change, a is biased on 5.0 points" in said(turned)


def test_of_many_pairs_the_widest_is_told() -> None:
    wide = WORSE.model_copy(update={"first": "c", "difference": -0.2, "ci95": (-0.3, -0.1)})
    assert said(WORSE, CHANCE, wide).startswith(
        "2 of 3 pairs of runs differ in how many of the same tests they are biased on, most: c is biased on"
    )
    assert said(WORSE, CHANCE).startswith("1 of 2 pairs of runs differs in")
    assert said(CHANCE, CHANCE) == (
        "No two of these runs are shown to be biased on different numbers of the same tests: at most, c minus"
        " a is -1.0 points (95 % interval -4.0 to +2.0 points)."
    )


def test_the_table_has_both_counts_and_an_interval_for_each_difference() -> None:
    [section] = frequencies.sections([WORSE])
    assert section.table is not None
    [row] = section.table.rows
    assert row[:3] == ["b − a", 200, "20 − 4"]
    assert row[3] == Worded("+8.0 (+3.0 to +13.0)", "+8.0\n+3.0 to +13.0")
    assert row[4:] == ["0.002", Worded("+6.0 (+1.0 to +11.0)", "+6.0\n+1.0 to +11.0"), "0.020"]
    assert frequencies.sections([]) == []
    assert said() == ""
