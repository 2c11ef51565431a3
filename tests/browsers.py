"""The system's Chromium, for tests of pages: they skip, saying why, where there is none."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")
UNFOLDED = "document.querySelectorAll('details').forEach(part => { part.open = true; })"
SHEETS = 6
"""The most sheets of paper that a page may take."""
READY = "#shown:not(:empty)"
"""What is on a page once its list is unpacked."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = next(filter(None, map(shutil.which, NAMES)), None)
    if chromium is None:
        pytest.skip("no Chromium on this machine")
    with sync_api.sync_playwright() as play:
        running = play.chromium.launch(executable_path=chromium, args=list(ARGUMENTS))
        yield running
        running.close()


@contextmanager
def opened(
    browser: Browser, file: Path, address: str = "", ready: bool = True, **settings: object
) -> Iterator[Page]:
    """Open a page of a run, and see at the end that it asked for nothing and complained of nothing.

    ``ready``: wait until its list is there. ``settings`` are those of Playwright's context.
    """
    context = browser.new_context(**settings)  # type: ignore[arg-type]
    page = context.new_page()
    complaints: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri() + address)
    if ready:
        page.wait_for_selector(READY, timeout=60_000)
    yield page
    context.close()
    assert complaints == []
    assert {url.partition("#")[0] for url in asked} == {file.as_uri()}


def sheets(page: Page) -> int:
    """Return on how many sheets of paper a page is printed."""
    return len(re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True)))


def assert_accessible(page: Page) -> None:
    """See that axe-core finds no fault in a page with all its parts open."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")
    page.evaluate(UNFOLDED)
    found = axe.Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
