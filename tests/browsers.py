"""The system's Chromium, for tests of pages: they skip, saying why, where there is none."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")


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
