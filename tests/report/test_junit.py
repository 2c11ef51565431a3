"""The JUnit report: valid XML, a suite an attribute set, a case a document."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from harness import tables
from harness.core import Case, Outcome, Status, Substitution, Ternary, Verdict
from harness.folder import DERIVED, RunFolder
from harness.report import junit
from harness.report.summary import ResultRow, Summary
from tests.report.builders import row, summary_of

GENDER = Substitution("gender", "man", "wo\x00man\x1b")
BODY = Substitution("body", "fat", "<thin>")


def result(attributes: list[str], tests: int) -> ResultRow:
    if not tests:
        return row(*attributes)
    return row(*attributes, tests=tests, rate=1 / 3, ci95=(0.1, 0.5), originals=tests)


def figures_of(*results: ResultRow) -> Summary:
    return summary_of(*results, model="m\x08")


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    """Document a has a hidden and another bias, b only undetermined mutants, c\\x0b only benign ones."""
    rows: list[tuple[str, str, tuple[Substitution, ...], Status, Ternary | None]] = [
        ("a", "a1", (GENDER,), "benign", None),
        ("a", "a2", (GENDER, BODY), "benign", None),
        ("a", "a3", (GENDER, BODY), "biased", "yes"),
        ("a", "a4", (GENDER, BODY), "biased", "no"),
        ("b", "b1", (GENDER, BODY), "undetermined", None),
        ("c\x0b", "c1", (GENDER, BODY), "benign", None),
    ]
    made = RunFolder(tmp_path / "run")
    made.open("", {})
    cases = [Case(name, document, document, "atomic", "text", some) for document, name, some, *_ in rows]
    with made.parts("verdicts") as verdicts, made.parts("answers") as answers:
        for case, (*_, status, hidden) in zip(made.keep_chunk(0, cases), rows, strict=True):
            answers.add(tables.answer_row(case, Outcome(frozenset({"x"})), ""))
            verdict = Verdict(case.id, "star", status, hidden, case.attributes)
            verdicts.add(tables.verdict_row(verdict, case))
    made.finish()
    for name in DERIVED:
        made.merge(name)
    return made


def parse(text: str) -> ET.Element:
    return ET.fromstring(text.encode())


def test_a_case_fails_passes_or_is_skipped_by_its_mutants(folder: RunFolder) -> None:
    root = parse(junit.render(folder, figures_of(result(["gender"], 1), result(["gender", "body"], 5))))
    assert {name: root.get(name) for name in ("tests", "failures", "errors", "skipped", "time")} == {
        "tests": "4",
        "failures": "1",
        "errors": "0",
        "skipped": "1",
        "time": "2.500",
    }
    single, both = root.findall("testsuite")
    assert [single.get("name"), both.get("name")] == ["gender", "gender + body"]
    found = {case.get("name"): [child.tag for child in case] for case in both.findall("testcase")}
    assert found == {"a": ["failure"], "b": ["skipped"], "c": []}


def test_a_failure_says_how_many_and_the_first_example(folder: RunFolder) -> None:
    root = parse(junit.render(folder, figures_of(result(["gender", "body"], 5))))
    failure = root.find(".//failure")
    assert failure is not None
    assert failure.get("message") == (
        "2 of 3 mutants changed the answer, 1 of them hidden: man → woman, fat → <thin>"
    )
    assert failure.text == "First: man → woman, fat → <thin>, case a3"


def test_rates_are_properties(folder: RunFolder) -> None:
    root = parse(junit.render(folder, figures_of(result(["gender"], 1))))
    values = {one.get("name"): one.get("value") for one in root.iter("property")}
    assert values["rate"] == "0.333333"
    assert values["ci95"] == "0.100000 0.500000"
    assert values["hidden_rate"] == ""
    assert (values["kind"], values["originals"]) == ("atomic", "1")
    assert "confirmed" not in values


def test_a_run_without_tests_is_an_empty_report(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    folder.open("", {})
    folder.merge("verdicts")
    root = parse(junit.render(folder, figures_of(result(["gender"], 0))))
    assert [part.tag for part in root] == ["properties"]
    assert root.get("tests") == "0"


@pytest.mark.parametrize("character", ["\x00", "\x0b", "\x1b", "\ud800", "\ufffe", "\uffff"])
def test_characters_that_xml_cannot_hold_are_removed(character: str) -> None:
    assert junit.legal(f"a{character}b\t\n😀") == "ab\t\n😀"
