"""Whose answers were not read: counted by the group that a version speaks of."""

from __future__ import annotations

import polars as pl
import pytest

from harness.core import Case
from harness.findings.unread import unread
from harness.report import groups
from harness.statistics import rate_by_cluster
from tests.findings import runs
from tests.report.builders import summary_of


def cases(number: int) -> list[Case]:
    """Texts of men and of women by turns, each with its mutants and controls."""
    return [
        case
        for index, text in enumerate(runs.texts(number))
        for case in runs.family(text, "male" if index % 2 == 0 else "female")
    ]


def test_a_run_whose_answers_were_all_read_has_none() -> None:
    assert unread(runs.run(cases(4), lambda _: "Positive")) == ()


def test_who_is_refused_is_counted_by_group_whichever_way_a_text_is_changed() -> None:
    """The texts of women, and the men made women: two versions of each text, one beside a body.

    A text that nothing was changed in is compared with none.
    """

    def answer(case: Case) -> str | None:
        spoken = "male" if int(case.document[1:]) % 2 == 0 else "female"
        return None if runs.speaks_of(case, spoken) == "female" else "Positive"

    alone = runs.case("t999", "original")
    found = {(row.attribute, row.group): row for row in unread(runs.run([*cases(12), alone], answer))}
    assert found.keys() == {
        ("gender", "female"),
        ("gender", "male"),
        ("body", "plain"),
        ("body", "blind"),
    }
    women, men = found["gender", "female"], found["gender", "male"]
    assert (women.answers.count, women.answers.of, women.reasons) == (24, 24, {"refused": 24})
    assert (men.answers.count, men.answers.of, men.reasons) == (0, 24, {})
    for body in ("plain", "blind"):
        row = found["body", body]
        assert (row.answers.count, row.answers.of) == (12, 24)
        assert row.answers.ci95 == rate_by_cluster([1] * 12, [2] * 12)


def test_a_version_counts_once_and_only_if_it_was_asked_about() -> None:
    run = runs.run(cases(2), lambda case: None if case.role == "original" else "Positive")
    answers = run.frames["answers"].filter(~pl.col("case").str.contains("blind"))
    rows = {
        (row.attribute, row.group): row.answers
        for row in unread(runs.Run({**run.frames, "answers": answers}))
    }
    assert {name: (part.count, part.of) for name, part in rows.items()} == {
        ("gender", "male"): (1, 2),
        ("gender", "female"): (1, 2),
        ("body", "plain"): (2, 4),
    }


@pytest.mark.parametrize("most", [1, 40])
def test_the_report_lists_the_least_answered_groups_first(most: int) -> None:
    refused = runs.run(
        cases(6), lambda case: None if "blind" in case.id and case.role != "control" else "Positive"
    )
    (section,) = groups.sections(summary_of(unread=unread(refused)), most)
    assert section.table is not None
    first, *others = section.table.rows
    assert (first[0], first[2]) == ("body: blind", "12 refused")
    assert str(first[1]).startswith("12 of 12")
    assert len(others) == (0 if most == 1 else 3)
    assert section.text == ("1 of 4 groups; all are in summary.json." if most == 1 else "")
