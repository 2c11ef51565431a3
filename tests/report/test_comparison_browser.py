"""The page of a comparison in a real browser: where models part, its filters and links, phone and paper."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, quote

import pytest

from harness.core import CONTROL, Case, Substitution
from harness.report import comparison, comparison_page
from harness.report.html import FIRST
from tests import browsers
from tests.report.test_treatment import made

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

DOCUMENTS = 40
WOMAN = Substitution("gender", "man", "woman", (), "exchange", "male", "female")
FAR = Substitution("race", "British", "Kenyan", (), "exchange", "european", "african")
NOBODY = Substitution(CONTROL, "number", "page", (), "exchange")
NOR_HERE = Substitution(CONTROL, "wrote", "made", (), "exchange")
FAIR, WOMEN, AFAR = "fair", "rejects <b>women</b>", "=afar"
NAMES = (FAIR, WOMEN, AFAR)
LONG = "organisation-of-some-length/model-of-seventy-billion-parameters-instruct-v0.{}-quantised"
Open = Callable[..., AbstractContextManager["Page"]]
Answer = Callable[[Case], str | None]


def family(number: int) -> list[Case]:
    """A text about a man, its versions about a woman, a Kenyan, and both, and controls."""
    name = f"{number} & co"
    text = f"{'It was long. ' * (number % 80)}A British man, {'😀 ' * (number % 3)}wrote number {number}."
    cases = [Case(f"{name}#0", name, name, "original", text)]
    atomic, both = ((WOMAN,), (FAR,)), (FAR, WOMAN)
    for changes in (*atomic, both, (NOBODY,), (NOBODY, NOR_HERE)):
        version = text
        for one in changes:
            version = version.replace(one.source, one.target)
        words = "+".join(one.target for one in changes)
        role = "atomic" if changes in atomic else "intersectional" if changes == both else "control"
        cases.append(Case(f"{name}#{words}", name, name, role, version, changes))  # type: ignore[arg-type]
    return cases


CASES = [case for number in range(DOCUMENTS) for case in family(number)]


def fair(case: Case) -> str | None:
    """Answers all alike, but for a Kenyan in text 4, about whom it says nothing."""
    return None if case.id == "4 & co#Kenyan" else "Positive"


def rejecting(word: str, every: int, offset: int = 0) -> Answer:
    """Rejects whoever is called ``word`` in one of ``every`` texts."""

    def answer(case: Case) -> str:
        ours = (int(case.document.split()[0]) + offset) % every == 0
        return "Negative" if ours and word in case.text else "Positive"

    return answer


def page_of(folder: Path, systems: dict[str, Answer]) -> Path:
    runs = [made(name, answer, cases=CASES) for name, answer in systems.items()]  # type: ignore[arg-type]
    file = folder / "compare.html"
    file.write_text(comparison_page.render(comparison.compare(runs), runs), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    systems = {FAIR: fair, WOMEN: rejecting("woman", 3), AFAR: rejecting("Kenyan", 4)}
    return page_of(tmp_path_factory.mktemp("compared"), systems)


@pytest.fixture
def opened(browser: Browser, compared: Path) -> Open:
    """Open the page, and see at the end that it asked for nothing and complained of nothing."""

    def opening(address: str = "", **settings: object) -> AbstractContextManager[Page]:
        return browsers.opened(browser, compared, address, **settings)  # type: ignore[arg-type]

    return opening


ONLY_WOMEN, ONLY_AFAR, IN_BOTH = 24, 16, 4
PARTED = ONLY_WOMEN + ONLY_AFAR + IN_BOTH


def shown(page: Page) -> str:
    return page.locator("#shown").inner_text()


def card(page: Page) -> Locator:
    return page.locator("#shown-case article")


def facts(page: Page) -> str:
    return card(page).locator(".note").last.inner_text()


def hash_of(page: Page) -> dict[str, list[str]]:
    return parse_qs(page.evaluate("location.hash").removeprefix("#"))


def saved(page: Page) -> list[dict[str, str]]:
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as CSV").click()
    assert download.value.suggested_filename == "parted.csv"
    return list(csv.DictReader(io.StringIO(download.value.path().read_bytes().decode("utf-8"), newline="")))


@pytest.mark.parametrize(
    ("field", "option", "key", "value", "number"),
    [
        ("Changed in", f"{WOMEN} ({ONLY_WOMEN})", "changed_in", WOMEN, ONLY_WOMEN),
        ("Changed in", f"{WOMEN} + {AFAR} ({IN_BOTH})", "changed_in", f"{WOMEN} + {AFAR}", IN_BOTH),
        (f"In {WOMEN}", f"not changed ({ONLY_AFAR})", "run:1", "not changed", ONLY_AFAR),
        (f"In {AFAR}", f"changed ({ONLY_AFAR + IN_BOTH})", "run:2", "changed", ONLY_AFAR + IN_BOTH),
        ("Attributes", "race + gender (20)", "attributes", "race + gender", 20),
        ("From group", "gender: male (34)", "from", "gender: male", 34),
        ("To group", "race: african (30)", "to", "race: african", 30),
    ],
)
def test_a_filter_stands_in_the_address_and_an_address_is_a_filter(
    opened: Open, field: str, option: str, key: str, value: str, number: int
) -> None:
    with opened() as page:
        assert shown(page) == f"{PARTED} of {PARTED}"
        page.get_by_label(field, exact=True).select_option(label=option)
        assert hash_of(page) == {key: [value]}
        assert shown(page) == f"{number} of {PARTED}"
        page.reload()
        page.wait_for_selector(browsers.READY)
        assert shown(page) == f"{number} of {PARTED}"
        assert page.get_by_label(field, exact=True).evaluate("it => it.selectedOptions[0].text") == option
        page.get_by_role("button", name="Reset").click()
        assert shown(page) == f"{PARTED} of {PARTED}"


def test_the_page_says_how_often_which_run_alone_is_biased(opened: Open) -> None:
    with opened() as page:
        said = page.locator("#cases .note").first.inner_text()
        alone = f"{ONLY_WOMEN} only in {WOMEN}, {ONLY_AFAR} only in {AFAR}"
        assert f"{PARTED} ({alone}, {IN_BOTH} only in {WOMEN} and {AFAR})" in said
        row = page.locator(".row").first
        assert row.locator(".middle").inner_text() == f"changed in {WOMEN}"


def test_a_case_has_a_link_and_the_answer_of_every_run(opened: Open) -> None:
    name = "8 & co#Kenyan+woman"
    with opened(f"#case={quote(name)}") as page:
        assert facts(page).startswith(f"Case {name}, document 8 & co")
        assert page.locator(".row[aria-selected=true]").count() == 1
        texts = card(page).locator(".text").all()
        assert len(texts) == 4
        replies = [" ".join(reply.split()) for reply in texts[-1].locator(".reply").all_inner_texts()]
        assert replies == [f"{FAIR} Positive", f"{WOMEN} Positive", f"{AFAR} Negative (changed)"]
        assert texts[-1].locator("mark").all_inner_texts() == ["Kenyan", "woman"]
        assert f"changed in {AFAR}, not in {FAIR} and {WOMEN}" in card(page).inner_text()
        link = card(page).locator(".note a").get_attribute("href")
        page.evaluate(f"location.hash = {link!r}".replace("8", "3").replace("Kenyan%2B", ""))
        assert facts(page).startswith("Case 3 & co#woman")
    with opened(f"#case={quote('4 & co#Kenyan')}") as page:
        assert "refused" in card(page).locator(".text").last.locator(".reply").first.inner_text()
    with opened("#case=nowhere&changed_in=nobody&sort=size") as page:
        assert shown(page) == f"{PARTED} of {PARTED}"


def test_keys_move_through_the_list(opened: Open) -> None:
    with opened() as page:
        page.locator("#list").focus()
        seen = []
        for key in ("ArrowDown", "End", "ArrowUp", "Home"):
            page.keyboard.press(key)
            active = page.locator(f"#{page.locator('#list').get_attribute('aria-activedescendant')}")
            assert active.get_attribute("aria-selected") == "true"
            seen.append(int(active.get_attribute("aria-posinset") or 0))
            assert f"Case {hash_of(page)['case'][0]}," in facts(page)
        assert seen == [2, PARTED, PARTED - 1, 1]
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "case"


def test_what_is_filtered_is_saved_with_the_answers_of_every_run(opened: Open) -> None:
    with opened() as page:
        assert len(saved(page)) == PARTED
        page.get_by_label("Changed in", exact=True).select_option(label=f"{AFAR} ({ONLY_AFAR})")
        rows = saved(page)
    texts = {case.id: case.text for case in CASES}
    ours = rejecting("Kenyan", 4)
    assert len(rows) == ONLY_AFAR
    for row in rows:
        case = next(case for case in CASES if case.id == row["case"])
        assert (row["changed_in"], ours(case)) == (f"'{AFAR}", "Negative")  # no cell is a formula
        assert row[f"'{AFAR}: answer"] == "Negative"
        assert row[f"'{AFAR}: other_answer"] == row[f"{WOMEN}: answer"] == "Positive"
        assert (row["text"], row["other_text"]) == (case.text, texts[f"{case.document}#0"])
    (unsure,) = (row for row in rows if row["case"] == "4 & co#Kenyan")
    assert (unsure["unchanged_in"], unsure[f"{FAIR}: answer"]) == (WOMEN, "")


def test_every_run_has_a_colour_and_a_shape_of_its_own_everywhere(opened: Open) -> None:
    looks = """marks => marks.map(mark => {
        const look = getComputedStyle(mark);
        return [look.backgroundColor, look.borderRadius + look.clipPath];
    })"""
    with opened() as page:
        legend = page.locator(".legend li")
        assert [entry.splitlines()[0].split(" model ")[0] for entry in legend.all_inner_texts()] == [*NAMES]
        marks = page.locator(".legend .shape").evaluate_all(looks)
        for of_all in zip(*marks, strict=True):
            assert len(set(of_all)) == len(NAMES)
        assert card(page).locator(".text").last.locator(".shape").evaluate_all(looks) == marks
        strokes = (
            page.locator("#finding figure")
            .first.locator("path.point")
            .evaluate_all(
                "points => points.map(point => [getComputedStyle(point).stroke, point.getAttribute('d')])"
            )
        )
        assert {colour for colour, _ in strokes} == {colour for colour, _ in marks}
        assert len({shape for _, shape in strokes}) == len(NAMES)


def test_names_are_texts(opened: Open) -> None:
    with opened() as page:
        assert WOMEN in page.title()
        assert page.locator("b", has_text="women").filter(has_not_text="<b>").count() == 0


def test_without_its_script_the_page_has_the_finding_and_some_cases(opened: Open) -> None:
    with opened(ready=False, java_script_enabled=False) as page:
        assert page.locator("h1").inner_text() == "The models differ in how they treat groups"
        assert page.locator("#first article").count() == FIRST
        assert page.locator("#first article").first.is_visible()
        assert not page.locator("#explorer").is_visible()


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_nothing_is_wider_than_the_screen(opened: Open, width: int) -> None:
    with opened(viewport={"width": width, "height": 844}) as page:
        page.evaluate(browsers.UNFOLDED)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_dark_page_is_dark_and_its_paper_white(opened: Open) -> None:
    def back(page: Page) -> Sequence[int]:
        colour: str = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return [int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(",")]

    with opened(color_scheme="dark") as page:
        assert max(back(page)) < 64
        page.emulate_media(media="print")
        assert min(back(page)) == 255
        assert page.locator("#first article").first.is_visible()
        assert not page.locator("#explorer").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_no_fault(opened: Open, scheme: str, width: int) -> None:
    with opened(color_scheme=scheme, viewport={"width": width, "height": 900}) as page:
        browsers.assert_accessible(page)


def test_on_paper_it_is_short(opened: Open) -> None:
    with opened() as page:
        assert 1 <= browsers.sheets(page) <= browsers.SHEETS


def test_six_runs_with_long_names_are_short_and_no_wider_than_the_screen(
    browser: Browser, tmp_path: Path
) -> None:
    words = ("woman", "Kenyan")
    systems = {
        LONG.format(number): rejecting(words[number % 2], 2 + number // 2, number) for number in range(6)
    }
    file = page_of(tmp_path, systems)
    with browsers.opened(browser, file, viewport={"width": 390, "height": 844}) as page:
        assert 1 <= browsers.sheets(page) <= browsers.SHEETS
        page.evaluate(browsers.UNFOLDED)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
