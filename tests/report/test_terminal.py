"""What people see in the terminal: the results, and of a suite's sections those that are for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.report import fitting, terminal
from harness.sections import Section, Table, plain
from tests.report.builders import row, summary_of


def test_what_is_for_the_page_alone_is_not_printed(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table(["what", "number"], [["cell", 1]])
    sections = [Section("Shown here", table=table), Section("Shown there", table=table, page_only=True)]
    terminal.show(summary_of(sections=sections, headline="Found."), Path("run"))
    printed = capsys.readouterr()
    assert "Shown here" in printed.out
    assert "Shown there" not in printed.out
    assert "3 texts, 2 with a term; 9 mutants, 7 valid; 4 requests sent" in " ".join(printed.err.split())


def test_sections_of_an_earlier_version_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    (section,) = plain([Section("Shown here", table=Table(["what was there"], [["cell"]]))])
    del section["page_only"]
    terminal.show(summary_of(sections=[section], headline="Found."), Path("run"))
    assert "Shown here" in capsys.readouterr().out


ROWS = (
    row("gender", tests=1200, biased=5, undetermined=2, rate=0.05, ci95=(0.01, 0.1), confirmed=4),
    row(tests=90, biased=40, rate=0.4, ci95=(0.3, 0.5), hidden=6, hidden_undetermined=4, confirmed=3),
    row("race", "body", confirmed=0),
)


def test_results_fit_eighty_columns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    terminal.show(summary_of(*ROWS), Path("run"))
    lines = capsys.readouterr().out.splitlines()
    cells = [[cell.strip() for cell in line.split("│")[1:-1]] for line in lines if "│" in line]
    assert cells == [
        ["gender", "1,200", "5 (4)", "2", "5.0 % (1.0 to 10.0)", ""],
        ["race + gender", "90", "40 (3)", "0", "40.0 % (30.0 to 50.0)", "6 of 36"],
        ["race + body", "0", "0 (0)", "0", "–", "–"],
    ]
    assert max(map(len, lines)) <= 80
    assert "biased, with the number confirmed in brackets" in " ".join(lines)


def test_with_json_on_standard_output_the_words_go_to_the_other(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.show(summary_of(*ROWS), Path("run"), stderr=True)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "race + gender" in printed.err
    terminal.show_sections("Found.", [Section("Shown", notes=["a note"])], stderr=True)
    printed = capsys.readouterr()
    assert (printed.out, "a note" in printed.err) == ("", True)


CELLS = ("African-American", "1,234", "100.0 % (70.1 to 100.0)", "no", "a b c", "", "p, clustered, Holm")


@given(st.lists(st.tuples(*[st.sampled_from(CELLS)] * 2), min_size=1, max_size=12), st.integers(30, 140))
def test_no_word_and_no_number_of_a_table_is_broken(columns: list[tuple[str, str]], room: int) -> None:
    heads, row = ([pair[n] for pair in columns] for n in (0, 1))
    widths = fitting.fitted(heads, [row], room)
    assert 1 <= len(widths) <= len(heads)
    assert sum(widths) + 3 * len(widths) + 1 <= room or len(widths) == 1
    for head, cell, width in zip(heads[1:], row[1:], widths[1:], strict=False):
        whole = [cell] if any(map(str.isdigit, cell)) else cell.split()
        assert all(len(word) <= width for word in (*head.split(), *whole))


def test_columns_without_room_are_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    table = Table(["what", *(f"column-{n}" for n in range(9))], [["African-American persons", *range(9)]])
    terminal.show(summary_of(sections=[Section("Shown", table=table)], headline="Found."), Path("run"))
    printed = capsys.readouterr().out
    assert "African-American" in printed
    assert "No room for: column-5, column-6, column-7, column-8" in " ".join(printed.split())
    assert max(map(len, printed.splitlines())) <= 80
