"""The page of a run in a real browser: filters, links, keys, phone, paper; nothing leaves the page."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, quote

import pytest

from harness import tables
from harness.core import CONTROL, SAME_PERSON, Case, Margin, Outcome, Substitution, Verdict
from harness.findings.outcomes import Outcomes
from harness.folder import DERIVED, RunFolder
from harness.report import figures, flips, html
from harness.report.summary import read, write
from tests import browsers
from tests.report.builders import facts_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

DOCUMENTS = 60
MANY = 900
POSITIVE, NEGATIVE = frozenset({"Positive"}), frozenset({"Negative"})
HE_SHE = Substitution("gender", "man", "woman", (), "exchange", "male", "female")
FAR = Substitution("race", "British", "Kenyan", (), "exchange", "european", "african")
NOBODY = Substitution(CONTROL, "table", "chair")
EVIL = '<img src="https://example.org/x.png" onerror="alert(1)">'
Open = Callable[..., AbstractContextManager["Page"]]


def case(document: str, text: str, *changes: Substitution, role: str = "atomic", **traits: str) -> Case:
    name = "+".join(one.target for one in changes) or "0"
    for one in changes:
        text = text.replace(one.source, one.target)
    return Case(f"{document}#{name}", document, document, role, text, changes, traits)  # type: ignore[arg-type]


def planted(path: Path, documents: int) -> RunFolder:
    """A run with flips of two attributes, hidden ones, refusals, and controls that change."""
    folder = RunFolder(path)
    folder.open("", {})
    cases = []
    with (
        folder.parts("answers") as answers,
        folder.parts("verdicts") as verdicts,
        folder.parts("controls") as controls,
    ):
        for number in range(documents):
            document = f"{number} & co"
            note = EVIL if number == 3 else "It was long. " * (number % 90)
            text = f"{note}A British man, {'😀 ' * (number % 3)}at a table, wrote number {number}."
            first = Case(f"{document}#0", document, document, "original", text, expected=POSITIVE)
            woman = case(document, text, HE_SHE)
            far = case(document, text, FAR)
            same = "yes" if number % 2 else "no"
            both = case(document, text, FAR, HE_SHE, role="intersectional", **{SAME_PERSON: same})
            nobody = case(document, text, NOBODY, role="control")
            given: dict[str, frozenset[str] | None] = {
                first.id: POSITIVE,
                woman.id: NEGATIVE if number % 3 == 0 else POSITIVE,
                far.id: None if number % 10 == 1 else POSITIVE,
                both.id: NEGATIVE,
                nobody.id: NEGATIVE if number % 20 == 0 else POSITIVE,
            }
            for one in (first, woman, far, both, nobody):
                labels = given[one.id]
                outcome = Outcome(labels) if labels is not None else Outcome(reason="refused")
                answers.add(tables.answer_row(one, outcome, ""))
                if one is not first:
                    status = (
                        "undetermined" if labels is None else "biased" if labels == NEGATIVE else "benign"
                    )
                    hidden = None if one is not both else "no" if number % 3 == 0 else "yes"
                    margin, shift = Margin(number / 100), -number / 10
                    verdict = Verdict(one.id, "star", status, hidden, one.attributes, margin, shift)  # type: ignore[arg-type]
                    (controls if one is nobody else verdicts).add(tables.verdict_row(verdict, one))
                cases.append(one)
    list(folder.keep_chunk(0, cases))
    folder.finish()
    for name in DERIVED:
        folder.merge(name)
    return folder


def report(folder: RunFolder) -> Path:
    outcomes = Outcomes({"Positive": ("Positive",)}, directed=True)
    told = {"model": "local:planted", "documents": DOCUMENTS, "controls": True}
    facts = facts_of(("race", "gender"), outcomes=outcomes, **told)
    summary = figures.build(folder, facts)
    write(summary, folder.summary)
    html.write(folder, summary)
    return folder.path / "report.html"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    folder = planted(tmp_path_factory.mktemp("page") / "run", DOCUMENTS)
    report(folder)
    return folder


@pytest.fixture
def opened(browser: Browser, run: RunFolder) -> Open:
    """Open the page, and see at the end that it asked for nothing and complained of nothing."""

    def opening(
        address: str = "", file: Path | None = None, ready: bool = True, **settings: object
    ) -> AbstractContextManager[Page]:
        return browsers.opened(browser, file or run.path / "report.html", address, ready, **settings)

    return opening


def shown(page: Page) -> str:
    return page.locator("#shown").inner_text()


def hash_of(page: Page) -> dict[str, list[str]]:
    return parse_qs(page.evaluate("location.hash").removeprefix("#"))


BOTH, WOMEN = 60, 20
CONTROLS, REFUSED = 3, 6


@pytest.mark.parametrize(
    ("field", "option", "key", "value", "number"),
    [
        ("Attributes", "gender (20)", "attributes", "gender", WOMEN),
        ("From group", "race: european (60)", "from", "race: european", BOTH),
        ("To group", "gender: female (80)", "to", "gender: female", WOMEN + BOTH),
        ("Same person", "yes (30)", "person", "yes", BOTH // 2),
        ("Hidden", "yes (40)", "hidden", "yes", 40),
        ("Near tie", "yes (14)", "near_tie", "true", 14),
        ("Show", "controls that changed (3)", "kind", "control", CONTROLS),
        ("Show", "refused or filtered (6)", "kind", "unread", REFUSED),
        ("Show", "all (89)", "kind", "all", WOMEN + BOTH + CONTROLS + REFUSED),
    ],
)
def test_a_filter_stands_in_the_address(
    opened: Open, field: str, option: str, key: str, value: str, number: int
) -> None:
    with opened() as page:
        assert shown(page) == f"{WOMEN + BOTH} of 89"
        assert page.evaluate("location.hash") == ""
        page.get_by_label(field, exact=True).select_option(label=option)
        assert hash_of(page) == {key: [value]}
        count = shown(page)
        assert count == f"{number} of 89"
        page.reload()
        page.wait_for_selector("#shown:not(:empty)")
        assert shown(page) == count
        assert page.get_by_label(field, exact=True).evaluate("it => it.selectedOptions[0].text") == option
        page.get_by_role("button", name="Reset").click()
        assert shown(page) == f"{WOMEN + BOTH} of 89"


def test_filters_meet_and_words_are_found_where_they_stand(opened: Open) -> None:
    with opened("#attributes=race+%2B+gender&hidden=yes&sort=shift") as page:
        assert shown(page) == "40 of 89"
        assert (
            page.locator("#shown-case .note")
            .inner_text()
            .startswith("Case 59 & co#Kenyan+woman, document 59 & co")
        )
        words = page.get_by_label("Words in a text")
        for text, count in (
            ("WOMAN, 😀 at a table, wrote number 4", "5 of 89"),
            ("British man, 😀 at", "20 of 89"),
            ("kenyan woman, 😀 ", "40 of 89"),
            ("nowhere", "0 of 89"),
        ):
            words.fill(text)
            page.wait_for_function(
                "q => new URLSearchParams(location.hash.slice(1)).get('q') === q", arg=text
            )
            assert shown(page) == count, text
        assert "No case is like that" in page.locator("#shown-case").inner_text()


def test_orders_sort_all_rows(opened: Open) -> None:
    def first(page: Page) -> str:
        return page.locator("#shown-case .note").inner_text().split(",")[0]

    with opened("#hidden=yes&sort=margin") as page:
        assert first(page) == "Case 1 & co#Kenyan+woman"
        page.get_by_label("Order", exact=True).select_option("shift")
        assert first(page) == "Case 59 & co#Kenyan+woman"
        page.get_by_label("Order", exact=True).select_option("document")
        assert first(page) == "Case 1 & co#Kenyan+woman"


def test_every_case_has_a_link(opened: Open) -> None:
    name = "41 & co#Kenyan+woman"
    with opened(f"#case={quote(name)}") as page:
        card = page.locator("#shown-case article")
        assert f"Case {name}" in card.inner_text()
        assert page.locator(".row[aria-selected=true]").count() == 1
        lines = [" ".join(line.split()) for line in card.locator(".who").all_inner_texts()]
        assert lines == [
            "Original Positive",
            "British → Kenyan refused",
            "man → woman Positive",
            "British → Kenyan, man → woman Negative (changed)",
        ]
        assert card.locator(".text mark").all_inner_texts() == [
            "British",
            "man",
            "Kenyan",
            "woman",
            "Kenyan",
            "woman",
        ]
        link = page.locator("#shown-case .note a").get_attribute("href")
        page.evaluate(f"location.hash = {link!r}".replace("41", "17"))
        assert "Case 17 & co" in card.inner_text()
    with opened("#case=nowhere&hidden=maybe&sort=size") as page:
        assert shown(page) == "80 of 89"


def test_keys_move_through_the_list(opened: Open) -> None:
    with opened() as page:
        page.locator("#list").focus()
        seen = []
        for key in ("ArrowDown", "ArrowDown", "End", "Home", "PageDown", "ArrowUp"):
            page.keyboard.press(key)
            active = page.locator(f"#{page.locator('#list').get_attribute('aria-activedescendant')}")
            assert active.get_attribute("aria-selected") == "true"
            assert active.get_attribute("aria-setsize") == "80"
            seen.append(int(active.get_attribute("aria-posinset") or 0))
            assert hash_of(page)["case"][0] in page.locator("#shown-case .note").inner_text()
        assert seen[:4] == [2, 3, 80, 1]
        assert seen[4] > 3
        assert seen[5] == seen[4] - 1
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "case"


def test_the_contents_lead_to_their_sections_and_keep_the_filter(opened: Open) -> None:
    with opened("#hidden=yes") as page:
        page.locator("#run summary").click()
        assert not page.locator("#run dl").is_visible()
        page.get_by_role("navigation").get_by_role("link", name="The run").press("Enter")
        assert page.locator("#run dl").is_visible()
        assert page.evaluate("location.hash") == "#hidden=yes"


def test_what_is_filtered_is_saved_as_the_command_prints_it(opened: Open, run: RunFolder) -> None:
    printed = "".join(flips.as_csv(flips.flips(run)))
    with opened() as page:
        with page.expect_download() as download:
            page.get_by_role("button", name="Save as CSV").click()
        assert download.value.suggested_filename == "flips.csv"
        assert download.value.path().read_bytes().decode("utf-8") == printed
    with opened("#hidden=yes") as page:
        with page.expect_download() as download:
            page.get_by_role("button", name="Save as CSV").click()
        saved = download.value.path().read_bytes().decode("utf-8")
        rows = csv.DictReader(io.StringIO(saved, newline=""))
        assert {row["hidden"] for row in rows} == {"yes"}


def test_texts_are_texts(opened: Open) -> None:
    with opened(f"#case={quote('3 & co#woman')}") as page:
        assert EVIL in page.locator("#shown-case").inner_text()
        assert page.locator("img").count() == 0


def test_only_rows_in_view_are_drawn(opened: Open, tmp_path: Path) -> None:
    with opened(file=report(planted(tmp_path / "many", MANY))) as page:
        assert shown(page) == "1,200 of 1,335"
        assert page.locator(".row").count() < 40
        page.locator("#list").evaluate("list => { list.scrollTop = list.scrollHeight; }")
        page.wait_for_selector("[aria-posinset='1200']")
        assert page.locator(".row").count() < 40


def test_without_its_script_the_page_has_the_finding_the_tables_and_some_cases(
    opened: Open, run: RunFolder
) -> None:
    with opened(ready=False, java_script_enabled=False) as page:
        finding = read(run.summary).finding
        assert finding is not None
        assert page.locator("h1").inner_text() == html.VERDICTS[finding.code]
        assert finding.text.startswith(page.locator(".headline").inner_text().replace("\u00a0", " "))
        assert page.locator("#results table").first.is_visible()
        assert page.locator("#first article").count() == html.FIRST
        assert page.locator("#first article").first.is_visible()
        assert not page.locator("#explorer").is_visible()


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_nothing_is_wider_than_the_screen(opened: Open, width: int) -> None:
    with opened(viewport={"width": width, "height": 844}) as page:
        page.evaluate(browsers.UNFOLDED)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("address", ["", "#hidden=yes"])
def test_on_paper_it_is_short_and_has_the_first_cases(opened: Open, address: str, tmp_path: Path) -> None:
    with opened(address) as page:
        page.emulate_media(media="print")
        assert page.locator("#first article").first.is_visible()
        assert not page.locator("#explorer").is_visible()
        page.emulate_media()
        assert 1 <= browsers.sheets(page) <= browsers.SHEETS
        assert page.locator("#first article").count() == html.FIRST


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_no_fault(opened: Open, scheme: str, width: int) -> None:
    with opened(color_scheme=scheme, viewport={"width": width, "height": 900}) as page:
        browsers.assert_accessible(page)
