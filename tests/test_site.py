"""The site is built from the pages without a warning, holds together, and loads nothing from elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.pages import DOCS

NEEDED = ("sphinx", "myst_parser", "furo")
ABSENT = [name for name in NEEDED if find_spec(name) is None]
pytestmark = pytest.mark.skipif(
    bool(ABSENT), reason=f"{', '.join(ABSENT)} not installed: pip install -e '.[docs]'"
)
NOWHERE = "http://127.0.0.1:9"
LOADED_BY_LINK = ("stylesheet", "icon", "preload", "prefetch", "preconnect", "dns-prefetch", "manifest")


@dataclass
class Page(HTMLParser):
    """The places in a page that links can lead to, its links, and what a browser loads for it."""

    file: Path
    places: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.places |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if "src" in given:
            self.loads.append(given["src"])
        if tag == "link" and set(given.get("rel", "").split()) & set(LOADED_BY_LINK):
            self.loads.append(given["href"])
        self.loads += re.findall(r"url\(([^)]*)\)", given.get("style", ""))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built offline: a proxy that is not there stands before the network."""
    folder = tmp_path_factory.mktemp("site")
    build = ("-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet", "--fresh-env")
    done = subprocess.run(
        [sys.executable, *build, str(DOCS), str(folder)],
        env=os.environ | {"http_proxy": NOWHERE, "https_proxy": NOWHERE},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return folder


@cache
def read(file: Path) -> Page:
    return Page(file)


def pages(site: Path) -> list[Page]:
    return [read(file) for file in sorted(site.glob("*.html"))]


def test_every_page_is_there_and_in_the_menu(site: Path) -> None:
    names = {page.stem for page in DOCS.glob("*.md")}
    menu = {urlsplit(link).path.removesuffix(".html") for link in read(site / "tutorial.html").links}
    assert names - {"tutorial"} <= menu
    assert all((site / f"{name}.html").is_file() for name in names)


def test_no_link_within_the_site_is_broken(site: Path) -> None:
    broken = []
    for page in pages(site):
        for link in page.links:
            parts = urlsplit(link)
            target = (page.file.parent / unquote(parts.path)) if parts.path else page.file
            if parts.scheme or parts.netloc:
                continue
            missing = parts.fragment and target.suffix == ".html" and target.is_file()
            if not target.exists() or (missing and unquote(parts.fragment) not in read(target).places):
                broken.append(f"{page.file.name}: {link}")
    assert not broken


def test_nothing_is_loaded_from_another_host(site: Path) -> None:
    for page in pages(site):
        assert page.loads
        for address in page.loads:
            assert not urlsplit(address).netloc, f"{page.file.name} loads {address}"
    for sheet in site.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        for address in re.findall(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)", text):
            assert not urlsplit("".join(address)).netloc, f"{sheet.name} loads {address}"


def test_the_api_is_described(site: Path) -> None:
    places = read(site / "api.html").places
    for name in ("run", "run_sync", "config.load", "config.RunConfig", "errors.HarnessError"):
        assert f"harness.{name}" in places
    for name in ("core.Case", "core.Verdict", "plugins.Suite", "plugins.SuitePlugin", "model.ModelPlugin"):
        assert f"harness.{name}" in places
