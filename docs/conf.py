"""The site: ``sphinx-build --fail-on-warning --keep-going docs site``, at the root, with the extra ``docs``.

The pages are plain Markdown that reads well in a repository, too. So the order of the pages is not in
directives, but in the map of ``index.md``: each of its headings with a list of links is a part of the menu.
"""

from __future__ import annotations

import re
from importlib import metadata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "hinter"
release = metadata.version("hinter-harness")
html_title = f"hinter {release}"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["generate.py"]

myst_heading_anchors = 4
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_type_aliases = {name: name for name in ("JsonObject", "Role", "Span", "Status", "Unread")}

html_theme = "furo"
html_copy_source = False
html_show_copyright = False

PART = re.compile(r"^## (?P<title>.+)\n(?P<body>(?:(?!^## ).*\n)*)", re.MULTILINE)
PAGE = re.compile(r"^- \[(?P<title>[^\]]+)\]\((?P<page>[\w-]+)\.md\)", re.MULTILINE)


def menu(text: str) -> str:
    """Return the menu that the map in ``text`` describes: a hidden table of contents for each part."""
    tables = []
    for part in PART.finditer(text):
        pages = "\n".join(f"{page['title']} <{page['page']}>" for page in PAGE.finditer(part["body"]))
        tables.append(f"```{{toctree}}\n:hidden:\n:caption: {part['title']}\n\n{pages}\n```\n")
    return "\n".join(tables)


def add_menu(app: Sphinx, page: str, source: list[str]) -> None:
    """Append the menu to the first page."""
    if page == "index":
        source[0] += "\n" + menu(source[0])


def setup(app: Sphinx) -> None:
    """Register ``add_menu``."""
    app.connect("source-read", add_menu)
