"""The tables of atomic and intersectional mutants, in each form of a report."""

from __future__ import annotations

from harness.findings.orders import Orders, orders
from harness.report import markdown, wording
from harness.report import orders as tables
from tests.findings.test_orders import of_example
from tests.report.builders import row, summary_of

ROWS = (row("gender", tests=10, biased=2), row("gender", "body", tests=5, biased=3))


def example() -> Orders:
    """Return the figures of the example of docs/figures.md."""
    found = orders(of_example())
    assert found is not None
    return found


def test_each_figure_of_the_example_is_in_the_report() -> None:
    text = markdown.render(summary_of(*ROWS, orders=example()))
    for cells in (
        "| 1 attribute | 10 | 0 | 2 of 10, 20.0 %",
        "| 2 attributes | 5 | 0 | 3 of 5, 60.0 %",
        "| atomic mutants | 2 of 5, 40.0 %",
        "| intersectional mutants | 3 of 5, 60.0 %",
        "| both | 1 of 5, 20.0 %",
        "| either | 4 of 5, 80.0 %",
        "| only intersectional mutants | 2 of 4, 50.0 %",
        "| gender + body | 1 | 1 | 0 | 0 | 2 | 1 | 0 | 0 | 0 |",
    ):
        assert cells in text
    assert "Of 2 changed answers of atomic mutants" in text
    assert "1 (50.0 %, 95 % interval" in text


def test_texts_that_atomic_mutants_miss_are_told_in_a_sentence() -> None:
    summary = summary_of(*ROWS, orders=example())
    said = "Mutants of a single attribute miss 2 of 4 texts whose answer changed (50.0 %, 95 % interval"
    assert tables.sentence(summary).startswith(said)
    assert tables.sentence(summary) in wording.asides(summary)


def test_without_such_texts_there_is_no_sentence() -> None:
    assert tables.sentence(summary_of(*ROWS)) == ""
    read = orders(
        of_example(unread=[(text, "gender:female+body:blind") for text in ("hidden", "hidden too")])
    )
    assert tables.sentence(summary_of(*ROWS, orders=read)) == ""


def test_a_suite_names_its_cases() -> None:
    nouns = {"case": "typo", "source": "line"}
    for section in tables.sections(summary_of(orders=example(), nouns=nouns)):
        assert "mutant" not in " ".join([section.title, section.text, *section.notes])
