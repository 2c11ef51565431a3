"""Runs side by side on whom they treat worse: the headline, the tables, and what is not compared."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from harness.core import Case
from harness.findings.build import find, tally
from harness.findings.outcomes import Outcomes
from harness.findings.records import Caution
from harness.report import comparison, comparison_page, terminal
from harness.report.comparison import Comparison
from harness.report.pairing import Run
from harness.sections import Cell, Section, Worded
from tests.findings import runs
from tests.findings.runs import POSITIVE
from tests.findings.test_gaps import brittle, even, many, rejects_women
from tests.report.builders import row, summary_of

CASES = many(16)
MEN = [case for text in runs.texts(16) for case in runs.family(text, controls=0)]
UNDIRECTED = Outcomes({"Positive": ("Positive",), "Negative": ("Negative",)}, directed=False)


def made(
    name: str,
    answer: Callable[[Case], str],
    outcomes: Outcomes = POSITIVE,
    cases: Sequence[Case] = CASES,
    cautions: Sequence[Caution] = (),
) -> Run:
    tables = runs.run(cases, answer)
    found = find(tally(tables, outcomes), outcomes, 1)
    summary = summary_of(
        row("gender", tests=9, rate=0.5, control_rate=0.25, excess_over_control=0.25),
        model=f"model {name}",
        groups=found.groups,
        contrasts=found.contrasts,
        favourable=outcomes.names if outcomes.directed else (),
        cautions=cautions,
        finding={"code": "nothing-found", "text": f"model {name} was examined."},
    )
    return Run(name, summary, tables.scan("verdicts"), tables, outcomes)


CONSTANT = (Caution(code="constant-answers", text="All answers are the same."),)


def section(of: Comparison, title: str) -> Section:
    return next(section for section in of.sections if section.title.startswith(title))


def rows(of: Comparison, title: str) -> list[Sequence[Cell]]:
    table = section(of, title).table
    assert table is not None
    return list(table.rows)


def test_a_difference_that_nothing_tells_from_editing_is_said_to_be_one() -> None:
    unfair = made(
        "unfair", lambda case: "Negative" if runs.speaks_of(case) == "female" else "Positive", cases=MEN
    )
    compared = comparison.compare([unfair, made("even", even, cases=MEN)])
    assert (
        "1 difference of effects is more than chance, but not told from what editing does"
        in compared.headline
    )
    assert "by more than chance" not in compared.headline
    assert "not shown" not in compared.headline.partition("1 difference")[2]


def test_the_headline_names_who_treats_whom_worse_and_whether_they_differ() -> None:
    said = comparison.compare([made("unfair", rejects_women), made("b", brittle("b", 0.1))]).headline
    assert said.startswith(
        "unfair treats female worse than male (gender): Positive is 100.0 points (95 % interval"
    )
    assert "b: no group is shown to be treated worse (" in said
    assert "points between female and male would have been found)" in said
    assert "From male to female, Positive falls by" in said
    assert "more in unfair than in b (gender; corrected p < 0.001, 16 texts of both)." in said


def test_the_headline_is_the_same_in_either_order() -> None:
    pair = [made("unfair", rejects_women), made("fair", even, cautions=CONSTANT)]
    forward, back = comparison.compare(pair).headline, comparison.compare(pair[::-1]).headline
    assert forward == back
    assert "fair: the same answer to every text, so that nothing can be found." in forward


def test_many_runs_fold() -> None:
    unfair = [made(f"u{n}", rejects_women) for n in range(3)]
    fair = [made(f"f{n}", brittle(n, 0.05)) for n in range(3)]
    said = comparison.compare([*unfair, *fair]).headline
    assert said.startswith("u0, u1 and u2 treat female worse than male (gender): Positive is 100.0 points")
    assert "f0, f1 and f2: no group is shown to be treated worse" in said
    assert "9 of 15 pairs of runs on the same texts differ by more than chance: from male to female," in said
    assert said.count(". ") <= 4


def test_without_a_favourable_answer_nobody_is_worse_off() -> None:
    said = comparison.compare(
        [made("a", rejects_women, UNDIRECTED), made("b", brittle("b", 0.1), UNDIRECTED)]
    ).headline
    assert "worse" not in said
    assert "a answers" in said
    assert "b: no group is shown to differ" in said


def test_that_two_runs_differ_may_not_be_shown() -> None:
    said = comparison.compare([made("a", rejects_women), made("b", rejects_women)]).headline
    assert said.startswith(
        "a and b treat female worse than male (gender): Positive is 100.0 and 100.0 points"
    )
    assert "That they differ is not shown: b minus a is +0.0 points (95 % interval" in said


def test_a_row_for_each_contrast_and_a_column_for_each_run() -> None:
    found = comparison.compare([made("unfair", rejects_women), made("b", brittle("b", 0.1))])
    shown = rows(found, "Who is treated differently")
    assert {str(line[0]).split(":")[0] for line in shown} == {"gender", "body"}
    name, unfair, other = shown[0]
    assert name in ("gender: male → female", "gender: female → male")
    assert isinstance(unfair, Worded)
    assert "100.0* (" in unfair.text  # significant first, and marked
    assert isinstance(other, Worded)
    assert "*" not in other.text


def test_a_contrast_that_runs_report_in_two_directions_is_one_row() -> None:
    ahead = made("a", rejects_women)
    turned = [contrast.turned() for contrast in ahead.summary.contrasts]
    behind = replace(ahead, name="b", summary=ahead.summary.model_copy(update={"contrasts": tuple(turned)}))
    for line in rows(comparison.compare([ahead, behind]), "Who is treated differently"):
        assert line[1] == line[2]


def test_groups_and_the_excess_stand_side_by_side() -> None:
    found = comparison.compare([made("unfair", rejects_women), made("b", brittle("b", 0.1))])
    [female] = [line for line in rows(found, "Groups against") if line[0] == "gender: female"]
    assert female[2:4] == ["0.0 %", 0.0]  # rate and impact ratio of the first run
    [line] = rows(found, "Changes in excess")
    assert line[0] == "gender"
    assert line[2] == line[4] == "25.0 %"


def test_each_finding_is_whole_and_cautions_are_counted() -> None:
    found = comparison.compare([made("a", rejects_women), made("b", even, cautions=CONSTANT)])
    assert section(found, "What a found").text == "model a was examined."
    assert section(found, "What b found").notes == ["1 caution: All answers are the same."]
    values = found.to_json()
    sides = values["runs"]
    assert isinstance(sides, list)
    for side, contrasts in zip(sides, (2, 2), strict=True):
        assert isinstance(side, dict)
        assert len(side["contrasts"]) == contrasts
        assert "cautions" in side


def test_the_file_has_the_gaps_as_blocks() -> None:
    found = comparison.compare([made("unfair", rejects_women), made("fair", even)]).to_json()
    values = json.loads(json.dumps(found))
    assert values["shared"] == [
        {"first": "unfair", "second": "fair", "texts": 16, "cases": len(CASES), "reason": None}
    ]
    [gap] = [row for row in values["contrasts"] if row["attribute"] == "gender"]
    assert {gap["from"], gap["to"]} == {"male", "female"}
    assert abs(gap["difference"]) == pytest.approx(1.0)
    assert gap["p_holm"] <= 0.05


def test_runs_of_other_texts_are_never_compared_silently() -> None:
    others = [replace(case, text="of another file") for case in CASES]
    found = comparison.compare([made("a", rejects_women), made("b", even, cases=others)])
    assert "Their effects are not compared text by text: they have no text in common." in found.headline
    assert section(found, "Differences between runs").table is None
    assert "a and b are not compared: they have no text in common." in section(found, "Differences").text
    assert found.to_json()["paired"] == []  # nor are verdicts on cases that have one id and two texts


def test_a_run_without_groups_is_compared_as_before() -> None:
    plain = replace(made("a", even), summary=summary_of(row("gender")))
    found = comparison.compare([plain, replace(plain, name="b")])
    titles = [section.title for section in found.sections]
    assert not any(title.startswith(("What", "Who", "Differences")) for title in titles)
    assert found.headline.startswith(
        "On shared cases, no two runs differ by more than chance in any attribute set. Which of a and b"
    )


def test_one_run_without_groups_says_so() -> None:
    plain = replace(made("b", even), summary=summary_of(row("gender"), suite="eec"))
    found = comparison.compare([made("a", rejects_women), plain])
    assert section(found, "What b found").text == "It compared no two groups."
    assert found.headline.endswith("not compared text by text: their suites differ.")


def test_the_page_escapes_what_runs_say() -> None:
    pair = [made("<i>a</i>", rejects_women), made("b", even, cautions=[Caution(code="x", text="<script>")])]
    page = comparison_page.render(comparison.compare(pair), pair)
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "<i>a</i>" not in page


def test_the_terminal_cuts_long_tables_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    found = comparison.compare([made("a", rejects_women), made("b", even)])
    long = section(found, "Who is treated differently")
    assert long.table is not None
    table = replace(long.table, rows=[*long.table.rows] * 20)
    terminal.show_sections(
        "Found.", [replace(long, table=table), Section("Of the page", "x", page_only=True)]
    )
    shown = capsys.readouterr().out
    assert "32 more rows are on the page that --out writes." in shown
    assert "Of the page" not in shown
    assert all(len(line) <= 80 for line in shown.splitlines())
