"""The pages of the documentation: their fenced blocks, and the commands that they tell a reader to type."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = tuple(
    page
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md")))
    if page.is_file()
)

SHELL = ("sh", "bash", "console")
PROGRAMS = ("hinter", "pip", "python", "vllm")
"""With which a block without a language begins if it is one of commands."""
_FENCE = re.compile(r"^```(?P<language>[^\n`]*)\n(?P<code>.*?)^```$", re.DOTALL | re.MULTILINE)
_NAMED = re.compile(r"# (?:hinter run )?(?P<name>[\w/]+\.(?:toml|py))\b")
_ENDS = ("&&", "||", "|", ";")


@dataclass(frozen=True)
class Block:
    """A fenced block: its ``language``, "" where the page does not say, and its lines."""

    language: str
    code: str

    @property
    def file(self) -> str | None:
        """The name of the file that the first line says it is, if any: ``# spam.py``."""
        named = _NAMED.match(self.code) if self.language in ("toml", "python") else None
        return named["name"] if named else None

    @property
    def shell(self) -> bool:
        """Whether the block holds commands."""
        return self.language in SHELL or (not self.language and self.code.split(" ")[0] in PROGRAMS)


def blocks(page: Path, language: str | None = None) -> list[Block]:
    """Return the fenced blocks of ``page`` in order, only those in ``language`` if it is given."""
    found = [Block(**match.groupdict()) for match in _FENCE.finditer(page.read_text(encoding="utf-8"))]
    return [block for block in found if language in (None, block.language)]


def commands(page: Path) -> Iterator[tuple[str, ...]]:
    """Yield the commands of ``page``, in words: those of its shell blocks, and of first lines of its TOML."""
    for block in blocks(page):
        if block.shell:
            lines = block.code.replace("\\\n", " ").splitlines()
            if block.language == "console":
                lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
            for line in lines:
                yield from split(line)
        elif block.language == "toml" and block.code.startswith("# hinter "):
            yield from split(block.code.splitlines()[0].removeprefix("# "))


def split(line: str) -> Iterator[tuple[str, ...]]:
    """Yield the words of each command in a line of shell, without comments and redirections."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;>")
    lexer.whitespace_split = True
    words: list[str] = []
    for word in [*lexer, ";"]:
        if word in _ENDS:
            if words:
                yield tuple(words[: words.index(">")] if ">" in words else words)
            words = []
        else:
            words.append(word)
