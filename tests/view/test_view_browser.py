"""The live page in a real browser, end to end with a model in this process and with an endpoint."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests import browsers, servers
from tests.guard.test_watch import line
from tests.view.served import Served, made, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PHONE = 390
WAIT = 60_000
"""Milliseconds that a parser and a model may take to load."""
EVIL = "<img src=x onerror=alert(1)> My brother was kind."


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("live") / "runs"
    made(folder, "first")
    made(folder, "second", "--attributes", "gender")
    (folder / "guard.jsonl").write_text("".join(f"{line(n, n % 7 == 0)}\n" for n in range(400)))
    with serving(folder, "--cache", str(folder.parent / "tried.sqlite")) as running:
        yield running


@pytest.fixture
def page(browser: Browser, served: Served) -> Iterator[Page]:
    """A page that has opened the address; at the end nothing has gone wrong and nothing left the machine."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    faults: list[str] = []
    asked: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    refused = "Failed to load resource: the server responded with a status of 422 (Unprocessable Entity)"
    page.on("request", lambda request: asked.append(request.url))
    page.goto(served.address)
    yield page
    context.close()
    assert set(faults) <= {refused}
    assert all(url.startswith((served.origin, "data:")) for url in asked), asked


def shown(page: Page, text: str, setup: str, *attributes: str) -> None:
    """Type a text, choose, and wait for its versions."""
    page.goto(page.url.split("/try")[0].split("/?")[0].rstrip("/") + "/try")
    page.fill("#text", text)
    page.select_option("#setup", label=setup)
    for box in page.query_selector_all("#attributes input"):
        box.set_checked(box.get_attribute("value") in attributes)
    page.click("#show")
    page.wait_for_selector("#versions tbody tr", timeout=WAIT)


def judged(page: Page) -> None:
    """Wait for the verdict."""
    page.locator("#verdict:not(:empty)").wait_for(timeout=WAIT)


def refused(page: Page) -> None:
    """Wait until the page says that something is not possible."""
    page.locator("#status", has_text="Not possible").wait_for(timeout=WAIT)


def test_the_token_leaves_the_address(page: Page, served: Served) -> None:
    assert "token" not in page.url
    assert page.locator("ul.runs li").count() == 2


def test_a_report_opens_and_cannot_reach_the_page(page: Page) -> None:
    page.click("ul.runs a:text-is('first')")
    page.wait_for_load_state()
    assert page.url.endswith("/runs/first/report.html")
    assert page.evaluate("self.origin") == "null"


def test_runs_are_compared_by_ticking(page: Page) -> None:
    for box in page.locator("ul.runs input").all():
        box.check()
    page.click("text=Compare the chosen runs")
    page.wait_for_load_state()
    assert "/compare?" in page.url
    assert page.locator("h1").inner_text() not in ("Runs", "Not possible")
    assert "first" in page.locator("main").inner_text()


@pytest.mark.usefixtures("smollm2_file")
def test_a_text_is_tried_with_the_embedded_model(page: Page) -> None:
    """What would change, what is left and why, the cost before it is spent, answers, the verdict."""
    text = "My brother drank black coffee and was kind."
    shown(page, text, "local:smollm2, task imdb, suite hinter", "gender", "race")
    assert page.locator("#marked mark:not(.left)").all_inner_texts() == ["brother"]
    assert page.locator("#marked mark.left").all_inner_texts() == ["black"]
    assert "does not describe a person" in page.locator("#words").inner_text()
    assert "request" in page.locator("#status").inner_text()
    assert page.locator("#versions td:nth-child(3)").all_inner_texts()[:2] == ["", ""]
    page.click("#ask")
    judged(page)
    answers = page.locator("#versions td:nth-child(3)").all_inner_texts()
    assert set(answers) <= {"Positive", "Negative", "Neutral"}
    assert "The answer changes in" in page.locator("#verdict").inner_text()


def test_a_text_is_text(page: Page) -> None:
    shown(page, EVIL, "local:vader, task imdb, suite hinter", "gender")
    page.click("#ask")
    judged(page)
    assert page.locator("#result img").count() == 0
    assert EVIL.split(">")[0] in page.locator("#marked").inner_text()


def test_another_choice_takes_the_offer_back(page: Page) -> None:
    shown(page, "My brother was kind.", "local:vader, task imdb, suite hinter", "gender")
    assert page.locator("#ask").is_enabled()
    page.fill("#text", "My sister was kind.")
    assert page.locator("#ask").is_disabled()


def test_no_attribute_is_a_line(page: Page) -> None:
    page.goto(page.url + "try")
    for box in page.query_selector_all("#attributes input"):
        box.set_checked(False)
    page.click("#show")
    refused(page)
    assert "attribute" in page.locator("#status").inner_text()


def test_the_keyboard_is_enough(page: Page) -> None:
    page.goto(page.url + "try")
    page.focus("#text")
    page.keyboard.press("Control+A")
    page.keyboard.type("My brother was kind.")
    page.select_option("#setup", label="local:vader, task imdb, suite hinter")
    page.focus("#show")
    page.keyboard.press("Enter")
    page.wait_for_selector("#ask:enabled", timeout=WAIT)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "ask"
    page.keyboard.press("Enter")
    judged(page)


@pytest.mark.parametrize("dark", [False, True])
def test_nobody_is_shut_out(page: Page, dark: bool) -> None:
    """axe-core finds no violation, and nothing is wider than a phone."""
    page.emulate_media(color_scheme="dark" if dark else "light")
    for path in ("", "try", "guard"):
        page.goto(page.url.split("/try")[0].rstrip("/") + "/" + path)
        if path == "try":
            shown(page, "My old brother was kind.", "local:vader, task imdb, suite hinter", "gender", "body")
        browsers.assert_accessible(page)
        page.set_viewport_size({"width": PHONE, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE
        page.set_viewport_size({"width": 1280, "height": 900})


def test_an_endpoint_that_refuses_is_a_line(browser: Browser, tmp_path: Path) -> None:
    refusing = False

    def script(body: dict[str, Any], number: int) -> servers.Answer:
        return servers.error(401, message="bad key") if refusing else servers.completion("Positive")

    with servers.serve(script) as endpoint:
        made(tmp_path / "runs", "endpoint", "--model", "m", "--base-url", endpoint.base_url)
        refusing = True
        with serving(tmp_path / "runs") as running:
            page = browser.new_page()
            page.goto(running.address)
            setup = f"m at {endpoint.base_url}, task imdb, suite hinter"
            shown(page, "My brother was kind.", setup, "gender")
            page.click("#ask")
            refused(page)
            assert "bad key" in page.locator("#status").inner_text()
            page.close()
