"""Runs side by side: McNemar's join against counts by hand, and suites of different kinds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
import pytest
from scipy.stats import binomtest

from harness.columns import schema
from harness.report import case_by_case, comparison, comparison_page, pairing, terminal
from harness.report.pairing import Run
from harness.sections import Worded
from tests.report.builders import ZERO_ANSWERS, row, summary_of

G, M = "gender", "mood"
Row = tuple[str, str, str, str]  # case, attributes, status, document


def run_of(rows: Sequence[Row], name: str = "a", suite: str = "hinter", relation: str = "star") -> Run:
    verdicts = pl.DataFrame(
        [
            {
                "case": case,
                "relation": relation,
                "status": status,
                "attributes": attributes.split("+"),
                "document": document,
            }
            for case, attributes, status, document in rows
        ],
        schema=schema("verdicts"),
    )
    answers = {**ZERO_ANSWERS, "read": len(rows)}
    return Run(name, summary_of(suite=suite, model=f"model {name}", answers=answers), verdicts.lazy())


def planted(numbers: dict[tuple[bool, bool], int], documents: int) -> tuple[list[Row], list[Row]]:
    """Verdicts of two runs on the same cases, by (first biased, second biased)."""
    first: list[Row] = []
    second: list[Row] = []
    for (one, other), count in numbers.items():
        for _ in range(count):
            place = str(len(first))
            document = str(len(first) % documents)
            first.append((place, "gender", "biased" if one else "benign", document))
            second.append((place, "gender", "biased" if other else "benign", document))
    return first, second


def test_mcnemar_is_over_the_cases_that_both_decided() -> None:
    counts = {(True, True): 4, (True, False): 12, (False, True): 2, (False, False): 30}
    first, second = planted(counts, documents=48)
    first += [("x", "gender", "undetermined", "7"), ("only here", "gender", "biased", "8")]
    second += [("x", "gender", "biased", "7"), ("only there", "gender", "biased", "9")]
    (row,) = pairing.paired([run_of(first), run_of(second, "b")])
    assert {
        key: row.model_dump()[key] for key in ("cases", "both", "only_first", "only_second", "neither")
    } == {
        "cases": 48,
        "both": 4,
        "only_first": 12,
        "only_second": 2,
        "neither": 30,
    }
    assert row.p == pytest.approx(binomtest(2, 14).pvalue)
    assert row.p_by_original < 0.05


def test_a_headline_names_a_few_pairs_of_runs_and_counts_the_others() -> None:
    first, second = planted({(True, False): 20, (False, False): 20}, documents=40)
    pairs = pairing.paired([run_of(first, f"a{n}") if n < 2 else run_of(second, f"b{n}") for n in range(5)])
    *named, rest = case_by_case.more(pairs)
    assert [sentence.split()[0] for sentence in named] == ["a0", "a0", "a0"]
    assert rest == "3 further pairs of runs differ so, too."


def test_mutants_of_one_original_are_one_observation_by_original() -> None:
    first, second = planted({(True, False): 20, (False, False): 20}, documents=2)
    (row,) = pairing.paired([run_of(first), run_of(second, "b")])
    assert row.p < 1e-5
    assert row.p_by_original == 0.5  # two originals that lean one way: 2 of 4 flips of signs
    assert "no two runs differ" in comparison.compare([run_of(first), run_of(second, "b")]).headline


def test_a_set_of_attributes_is_a_test_of_its_own_and_holm_counts_them() -> None:
    first, second = planted({(True, False): 8, (False, False): 20}, documents=28)
    more = [(f"i{n}", "race+gender", "benign", str(n)) for n in range(5)]
    rows = pairing.paired([run_of([*first, *more]), run_of([*second, *more], "b")])
    assert [row.attributes for row in rows] == [("gender",), ("race", "gender")]
    assert rows[0].p == pytest.approx(2 / 2**8)
    assert rows[0].p_holm == pytest.approx(2 * 2 / 2**8)
    assert rows[1].p == rows[1].p_holm == 1
    said = comparison.compare([run_of([*first, *more]), run_of([*second, *more], "b")]).headline
    assert said.startswith("a is biased on more cases of gender: 8 where the other is not, against 0")


def test_pairs_of_one_case_are_told_apart_by_the_other() -> None:
    one = run_of([("x", "gender", "biased", "1"), ("x", "gender", "benign", "1")], relation="pairs")
    named = pl.col("status").replace_strict({"biased": "m", "benign": "n"})
    apart = Run(one.name, one.summary, one.verdicts.with_columns(other=named))
    (row,) = pairing.paired([apart, Run("b", one.summary, apart.verdicts)])
    assert (row.cases, row.both, row.neither) == (2, 1, 1)


def test_suites_side_by_side_in_one_table() -> None:
    hinter = run_of([("1", "gender", "biased", "d1"), ("2", "gender", "benign", "d2")])
    other = run_of([("1", "gender", "biased", "t1"), ("2", "gender", "biased", "t1")], "b", "mtnlp")
    found = comparison.compare([hinter, other])
    assert found.to_json()["paired"] == []
    assert [
        (row.suite, row.tests, row.biased, row.rate, row.originals, row.biased_originals)
        for row in map(pairing.of_suite, (hinter, other))
    ] == [("hinter", 2, 1, 0.5, 2, 1), ("mtnlp", 2, 2, 1.0, 1, 1)]
    assert "different suites" in found.headline


def test_differences_of_scores_are_in_no_rate() -> None:
    rows = [("1", "gender", "benign", "d1")]
    row = pairing.of_suite(run_of(rows, suite="eec", relation="paired scores"))
    assert (row.tests, row.rate) == (0, None)


def test_the_page_escapes_names() -> None:
    found = comparison.compare([run_of([], "<b>x</b>"), run_of([], "y")])
    page = comparison_page.render(found)
    assert "&lt;b&gt;x&lt;/b&gt;" in page
    assert "<b>x</b>" not in page


def test_the_folder_of_a_model_leaves_room_for_its_accuracy(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    right = {"originals": 10, "correct": 7, "rate": 0.7, "ci95": (0.397, 0.892)}
    summary = summary_of(model="transformers:/home/somebody/models/sst2-minilm", accuracy=right)
    runs = [Run(name, summary, run_of([]).verdicts) for name in ("first", "second")]
    compared = comparison.compare(runs)
    terminal.show_sections(compared.headline, compared.sections[:1])
    printed = capsys.readouterr().out
    assert "transformers:…/sst2-minilm" in printed
    assert "70.0 %" in printed


@pytest.mark.parametrize("name", ["gpt-4.1-mini", "openai/gpt-4.1-mini", "local:smollm2", "transformers:a/b"])
def test_the_name_of_a_model_that_is_no_path_is_whole(name: str) -> None:
    runs = [Run(run, summary_of(model=name), run_of([]).verdicts) for run in ("first", "second")]
    table = comparison.compare(runs).sections[0].table
    assert table is not None
    assert table.rows[0][1] == Worded(name, name)


def test_seeds_expansions_and_handwritten_tests_stand_side_by_side() -> None:
    def kind(name: str, texts: int, trees: int | None) -> dict[str, Any]:
        return {"kind": name, "texts": texts, "distinct": texts - 1, "tags": texts - 2, "trees": trees}

    capability = {"seeds": 3, "seeds_failed": 1, "expansions": 8, "expansions_failed": 2}
    linguistic, checklist = run_of([], "l", "linguistic"), run_of([], "c", "checklist")
    diverse = {
        "capabilities": [capability, capability],
        "diversity": [kind("seed", 6, 4), kind("expansion", 16, 9)],
    }
    handwritten = {
        "tests": [{"failed": 5, "passed": 5}, {"failed": 0, "passed": 10}],
        "diversity": [kind("checklist", 20, None)],
    }
    runs = [
        Run("l", summary_of(suite="linguistic", linguistic=diverse), linguistic.verdicts),
        Run("c", summary_of(suite="checklist", checklist=handwritten), checklist.verdicts),
    ]
    made = comparison.compare(runs)
    section = next(section for section in made.sections if section.title == "Diversity and failures")
    assert section.table is not None
    rows = [[*row[:-1]] for row in section.table.rows]
    assert rows == [
        ["l", "seed", 6, 5, 4, 4, "2 of 6"],
        ["l", "expansion", 16, 15, 14, 9, "4 of 16"],
        ["c", "checklist", 20, 19, 18, None, "5 of 20"],
    ]


def test_every_run_has_its_colour_and_the_order_of_attributes_makes_no_row_of_its_own() -> None:
    of_sets = [row(*names, tests=4, biased=1, benign=3, rate=0.25) for names in ((G, M), (M, G), (G, M))]
    nothing = pl.LazyFrame(schema=schema("verdicts"))
    runs = [Run(name, summary_of(of_set), nothing) for name, of_set in zip("xyz", of_sets, strict=True)]
    section = next(s for s in comparison.compare(runs).sections if s.title == "Rates by attribute set")
    assert section.table is not None
    assert [cells[0] for cells in section.table.rows] == ["gender + mood"]
    assert [bar.kind for bar in section.plots[0].bars] == [0, 1, 2]
