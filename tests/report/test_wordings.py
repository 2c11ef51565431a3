"""What is said of runs under several wordings: which findings are stable, and the words for it."""

from __future__ import annotations

import pytest

from harness.findings.records import Contrast
from harness.findings.variance import Share
from harness.report import wordings
from harness.report.summary import Summary
from harness.report.wordings import Wording
from tests.report.builders import row, summary_of


def contrast(effect: float, p: float) -> Contrast:
    return Contrast.model_validate(
        {"attribute": "gender", "from": "male", "to": "female", "outcome": "Positive", "pairs": 9,
         "originals": 9, "worse": 1, "better": 1, "effect": effect, "ci95": (effect - 0.1, effect + 0.1),
         "p": p, "p_holm": p, "basis": "alike"}
    )  # fmt: skip


def under(*effects: tuple[float, float], rates: tuple[float, ...] = (0.1, 0.3, 0.2)) -> list[Wording]:
    return [
        Wording(f"w{number}", f"{number}-w", _summary(rate, found))
        for number, (rate, found) in enumerate(zip(rates, effects or [None] * len(rates), strict=True))
    ]


def _summary(rate: float, found: tuple[float, float] | None) -> Summary:
    result = row("gender", tests=10, benign=9, biased=1, rate=rate)
    return summary_of(result, contrasts=(contrast(*found),) if found else ())


@pytest.mark.parametrize(
    ("effects", "certain", "mark"),
    [
        ((-0.2, -0.1), (True, True), "stable"),
        ((-0.2, -0.1), (True, False), "unsure"),
        ((-0.2, 0.1), (True, False), "turns"),
        ((-0.2, 0.1), (True, True), "turns"),
        ((-0.2, None), (True, False), "incomplete"),
        ((-0.2, None, 0.1), (True, False, False), "turns"),
        ((-0.2, 0.0), (True, False), "unsure"),
    ],
)
def test_a_finding_is_stable_if_it_stands_under_every_wording(
    effects: tuple[float | None, ...], certain: tuple[bool, ...], mark: str
) -> None:
    assert wordings.mark(effects, certain) == mark


def test_findings_that_are_sure_under_one_wording_are_listed() -> None:
    found = wordings.build(under((-0.2, 0.01), (0.1, 0.5), (-0.1, 0.01)), [], 5, 20)
    (effect,) = found.findings
    assert (effect.name, effect.mark, effect.stable) == ("gender: male → female", "turns", False)
    assert effect.sure == (True, False, True)
    assert "Of 1 finding that is sure under one, 0 stand under all, and 1 turns round" in found.headline
    table = found.sections[1].table
    assert table is not None
    assert list(table.rows[0]) == ["gender: male → female", "turns", "-20.0*", "+10.0", "-10.0*"]


def test_a_stable_finding_is_said_to_stand() -> None:
    found = wordings.build(under((-0.2, 0.01), (-0.3, 0.01), (-0.1, 0.01)), [], 5, 20)
    assert found.findings[0].stable
    assert "Of 1 finding that is sure under one, 1 stands under all." in found.headline


def test_without_a_sure_finding_this_is_said() -> None:
    found = wordings.build(under((-0.2, 0.4), (0.1, 0.5), (-0.1, 0.7)), [], 5, 20)
    assert found.findings == ()
    assert "No difference between groups is sure under any of them." in found.headline


def test_the_headline_has_the_rate_that_differs_most() -> None:
    found = wordings.build(under(), [], 5, 20)
    assert found.headline.endswith("The rate of gender goes from 10.0 % to 30.0 %.")
    assert found.rates[0].rates == (0.1, 0.3, 0.2)


def test_the_variance_is_a_table_with_what_each_source_means() -> None:
    shares = [Share("text", 0.75, (0.7, 0.8)), Share("group", 0.25, None, 0.1)]
    found = wordings.build(under(), shares, 5, 20)
    section = found.sections[0]
    assert section.table is not None
    assert [list(cells) for cells in section.table.rows] == [
        ["text", "75.0 % (70.0 to 80.0 %)", ""], ["group", "25.0 %", "10.0 %"],
    ]  # fmt: skip
    assert "20 versions of 5 texts under 3 wordings" in section.text


def test_the_page_links_the_runs_and_says_the_finding() -> None:
    found = wordings.build(under(), [], 5, 20)
    page = wordings.render(found, "A <model>")
    assert 'href="0-w/report.html"' in page
    assert found.headline in page
    assert "A &lt;model&gt;" in page


def test_the_json_has_its_schema() -> None:
    plain = wordings.build(under(), [Share("text", 1.0, None)], 5, 20).to_json()
    assert plain["schema"] == 1
    assert plain["variance"] == [{"source": "text", "share": 1.0, "ci95": None, "chance": None}]
