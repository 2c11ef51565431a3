"""The report as Markdown: all that the page says but plots and cards, and no mark that nobody meant."""

from __future__ import annotations

from harness.report import markdown
from harness.sections import Section, Table
from tests.report.builders import row, summary_of

ROWS = (
    row("gender", tests=1200, biased=5, undetermined=2, rate=0.05, ci95=(0.01, 0.1), originals=9),
    row(tests=90, biased=40, rate=0.4, ci95=(0.3, 0.5), hidden=6, hidden_rate=1 / 6, hidden_undetermined=4),
    row("body"),
)


def test_the_whole_report() -> None:
    sections = [Section("More", "Of it.", Table(["what", "number"], [["a|b", 1234]]), notes=["*rough*"])]
    text = markdown.render(summary_of(*ROWS, sections=sections))
    assert text.startswith("# Audit of m\n\nTask imdb, suite hinter: 3 texts, 2 with a term;")
    assert "m changed its answer on 40 of 90 intersectional mutants" in text
    assert "- This run did not measure how often the model changes its answer to an identical text" in text
    lines = text.splitlines()
    assert "| gender | 1,200 | 5 | 2 | 5.0 % (1.0 to 10.0 %) | – | – | – | – | 9, 0 |" in lines
    assert (
        "| race + gender | 90 | 40 | 0 | 40.0 % (30.0 to 50.0 %) | – | 6 of 36 | 16.7 % | 4 | 0, 0 |" in lines
    )
    assert not any(line.startswith("| body") for line in lines)
    assert "| Attributes | Tests | Biased | Undetermined (1) | Rate, Wilson (2) | By original (3) |" in text
    assert any(line.startswith("3. The 95 % interval of the same rate") for line in lines)
    assert text.index("## Results") < text.index("## More")
    assert "| a\\|b | 1,234 |" in lines
    assert "- \\*rough\\*" in lines


def test_a_suites_own_findings_come_first_and_gaps_before_them() -> None:
    sections = [Section("Its findings", notes=["a note"])]
    partial = summary_of(*ROWS, sections=sections, headline="Found.", status="interrupted")
    text = markdown.render(partial)
    assert text.index("> Interrupted: ") < text.index("Found.") < text.index("## Its findings")
    assert text.index("## Its findings") < text.index("## Results")


def test_names_are_no_marks() -> None:
    text = markdown.render(summary_of(model="<script>\n# m_x\x1b"))
    assert text.splitlines()[0] == "# Audit of \\<script\\> \\# m\\_x\\\\x1b"
